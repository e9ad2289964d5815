"""The search for the best plan."""

from orrery import _orrery
from orrery.result import Section
from orrery.runs import override_list, path_list
from orrery.space import Space

METHODS = _orrery.METHODS  #: {name of a search method: one line about it}


class Plan(Section):
    """Holds the result of a search, as `orrery plan --json` writes it, with attributes: `best` (results, the best first, each
    with its values of the space's keys as `point`), `pareto`, `optimal`, `gap`, `simulated`, `pruned`, ... str() gives
    the text that `orrery plan` prints."""

    __slots__ = ("text", "space")

    def __str__(self):
        return self.text


def plan(experiment=None, search="exhaustive", *, space=None, objective=None, budget=None, top=5, pareto=(), limits=None,
         seed=0, threads=0, overrides=None, calibrations=(), progress=None, **keywords):
    """The Plan with the best points of a space.

    experiment  as for `simulate`; None: that of the space
    search      a method out of `orrery.METHODS`
    space       a Space or what one is made of, with the experiment in it or given beside it; None: the usual degrees of
                freedom around the experiment
    objective   a number of the result; min:KEY and max:KEY say what is better where the name does not; None: step_time_s,
                or tokens_per_s_per_gpu of requests that are served
    budget      so many simulations, or seconds as a text: "30s"; None: as many as it takes
    top         best points to report
    pareto      numbers to weigh the objective against, such as ["memory.peak_gb"]
    limits      the most that numbers of the result may be, or the least where more is better: {"ttft_s_p99": 0.5}
    seed        of searches that draw lots
    threads     that simulate, 0: one per core
    progress    called with the number of simulations done, from time to time
    (the others as for `simulate`, and only with an experiment)

    `best` is empty where points are valid and none fits into memory. Raises ExperimentError where no point is valid, and
    says what removed how many. Ctrl-C ends the search
    between simulations.
    """
    texts, paths = override_list(overrides, keywords), path_list(calibrations)
    searched = _space(experiment, space, texts, paths)
    weighed = pareto.split(",") if isinstance(pareto, str) else list(pareto)
    kept = [f"{key}={value}" for key, value in (limits or {}).items()]
    found, text = _orrery.plan(searched._native, search, objective, weighed, kept, None if budget is None else str(budget), top,
                               seed, threads, progress, Section)
    for result in [*found.best, *found.get("pareto", ())]:
        result["point"] = {key: _value(value) for key, value in result.point.items()}
    plan = Plan(found)
    plan.text, plan.space = text, searched
    return plan


def _value(text):
    """A value as Python has it, of one as an override has it."""
    return _orrery.value_of_override(text) if isinstance(text, str) else text


def _space(experiment, space, overrides, calibrations):
    if isinstance(space, Space):
        if experiment is not None or overrides or calibrations:
            raise TypeError("a Space has its experiment, overrides and calibrations; give them where it is made")
        return space
    if space is not None:
        return Space._of(space, experiment, overrides, calibrations, True)  # some methods search intervals
    if experiment is None:
        raise TypeError("an experiment or a space is missing")
    text, source = _orrery.experiment_text(experiment)
    usual = _orrery.usual_description(text, source, overrides, calibrations)
    return Space(usual, experiment, overrides, calibrations=calibrations)
