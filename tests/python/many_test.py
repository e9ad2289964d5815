#!/usr/bin/env python3
"""orrery.simulate_many(): order, threads, errors, generators, and Ctrl-C."""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

from common import SMALL, main, small, without_machine

import orrery

BATCHES = [8 * (1 + n % 7) for n in range(40)]


def plans():
    return (small(global_batch_size=batch) for batch in BATCHES)


class Many(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.expected = [without_machine(orrery.simulate(plan).to_dict()) for plan in plans()]

    def test_results_come_in_order_whatever_the_threads(self):
        for threads in (0, 1, 2, 7):
            results = [without_machine(result.to_dict()) for result in orrery.simulate_many(plans(), threads=threads)]
            self.assertEqual(results, self.expected)

    def test_lists_tuples_texts_and_nothing(self):
        self.assertEqual(len(list(orrery.simulate_many(list(plans())))), len(BATCHES))
        self.assertEqual(list(orrery.simulate_many([])), [])
        self.assertEqual(next(orrery.simulate_many(('{"model": "gpt3-125m", "cluster": "dgx-h100"}',))).gpus, 8)

    def test_overrides_and_selections_are_for_all(self):
        options = {"overrides": {"plan.tensor_parallel": 4}, "only": ["step_time_s", "memory.peak_gb"]}
        for result, plan in zip(orrery.simulate_many(plans(), **options), plans()):
            self.assertEqual(list(result.to_dict()), ["step_time_s", "memory"])
            self.assertEqual(result.step_time_s, orrery.simulate(plan, plan__tensor_parallel=4).step_time_s)

    def test_an_endless_generator_is_read_ahead_only_so_far(self):
        read = []
        endless = (read.append(n) or small(global_batch_size=8) for n in itertools.count())
        results = orrery.simulate_many(endless)
        first = [next(results) for _ in range(5)]
        self.assertEqual(len({result.step_time_s for result in first}), 1)
        self.assertLess(len(read), 5000)
        results.close()

    def test_results_can_make_timelines(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no NumPy")
        last = list(orrery.simulate_many(plans(), only=["step_time_s"]))[3]
        self.assertEqual(int(numpy.max(last.timeline["finish_ps"])) * 1e-12, last.step_time_s)


class Errors(unittest.TestCase):
    MIXED = [SMALL, {**SMALL, "model": "gpt3-125"}, small(tensor_parallel=3), b"bytes", 7, "no/such/file.json",
             small(global_batch_size=float("inf")), SMALL]

    def test_errors_as_values_keep_their_place(self):
        results = list(orrery.simulate_many(self.MIXED, errors="return"))
        kinds = [type(result) for result in results]
        self.assertEqual(kinds, [orrery.Result, *[orrery.ExperimentError] * 6, orrery.Result])
        self.assertEqual(results[1].diagnostics[0].source, "experiment 1")
        self.assertEqual(results[1].diagnostics[0].pointer, "/model")
        self.assertEqual(results[6].diagnostics[0].pointer, "/plan/global_batch_size")

    def test_an_error_is_raised_in_its_turn(self):
        results = orrery.simulate_many(self.MIXED)
        self.assertGreater(next(results).step_time_s, 0)
        with self.assertRaises(orrery.ExperimentError) as raised:
            next(results)
        self.assertEqual(raised.exception.index, 1)
        self.assertEqual(list(results), [])

    def test_an_error_of_the_iterable_comes_behind_its_results(self):
        def broken():
            yield SMALL
            raise KeyError("mine")

        results = orrery.simulate_many(broken())
        self.assertGreater(next(results).step_time_s, 0)
        self.assertRaisesRegex(KeyError, "mine", next, results)
        self.assertEqual(list(results), [])

    def test_wrong_arguments(self):
        self.assertRaises(ValueError, orrery.simulate_many, [], errors="ignore")
        for threads in (-1, 5000):
            self.assertRaises(orrery.ExperimentError, orrery.simulate_many, [], threads=threads)
        self.assertRaises(TypeError, orrery.simulate_many, 3)
        self.assertRaises(TypeError, orrery.simulate_many, [], threads="two")
        with self.assertRaisesRegex(orrery.ExperimentError, "tensor_parallel"):
            orrery.simulate_many([], overrides=["plan.tensor_paralel=2"])


SLOW = ("import orrery, itertools, sys\n"
        "plan = {'model': 'llama3.1-405b', 'cluster': {'base': 'dgx-h100', 'nodes': 56},\n"
        "        'plan': {'tensor_parallel': 8, 'pipeline_parallel': 14, 'micro_batch_size': 1},\n"
        "        'simulation': {'folding': 'off'}}\n"
        "plans = ({**plan, 'plan': {**plan['plan'], 'global_batch_size': 4 * (16 + n)}} for n in itertools.count())\n"
        "print('begun', flush=True)\n"
        "for result in orrery.simulate_many(plans):\n"
        "    pass\n")


class Interrupt(unittest.TestCase):
    def test_ctrl_c_ends_a_long_loop(self):
        loop = subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(loop.stdout.readline(), "begun\n")
        time.sleep(1)
        loop.send_signal(signal.SIGINT)
        errors = loop.communicate(timeout=60)[1]
        self.assertTrue(errors.rstrip().endswith("KeyboardInterrupt"), errors)

    def test_other_threads_of_python_run_meanwhile(self):
        ticks = []
        done = threading.Event()

        def tick():
            while not done.wait(0.001):
                ticks.append(time.monotonic())

        ticker = threading.Thread(target=tick)
        ticker.start()
        list(orrery.simulate_many(small(global_batch_size=8 * n) for n in range(1, 200)))
        done.set()
        ticker.join()
        self.assertTrue(ticks)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_a_child_process_simulates_on_its_own(self):
        expected = orrery.simulate(SMALL).step_time_s
        child = os.fork()
        if child == 0:
            os._exit(0 if orrery.simulate(SMALL).step_time_s == expected else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


if __name__ == "__main__":
    main()
