"""Sweeps on the workers of a Dask cluster: batches of points go out, results come back into one file.

The client walks through the space, so it alone decides which points are simulated, each content once, and it alone writes
the file: workers hold nothing that could be lost. A batch whose worker is killed is sent to another one; if the client is
killed, the file has what came back until then."""

import pickle
import threading
import time

from orrery import __version__, _orrery
from orrery.errors import RunError

TARGET_SECONDS = 2.0  #: that a batch should take: long beside its way to a worker, short beside what its loss costs
MOST_POINTS = 4096  #: of a batch
AHEAD = 2  #: batches per thread of the cluster that are under way
TRIES = 3  #: of a batch, beyond those that Dask makes itself

_of_thread = threading.local()


def sweep_on(client, space, file, keys, progress=None):
    """The summary of the sweep, as a dict."""
    native = _orrery.FarSweep(space._native, file, keys)
    _Dispatcher(client, space, native, progress).run()
    return native.finish()


class _Dispatcher:
    """Keeps the workers of a client busy."""

    def __init__(self, client, space, native, progress):
        from distributed import as_completed

        self.client, self.native, self.progress = client, native, progress
        self.blob = pickle.dumps(space)
        self.finished = as_completed([], with_results=False)
        self.points = {}  # of a batch under way, by the key of its future
        self.futures = {}  # the same; a future that nobody holds is forgotten by the scheduler
        self.tries = {}
        self.batch = 1
        self.done = 0

    def run(self):
        try:
            self.fill()
            while self.points:
                self.take(next(self.finished))
                self.fill()
        finally:
            self.client.cancel(list(self.futures.values()))

    def fill(self):
        """Sends out batches until there are enough under way."""
        while len(self.points) < AHEAD * max(1, sum(self.client.nthreads().values())):
            points = self.native.next(self.batch)
            if not points:
                return
            self.send(points, 1)

    def send(self, points, attempt):
        future = self.client.submit(_simulate, self.blob, points, self.native.keys, __version__, pure=False, retries=TRIES)
        self.points[future.key], self.futures[future.key], self.tries[future.key] = points, future, attempt
        self.finished.add(future)

    def take(self, future):
        """Writes the results of a batch into the file."""
        points, attempt = self.points.pop(future.key), self.tries.pop(future.key)
        del self.futures[future.key]
        if future.status != "finished":
            return self.again(future, points, attempt)
        results, seconds = future.result()
        self.native.put(points, results)
        self.done += len(points)
        self.resize(len(points), seconds)
        if self.progress is not None:
            self.progress(self.native.walked - sum(map(len, self.points.values())), self.native.points)

    def again(self, future, points, attempt):
        """A batch that could not be done: its workers were killed, or it is at fault."""
        from distributed.scheduler import KilledWorker

        reason = "the scheduler has forgotten it" if future.status != "error" else future.exception()
        if attempt > TRIES or not (future.status == "cancelled" or isinstance(reason, KilledWorker)):
            raise RunError(f"points {points[0]} to {points[-1]} cannot be simulated: {reason}; what is finished is in the file")
        self.send(points, attempt + 1)

    def resize(self, points, seconds):
        """Towards batches of TARGET_SECONDS, at most twice as large at a time."""
        fitting = points * TARGET_SECONDS / max(seconds, 1e-6)
        self.batch = int(min(max(1, fitting), 2 * self.batch, MOST_POINTS)) if points >= self.batch // 2 else self.batch


def _simulate(blob, points, keys, version):
    """On a worker: (results of the points, seconds)."""
    if version != __version__:
        raise RunError(f"the worker has orrery {__version__}, the client {version}; allowed is one version")
    begin = time.perf_counter()
    if getattr(_of_thread, "blob", None) != blob:  # the space of the batch before, most often
        _of_thread.blob, _of_thread.space = blob, pickle.loads(blob)
    results = _orrery.simulate_points(_of_thread.space._native, points, keys)
    return results, time.perf_counter() - begin


def _main():
    """Runs the request that `orrery sweep --dask ADDRESS` writes to standard input; an error goes to standard error, in a line."""
    import json
    import sys

    try:
        from distributed import Client
    except ImportError:
        sys.exit("orrery: sweeps on Dask need the Python package distributed")
    from orrery import ExperimentError, many_machines  # not this file as the program, whose functions workers could not import
    from orrery.space import Space

    asked = json.load(sys.stdin)
    space = Space._of(asked["space"], asked["experiment"], asked["overrides"], asked["calibrations"], False, asked["order"])
    try:
        client = Client(asked["scheduler"], timeout=10)
    except (OSError, ValueError) as error:
        sys.exit(f"orrery: no Dask scheduler answers at {asked['scheduler']}: {error}")
    with client:
        try:
            many_machines.sweep_on(client, space, asked["file"], asked["keys"])
        except ExperimentError:  # of a sweep that is done: `orrery sweep` reads it in the file, and says so
            pass


if __name__ == "__main__":
    _main()
