#!/usr/bin/env python3
"""Checks inputs that are no experiments: one clear error each, at its place, and no crash."""

import collections
import enum
import pathlib
import random
import unittest

from common import SMALL, main, small

import orrery


class Precision(str, enum.Enum):
    bf16 = "bf16"


class Spoiler:
    """A number whose conversion empties the dict it lies in."""

    def __init__(self, owner):
        self.owner = owner

    def __index__(self):
        self.owner.clear()
        return 3


def first(experiment, *arguments, **keywords):
    """The first diagnostic of what must be refused."""
    try:
        orrery.simulate(experiment, *arguments, **keywords)
    except orrery.ExperimentError as error:
        assert error.diagnostics and str(error), error
        return error.diagnostics[0]
    raise AssertionError(f"{experiment!r} was simulated")


class Refused(unittest.TestCase):
    def test_values_without_a_place_in_an_experiment(self):
        for value, word in ((float("nan"), "nan"), (float("inf"), "infinite"), (2**64, "64 bits"), (-2**63 - 1, "64 bits"),
                            (b"bf16", "bytes"), (bytearray(b"x"), "bytearray"), ({1, 2}, "set"), (1j, "complex"),
                            (object(), "object"), (len, "builtin_function"), (range(3), "range"), (int, "type"),
                            ("\ud800", "Unicode")):
            with self.subTest(repr(value)):
                found = first(small(precision=value))
                self.assertEqual((found.source, found.line, found.pointer), ("experiment", 0, "/plan/precision"))
                self.assertIn(word, found.message)

    def test_whole_experiments(self):
        for value in (None, 3, 1.5, b"{}", [SMALL], (), object(), {1, 2}):
            with self.subTest(repr(value)):
                self.assertIn("allowed are a dict, a path and a text", first(value).message)

    def test_keys_that_are_no_texts(self):
        found = first({"model": "gpt3-125m", "plan": {1: 2}})
        self.assertEqual((found.pointer, "int" in found.message), ("/plan", True))

    def test_a_dict_within_itself_and_deep_ones(self):
        cyclic = dict(SMALL)
        cyclic["plan"] = cyclic
        self.assertIn("64 levels", first(cyclic).message)
        ring = []
        ring.append(ring)
        self.assertIn("64 levels", first(small(stage_layers=ring)).message)
        deep = {}
        for _ in range(100_000):
            deep = {"x": deep}
        self.assertIn("64 levels", first(deep).message)
        while deep:  # or its end would take as deep a recursion
            deep = deep.pop("x")

    def test_too_much(self):
        self.assertIn("16 MB", first(small(precision="x" * 20_000_000)).message)
        self.assertTrue(first(small(stage_layers=[1] * 3_000_000)).message)

    def test_a_value_that_changes_its_dict(self):
        owner = {"tensor_parallel": None, **{f"key{n}": n for n in range(100)}}
        owner["tensor_parallel"] = Spoiler(owner)
        first({**SMALL, "plan": owner})
        numbers = [None] * 100
        numbers[0] = Spoiler(numbers)
        first(small(stage_layers=numbers))

    def test_wrong_keys_and_values_name_the_nearest(self):
        found = first({**SMALL, "plann": {}})
        self.assertEqual(found.pointer, "/plann")
        self.assertIn('did you mean "plan"?', found.message)
        self.assertEqual(first(small(tensor_parallel="two")).pointer, "/plan/tensor_parallel")
        self.assertIn("gpt3-125m", first({**SMALL, "model": "gpt3-125"}).message)

    def test_all_mistakes_are_told(self):
        with self.assertRaises(orrery.ExperimentError) as raised:
            orrery.simulate(small(tensor_parallel="two", pipeline_parallel="x", colour="red"))
        self.assertEqual({diagnostic.pointer for diagnostic in raised.exception.diagnostics},
                         {"/plan/tensor_parallel", "/plan/pipeline_parallel", "/plan/colour"})

    def test_texts_have_positions(self):
        found = first('{"model": "gpt3-125m",\n "cluster": "dgx-h100",\n "plan": {"tensor_parallel": 0}}')
        self.assertEqual((found.line, found.column, found.pointer), (3, 30, "/plan/tensor_parallel"))
        found = first("model: gpt3-125m\ncluster: dgx-h101\n")
        self.assertEqual((found.line, found.pointer), (2, "/cluster"))
        self.assertEqual(first('{"model":').source, "experiment")

    def test_files(self):
        self.assertIn("cannot be read", first("no/such/file.json").message)
        self.assertEqual(first(pathlib.Path("no/such/file.json")).source, "no/such/file.json")
        self.assertIn("cannot be read", first("").message)
        self.assertIn("NUL", first("a\0b").message)

    def test_overrides(self):
        for overrides in (["plan"], [3], {"plan.tensor_paralel": 2}, {"plan.tensor_parallel": float("nan")},
                          {"plan.tensor_parallel": b"2"}):
            with self.subTest(repr(overrides)):
                self.assertEqual(first(SMALL, overrides).source, "override")
        self.assertEqual(first(SMALL, plan__tensor_parallel=3).pointer, "/plan/tensor_parallel")
        self.assertRaises(TypeError, orrery.simulate, SMALL, overrides=3)

    def test_random_rubbish_never_crashes(self):
        chance = random.Random(7)
        scraps = [None, True, 0, -1, 2**63, 1e308, "", "gpt3-125m", "dgx-h100", [], {}, float("nan"), b"", (1, 2)]
        keys = ["model", "cluster", "plan", "tensor_parallel", "nodes", "base", "simulation", "id", ""]

        def rubbish(depth):
            kind = chance.random()
            if depth == 0 or kind < 0.4:
                return chance.choice(scraps)
            if kind < 0.5:
                return [rubbish(depth - 1) for _ in range(chance.randrange(4))]
            return {chance.choice(keys): rubbish(depth - 1) for _ in range(chance.randrange(5))}

        for number in range(2000):
            experiment = rubbish(5)
            if isinstance(experiment, dict):
                for outcome in orrery.simulate_many([experiment], threads=1, errors="return"):
                    self.assertIsInstance(outcome, (orrery.Result, orrery.ExperimentError), (number, experiment))


class Accepted(unittest.TestCase):
    def test_mappings_and_subclasses(self):
        expected = orrery.simulate(SMALL).step_time_s
        frozen = collections.ChainMap(SMALL)
        ordered = collections.OrderedDict(SMALL)
        for given in (frozen, ordered, small(precision=Precision.bf16)):
            self.assertEqual(orrery.simulate(given).step_time_s, expected)

    def test_numbers_of_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no NumPy")
        expected = orrery.simulate(small(tensor_parallel=4, sequence_parallel=True)).step_time_s
        for four in (numpy.int64(4), numpy.uint8(4), numpy.int16(4)):
            given = small(tensor_parallel=four, sequence_parallel=numpy.bool_(True))
            self.assertEqual(orrery.simulate(given).step_time_s, expected)
        speed = {"cluster": {"base": "dgx-a100-80gb", "gpu": {"base": "a100-80gb", "memory_gb": numpy.float32(64)}}}
        self.assertEqual(orrery.simulate({**SMALL, **speed}).memory.capacity_gb, 64)
        self.assertIn("ndarray", first(small(tensor_parallel=numpy.array([4]))).message)

    def test_floats_arrive_to_the_bit(self):
        for rate in (0.1, 1 / 3, 123456.789, 5e-324, 1e-22):
            problem = {**SMALL, "problem": {"noise": rate}}
            self.assertEqual(orrery.resolve(problem)["problem"]["noise"], rate)


if __name__ == "__main__":
    main()
