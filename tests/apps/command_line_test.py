#!/usr/bin/env python3
"""The command line as a user meets it: exit statuses, error lines, files left behind, batch mode.

Usage: command_line_test.py ORRERY EXAMPLES
"""

import csv
import gzip
import json
import os
import signal
import subprocess
import sys
import time
import unittest

from command_line import CommandLineCase, EXAMPLES, ORRERY, SMALL, changed, orrery


class CommandLine(CommandLineCase):
    def test_all_outputs(self):
        out = orrery("simulate", self.experiment, "--json", self.path / "r.json", "--csv", self.path / "r.csv",
                     "--trace", self.path / "t.json.gz")
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        self.assertIn("step time", out.stdout)
        result = json.loads((self.path / "r.json").read_text())
        self.assertAlmostEqual(sum(result["breakdown_s"].values()), result["step_time_s"], delta=1e-9)
        self.assertAlmostEqual(sum(result["critical_path_s"].values()), result["step_time_s"], delta=1e-9)
        with open(self.path / "r.csv", newline="") as file:
            (row,) = csv.DictReader(file)
        self.assertAlmostEqual(float(row["step_time_s"]), result["step_time_s"])
        self.assertAlmostEqual(float(row["breakdown_s.compute"]), result["breakdown_s"]["compute"])
        trace = json.loads(gzip.open(self.path / "t.json.gz").read())
        self.assertGreater(sum(e["ph"] == "X" for e in trace["traceEvents"]), 100)
        self.assertEqual(self.files(), ["e.json", "r.csv", "r.json", "t.json.gz"])

    def test_standard_streams(self):
        out = orrery("simulate", "-", "--json", "-", text=json.dumps(SMALL))
        self.assertEqual(out.returncode, 0)
        self.assertTrue(json.loads(out.stdout)["feasible"])
        self.assertEqual(orrery("simulate", self.experiment, "--quiet").stdout, "")

    def test_results_repeat_to_the_bit(self):
        def result(*more):
            value = json.loads(orrery("simulate", self.experiment, "--json", "-", *more).stdout)
            del value["stats"], value["assumptions"]
            return value
        self.assertEqual(result(), result())
        self.assertEqual(result(), result("simulation.folding=off"))

    def wrong(self, experiment, pointer, *words, overrides=()):
        self.experiment.write_text(experiment if isinstance(experiment, str) else json.dumps(experiment, indent=1))
        out = orrery("simulate", self.experiment, *overrides, "--json", self.path / "r.json", "--trace",
                     self.path / "t.json", "--csv", self.path / "r.csv")
        self.assertEqual(out.returncode, 2, out.stderr)
        self.assertEqual(out.stdout, "")
        self.assertEqual(self.files(), ["e.json"])
        lines = out.stderr.splitlines()
        self.assertEqual(len(lines), 1, out.stderr)
        for word in (pointer, *words):
            self.assertIn(word, lines[0])
        return lines[0]

    def test_wrong_experiments(self):
        plan = SMALL["plan"]
        where = str(self.experiment) + ":"
        self.wrong(changed(plan={**plan, "tensor_paralel": 2}), "/plan/tensor_paralel", where, "tensor_parallel")
        self.wrong(changed(model="gpt3-175"), "/model", where, "gpt3-175b")
        self.wrong(changed(plan={**plan, "tensor_parallel": "two"}), "/plan/tensor_parallel", where)
        self.wrong(changed(plan={**plan, "tensor_parallel": 0}), "/plan/tensor_parallel", where)
        self.wrong(changed(plan={**plan, "data_parallel": 3}), "/plan", where, "12", "8")
        self.wrong(changed(plan={**plan, "tensor_parallel": 8, "pipeline_parallel": 1, "data_parallel": 1}), "/plan/tensor_parallel", where, "12")
        self.wrong(changed(plan={**plan, "global_batch_size": 15}), "/plan/global_batch_size", where, "15")
        self.wrong(changed(model={"base": "gpt3-125m", "layers": 13}), "layers", where, "13")
        self.wrong(changed(plan={**plan, "stage_layers": [6, 5]}), "/plan/stage_layers", where, "12")
        self.wrong(changed(plan={**plan, "pipeline_schedule": "1f2b"}), "/plan/pipeline_schedule", where, "1f1b")
        self.wrong(changed(plan={**plan, "pipeline_schedule": "interleaved"}), "/plan/pipeline_schedule", where, 'did you mean "interleaved-1f1b"?')
        self.wrong(changed(plan={**plan, "precision": "fp8"}), "/plan/precision", where)
        self.wrong(changed(plan={**plan, "context_parallel": 2}), "/plan/context_parallel", where)
        self.wrong(changed(plan={**plan, "zero_stage": 3}, data_parallel_sync={"method": "none"}), "/plan/zero_stage", where)
        self.wrong(changed(plan={**plan, "bucket_mb": 2e-6}), "/plan", where, "operations")
        self.wrong(changed(model={"kind": "mlp", "widths": [8, 8, 8], "seq_length": 8}, plan={**plan, "recompute": "full"}), "/plan/recompute", where)
        self.wrong(changed(stack="megatron-2020"), "/stack", where, "megatron-2021")
        self.wrong("{\"model\": ", "", where)
        self.wrong("{\"model\": \"gpt3-125m\", \"model\": 1}", "/model", where)
        self.wrong("", "", where)
        self.wrong(SMALL, "/plan/micro_batch_size", "command line", overrides=["plan.micro_batch_size=-1"])
        self.wrong(SMALL, "/plan/micro_batch", "command line", 'did you mean "micro_batch_size"?', overrides=["plan.micro_batch=1"])

    def test_what_only_the_topology_can_refuse_names_the_file_too(self):
        grid = {"base": "dgx-a100-80gb", "nodes": 1, "node": {"kind": "hybrid-cube-mesh", "link_gb_per_s": 25}, "gpus_per_node": 16}
        line = self.wrong(changed(cluster=grid, plan={**SMALL["plan"], "data_parallel": 4}), "/cluster", str(self.experiment))
        self.assertIn("16", line)
        self.assertRegex(line, r"^.*e\.json:\d+:\d+: /cluster")
        plan = {**SMALL["plan"], "collectives": {"all-gather": "tree"}, "zero_stage": 1}
        line = self.wrong(changed(plan=plan), "/plan/collectives/all-gather", str(self.experiment))
        self.assertRegex(line, r"^.*e\.json:\d+:\d+: ")
        self.wrong(changed(cluster={"base": "dgx-a100-80gb", "nodes": 1, "node": {"kind": "nvswitch", "link_gb_per_s": 80000}}), "/cluster/node/link_gb_per_s")

    def test_mistakes_of_file_and_command_line_come_together(self):
        self.experiment.write_text(json.dumps(changed(model="gpt3-175")))
        out = orrery("simulate", self.experiment, "plan.micro_batch=1", "model.layers")
        self.assertEqual(out.returncode, 2)
        self.assertGreaterEqual(len(out.stderr.splitlines()), 2, out.stderr)

    def test_missing_experiment(self):
        out = orrery("simulate", self.path / "none.json")
        self.assertEqual(out.returncode, 2)
        self.assertIn("none.json", out.stderr)
        self.assertEqual(orrery("simulate").returncode, 2)
        self.assertEqual(orrery("simulat").returncode, 2)
        out = orrery("simulate", self.experiment, "--trace", self.path / "t.json", "--trace-ranks", "0-99")
        self.assertEqual(out.returncode, 2)
        self.assertTrue(out.stderr.startswith("command line: --trace-ranks"), out.stderr)
        out = orrery("simulate", self.experiment, "--json", self.path / "r", "--csv", self.path / "r")
        self.assertTrue(out.stderr.startswith("command line: two outputs"), out.stderr)
        self.assertEqual(self.files(), ["e.json"])

    def test_infeasible(self):
        self.experiment.write_text(json.dumps(changed(model="gpt3-175b")))
        out = orrery("simulate", self.experiment, "--json", self.path / "r.json")
        self.assertEqual(out.returncode, 3)
        result = json.loads((self.path / "r.json").read_text())
        self.assertFalse(result["feasible"])
        self.assertIn("out of memory", result["reasons"][0])
        self.assertGreater(result["step_time_s"], 0)
        self.assertIn("out of memory", out.stdout)

    def test_unwritable_paths(self):
        for option in ("--json", "--csv", "--trace"):
            for path in (self.path / "none" / "f", self.path, "/dev/full"):
                with self.subTest(option=option, path=str(path)):
                    out = orrery("simulate", self.experiment, option, path)
                    self.assertEqual(out.returncode, 1)
                    self.assertIn(str(path), out.stderr)
                    self.assertEqual(self.files(), ["e.json"])

    def test_full_disk_leaves_nothing(self):
        # A limit on file size stands in for a full disk.
        out = subprocess.run(["bash", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$@"', "-", ORRERY, "simulate", self.experiment, "--trace",
                              str(self.path / "t.json"), "--json", str(self.path / "r.json")], capture_output=True, text=True)
        self.assertEqual(out.returncode, 1)
        self.assertIn("t.json", out.stderr)
        self.assertEqual(self.files(), ["e.json"])
        with open("/dev/full", "w") as full:
            out = subprocess.run([ORRERY, "simulate", self.experiment], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(out.returncode, 1)

    def test_interrupted_run_leaves_nothing(self):
        process = subprocess.Popen([ORRERY, "simulate", EXAMPLES / "megatron-145b.json", "--trace", self.path / "t.json",
                                    "--trace-ranks", "0-1535", "--quiet"])
        time.sleep(0.5)
        process.send_signal(signal.SIGKILL)
        self.assertEqual(process.wait(), -signal.SIGKILL)
        self.assertEqual(self.files(), ["e.json"])

    def test_closed_and_broken_streams(self):
        for command, closed in (("simulate", "1"), ("memory", "1"), ("list", "1"), ("schema", "1")):
            arguments = [self.experiment, "--json", self.path / "r.json"] if command in ("simulate", "memory") else []
            out = subprocess.run(["bash", "-c", 'exec "$@" >&-', "-", ORRERY, command, *arguments], capture_output=True, text=True)
            self.assertEqual(out.returncode, 1, command)
            if arguments:
                json.loads((self.path / "r.json").read_text())
        with open("/dev/full", "w") as full:
            self.assertEqual(subprocess.run([ORRERY, "list"], stdout=full, stderr=subprocess.PIPE).returncode, 1)
        out = subprocess.run([ORRERY, "simulate", "--batch"], stdin=os.open("/", os.O_RDONLY), capture_output=True, text=True)
        self.assertEqual((out.returncode, out.stdout), (1, ""))
        self.assertIn("standard input", out.stderr)

    def test_an_output_never_replaces_the_experiment(self):
        text = self.experiment.read_text()
        out = orrery("simulate", self.experiment, "--json", self.experiment)
        self.assertEqual(out.returncode, 2)
        self.assertEqual(self.experiment.read_text(), text)

    def test_batch(self):
        lines = [json.dumps(SMALL), "", "{\"model\": 1, \"cluster\": \"dgx-1\"}", json.dumps(changed(plan={**SMALL["plan"], "zero_stage": 1})), "nonsense"]
        single = json.loads(orrery("simulate", self.experiment, "--json", "-").stdout)
        for threads in (1, 2):
            out = orrery("simulate", "--batch", "--threads", threads, text="\n".join(lines))
            self.assertEqual(out.returncode, 0)
            answers = [json.loads(line) for line in out.stdout.splitlines()]
            self.assertEqual(len(answers), 4)
            self.assertEqual(answers[0]["step_time_s"], single["step_time_s"])
            self.assertEqual(answers[1]["error"]["pointer"], "/model")
            self.assertGreater(answers[2]["step_time_s"], 0)
            self.assertIn("message", answers[3]["error"])

    def test_threads_answer_each_line_once(self):
        lines = [json.dumps(changed(plan={**SMALL["plan"], "global_batch_size": 64 * i})) for i in range(1, 100)]
        slow = json.dumps(changed(model="gpt3-175b"))
        mixed = "\n".join(line for trio in zip(lines, ["nonsense"] * len(lines), [""] * len(lines)) for line in trio)
        for threads in [2, 3, 8] * 4:
            out = orrery("simulate", "--batch", "--threads", threads, text=mixed + "\n" + slow + "\n" + mixed)
            answers = [json.loads(line) for line in out.stdout.splitlines()]
            middle = 2 * len(lines)
            self.assertEqual(answers[middle]["model"], "gpt3-175b")
            for part in (answers[:middle], answers[middle + 1:]):
                self.assertEqual(["error" in answer for answer in part], [False, True] * len(lines))
                self.assertEqual([answer["plan"]["global_batch_size"] for answer in part[::2]], [64 * i for i in range(1, 100)])

    def test_batch_of_some_keys(self):
        large = changed(model="gpt3-175b")
        lines = "\n".join([json.dumps(SMALL), json.dumps(large), "nonsense"])
        whole = [json.loads(line) for line in orrery("simulate", "--batch", text=lines).stdout.splitlines()]
        out = orrery("simulate", "--batch", "--only", "memory.fits,step_time_s,breakdown_s", text=lines)
        some = [json.loads(line) for line in out.stdout.splitlines()]
        for all_keys, few in zip(whole[:2], some):
            self.assertEqual(list(few), ["step_time_s", "breakdown_s", "memory"])
            self.assertEqual(few["step_time_s"], all_keys["step_time_s"])
            self.assertEqual(few["breakdown_s"], all_keys["breakdown_s"])
            self.assertEqual(few["memory"], {"fits": all_keys["memory"]["fits"]})
        self.assertIn("error", some[2])
        self.assertEqual([few["memory"]["fits"] for few in some[:2]], [True, False])
        out = orrery("simulate", "--batch", "--skip-infeasible", "--only", "step_time_s", text=lines)
        skipped = [json.loads(line) for line in out.stdout.splitlines()]
        self.assertEqual(skipped[:2], [{"step_time_s": whole[0]["step_time_s"]}, {"step_time_s": None}])
        for wrong, said in ((["--batch", "--only", "step_tim_s"], 'did you mean "step_time_s"?'), (["--only", "gpus", self.experiment], "--only needs"),
                            (["--skip-infeasible", self.experiment], "--batch")):
            out = orrery("simulate", *wrong, text=lines)
            self.assertEqual(out.returncode, 2)
            self.assertIn(said, out.stderr)

    def test_batch_answers_as_lines_come(self):
        for threads in (1, 2):
            command = [ORRERY, "simulate", "--batch", "--threads", str(threads)]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                for _ in range(5):
                    process.stdin.write(json.dumps(SMALL) + "\n")
                    process.stdin.flush()
                    self.assertIn("step_time_s", json.loads(process.stdout.readline()))
                line = json.dumps(SMALL)
                process.stdin.write("\n".join([line, line, line[:20]]))  # half a line holds nothing up
                process.stdin.flush()
                for _ in range(2):
                    self.assertIn("step_time_s", json.loads(process.stdout.readline()))
                process.stdin.write(line[20:])
                process.stdin.close()
                self.assertIn("step_time_s", json.loads(process.stdout.read()))  # without an end of line
                self.assertEqual(process.wait(), 0)

    def table(self, *rows, header="name,model,cluster.base,plan.data_parallel,plan.context_parallel,measured.step_time_s,source"):
        path = self.path / "t.csv"
        path.write_text("\n".join([header, *rows]) + "\n")
        return path

    def test_validate(self):
        table = self.table("a,gpt3-125m,dgx-a100-80gb,8,,0.05,here", "b,gpt3-350m,dgx-a100-80gb,,,0.1,here",
                           "c,gpt3-125m,dgx-a100-80gb,,2,0.1,here", "d,gpt3-175b,dgx-a100-80gb,,,9,here")
        out = orrery("validate", table, "--json", self.path / "v.json", "--csv", self.path / "v.csv", "--markdown", self.path / "v.md")
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        self.assertIn("1 row skipped: /plan/context_parallel", out.stdout)
        self.assertIn("does not fit", out.stdout)
        (result,) = json.loads((self.path / "v.json").read_text())["tables"]
        self.assertEqual(result["table"], "t")
        self.assertEqual([row["name"] for row in result["rows"]], ["a", "b", "d"])
        self.assertEqual([row["key"] for row in result["rows"]], ["step_time_s"] * 3)
        for row in result["rows"]:
            self.assertAlmostEqual(row["error"], row["predicted"] / row["measured"] - 1)
        errors = [row["error"] for row in result["rows"]]
        self.assertAlmostEqual(result["mean_abs_error"], sum(map(abs, errors)) / 3)
        self.assertAlmostEqual(result["median_abs_error"], sorted(map(abs, errors))[1])
        self.assertAlmostEqual(result["max_abs_error"], max(map(abs, errors)))
        self.assertAlmostEqual(result["bias"], sum(errors) / 3)
        self.assertEqual(result["rank_correlation"], 1)
        self.assertLess(result["p90_abs_error"], result["max_abs_error"])
        self.assertEqual([row["name"] for row in result["skipped"]], ["c"])
        self.assertEqual(result["infeasible"], 1)
        with open(self.path / "v.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["name"] for row in rows], ["a", "b", "d", "c"])
        self.assertIn("context_parallel", rows[3]["skipped"])
        self.assertIn("# Validation results", (self.path / "v.md").read_text())
        single = json.loads(orrery("simulate", self.experiment, "--json", "-", "plan={}").stdout)
        self.assertEqual(result["rows"][0]["predicted"], single["step_time_s"])

    def test_validate_repeats_and_takes_overrides(self):
        table = self.table("a,gpt3-125m,dgx-a100-80gb,,,0.05,here", "b,gpt3-350m,dgx-a100-80gb,,,0.1,here")
        results = [orrery("validate", table, "--json", "-", "--threads", n).stdout for n in (1, 2)]
        self.assertEqual(results[0], results[1])
        larger = orrery("validate", table, "plan.micro_batch_size=2", "--json", "-")
        self.assertNotEqual(larger.stdout, results[0])
        self.assertEqual(orrery("validate", table, "--quiet").stdout, "")
        out = orrery("validate", table, "plan.micro_batch=2")
        self.assertEqual(out.returncode, 2)
        self.assertTrue(out.stderr.startswith("command line: /plan/micro_batch"), out.stderr)
        named = orrery("validate", "megatron-core-h100", table, "simulation.network=alpha-beta", "--json", "-")
        self.assertEqual([t["table"] for t in json.loads(named.stdout)["tables"]], ["megatron-core-h100", "t"])
        self.assertIn("megatron-core-h100", orrery("list", "measurements").stdout)

    def test_validate_refuses_wrong_tables(self):
        def wrong(*words, table):
            out = orrery("validate", table, "--json", self.path / "r.json")
            self.assertEqual((out.returncode, out.stdout), (2, ""))
            for word in words:
                self.assertIn(word, out.stderr)
            self.assertEqual(self.files(), ["e.json", "t.csv"])
        wrong("t.csv:2:27: /plan/data_parallel", table=self.table("a,gpt3-125m,dgx-a100-80gb,x,,1,here"))
        wrong("t.csv:2:1: found 2 cells, allowed 7", table=self.table("a,b"))
        wrong("t.csv:1:6:", 'did you mean "model.layers"?', table=self.table("a,1", header="name,model.layer"))
        wrong("no measured column", table=self.table("a,gpt3-125m", header="name,model"))
        wrong('did you mean "megatron-2021"?', table="megatron-2012")
        wrong("none.csv", table=self.path / "none.csv")
        table = self.table("a,gpt3-125m,dgx-a100-80gb,,,0.05,here")
        text = table.read_text()
        self.assertEqual(orrery("validate", table, "--csv", table).returncode, 2)
        self.assertEqual(table.read_text(), text)
        self.assertEqual(orrery("validate", table, "--csv", self.path / "none" / "f").returncode, 1)

    def calibration(self, name="ours.json", **constants):
        path = self.path / name
        constants = {key: {"value": value, "source": "here"} for key, value in constants.items()}
        path.write_text(json.dumps({"part": "software", "constants": constants}))
        return path

    def measured(self, calibration):
        """A table of three runs, measured as simulated with `calibration`."""
        header = "name,model,cluster.base,cluster.nodes,cluster.gpus_per_node,plan.micro_batch_size,plan.global_batch_size,stack,measured.step_time_s"
        rows = [f"b{b},gpt3-125m,dgx-a100-80gb,1,1,{b},4,ours," for b in (1, 2, 4)]
        table = self.table(*[row + "1" for row in rows], header=header)
        out = orrery("validate", table, "--calibration", calibration, "--json", "-")
        times = [row["predicted"] for row in json.loads(out.stdout)["tables"][0]["rows"]]
        return self.table(*[f"{row}{time}" for row, time in zip(rows, times)], header=header)

    def test_calibrate(self):
        table = self.measured(self.calibration(elementwise_traffic=3.3))
        ours = self.calibration(elementwise_traffic=2)
        arguments = ["calibrate", table, "--calibration", ours, "--base", "ours", "--fit", "software.elementwise_traffic", "--folds", 3]
        out = orrery(*arguments, "--out", self.path / "fitted.json")
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        self.assertIn("held out", out.stdout)
        written = (self.path / "fitted.json").read_text()
        self.assertAlmostEqual(json.loads(written)["constants"]["elementwise_traffic"]["value"], 3.3, delta=0.033)
        self.assertEqual(json.loads(written)["fit"]["rows"], ["t: b1", "t: b2", "t: b4"])
        self.assertEqual(orrery(*arguments, "--out", "-", "--threads", 1).stdout, written)
        out = orrery("validate", table, "stack=fitted", "--calibration", self.path / "fitted.json", "--json", "-")
        self.assertLess(json.loads(out.stdout)["tables"][0]["max_abs_error"], 0.01)
        for command in ("simulate", "memory"):
            out = orrery(command, self.experiment, "stack=fitted", "--calibration", self.path / "fitted.json")
            self.assertEqual((out.returncode, out.stderr), (0, ""))

    def test_calibrate_refuses(self):
        ours = self.calibration(elementwise_traffic=2)
        table = self.measured(ours)
        text = table.read_text()
        files = self.files()
        def wrong(words, *arguments):
            out = orrery("calibrate", table, "--calibration", ours, *arguments)
            self.assertEqual((out.returncode, out.stdout), (2, ""), out.stderr)
            self.assertIn(words, out.stderr)
            self.assertEqual(self.files(), files)
            self.assertEqual(table.read_text(), text)
        fit = ["--fit", "software.elementwise_traffic"]
        wrong('did you mean "ours"?', "--base", "our", *fit)
        wrong('did you mean "software.elementwise_traffic"?', "--base", "ours", "--fit", "software.elementwise_trafic")
        wrong("--bounds", "--base", "ours", *fit, "--bounds", "software.elementwise_traffic=1")
        wrong("--out", "--base", "ours", *fit, "--out", self.path / "a", "--out", self.path / "b")
        wrong("would replace", "--base", "ours", *fit, "--out", table)
        wrong("--base is required", *fit)
        bad = self.calibration("bad.json", elementwise_trafic=2)
        files = self.files()
        wrong('did you mean "elementwise_traffic"?', "--base", "ours", *fit, "--calibration", bad)
        self.assertRegex(orrery("simulate", self.experiment, "--calibration", bad).stderr, r"bad\.json:1:\d+: /constants/elementwise_trafic")
        self.assertEqual(orrery("simulate", self.experiment, "--calibration", self.path / "none.json").returncode, 2)

    def test_lists_and_schemas(self):
        for word in ("megatron-145b", "a100-80gb", "dgx-a100-80gb", "interleaved-1f1b", "halving-doubling", "nvswitch", "fat-tree",
                     "gossip-pga", "top-k", "one-peer-exponential"):
            self.assertIn(word, orrery("list").stdout)
        for what in ("model", "cluster", "experiment", "calibration"):
            schema = json.loads(orrery("schema", what).stdout)
            self.assertIn("properties", json.dumps(schema))
        self.assertEqual(orrery("--version").returncode, 0)
        self.assertEqual(orrery("simulate", "--help").returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
