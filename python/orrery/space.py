"""Spaces of experiments: keys with the values that each may take, and conditions between them."""

from typing import NamedTuple

from orrery import _orrery
from orrery.runs import override_list, path_list


class Survey(NamedTuple):
    """Classifies the points of a space."""

    distinct: list  #: indices of those that are experiments and whose steps differ from all before them
    valid: list  #: indices of those that are experiments
    removed: dict  #: how many are none, by the condition or the key that stands against them


class Space:
    """The product of the values of some keys of an experiment.

    description   a dict, the path of a JSON or YAML file, or its text: {"experiment": FILE or dict,
                  "plan.tensor_parallel": [1, 2, 4], "plan.micro_batch_size": "1..16*2", "plan.recompute": "auto",
                  "where": ["plan.tensor_parallel * plan.micro_batch_size <= 32"]}
    experiment    what its points are variants of, as for `simulate`; None: that of the description
    overrides     for all points, as for `simulate`
    calibrations  paths of calibrations beside those of the catalog

    len(space) counts all points, iterating gives those that are experiments and differ, as dicts of key and value.
    Points have numbers, 0 to len(space) - 1; the last key changes fastest.

    Raises ExperimentError with all that is wrong with the description.
    """

    def __init__(self, description, experiment=None, overrides=None, *, calibrations=()):
        self.__setstate__(_orrery.Space(description, experiment, override_list(overrides, {}), path_list(calibrations),
                                        False))

    @classmethod
    def _of(cls, *native):
        """The space of the arguments of the extension's, which may have intervals."""
        space = cls.__new__(cls)
        space.__setstate__(_orrery.Space(*native))
        return space

    def __len__(self):
        return self._native.size

    def __repr__(self):
        return f"<orrery.Space {len(self)} points of {', '.join(self._values)}>"

    def __getstate__(self):
        return self._native

    def __setstate__(self, native):
        self._native = native
        self._values = native.keys()
        self._survey = None

    @property
    def values(self):
        """{key: its values}, in the order in which keys change, the fastest last."""
        return self._values

    def __getitem__(self, index):
        """The values of a point, an experiment or not: {key: value}."""
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"found point {index}, allowed are 0 to {len(self) - 1}")
        point = {}
        for key, values in reversed(self._values.items()):
            index, place = divmod(index, len(values))
            point[key] = values[place]
        return dict(reversed(point.items()))

    def __iter__(self):
        return (self[index] for index in self.survey().distinct)

    def index(self, point):
        """The number of the point with these values, {key: value}."""
        if point.keys() != self._values.keys():
            raise KeyError(f"found {', '.join(map(str, point))}, allowed are {', '.join(self._values)}, each once")
        index = 0
        for key, values in self._values.items():
            if point[key] not in values:
                raise KeyError(f"{key}: found {point[key]!r}, allowed one of {', '.join(map(repr, values))}")
            index = index * len(values) + values.index(point[key])
        return index

    def experiment(self, point):
        """The experiment at a point, a dict for `simulate`; of its number or of {key: value}."""
        return self._native.experiment(point if isinstance(point, int) else self.index(point))

    def experiments(self):
        """Yields the experiments of all points that iterating gives, for `simulate_many`."""
        return (self._native.experiment(index) for index in self.survey().distinct)

    def problem(self, point):
        """None, or why a point is no experiment: a condition, or the key and what is wrong with it."""
        return self._native.read(point if isinstance(point, int) else self.index(point))[1]

    def survey(self):
        """The Survey of all points, made on all cores when first asked for."""
        if self._survey is None:
            self._survey = Survey(*self._native.survey())
        return self._survey
