#!/usr/bin/env python3
"""validate and calibrate as a user meets them.

Usage: measurement_commands_test.py ORRERY EXAMPLES
"""

import csv
import json
import sys
import unittest
import zlib

from command_line import CommandLineCase, orrery


class MeasurementCommands(CommandLineCase):
    def table(self, *rows, header="name,model,cluster.base,plan.data_parallel,cluster.overrides,measured.step_time_s,source"):
        path = self.path / "t.csv"
        path.write_text("\n".join([header, *rows]) + "\n")
        return path

    def test_validate(self):
        table = self.table("a,gpt3-125m,dgx-a100-80gb,8,,0.05,here", "b,gpt3-350m,dgx-a100-80gb,,,0.1,here",
                           'c,gpt3-125m,dgx-a100-80gb,,"[{""gpu"": 0, ""speed"": 0.5, ""link"": 0}]",0.1,here', "d,gpt3-175b,dgx-a100-80gb,,,9,here")
        out = orrery("validate", table, "--json", self.path / "v.json", "--csv", self.path / "v.csv", "--markdown", self.path / "v.md")
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        self.assertIn("1 row skipped: /cluster/overrides/0/link", out.stdout)
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
        self.assertIn("link", rows[3]["skipped"])
        self.assertIn("# Validation results", (self.path / "v.md").read_text())
        single = json.loads(orrery("simulate", self.experiment, "--json", "-", "plan={}").stdout)
        self.assertEqual(result["rows"][0]["predicted"], single["step_time_s"])

    def test_validate_ranks_plans(self):
        table = self.table(*(f"{name},gpt3-1.3b,dgx-a100-80gb,{tensor},first,{time},here" for name, tensor, time in
                             (("a", 1, 0.05), ("b", 2, 0.06), ("c", 4, 0.09), ("d", 8, 0.2))),
                           header="name,model,cluster.base,plan.tensor_parallel,case,measured.step_time_s,source")
        out = orrery("validate", "--ranking", table, "--json", self.path / "r.json")
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        self.assertIn("t, first: 4 plans of 8 GPUs ran, the best in 0.05 s (a)", out.stdout)
        (case,) = json.loads((self.path / "r.json").read_text())["cases"]
        self.assertEqual((case["case"], case["ran"], case["failed"], case["best"]), ("first", 4, 0, "a"))
        self.assertEqual([order["by"] for order in case["orders"]], ["flow", "alpha-beta"])
        for order in case["orders"]:
            self.assertLessEqual(order["kendall_tau"], 1)
            self.assertGreaterEqual(order["regret"], order["regret_of_3"])

    def test_validate_ranks_the_tables_that_name_cases(self):
        out = orrery("validate", "--ranking", "--json", "-")
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        tables = {case["table"] for case in json.loads(out.stdout)["cases"]}
        self.assertEqual(tables, {"alpa-v100", "amp-t4", "v100-grid", "v100-grid-10g", "v100-grid-delay"})
        self.assertEqual(orrery("validate", "--ranking", "--csv", "-").returncode, 2)

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
        wrong("--base is missing", *fit)
        bad = self.calibration("bad.json", elementwise_trafic=2)
        files = self.files()
        wrong('did you mean "elementwise_traffic"?', "--base", "ours", *fit, "--calibration", bad)
        self.assertRegex(orrery("simulate", self.experiment, "--calibration", bad).stderr, r"bad\.json:1:\d+: /constants/elementwise_trafic")
        self.assertEqual(orrery("simulate", self.experiment, "--calibration", self.path / "none.json").returncode, 2)

    def test_calibrate_to_logs_and_traces(self):
        ours = self.calibration(step_overhead_ms=10)
        fit = ["--calibration", ours, "stack=ours", "--base", "ours", "--fit", "software.step_overhead_ms"]
        step = json.loads(orrery("simulate", self.experiment, "--calibration", ours, "stack=ours", "--json", "-").stdout)["step_time_s"]
        # Warm-up, then steps of 25 ms more than simulated with an overhead of 10 ms: it is 35 ms.
        log = self.path / "train.log"
        log.write_text("".join(f" iteration {i}/ 4 | elapsed time per iteration (ms): {ms} |\n" for i, ms in
                               enumerate((9000.0, step * 1e3 + 25, step * 1e3 + 25), 1)))
        out = orrery("calibrate", self.experiment, log, *fit, "--out", self.path / "fitted.json")
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        written = json.loads((self.path / "fitted.json").read_text())
        self.assertAlmostEqual(written["constants"]["step_overhead_ms"]["value"], 35, delta=0.35)
        # Version, files and domain stand in it.
        self.assertIn(written["fit"]["orrery"].split()[0], orrery("--version").stdout)
        content = log.read_bytes()
        self.assertEqual(written["fit"]["files"][1], {"file": str(log), "bytes": len(content), "crc32": f"{zlib.crc32(content):08x}"})
        self.assertEqual(len(written["domain"]["gpu"]), 1)
        arguments = ["simulate", self.experiment, "--calibration", self.path / "fitted.json", "stack=fitted", "--json", "-"]
        inside = json.loads(orrery(*arguments).stdout)
        self.assertAlmostEqual(inside["step_time_s"], step + 0.025, delta=0.0005)
        outside = json.loads(orrery(*arguments, "cluster.gpu=h100").stdout)
        self.assertTrue(any("GPU h100" in text for text in outside["warnings"]), outside.get("warnings"))
        # Traces of the same run count like its log; odd orders and other runs are refused.
        traces = self.traces()
        self.assertEqual(orrery("calibrate", self.experiment, *traces, *fit).returncode, 0)
        for words, *arguments in (("measurements after the experiment", log, self.experiment), ("without files", self.experiment),
                                  ("second log", self.experiment, log, log), ("--together", self.experiment, log, "--together")):
            out = orrery("calibrate", *arguments, *([] if "--together" in arguments else fit))
            self.assertEqual(out.returncode, 2)
            self.assertIn(words, out.stderr)

    def traces(self, *changes):
        out = orrery("simulate", self.experiment, *changes, "--quiet", "--kineto", self.path / "traces")
        self.assertEqual(out.returncode, 0, out.stderr)
        return sorted((self.path / "traces").iterdir())

    def test_explain_a_trace(self):
        traces = self.traces('cluster.overrides=[{"gpu": 1, "speed": 0.8}]')
        out = orrery("explain", self.experiment, *traces, "--json", self.path / "found.json", "--html", self.path / "e.html",
                     "--trace", self.path / "both.json", "--calibrate")
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        self.assertIn("rank 1", out.stdout)
        found = json.loads((self.path / "found.json").read_text())
        self.assertEqual(sum(term["difference_ps"] for term in found["terms"]), round(found["difference_s"] * 1e12))
        slow = next(one for one in found["findings"] if one["cause"] == "rank 1")
        self.assertAlmostEqual(slow["factor"], 1.25, delta=0.02)
        self.assertIn("Both timelines", (self.path / "e.html").read_text())
        events = json.loads((self.path / "both.json").read_text())["traceEvents"]
        names = {event["args"]["name"] for event in events if event["name"] == "process_name"}
        self.assertIn("rank 1, measured", names)
        self.assertIn("rank 1, simulated", names)

    def test_explain_a_log(self):
        log = self.path / "train.log"
        log.write_text("".join(f" iteration {i}/ 5 | elapsed time per iteration (ms): {ms} |\n" for i, ms in
                               enumerate((9000.0, 2000.0, 2100.0, 2200.0), 1)))
        out = orrery("explain", self.experiment, log, "--json", "-")
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        found = json.loads(out.stdout)
        self.assertAlmostEqual(found["measured_s"], 2.1)
        self.assertEqual(found["measurements"], 3)
        self.assertTrue(found["confidence"].startswith("low"))

    def test_explain_refuses(self):
        poem = self.path / "poem.txt"
        poem.write_text("no steps\n")
        for files, said in (((self.experiment,), "at least one file of measurements"),
                            ((self.experiment, poem), "text without measurements"),
                            ((self.experiment, self.path / "missing"), "cannot be read")):
            out = orrery("explain", *files, "--json", self.path / "none.json")
            self.assertEqual(out.returncode, 2)
            self.assertIn(said, out.stderr)
            self.assertFalse((self.path / "none.json").exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
