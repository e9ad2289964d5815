#!/usr/bin/env python3
"""gossip, converge and compare as a user meets them.

Usage: synchronization_commands_test.py ORRERY EXAMPLES
"""

import csv
import json
import sys
import unittest

from command_line import CommandLineCase, EXAMPLES, SMALL, orrery


class SynchronizationCommands(CommandLineCase):
    def test_gossip(self):
        out = orrery("gossip", "--workers", "16,12", "one-peer-exponential", "hypercube", "--json", self.path / "g.json")
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        rows = json.loads((self.path / "g.json").read_text())
        self.assertEqual([(row["topology"], row["workers"]) for row in rows],
                         [("one-peer-exponential", 16), ("one-peer-exponential", 12), ("hypercube", 16), ("hypercube", 12)])
        self.assertEqual([row.get("exact_after_rounds") for row in rows], [4, None, None, None])
        self.assertAlmostEqual(rows[2]["spectral_gap"], 0.4)
        self.assertIn("powers of two", rows[3]["problem"])
        self.assertIn("powers of two", out.stdout)
        table = orrery("gossip", "--workers", "16,1000").stdout.splitlines()
        self.assertLessEqual(max(map(len, table)), 80)
        for entry in json.loads(orrery("list", "gossip", "--json").stdout)["gossip"]:
            self.assertEqual(sum(line.startswith(entry["name"] + " ") for line in table), 2)
        wrong = orrery("gossip", "rng")
        self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))
        self.assertIn('did you mean "ring"?', wrong.stderr)

    def test_converge(self):
        arguments = ("converge", EXAMPLES / "converge-gossip.json", "problem.iterations=100", "--vary",
                     "data_parallel_sync.method=all-reduce,gossip", "--target", "0.66")
        out = orrery(*arguments, "--json", self.path / "c.json", "--csv", self.path / "c.csv")
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        self.assertIn("a  method=all-reduce\n", out.stdout)
        self.assertLessEqual(max(map(len, out.stdout.splitlines())), 80)
        runs = json.loads((self.path / "c.json").read_text())["runs"]
        self.assertEqual([run["method"] for run in runs], ["all-reduce", "gossip"])
        for run in runs:
            self.assertEqual(run["workers"], 16)
            last = run["points"][-1]
            self.assertEqual(last["iteration"], 100)
            self.assertAlmostEqual(last["time_s"], 100 * run["step_time_s"])
            self.assertGreater(last["loss"], run["least_loss"])
            self.assertLess(last["loss"], 0.66)
            self.assertLess(run["time_to_target_s"], last["time_s"])
        with open(self.path / "c.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), sum(len(run["points"]) for run in runs))
        self.assertEqual(float(rows[-1]["loss"]), runs[1]["points"][-1]["loss"])
        again = orrery(*arguments, "--threads", 1)
        self.assertEqual(again.stdout, out.stdout)

    def test_converge_varies_as_compare_does(self):
        arguments = (EXAMPLES / "converge-gossip.json", "--vary", "data_parallel_sync.method=all-reduce,local-sgd",
                     "--vary", "data_parallel_sync.period=2,4")
        out = orrery("converge", *arguments, "problem.iterations=20", "--json", "-")
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        runs = json.loads(out.stdout)["runs"]  # the period of an all-reduce does nothing
        self.assertEqual([run["name"] for run in runs], ["method=all-reduce", "method=local-sgd, period=2", "method=local-sgd, period=4"])
        rows = json.loads(orrery("compare", *arguments, "--json", "-").stdout)["rows"]
        self.assertEqual([row["method"] for row in rows], [run["method"] for run in runs])

    def test_null_lets_a_file_with_all_degrees_vary(self):
        out = orrery("compare", self.experiment, "plan.data_parallel=null", "--vary", "plan.tensor_parallel=1,2,4", "--json", "-")
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        self.assertEqual([row["result"]["plan"]["data_parallel"] for row in json.loads(out.stdout)["rows"]], [4, 2, 1])

    def test_converge_refuses(self):
        example = EXAMPLES / "converge-gossip.json"
        for arguments, message in (
                ((), "an experiment file is missing"),
                ((example, "--vary", "period"), "allowed KEY=VALUE,VALUE,..."),
                ((example, "--vary", "problem.dimension=" + ",".join(map(str, range(1, 30)))), "more than 26"),
                ((example, "problem.iterations=1e9"), "/problem/iterations: found"),
                ((example, "data_parallel_sync.topology=[[1],[0]]"), "/data_parallel_sync/topology: found lists for 2"),
                ((example, "problem.kind=svm"), "/problem/kind: found")):
            out = orrery("converge", *arguments, "--json", self.path / "c.json")
            self.assertEqual((out.returncode, out.stdout), (2, ""), arguments)
            self.assertIn(message, out.stderr)
        self.assertEqual(self.files(), ["e.json"])

    def test_compare(self):
        arguments = ["compare", self.experiment, "plan.micro_batch_size=2", "--vary", "plan.zero_stage=0,1", "--vary", "plan.stage_layers=[6,6],[7,5],[1,1]"]
        out = orrery(*arguments, "--json", self.path / "c.json", "--csv", self.path / "c.csv")
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        for word in ("zero_stage", "stage_layers", "comm.", "speed-up", "scaling", "Not feasible"):
            self.assertIn(word, out.stdout)
        rows = json.loads((self.path / "c.json").read_text())["rows"]
        self.assertEqual(len(rows), 6)
        self.assertEqual(rows[4]["vary"], {"plan.zero_stage": 1, "plan.stage_layers": [7, 5]})
        self.assertEqual([row["feasible"] for row in rows], [True, True, False] * 2)
        single = json.loads(orrery("simulate", self.experiment, "plan.micro_batch_size=2", "plan.zero_stage=1", "plan.stage_layers=[7,5]", "--json", "-").stdout)
        del single["stats"], rows[4]["result"]["stats"]
        self.assertEqual(rows[4]["result"], single)
        self.assertAlmostEqual(rows[4]["ratio"]["speed_up"], single["samples_per_s"] / rows[0]["result"]["samples_per_s"])
        with open(self.path / "c.csv", newline="") as file:
            table = list(csv.DictReader(file))
        self.assertEqual([float(row["step_time_s"] or 0) for row in table], [(row["result"] or {}).get("step_time_s", 0) for row in rows])
        self.assertIn("/plan/stage_layers", table[5]["reasons"])
        self.assertEqual(self.files(), ["c.csv", "c.json", "e.json"])
        for threads in (1, 2):
            self.assertEqual(orrery(*arguments, "--threads", threads).stdout, out.stdout)
        self.assertEqual(orrery(*arguments, "--quiet").stdout, "")
        self.assertEqual(len(json.loads(orrery("compare", self.experiment, EXAMPLES / "torus.json", "--json", "-").stdout)["rows"]), 2)
        self.assertEqual(orrery("compare", "-", "--vary", "plan.zero_stage=0,1", text=json.dumps(SMALL)).returncode, 0)
        out = orrery("compare", self.experiment, "--vary", "model=gpt3-175b")
        self.assertEqual(out.returncode, 3)
        self.assertIn("out of memory", out.stdout)

    def test_compare_refuses(self):
        def wrong(words, *arguments, status=2):
            out = orrery("compare", *arguments, "--json", self.path / "r.json")
            self.assertEqual((out.returncode, out.stdout), (status, ""), out.stderr)
            self.assertIn(words, out.stderr)
            self.assertEqual(self.files(), ["e.json"])
        wrong("an experiment file is missing", "plan.zero_stage=1")
        wrong('did you mean "zero_stage"?', self.experiment, "--vary", "plan.zero_stag=0,1")
        wrong("none.json: cannot be read", self.experiment, self.path / "none.json")
        wrong("found an empty value", self.experiment, "--vary", "plan.zero_stage=0,")
        wrong('found key "plan.zero_stage" twice', self.experiment, "--vary", "plan.zero_stage=0,1", "--vary", "plan.zero_stage=2")
        wrong("found more than", self.experiment, "--vary", "simulation.seed=" + ",".join(map(str, range(101))), "--vary", "plan.bucket_mb=" + ",".join(map(str, range(100))))
        wrong("standard input is named twice", "-", "-")
        wrong("allowed the cluster's 8 GPUs", self.experiment, "--vary", "plan.data_parallel=3,5")
        wrong('found option "--page"', self.experiment, "--page", self.path / "x.html")
        text = self.experiment.read_text()
        self.assertEqual(orrery("compare", self.experiment, "--json", self.experiment).returncode, 2)
        self.assertEqual(self.experiment.read_text(), text)
        self.assertEqual(orrery("compare", self.experiment, "--csv", "/dev/full").returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
