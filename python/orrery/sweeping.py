"""All points of a space into a file of results: on this machine, or on the workers of a Dask cluster."""

from orrery import _orrery
from orrery.runs import path_list
from orrery.space import Space


class Sweep:
    """A sweep in a file of results, an SQLite database as docs/reference/commands/sweep.md describes it.

    file, id                     its path, and the number of the sweep in it
    points, distinct             of the space; of the valid ones, those that differ
    feasible, infeasible, failed points by what became of them
    removed                      {condition or key: how many points are no experiments because of it}
    complete                     whether nothing is missing
    """

    def __init__(self, file, sweep=0):
        """Reads a sweep of a file; 0: the last one."""
        (self.file,) = path_list(file)
        summary = _orrery.ResultsTable(self.file, sweep).summary()
        self.id = summary.pop("sweep")
        for name in ("points", "distinct", "feasible", "infeasible", "failed", "removed", "complete"):
            setattr(self, name, summary[name])

    def __repr__(self):
        done = self.feasible + self.infeasible + self.failed + sum(self.removed.values())
        return f"<orrery.Sweep {self.file}: {done} of {self.points} points, {self.feasible} fit>"

    @property
    def _table(self):
        """Opened anew each time: who holds it open keeps others from going on with the file."""
        return _orrery.ResultsTable(self.file, self.id)

    @property
    def columns(self):
        """Names of the columns of a row: point, state, reason, the keys of the space, those of the result."""
        return self._table.columns()

    def best(self, most=5, by="step_time_s"):
        """The best feasible points that differ, the best first, as dicts of column and value; `by` may be min:KEY or
        max:KEY."""
        return self._rows(self._table.best(by, most))

    def pareto(self, keys):
        """Returns the Pareto front of the keys: the points than which none is better in all of them, as dicts."""
        return self._rows(self._table.pareto(keys.split(",") if isinstance(keys, str) else list(keys)))

    def rows(self):
        """All points that are experiments, as dicts."""
        return self._rows(None)

    def to_pandas(self):
        """Returns rows() as a DataFrame."""
        import pandas

        return pandas.DataFrame(self._table.rows(None), columns=self.columns)

    def _rows(self, points):
        table = self._table
        columns = table.columns()
        return [dict(zip(columns, row)) for row in table.rows(points)]


def sweep(space, out, *, threads=0, client=None, only=None, progress=None):
    """Simulates what the file `out` does not have yet of a space; the Sweep in it.

    space     a Space, or what one is made of with its experiment in it
    out       an SQLite file: made, or gone on with. Whatever happens to the process, what was finished is in it
    threads   that simulate here, 0: one per core; without a client
    client    a distributed.Client: its workers simulate. They need the module `orrery` of the same version, and files
              of calibrations under the same path. The answers are those of this process whatever the number of workers;
              batches of a worker that is killed are done again by others
    only      keys of the result to keep, scalars; None: all that do not depend on the machine
    progress  called with (points done, points of the space), from time to time

    Ctrl-C stops it, and the same call goes on where it stopped.
    """
    walked = space if isinstance(space, Space) else Space(space)
    (file,) = path_list(out)
    keys = only.split(",") if isinstance(only, str) else only if only is None else list(only)
    if client is None:
        summary = _orrery.sweep(walked._native, file, threads, keys, progress)
    else:
        from orrery.many_machines import sweep_on

        summary = sweep_on(client, walked, file, keys, progress)
    return Sweep(file, summary["sweep"])
