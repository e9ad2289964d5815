"""Lists the names that an experiment can use: catalog entries, menus, schemas."""

from orrery import _orrery

KINDS = _orrery.KINDS  #: parts of `names`, such as "models" or "schedules"
STREAMS = _orrery.STREAMS
PHASES = _orrery.PHASES
OPERATION_NAMES = _orrery.OPERATION_NAMES
OPERATION_KINDS = _orrery.OPERATION_KINDS
RESULT_KEYS = _orrery.RESULT_KEYS  #: dotted paths of all figures, and of the objects they lie in
LINK_KINDS = _orrery.LINK_KINDS
stream_name = _orrery.stream_name


def names(kind):
    """{name: one line about it} of a kind out of `orrery.KINDS`, as `orrery list` shows them."""
    return _orrery.names(kind)


def entry(kind, name):
    """A catalog entry as a dict: of "models", "gpus", "clusters" or "calibrations"."""
    return _orrery.entry(kind, name)


def schema(which="experiment"):
    """JSON Schema (draft 7) as a dict: "experiment", or a part: "model", "cluster", "calibration"."""
    return _orrery.schema(which)
