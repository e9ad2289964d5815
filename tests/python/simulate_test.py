#!/usr/bin/env python3
"""orrery.simulate(), memory() and resolve(): the same bits as the command line, attributes, selections."""

import copy
import gc
import json
import pathlib
import pickle
import threading
import unittest

from common import ROOT, SMALL, command, main, small, without_machine

import orrery

EXAMPLES = ["pipeline-1f1b.json", "llama-7b.yaml", "explicit-graph.json", "asynchronous.json"]


class SameAsCommandLine(unittest.TestCase):
    def test_results_are_those_of_the_command_line_to_the_bit(self):
        for name in EXAMPLES:
            path = ROOT / "examples" / name
            with self.subTest(name):
                written = json.loads(command("simulate", path, "--quiet", "--json", "-"))
                for given in (path, str(path), path.read_text(encoding="utf-8")):
                    result = orrery.simulate(given)
                    self.assertEqual(without_machine(result.to_dict()), without_machine(written))
                    self.assertEqual(list(result.to_dict()), list(written))
                self.assertEqual(without_machine(json.loads(result.to_json())), without_machine(written))

    def test_text_of_the_result_is_the_file(self):
        mine = orrery.simulate(SMALL, only=["step_time_s", "memory.peak_gb"]).to_json()
        program = command("simulate", "-", "--quiet", "--json", "-", "--only", "step_time_s,memory.peak_gb",
                          text=json.dumps(SMALL))
        self.assertEqual(mine, program)

    def test_summary_is_the_printed_one(self):
        path = ROOT / "examples" / "pipeline-1f1b.json"
        self.assertTrue(orrery.simulate(path).summary().startswith(command("simulate", path).splitlines()[0]))

    def test_memory_and_resolved(self):
        text = json.dumps(SMALL)
        written = json.loads(command("memory", "-", "--quiet", "--json", "-", text=text))
        self.assertEqual(without_machine(orrery.memory(SMALL).to_dict()), without_machine(written))
        explorer = json.loads(command("memory", "-", "--accounting", "explorer", "--quiet", "--json", "-", text=text))
        self.assertEqual(orrery.memory(SMALL, accounting="explorer"), explorer)
        resolved = orrery.resolve(SMALL)
        self.assertEqual(resolved["plan"]["data_parallel"], 4)
        again = orrery.simulate(resolved)
        self.assertEqual(without_machine(again.to_dict()), without_machine(orrery.simulate(SMALL).to_dict()))
        self.assertRaises(ValueError, orrery.memory, SMALL, accounting="none")

    def test_the_memo_changes_no_figure(self):
        cold = without_machine(orrery.simulate(SMALL).to_dict())
        for batch in (16, 24, 8):
            warm = orrery.simulate(small(global_batch_size=batch))
        self.assertEqual(without_machine(warm.to_dict()), cold)


class Overrides(unittest.TestCase):
    def test_all_forms_say_the_same(self):
        expected = orrery.simulate(small(tensor_parallel=4)).step_time_s
        self.assertNotEqual(expected, orrery.simulate(SMALL).step_time_s)
        for overrides, keywords in (({"plan.tensor_parallel": 4}, {}), (["plan.tensor_parallel=4"], {}),
                                    ("plan.tensor_parallel=4", {}), (None, {"plan__tensor_parallel": 4})):
            self.assertEqual(orrery.simulate(SMALL, overrides, **keywords).step_time_s, expected)

    def test_values_keep_their_types(self):
        for value in ("1f1b", "gpipe", 'a "quoted" name: [1]', "3", "null"):
            self.assertEqual(orrery.simulate(SMALL, {"name": value}).name, value)
        self.assertEqual(orrery.simulate(SMALL, plan__micro_batch_size=None, plan__global_batch_size=4).feasible, True)

    def test_the_experiment_of_the_caller_stays_as_it_was(self):
        mine = copy.deepcopy(SMALL)
        orrery.simulate(mine, plan__tensor_parallel=4)
        self.assertEqual(mine, SMALL)


class Results(unittest.TestCase):
    def test_attributes_paths_and_dicts_agree(self):
        result = orrery.simulate(SMALL)
        self.assertEqual(result.memory.peak_gb, result["memory.peak_gb"])
        self.assertEqual(result["memory"]["peak_gb"], result.to_dict()["memory"]["peak_gb"])
        self.assertEqual(result.memory.per_stage[0].peak_gb, result.memory.peak_gb)
        self.assertEqual(result.communication.bytes_per_gpu.tensor, result["communication.bytes_per_gpu.tensor"])
        self.assertIn("step_time_s", result)
        self.assertIn("memory.peak_gb", result.keys())
        self.assertIn("step_time_s", dir(result))
        self.assertEqual(result.row()["memory.peak_gb"], result.memory.peak_gb)
        self.assertNotIn("memory.per_stage", result.row())
        self.assertIn("step_time_s=", repr(result))

    def test_every_key_can_be_read(self):
        result = orrery.simulate(SMALL)
        for key in orrery.RESULT_KEYS:
            value = result[key]
            self.assertEqual(key in result, value is not None or key in result.keys())

    def test_what_a_result_does_not_have_is_none(self):
        result = orrery.simulate(SMALL)
        self.assertIsNone(result.training_days)
        self.assertIsNone(result.asynchrony)
        self.assertNotIn("training_days", result)
        self.assertNotIn("training_days", result.to_dict())

    def test_wrong_names_are_errors_with_the_nearest(self):
        result = orrery.simulate(SMALL)
        with self.assertRaisesRegex(AttributeError, "step_time_s"):
            result.step_tim_s
        with self.assertRaisesRegex(KeyError, "memory.peak_gb"):
            result["memory.peek_gb"]
        with self.assertRaisesRegex(AttributeError, "peak_gb"):
            result.memory.peak

    def test_selections(self):
        for only in (["step_time_s", "memory"], "step_time_s,memory"):
            result = orrery.simulate(SMALL, only=only)
            self.assertEqual(list(result.to_dict()), ["step_time_s", "memory"])
            self.assertEqual(result.step_time_s, orrery.simulate(SMALL).step_time_s)
            with self.assertRaisesRegex(AttributeError, "not asked for"):
                result.mfu
        with self.assertRaisesRegex(orrery.ExperimentError, "step_time_s"):
            orrery.simulate(SMALL, only=["step_time"])

    def test_a_plan_that_does_not_fit_is_a_result(self):
        large = small(micro_batch_size=512, global_batch_size=4096)
        whole = orrery.simulate(large)
        self.assertFalse(whole.feasible)
        self.assertTrue(whole.reasons)
        self.assertGreater(whole.step_time_s, 0)
        self.assertIsNone(orrery.simulate(large, skip_infeasible=True).step_time_s)

    def test_results_outlive_what_they_came_from(self):
        sections = [orrery.simulate(SMALL).memory for _ in range(3)]
        gc.collect()
        self.assertEqual(sections[0], sections[2])

    def test_errors_pickle(self):
        with self.assertRaises(orrery.ExperimentError) as raised:
            orrery.simulate({"model": "gpt3-125"})
        copied = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual(copied.diagnostics, raised.exception.diagnostics)

    def test_threads_of_python_simulate_side_by_side(self):
        expected = orrery.simulate(SMALL).step_time_s
        seen = []
        threads = [threading.Thread(target=lambda: seen.append(orrery.simulate(SMALL).step_time_s)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(seen, [expected] * 8)


class Names(unittest.TestCase):
    def test_lists_are_those_of_the_command_line(self):
        for kind in orrery.KINDS:
            listed = command("list", kind)
            for name, summary in orrery.names(kind).items():
                self.assertIn(name, listed)
                self.assertTrue(summary)
        with self.assertRaisesRegex(orrery.ExperimentError, "models"):
            orrery.names("model")

    def test_entries_and_schemas(self):
        self.assertEqual(orrery.entry("models", "gpt3-175b")["layers"], 96)
        self.assertEqual(orrery.schema(), json.loads(command("schema")))
        self.assertRaises(orrery.ExperimentError, orrery.entry, "models", "gpt3")
        self.assertRaises(orrery.ExperimentError, orrery.entry, "schedules", "1f1b")
        self.assertEqual(command("--version").split()[0], orrery.__version__)


if __name__ == "__main__":
    main()
