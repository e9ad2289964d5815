"""Why a measured run takes longer than the simulated one."""

import os

from orrery import _orrery
from orrery.result import Section
from orrery.runs import override_list, path_list


class Explanation(Section):
    """Holds an explanation, as `orrery explain --json` writes it, with attributes: `measured_s`, `simulated_s`,
    `difference_s`, `terms`, `findings`, `messages`, `collectives`, `figures`, `constants`, `read`, `not_lined_up`,
    `confidence`. str() gives the text that `orrery explain` prints."""

    __slots__ = ("text",)

    def __str__(self):
        return self.text

    def to_pandas(self, part="terms"):
        """A DataFrame with a row for each member of a list: "terms", "findings", "messages", "collectives", "figures",
        "constants"; "ranks" has a row for each rank on which a term is longer."""
        import pandas

        if part == "ranks":
            return pandas.DataFrame([{"term": term["term"], **rank} for term in self["terms"] for rank in term["ranks"]])
        return pandas.DataFrame([{key: value for key, value in row.items() if key != "ranks"} for row in self[part]])


def explain(experiment, files, overrides=None, *, calibrations=(), **keywords):
    """The Explanation of a measured run by the simulated one.

    experiment  as for `simulate`
    files       paths of measurements, one or several: logs of training, traces of PyTorch's profiler, exports of Nsight
                Systems, logs of nccl-tests, results of vLLM's benchmark
    (the others as for `simulate`)

    Raises ExperimentError for files that are none of these, and as `simulate`.
    """
    paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    found, text = _orrery.explain(experiment, [os.fspath(path) for path in paths], override_list(overrides, keywords),
                                  path_list(calibrations), Section)
    explanation = Explanation(found)
    explanation.text = text
    return explanation
