"""Results, their parts, and tables of them."""

from orrery import _orrery

Result = _orrery.Result


class Section(dict):
    """Figures that lie in one object of a result, such as `memory`: a dict whose keys are attributes, too."""

    __slots__ = ()

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"found {name!r}, allowed one of {', '.join(self)}") from None

    def __dir__(self):
        return [*super().__dir__(), *self]


def to_pandas(results, keys=None):
    """A DataFrame with a row per result, in order, and a column per figure under its dotted path.

    results  Results, or errors as `simulate_many(errors="return")` hands them out: their row has `feasible` False and
             the text in the column `error`, which is there where there are any
    keys     dotted paths to take, in that order; None: all but lists of objects
    """
    import pandas

    rows = [_row(result) for result in results]
    frame = pandas.DataFrame(rows)
    if keys is None:
        return frame
    columns = [*keys, *(["error"] if "error" in frame and "error" not in keys else [])]
    return frame.reindex(columns=columns)


def _row(result):
    if isinstance(result, Exception):
        return {"feasible": False, "error": str(result)}
    return result.row()
