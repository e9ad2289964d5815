#!/usr/bin/env python3
"""`orrery memory` and its accountings, as a user meets them.

Usage: memory_command_test.py ORRERY EXAMPLES
"""

import csv
import io
import json
import sys
import unittest

from command_line import CommandLineCase, SMALL, changed, orrery

LLAMA = {"name": "LLaMA-3.1 405B", "model": "llama3.1-405b", "cluster": {"base": "dgx-h100", "nodes": 1},
         "plan": {"data_parallel": 8, "global_batch_size": 4096}}
THEIRS = ["name", "ngpus", "TP", "PP", "EP", "CP", "DP", "sub_seq_length", "micro_batch_size", "num_of_micro_batches",
          "data_parallel_sharding_strategy", "total_memory_gb", "model_and_optimizer_states_memory_gb",
          "activations_memory_gb"]
# These figures are published (Khare 2024).
ROWS = """LLaMA-3.1 405B,8,1,1,1,1,8,8192,1,512.0,NO_OP,7372.49,6803.58,568.91
LLaMA-3.1 405B,8,1,1,1,1,8,8192,2,256.0,NO_OP,7941.40,6803.58,1137.82
LLaMA-3.1 405B,8,1,1,1,1,8,8192,4,128.0,NO_OP,9079.22,6803.58,2275.64
LLaMA-3.1 405B,8,1,1,1,1,8,8192,1,512.0,FULLY_SHARD,1324.86,755.95,568.91""".splitlines()
PLANS = [["plan.micro_batch_size=1"], ["plan.micro_batch_size=2"], ["plan.micro_batch_size=4"], ["plan.zero_stage=3"]]


def explorer(*arguments, text=""):
    return orrery("memory", *arguments, "--accounting", "explorer", text=text)


class MemoryCommand(CommandLineCase):
    def test_the_published_rows(self):
        self.experiment.write_text(json.dumps(LLAMA))
        for row, plan in zip(ROWS, PLANS):
            out = explorer(self.experiment, *plan, "--csv", self.path / "r.csv", "--quiet")
            self.assertEqual((out.returncode, out.stdout, out.stderr), (3, "", ""))
            with open(self.path / "r.csv", newline="") as file:
                header, cells = csv.reader(file)
            self.assertEqual(header[:len(THEIRS)], THEIRS)
            self.assertEqual(",".join(cells[:len(THEIRS)]), row)
            self.assertEqual(len(header), len(cells))

    def test_a_plan_that_fits(self):
        out = explorer(self.experiment, "--json", "-")
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        result = json.loads(out.stdout)
        # gpt3-125m: (50257 * 768 // 2 + ((768 // 2 * (768 + 2 * 768 + 768) + 768 * 3072 * 2 // 2) * 12 // 2) parameters.
        self.assertEqual(result["dense_parameters"], 50257 * 384 + (384 * 3072 + 768 * 3072) * 6)
        self.assertEqual(result["pipeline_bubble"], 1 / 8)
        self.assertTrue(result["feasible"])
        self.assertIn("as the explorer counts it", explorer(self.experiment).stdout)
        self.assertEqual(explorer(self.experiment, "--quiet").stdout, "")

    def test_batches(self):
        lines = [json.dumps({**LLAMA, "id": 7}), json.dumps(changed(model="resnet-50", plan={"data_parallel": 8, "global_batch_size": 8})),
                 json.dumps(SMALL)]
        out = explorer("--batch", "plan.micro_batch_size=1", text="\n".join(lines))
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        first, wrong, last = map(json.loads, out.stdout.splitlines())
        self.assertEqual(list(first)[:4], ["line", "id", "name", "ngpus"])
        self.assertEqual((first["id"], round(first["total_memory_gb"], 2), first["feasible"]), (7, 7372.49, False))
        self.assertEqual((wrong["line"], wrong["error"]["pointer"]), (2, "/model/kind"))
        self.assertEqual((last["line"], last["feasible"]), (3, True))

    def test_the_default_is_orrerys_own(self):
        own = orrery("memory", self.experiment, "--json", "-").stdout
        self.assertEqual(orrery("memory", self.experiment, "--accounting", "orrery", "--json", "-").stdout, own)
        self.assertIn("per_stage", own)

    def test_some_keys_only(self):
        out = orrery("memory", "--batch", "--only", "feasible,memory.peak_gb", text=json.dumps(SMALL))
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        result = json.loads(out.stdout)
        self.assertEqual(list(result), ["line", "name", "feasible", "memory"])
        whole = json.loads(orrery("memory", self.experiment, "--json", "-").stdout)
        self.assertEqual(result["memory"], {"peak_gb": whole["memory"]["peak_gb"]})
        for wrong, said in ((["--only", "gpus", self.experiment], "--only needs"),
                            (["--batch", "--only", "gpu"], 'did you mean "gpus"?')):
            out = orrery("memory", *wrong)
            self.assertEqual(out.returncode, 2)
            self.assertIn(said, out.stderr)
        out = explorer("--batch", "--only", "gpus")
        self.assertEqual(out.returncode, 2)
        self.assertIn("--only is allowed only with --accounting orrery", out.stderr)

    def test_errors(self):
        out = orrery("memory", self.experiment, "--accounting", "explorers")
        self.assertEqual((out.returncode, out.stdout), (2, ""))
        self.assertIn('found "explorers", allowed orrery, explorer; did you mean "explorer"?', out.stderr)
        experts = {"kind": "moe-transformer", "layers": 4, "hidden": 64, "heads": 4, "vocab": 128, "seq_length": 32,
                   "experts": 4, "experts_per_token": 2}
        plan = {"tensor_parallel": 4, "data_parallel": 2, "expert_parallel": 4, "expert_tensor_parallel": 1,
                "global_batch_size": 8, "zero_stage": 1}
        self.experiment.write_text(json.dumps(changed(model=experts, plan=plan), indent=1))
        out = explorer(self.experiment, "--csv", self.path / "r.csv")
        self.assertEqual((out.returncode, out.stdout), (2, ""))
        self.assertRegex(out.stderr, r"e\.json:\d+:\d+: /plan/expert_parallel: found 4, allowed at most data_parallel 2")
        self.assertEqual(self.files(), ["e.json"])
        out = explorer(self.experiment, "plan.zero_stage=0", "--csv", "-")
        self.assertEqual(out.returncode, 0, out.stderr)
        (row,) = csv.DictReader(io.StringIO(out.stdout))
        self.assertEqual((row["EP"], row["expert_parameters"]), ("4", str(64 * 256 * 2 // 4 * 4)))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
