#!/usr/bin/env python3
"""orrery.sweep() on a Dask cluster: a scheduler and two worker processes on the loopback interface, one of them killed in
mid-flight; a client killed and its sweep gone on with; the same answers as of this process."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from common import main, need

need("distributed")

import distributed

import orrery

# Some seconds of work on two workers: layer by layer and unfolded.
SPACE = {"experiment": {"model": "gpt3-13b", "cluster": {"base": "dgx-a100-80gb", "nodes": 8}, "simulation": {"folding": "off"}},
         "plan.tensor_parallel": [1, 2, 4, 8], "plan.pipeline_parallel": [1, 2, 4, 8], "plan.micro_batch_size": [1, 2, 4],
         "plan.rank_order": ["tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"], "plan.global_batch_size": [256, 512],
         "where": "plan.tensor_parallel * plan.pipeline_parallel <= 32"}
WORKER = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host",
          "127.0.0.1"]
CLIENT = """import sys, distributed, orrery
client = distributed.Client(sys.argv[1])
orrery.sweep(eval(sys.argv[2]), sys.argv[3], client=client, progress=lambda done, points: print(done, flush=True))
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    """Processes that end with the test."""

    def __init__(self, workers):
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self.processes = [self.begin(sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard", "--host",
                                     self.address)]
        self.workers = [self.add_worker() for _ in range(workers)]

    def begin(self, *command):
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def add_worker(self):
        self.processes.append(self.begin(*WORKER, self.address))
        return self.processes[-1]

    def close(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()


def contents(file):
    return sorted(map(str, orrery.Sweep(file).rows()))


class ManyMachines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.alone = pathlib.Path(cls.folder.name) / "alone.db"
        cls.summary = orrery.sweep(SPACE, cls.alone)
        cls.cluster = Cluster(2)
        cls.client = distributed.Client(cls.cluster.address, timeout=60)
        cls.client.wait_for_workers(2, timeout=60)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.cluster.close()
        cls.folder.cleanup()

    def setUp(self):
        self.file = pathlib.Path(self.folder.name) / f"{self.id()}.db"

    def check(self, found):
        self.assertTrue(found.complete)
        self.assertEqual((found.points, found.feasible, found.removed),
                         (self.summary.points, self.summary.feasible, self.summary.removed))
        self.assertEqual(contents(self.file), contents(self.alone))

    def test_1_answers_are_those_of_this_process(self):
        told = []
        self.check(orrery.sweep(SPACE, self.file, client=self.client, progress=lambda *numbers: told.append(numbers)))
        self.assertEqual(told[-1], (self.summary.points, self.summary.points))

    def test_2_a_finished_sweep_sends_nothing(self):
        file = self.alone
        self.assertTrue(orrery.sweep(SPACE, file, client=self.client, progress=self.fail).complete)

    def test_3_a_client_that_is_killed_is_gone_on_with(self):
        client = subprocess.Popen([sys.executable, "-c", CLIENT, self.cluster.address, repr(SPACE), str(self.file)],
                                  stdout=subprocess.PIPE, text=True)
        for _ in range(5):
            self.assertTrue(client.stdout.readline())
        client.kill()
        client.wait()
        client.stdout.close()
        left = orrery.Sweep(self.file)
        self.assertGreater(left.feasible, 0)
        self.assertFalse(left.complete)
        self.check(orrery.sweep(SPACE, self.file, client=self.client))

    def test_4_a_worker_killed_in_mid_flight_costs_nothing(self):
        told = []

        def kill_one(done, points):
            told.append(done)
            if len(told) == 3:
                self.cluster.workers[0].send_signal(signal.SIGKILL)

        self.check(orrery.sweep(SPACE, self.file, client=self.client, progress=kill_one))
        self.assertGreater(len(told), 3)
        self.assertEqual(len(self.client.nthreads()), 1)

    def test_5_a_worker_that_joins_later_helps(self):
        self.cluster.add_worker()
        self.client.wait_for_workers(2, timeout=60)
        self.check(orrery.sweep(SPACE, self.file, client=self.client))

    def test_6_a_batch_that_fails_says_so(self):
        from orrery import many_machines

        usual = many_machines.__version__
        many_machines.__version__ = "0.0.0"  # the client's
        try:
            with self.assertRaisesRegex(orrery.RunError, "allowed is one version"):
                orrery.sweep(SPACE, self.file, client=self.client)
        finally:
            many_machines.__version__ = usual

    def test_7_the_command_line_asks_for_the_same(self):
        space = self.file.with_suffix(".json")
        space.write_text(json.dumps(SPACE))
        command = [os.environ["ORRERY_PROGRAM"], "sweep", str(space), "--out", str(self.file), "--dask"]
        path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run([*command, self.cluster.address], env={**os.environ, "PATH": path}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("orrery", done.stderr)  # Dask itself may tell there of connections that a busy machine kept waiting
        self.check(orrery.Sweep(self.file))
        nobody = subprocess.run([*command, "tcp://127.0.0.1:1"], env={**os.environ, "PATH": path}, capture_output=True, text=True)
        self.assertEqual(nobody.returncode, 1)
        self.assertIn("no Dask scheduler answers at tcp://127.0.0.1:1", nobody.stderr)


if __name__ == "__main__":
    main()
