#!/usr/bin/env python3
"""Commands that meet an experiment which serves requests: those of training refuse it, and say where.

Usage: serving_commands_test.py ORRERY EXAMPLES
"""

import json
import sys
import unittest

from command_line import CommandLineCase, orrery


class ServingCommands(CommandLineCase):
    def setUp(self):
        super().setUp()
        self.serving = self.path / "s.json"
        self.serving.write_text(json.dumps({
            "name": "served", "model": "llama3.1-8b", "cluster": "dgx-h100",
            "inference": {"prompt_tokens": 500, "output_tokens": 20, "batch_size": 4, "max_model_len": 1024}}))

    def test_training_only(self):
        for words in [["schedule"], ["memory", "--accounting", "explorer"], ["converge"], ["elastic", "--steps", "3"],
                      ["simulate", "--emit", "megatron"], ["simulate", "--what-if"],
                      ["plan", "--search", "dp", "--vary", "plan.stage_layers=auto"],
                      ["plan", "--search", "ilp", "--vary", "plan.stage_layers=auto"]]:
            with self.subTest(words[0]):
                out = orrery(*words[:1], self.serving, *words[1:])
                self.assertEqual((out.returncode, out.stdout), (2, ""))
                self.assertIn("/inference: found requests to serve", out.stderr)
                self.assertEqual(out.stderr.count("\n"), 1)

    def test_batch(self):
        line = json.dumps(json.loads(self.serving.read_text())) + "\n"
        out = orrery("simulate", "--batch", text=line * 2)
        first, second = map(json.loads, out.stdout.splitlines())
        self.assertEqual((first["line"], second["line"]), (1, 2))
        self.assertEqual(first["tokens_per_s_per_gpu"], second["tokens_per_s_per_gpu"])
        refused = json.loads(orrery("schedule", "--batch", text=line).stdout)
        self.assertEqual(refused["error"]["pointer"], "/inference")

    def test_plan_and_sweep(self):
        out = orrery("plan", self.serving, "--limit", "ttft_s_p99=0.2", "--limit", "tpot_s_p99=1", "--pareto", "tpot_s_p99",
                     "--json", "-")
        found = json.loads(out.stdout)
        self.assertEqual(found["objective"], "tokens_per_s_per_gpu")
        self.assertEqual(found["limits"], {"ttft_s_p99": 0.2, "tpot_s_p99": 1})
        self.assertTrue(all(plan["ttft_s_p99"] <= 0.2 for plan in found["best"] + found["pareto"]))
        results = self.path / "r.db"
        swept = orrery("sweep", self.serving, "--out", results, "--vary", "plan.tensor_parallel=1,2,4,8", "--vary",
                       "inference.batch_size=1,8,64", "--pareto", "tokens_per_s_per_gpu,tpot_s_p99")
        self.assertEqual(swept.returncode, 0, swept.stderr)
        for word in ["tokens_per_s_per_gpu", "tpot_s_p99", "12 of 12 points"]:
            self.assertIn(word, swept.stdout)
        self.assertIn("tokens_per_s_per_gpu", orrery("sweep", "--out", results, "--top", "2").stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
