#!/usr/bin/env python3
"""Space and plan(): points as dicts, conditions, the best point of a small space by enumeration."""

import json
import pathlib
import pickle
import tempfile
import unittest

from common import command, main, small, without_machine

import orrery

SMALL = small(global_batch_size=32)
KEYS = {"plan.tensor_parallel": [1, 2, 4, 8], "plan.micro_batch_size": "1..4*2", "plan.recompute": ["none", "full"]}
WHERE = "plan.tensor_parallel * plan.micro_batch_size <= 8"
DESCRIPTION = {"experiment": SMALL, **KEYS, "where": WHERE}


class Spaces(unittest.TestCase):
    def test_points_and_numbers(self):
        space = orrery.Space(DESCRIPTION)
        self.assertEqual(len(space), 4 * 3 * 2)
        self.assertEqual(space.values["plan.micro_batch_size"], [1, 2, 4])
        self.assertEqual([space.index(space[number]) for number in range(len(space))], list(range(len(space))))
        self.assertEqual(space[-1], space[len(space) - 1])
        self.assertRaises(IndexError, space.__getitem__, len(space))
        self.assertRaises(KeyError, space.index, {"plan.tensor_parallel": 1})
        self.assertRaises(KeyError, space.index, {**space[0], "plan.recompute": "some"})

    def test_walking_gives_the_points_that_are_experiments(self):
        # The condition removes micro-batches of 4 with tensor parallelism of 4 and 8, and of 2 with 8, each in two modes
        # of recomputation; of the rest the 12 heads refuse the 8 that is left.
        space = orrery.Space(DESCRIPTION)
        points = list(space)
        self.assertEqual(len(points), 16)
        self.assertTrue(all(point["plan.tensor_parallel"] * point["plan.micro_batch_size"] <= 8 for point in points))
        self.assertEqual(space.survey().removed, {WHERE: 6, "plan.tensor_parallel": 2})
        self.assertEqual(len(space.survey().valid), 16)
        for number in range(len(space)):
            self.assertEqual(space.problem(number) is None, number in space.survey().valid)
            self.assertEqual(space.problem(number), space.problem(space[number]))

    def test_experiments_are_those_of_the_points(self):
        space = orrery.Space(DESCRIPTION)
        times = [result.step_time_s for result in orrery.simulate_many(space.experiments())]
        self.assertEqual(times, [orrery.simulate(SMALL, point).step_time_s for point in space])

    def test_equal_points_are_walked_once(self):
        # One micro-batch per replica and chunk: the order of ranks changes nothing where nothing is pipelined.
        space = orrery.Space({"plan.rank_order": ["tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"]}, SMALL)
        self.assertEqual((len(space.survey().valid), len(space.survey().distinct)), (2, 1))

    def test_files_texts_and_experiments_beside(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "small.json").write_text(json.dumps(SMALL), encoding="utf-8")
            file = pathlib.Path(folder) / "space.json"
            file.write_text(json.dumps({**DESCRIPTION, "experiment": "small.json"}), encoding="utf-8")
            expected = list(orrery.Space(DESCRIPTION))
            for space in (orrery.Space(file), orrery.Space(str(file)), orrery.Space(json.dumps(DESCRIPTION)),
                          orrery.Space({**KEYS, "where": [WHERE]}, SMALL)):
                self.assertEqual(sorted(map(str, space)), sorted(map(str, expected)))

    def test_overrides_hold_for_all_points(self):
        space = orrery.Space(DESCRIPTION, overrides={"plan.global_batch_size": 64})
        self.assertTrue(all(one["plan"]["global_batch_size"] == 64 for one in space.experiments()))

    def test_copies_through_pickle(self):
        space = orrery.Space(DESCRIPTION, overrides={"plan.global_batch_size": 64})
        copied = pickle.loads(pickle.dumps(space))
        self.assertEqual((list(copied), copied.experiment(3)), (list(space), space.experiment(3)))

    def test_mistakes(self):
        for description, word in (({"plan.tensor_paralel": [1]}, "tensor_parallel"), ({}, "at least one"),
                                  ({"plan.tensor_parallel": []}, "empty list"), ({**KEYS, "where": "1 +"}, ""),
                                  ({**KEYS, "where": "plan.tensor == 1"}, "plan.tensor"), ({"seed": b"1"}, "bytes"),
                                  ({"plan.tensor_parallel": "1..10000000000"}, "")):
            with self.subTest(str(description)):
                with self.assertRaises(orrery.ExperimentError) as raised:
                    orrery.Space(description, SMALL)
                self.assertIn(word, str(raised.exception))
                self.assertEqual(raised.exception.diagnostics[0].line, 0)
        with self.assertRaisesRegex(orrery.ExperimentError, "experiment is missing"):
            orrery.Space(KEYS)
        self.assertRaises(orrery.ExperimentError, orrery.Space, 7)


class Plans(unittest.TestCase):
    def test_the_best_is_that_of_enumeration(self):
        space = orrery.Space(DESCRIPTION)
        by_time = sorted(orrery.simulate(SMALL, point).step_time_s for point in space)
        found = orrery.plan(space=space, top=4)
        self.assertTrue(found.optimal)
        self.assertEqual(found.gap, 0)
        self.assertEqual([result.step_time_s for result in found.best], by_time[:4])
        for result in found.best:
            self.assertEqual(orrery.simulate(SMALL, result.point).step_time_s, result.step_time_s)

    def test_it_is_the_answer_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "space.json"
            file.write_text(json.dumps(DESCRIPTION), encoding="utf-8")
            written = json.loads(command("plan", "--space", file, "--threads", 1, "--quiet", "--json", "-"))
        mine = orrery.plan(space=DESCRIPTION, threads=1)
        self.assertEqual([result.step_time_s for result in mine.best],
                         [result["step_time_s"] for result in written["best"]])
        self.assertEqual((mine.simulated, mine.points, mine.optimal),
                         (written["simulated"], written["points"], written["optimal"]))
        self.assertEqual(list(mine), list(written))

    def test_objectives_pareto_and_the_usual_space(self):
        found = orrery.plan(SMALL, objective="max:mfu", pareto=["memory.peak_gb"], top=1, plan__tensor_parallel=None)
        self.assertGreater(len(found.space), 10)
        self.assertEqual(len(found.best), 1)
        front = [(result.mfu, result.memory.peak_gb) for result in found.pareto]
        self.assertEqual(front, sorted(front, reverse=True))
        self.assertIn("optimal", str(found))
        self.assertEqual(without_machine(orrery.plan(SMALL, objective="mfu", top=1).best[0])["mfu"], front[0][0])

    def test_budgets_and_progress(self):
        told = []
        self.assertEqual(orrery.plan(space=DESCRIPTION, budget=3, progress=told.append).simulated, 3)
        self.assertEqual(told[-1], 3)

        def fail(done):
            raise ZeroDivisionError

        self.assertRaises(ZeroDivisionError, orrery.plan, space=DESCRIPTION, progress=fail)

    def test_intervals_are_for_methods_that_search_them(self):
        interval = {"experiment": SMALL, "cluster.gpu.memory_gb_per_s": "1000~2000"}
        self.assertRaises(orrery.ExperimentError, orrery.Space, interval)
        found = orrery.plan(search="zeroth-order", space=interval, budget=20)
        self.assertGreater(found.best[0].point["cluster.gpu.memory_gb_per_s"], 1900)

    def test_mistakes_name_the_argument(self):
        for keywords, source in (({"search": "best"}, "search"), ({"objective": "name"}, "objective"),
                                 ({"budget": 0}, "budget"), ({"threads": -1}, "threads")):
            with self.assertRaises(orrery.ExperimentError) as raised:
                orrery.plan(space=DESCRIPTION, **keywords)
            self.assertEqual(raised.exception.diagnostics[0].source, source)
        self.assertRaises(TypeError, orrery.plan)
        self.assertRaises(TypeError, orrery.plan, SMALL, space=orrery.Space(DESCRIPTION))
        with self.assertRaisesRegex(orrery.ExperimentError, WHERE.replace("*", r"\*")):
            orrery.plan(space={**DESCRIPTION, "plan.tensor_parallel": [8], "plan.micro_batch_size": [4]})
        self.assertIn("exhaustive", orrery.METHODS)


if __name__ == "__main__":
    main()
