#!/usr/bin/env python3
"""The command line as a user meets it: exit statuses, error lines, files left behind.

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

from command_line import CommandLineCase, EXAMPLES, ORRERY, SANITIZED, SMALL, changed, orrery


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
        self.wrong(changed(model={"base": "gpt3-125m", "layers": 13}, plan={**plan, "stage_layers": [6, 6]}), "layers", where, "13")
        self.wrong(changed(plan={**plan, "stage_layers": [6, 5]}), "/plan/stage_layers", where, "12")
        self.wrong(changed(plan={**plan, "pipeline_schedule": "1f2b"}), "/plan/pipeline_schedule", where, "1f1b")
        self.wrong(changed(plan={**plan, "pipeline_schedule": "interleaved"}), "/plan/pipeline_schedule", where, 'did you mean "interleaved-1f1b"?')
        self.wrong(changed(plan={**plan, "precision": "fp8"}), "/plan/precision", where)
        self.wrong(changed(plan={**plan, "expert_parallel": 2}), "/plan/expert_parallel", where)
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

    def test_what_if(self):
        self.experiment.write_text(json.dumps(SMALL))
        out = orrery("simulate", self.experiment, "--json", "-", "--what-if")
        listed = json.loads(out.stdout)["what_if"]
        self.assertEqual([one["share"] for one in listed], sorted((one["share"] for one in listed), reverse=True))
        named = orrery("simulate", self.experiment, "--only", "what_if", "--json", "-", "--what-if", listed[1]["key"] + "," + listed[0]["key"])
        self.assertEqual(json.loads(named.stdout)["what_if"], listed[:2])
        for key, said in (("cluster.gpu.memory_gb_per", 'did you mean "cluster.gpu.memory_gb_per_s"?'), ("", 'found ""'),
                          ("plan.zero_stage", "by which a step time has no derivative")):
            out = orrery("simulate", self.experiment, "--what-if", key)
            self.assertEqual(out.returncode, 2)
            self.assertIn(said, out.stderr)
            self.assertEqual(len(out.stderr.splitlines()), 1, out.stderr)

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

    def test_wrong_commands_and_options_get_the_nearest_name(self):
        for arguments, said in ((["simulat"], 'did you mean "simulate"?'), (["simulate", "--jsn", "x"], 'did you mean "--json"?'),
                                (["list", "modles"], 'did you mean "models"?'), (["schema", "modl"], 'did you mean "model"?'),
                                (["gossip", "--weights", "metropolis"], "metropolis"), (["--vresion"], 'did you mean "--version"?'),
                                (["gossip", "--seed", "x"], 'found "x", allowed an integer from 0'), (["gossip", "--seed", "-1"], 'found "-1"'),
                                (["gossip", "--workers", "0"], 'found "0"'), (["gossip", "ring", "--peers", "2"], "--peers does nothing"),
                                (["gossip", "ring", "--shape", "2,2"], "--shape does nothing"), (["gossip", "--probability", "2"], 'found "2"'),
                                (["calibrate", "x", "--seed", "-1"], 'found "-1"'), (["converge", self.experiment, "--target", "nan"], 'found "nan"'),
                                (["converge", self.experiment, "--no-chart", "--log-x"], "--log-x"),
                                (["simulate", self.experiment, "--threads", "two"], 'found "two"'),
                                (["simulate", self.experiment, "--json", ""], 'found ""'), (["simulate", self.experiment, "--json="], "--json")):
            with self.subTest(arguments=arguments):
                out = orrery(*arguments)
                self.assertEqual((out.returncode, out.stdout), (2, ""), out.stderr)
                self.assertTrue(out.stderr.startswith("command line: "), out.stderr)
                self.assertEqual(len(out.stderr.splitlines()), 1, out.stderr)
                self.assertIn(said, out.stderr)
        self.assertEqual(orrery("gossip", "--peers", "2").returncode, 0)  # base-k is among all of them

    def test_help(self):
        helps = [orrery(), orrery("help"), orrery("--help"), orrery("help", "compare"), orrery("compare", "--help")]
        for out in helps:
            self.assertEqual((out.returncode, out.stderr), (0, ""))
            self.assertLessEqual(max(map(len, out.stdout.splitlines())), 80)
        self.assertEqual(len({out.stdout for out in helps[:3]}), 1)
        self.assertEqual(helps[3].stdout, helps[4].stdout)
        self.assertIn("simulate", helps[0].stdout)
        self.assertIn("--vary", helps[3].stdout)
        for command in ("simulate", "memory", "validate", "calibrate", "converge", "gossip", "list", "schema"):
            self.assertLessEqual(max(map(len, orrery(command, "--help").stdout.splitlines())), 80)
        self.assertLessEqual(max(map(len, orrery("list").stdout.splitlines())), 80)
        with open("/dev/full", "w") as full:
            for arguments in (["--help"], ["simulate", "--help"], ["--version"], ["help"], []):
                self.assertEqual(subprocess.run([ORRERY, *arguments], stdout=full, stderr=subprocess.PIPE).returncode, 1)

    def test_names_of_files_are_told_on_one_line(self):
        out = orrery("simulate", self.path / "a\nb\x1b[31m.json")
        self.assertEqual((out.returncode, len(out.stderr.splitlines())), (2, 1))
        self.assertIn("a\\x0ab\\x1b[31m.json", out.stderr)
        self.assertNotIn("\x1b", orrery("simulate", "--\x1b[31m").stderr)
        self.experiment.write_text(json.dumps(changed(name="x\x1b[31m\u202ey\nz" + "w" * 100)))
        summary = orrery("simulate", self.experiment).stdout
        self.assertIn("x\\x1b[31m\\u202ey\\x0azw", summary)
        self.assertLessEqual(max(map(len, summary.splitlines())), 80)

    def test_two_names_of_one_output(self):
        here = self.path / "same"
        os.symlink(here, self.path / "link")
        for other in (f"{self.path}/./same", self.path / "link"):
            out = orrery("simulate", self.experiment, "--json", here, "--csv", other)
            self.assertEqual(out.returncode, 2)
            self.assertIn("are one file", out.stderr)
        here.write_text("old")
        os.link(here, self.path / "hard")
        out = orrery("simulate", self.experiment, "--json", here, "--csv", self.path / "hard")
        self.assertIn("are one file", out.stderr)
        self.assertEqual(here.read_text(), "old")
        self.assertEqual(orrery("simulate", self.experiment, "--json", "/dev/null", "--csv", "/dev/null", "--quiet").returncode, 0)

    def test_long_names_links_and_read_only_files(self):
        for length in (249, 255):
            name = self.path / ("n" * length)
            self.assertEqual(orrery("memory", self.experiment, "--json", name).returncode, 0)
            json.loads(name.read_text())
            name.unlink()
        out = orrery("simulate", EXAMPLES / "megatron-145b.json", "--json", self.path / ("n" * 256))
        self.assertEqual(out.returncode, 1)
        self.assertIn("File name too long", out.stderr)
        os.symlink("behind", self.path / "link")
        self.assertEqual(orrery("memory", self.experiment, "--json", self.path / "link").returncode, 0)
        self.assertTrue((self.path / "link").is_symlink())
        json.loads((self.path / "behind").read_text())
        (self.path / "behind").chmod(0o444)
        for name in ("behind", "link"):
            out = orrery("memory", self.experiment, "--json", self.path / name)
            self.assertEqual(out.returncode, 1)
            self.assertIn("Permission denied", out.stderr)
        self.assertEqual(self.files(), ["behind", "e.json", "link"])

    def test_two_outputs_are_put_in_place_together(self):
        (self.path / "r.json").write_text("old")
        for csv in ("/dev/full", "-"):
            with open("/dev/full", "w") as full:
                out = subprocess.run([ORRERY, "simulate", self.experiment, "--json", self.path / "r.json", "--csv", csv],
                                     stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(out.returncode, 1)
            self.assertEqual((self.path / "r.json").read_text(), "old")
            self.assertEqual(self.files(), ["e.json", "r.json"])
        self.assertEqual(orrery("simulate", self.experiment, "--json", self.path / "r.json").returncode, 0)
        json.loads((self.path / "r.json").read_text())
        self.assertEqual(self.files(), ["e.json", "r.json"])

    def test_a_million_unknown_keys(self):
        self.experiment.write_text('{"model": "gpt3-125m", "cluster": "dgx-1", ' + ",".join(f'"k{i}":1' for i in range(500_000)) + "}")
        begin = time.monotonic()
        lines = orrery("simulate", self.experiment).stderr.splitlines()
        self.assertLess(time.monotonic() - begin, 240)
        self.assertEqual(len(lines), 101)
        self.assertIn("499900 more mistakes are left out", lines[-1])

    def test_memory_refuses_what_simulate_refuses(self):
        servers = changed(cluster={"base": "dgx-a100-80gb", "nodes": 8}, plan={}, data_parallel_sync={"method": "parameter-server", "level": "node", "servers": 32})
        for experiment, pointer in ((changed(plan={**SMALL["plan"], "collectives": {"send-recv": "nvls"}}), "/plan/collectives/send-recv"),
                                    (servers, "/data_parallel_sync/servers")):
            self.experiment.write_text(json.dumps(experiment))
            told = [orrery(command, self.experiment) for command in ("simulate", "memory")]
            self.assertEqual([out.returncode for out in told], [2, 2])
            self.assertEqual(told[0].stderr, told[1].stderr)
            self.assertIn(pointer, told[0].stderr)
            answer = json.loads(orrery("simulate", "--batch", text=json.dumps(experiment)).stdout)
            self.assertEqual(answer["error"]["pointer"], pointer)

    def test_an_inherited_calibration_is_told_where_it_stands(self):
        path = self.path / "ours.json"
        path.write_text('{"part": "software",\n "inherits": "nemo-2042", "constants": {}}')
        out = orrery("simulate", self.experiment, "stack=ours", "--calibration", path)
        self.assertEqual(out.returncode, 2)
        self.assertTrue(out.stderr.startswith(f"{path}:2:14: /inherits: found \"nemo-2042\""), out.stderr)

    def test_show_and_list_as_json(self):
        self.assertEqual(json.loads(orrery("show", "gpt3-125m").stdout)["layers"], 12)
        self.assertEqual(json.loads(orrery("show", "cluster/dgx-h100").stdout)["gpus_per_node"], 8)
        self.assertEqual(json.loads(orrery("show", "nemo-2024").stdout)["part"], "software")
        self.assertIn("measured.", orrery("show", "measurements/megatron-2021").stdout)
        out = orrery("show", "gpt3-175")
        self.assertEqual((out.returncode, out.stdout), (2, ""))
        self.assertIn('did you mean "gpt3-175b"?', out.stderr)
        listed = json.loads(orrery("list", "--json").stdout)
        self.assertEqual([entry["name"] for entry in listed["collectives"]][:2], ["ring", "tree"])
        entries = listed["models"] + listed["gpus"] + listed["clusters"] + listed["measurements"]
        for entry in entries[::10 if SANITIZED else 1]:
            out = orrery("show", entry["name"])
            self.assertTrue(out.returncode == 0 or "several entries" in out.stderr, entry)
        self.assertEqual(list(json.loads(orrery("list", "gpus", "--json").stdout)), ["gpus"])

    def test_resolved_experiments_run_again_to_the_bit(self):
        for name in ("gpt3-175b.json", "llama-7b.yaml", "explicit-graph.json", "gossip-resnet-50.json", "mlp-partition-1.json"):
            with self.subTest(name=name):
                out = orrery("simulate", EXAMPLES / name, "simulation.network=alpha-beta", "--resolved")
                self.assertEqual((out.returncode, out.stderr), (0, ""))
                again = self.path / "again.json"
                again.write_text(out.stdout)
                results = [json.loads(orrery("simulate", *arguments, "--json", "-").stdout)
                           for arguments in ((EXAMPLES / name, "simulation.network=alpha-beta"), (again,))]
                for result in results:
                    del result["stats"]
                self.assertEqual(results[0], results[1])
        text = orrery("simulate", self.experiment, "plan.zero_stage=1", "--resolved").stdout
        self.assertRegex(text, r'"zero_stage": 1,  // command line\n')
        self.assertRegex(text, r'"hidden": 768,  // catalog model gpt3-125m\n')
        self.assertRegex(text, r'"global_batch_size": 16,  // .*e\.json:\d+\n')
        self.assertRegex(text, r'"bucket_mb": 80(\.0)?,\n')  # a default
        self.assertEqual(orrery("simulate", self.experiment, "--resolved", "--json", "-").returncode, 2)

    def test_values_that_look_like_another_unit_get_a_warning(self):
        for override, pointer, said in (("cluster.node.link_gb_per_s=600", "/cluster/node/link_gb_per_s", "of one direction"),
                                        ("cluster.gpu.memory_gb=80000", "/cluster/gpu/memory_gb", "looks like MB"),
                                        ("cluster.gpu.memory_gb_per_s=2.039", "/cluster/gpu/memory_gb_per_s", "looks like TB/s"),
                                        ("cluster.fabric.nic_gbps=200000", "/cluster/fabric/nic_gbps", "looks like Mb/s")):
            out = orrery("memory", self.experiment, override)
            self.assertEqual(out.returncode, 0, out.stderr)
            self.assertEqual(len(out.stderr.splitlines()), 1, out.stderr)
            self.assertTrue(out.stderr.startswith(f"command line: {pointer}: warning: found "), out.stderr)
            self.assertIn(said, out.stderr)
            self.assertEqual(orrery("memory", self.experiment, override, "--quiet").stderr, "")
        self.experiment.write_text(json.dumps(changed(model="llama-7b", plan={"recompute": "selective"}), indent=1))
        self.assertRegex(orrery("memory", self.experiment).stderr, r"e\.json:\d+:\d+: /plan/recompute: warning: .*changes nothing")

    def test_progress_on_a_terminal(self):
        leader, follower = os.openpty()
        command = [ORRERY, "simulate", "--batch"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=follower) as process:
            process.stdin.write((json.dumps(SMALL) + "\n").encode())
            process.stdin.flush()
            process.stdout.readline()
            shown = b""
            while b"1 done" not in shown:  # from the third second on
                shown += os.read(leader, 1000)
            process.stdin.close()
            self.assertEqual(process.wait(), 0)
        os.close(follower)
        self.assertIn(b"per ", shown)
        os.close(leader)

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
        out = subprocess.run(["bash", "-c", 'ulimit -f 8; exec "$@"', "-", ORRERY, "simulate", self.experiment, "--trace",
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

    def test_lists_and_schemas(self):
        for word in ("megatron-145b", "a100-80gb", "dgx-a100-80gb", "interleaved-1f1b", "halving-doubling", "nvswitch", "fat-tree",
                     "gossip-pga", "top-k", "one-peer-exponential"):
            self.assertIn(word, orrery("list").stdout)
        for what in ("model", "cluster", "experiment", "calibration"):
            schema = json.loads(orrery("schema", what).stdout)
            self.assertIn("properties", json.dumps(schema))
        self.assertEqual(orrery("simulate", "--help").returncode, 0)

    def test_a_schema_names_its_address_where_asked(self):
        plain, address = json.loads(orrery("schema", "model").stdout), "https://example.org/model.json"
        self.assertNotIn("$id", plain)
        self.assertEqual(json.loads(orrery("schema", "model", "--id", address).stdout), {**plain, "$id": address})
        self.assertEqual(orrery("schema", "--id", "").returncode, 2)

    def test_an_experiment_may_name_its_schema(self):
        asked = ("simulate", self.experiment, "--json", "-", "--only", "step_time_s", "--quiet")
        plain = orrery(*asked).stdout
        self.experiment.write_text(json.dumps({"$schema": "https://example.org/experiment.json", **SMALL}))
        self.assertEqual(orrery(*asked).stdout, plain)
        self.assertNotIn("$schema", orrery("simulate", self.experiment, "--resolved").stdout)

    def test_the_version_says_the_commit_it_was_built_from(self):
        out = orrery("--version")
        self.assertEqual(out.returncode, 0)
        self.assertRegex(out.stdout, r"\A\d+\.\d+\.\d+( \([0-9a-f]{10,40}(-dirty)?\))?\n\Z")
        self.assertEqual(orrery("version").stdout, out.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
