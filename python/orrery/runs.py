"""Simulating one experiment, and many."""

import collections.abc
import os

from orrery import _orrery
from orrery.errors import ExperimentError


def simulate(experiment, overrides=None, *, calibrations=(), only=None, skip_infeasible=False, **keywords):
    """The Result of one experiment; a plan that does not fit into memory is a Result with `feasible` False.

    experiment       a dict, the path of a JSON or YAML file, or its text (a str that begins with { or has several
                     lines)
    overrides        {"plan.tensor_parallel": 4}, or ["plan.tensor_parallel=4"] as on the command line; None as a
                     value takes a key out
    **keywords       the same with __ for each dot: plan__tensor_parallel=4
    calibrations     paths of calibrations that the experiment may name beside those of the catalog
    only             dotted keys of the result to measure, such as ["step_time_s", "memory.peak_gb"]; None: all.
                     Fewer are faster
    skip_infeasible  plans that do not fit are not simulated: their times are None

    What one simulation can use of those before it is kept for the life of the process, up to about 1 GB.
    Safe to call from several threads: other Python threads run meanwhile. Deterministic to the bit, but for
    `stats.wall_s`, `stats.tasks_per_s` and `stats.peak_rss_mb`.

    Raises ExperimentError with all that is wrong.
    """
    return _orrery.simulate(experiment, override_list(overrides, keywords), path_list(calibrations), _names(only),
                            skip_infeasible)


def run(experiment, overrides=None, *, calibrations=(), only=None, **keywords):
    """Weeks of training: the Result of an experiment with a section `run`, whose `run` has goodput, days and their
    deciles, interruptions, cost and energy of the whole run, and the interval of its checkpoints.

    only  further dotted keys of the result to measure, such as ["mfu", "memory.peak_gb"]
    (the others as for `simulate`)
    """
    keys = [*RUN_KEYS, *(_names(only) or [])]
    return simulate(experiment, overrides, calibrations=calibrations, only=keys, **keywords)


RUN_KEYS = ("name", "feasible", "reasons", "gpus", "step_time_s", "run")


def simulate_many(experiments, *, threads=0, overrides=None, calibrations=(), only=None, skip_infeasible=False,
                  errors="raise"):
    """An iterator over the Results of many experiments, in their order.

    experiments  an iterable of what `simulate` takes; up to 2048 are read ahead of the Result that is asked for
    threads      that simulate, 0: one per core; they share what plans have in common and do not need Python's lock
    overrides    for all of them, as for `simulate`
    errors       "raise": the error of a wrong experiment is raised in its turn, with its place as `error.index`;
                 "return": it is handed out in place of a Result
    (the others as for `simulate`)

    Ctrl-C ends the iteration as soon as the simulations that have begun are done.
    """
    if errors not in ("raise", "return"):
        raise ValueError(f"errors: found {errors!r}, allowed are 'raise' and 'return'")
    stream = _orrery.simulate_many(experiments, threads, override_list(overrides, {}), path_list(calibrations),
                                   _names(only), skip_infeasible)
    return stream if errors == "return" else _raising(stream)


def _raising(stream):
    for index, result in enumerate(stream):
        if isinstance(result, Exception):
            stream.close()
            if isinstance(result, ExperimentError):
                result.index = index
            raise result
        yield result


def memory(experiment, overrides=None, *, calibrations=(), accounting="orrery", **keywords):
    """Memory by category and stage, without simulating: a Result whose times are None.

    accounting  "orrery", or "explorer": a dict by the coarse accounting of the LLM Parallelism Explorer, as
                `orrery memory --accounting explorer --json` writes it
    (the others as for `simulate`)
    """
    known = {"orrery": _orrery.memory, "explorer": _explorer_memory}
    if accounting not in known:
        raise ValueError(f"accounting: found {accounting!r}, allowed are 'orrery' and 'explorer'")
    return known[accounting](experiment, override_list(overrides, keywords), path_list(calibrations))


def _explorer_memory(*arguments):
    return _orrery.parse_json(_orrery.explorer_memory(*arguments))


def resolve(experiment, overrides=None, *, calibrations=(), **keywords):
    """The whole experiment as a dict, with every name of the catalog replaced by what it stands for and every default
    in force; simulating it gives the same figures. Arguments as for `simulate`."""
    return _orrery.parse_json(resolved_text(experiment, overrides, calibrations=calibrations, **keywords))


def resolved_text(experiment, overrides=None, *, calibrations=(), **keywords):
    """Returns resolve() as JSON text with comments that say where each value comes from."""
    return _orrery.resolved(experiment, override_list(overrides, keywords), path_list(calibrations))


def override_list(overrides, keywords):
    """KEY=VALUE texts of what a caller gives."""
    if overrides is None:
        texts = []
    elif isinstance(overrides, str):
        texts = [overrides]
    elif isinstance(overrides, collections.abc.Mapping):
        texts = [_override(key, value) for key, value in overrides.items()]
    else:
        texts = list(overrides)
    for text in texts:
        if not isinstance(text, str):
            raise ExperimentError([("override", 0, 0, "", f"found a value of type {type(text).__name__}, allowed are "
                                                          "texts KEY=VALUE or a dict")])
    return texts + [_override(key.replace("__", "."), value) for key, value in keywords.items()]


def _override(key, value):
    return f"{key}={_orrery.json_text(value, 'override')}"


def path_list(paths):
    return [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]


def _names(only):
    if only is None:
        return None
    return only.split(",") if isinstance(only, str) else list(only)
