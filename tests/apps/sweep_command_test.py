#!/usr/bin/env python3
"""Sweeps as a user meets them: what is in the file, what survives, what is refused.

Usage: sweep_command_test.py ORRERY EXAMPLES
"""

import csv
import io
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
import unittest

from command_line import CommandLineCase, ORRERY, SANITIZED, SMALL, orrery


SPACE = {"experiment": "e.json", "plan.tensor_parallel": [1, 2, 4, 8], "plan.pipeline_parallel": [1, 2, 4, 8],
         "plan.micro_batch_size": "1..16*2", "plan.recompute": ["none", "full"], "plan.zero_stage": [0, 1]}
# Simulated GPU by GPU, so that a sweep lasts for some seconds.
LASTING = {"plan.tensor_parallel": [1, 2, 4, 8], "plan.pipeline_parallel": [1, 2, 4], "plan.micro_batch_size": "1..8*2",
           "plan.zero_stage": [0, 1], "experiment": {**SMALL, "model": "gpt3-6.7b", "simulation": {"folding": "off"}, "cluster": {"base": "dgx-a100-80gb", "nodes": 2 if SANITIZED else 8},
                                   "plan": {"global_batch_size": 64 if SANITIZED else 512}}}


class SweepCommand(CommandLineCase):
    def setUp(self):
        super().setUp()
        self.experiment.write_text(json.dumps({**SMALL, "plan": {"global_batch_size": 16}}))
        self.space = self.write("s.json", SPACE)
        self.out = self.path / "r.db"

    def write(self, name, what):
        path = self.path / name
        path.write_text(json.dumps(what))
        return path

    def sweep(self, *arguments, out=None, text=""):
        return orrery("sweep", *arguments, "--out", out or self.out, text=text)

    def query(self, sql, path=None):
        connection = sqlite3.connect(path or self.out)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def refused(self, *arguments, says, status=2, out=None):
        done = self.sweep(*arguments, out=out)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(says, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_what_is_printed(self):
        done = self.sweep(self.space)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        first, *rest = done.stdout.splitlines()
        self.assertEqual(first, f"{self.out}: sweep 1, 320 of 320 points")
        self.assertIn("removed by plan.tensor_parallel", done.stdout)
        self.assertIn("step_time_s", done.stdout)
        counted = self.query("SELECT count(*) FROM points")[0][0] + self.query("SELECT sum(points) FROM removed")[0][0]
        self.assertEqual(counted, 320)
        best = self.query("SELECT min(step_time_s) FROM plans")[0][0]
        shown = orrery("sweep", "--out", self.out, "--top", 1, "--export", "jsonl").stdout
        self.assertEqual(json.loads(shown)["step_time_s"], best)
        self.assertEqual(self.files(), ["e.json", "r.db", "s.json"])

    def test_space_on_the_command_line(self):
        done = self.sweep(self.experiment, "plan.zero_stage=1", "--vary", "plan.tensor_parallel=auto", "--vary", "plan.micro_batch_size=1..4*2",
                          "--where", "plan.tensor_parallel <= 2", "--only", "step_time_s,memory", "--quiet")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(self.query('SELECT DISTINCT "plan.tensor_parallel" FROM plans ORDER BY 1'), [(1,), (2,)])
        header = self.sweep("--export", "csv").stdout.splitlines()[0].split(",")
        self.assertEqual(header[:6], ["point", "state", "reason", "plan.tensor_parallel", "plan.micro_batch_size", "step_time_s"])
        self.assertTrue(all(name.startswith("memory.") for name in header[6:]))
        done = self.sweep(self.space, "--vary", "plan.tensor_parallel=1", "--quiet")  # in place of its values
        self.assertEqual(self.query('SELECT DISTINCT "plan.tensor_parallel" FROM plans WHERE sweep = 2'), [(1,)])
        done = self.sweep("-", self.experiment, "--quiet", text=json.dumps({"plan.zero_stage": [0]}))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_exports(self):
        self.sweep(self.space, "--quiet")
        rows = list(csv.DictReader(io.StringIO(self.sweep("--export", "csv").stdout)))
        lines = [json.loads(line) for line in self.sweep("--export", "jsonl").stdout.splitlines()]
        self.sweep("--export", "columns", "--to", self.path / "c.json")
        columns = json.loads((self.path / "c.json").read_text())
        self.assertEqual(len(rows), len(lines))
        for i, (row, line) in enumerate(zip(rows, lines)):
            self.assertEqual(list(row), list(line))
            for key, value in line.items():
                self.assertEqual(columns[key][i], value)
                self.assertEqual(row[key], "" if value is None else str(value).lower() if isinstance(value, bool) else row[key])
                if isinstance(value, (int, float)) and not isinstance(value, bool):
                    self.assertEqual(float(row[key]), value)
        front = [json.loads(line) for line in self.sweep("--pareto", "step_time_s,memory.peak_gb", "--export", "jsonl").stdout.splitlines()]
        self.assertEqual([p["step_time_s"] for p in front], sorted(p["step_time_s"] for p in front))
        self.assertEqual([p["memory.peak_gb"] for p in front], sorted((p["memory.peak_gb"] for p in front), reverse=True))
        single = json.loads(orrery("simulate", self.experiment, *[f"{key}={front[0][key]}" for key in SPACE if key != "experiment"], "--json", "-").stdout)
        self.assertEqual(single["step_time_s"], front[0]["step_time_s"])

    def test_parts_are_the_whole(self):
        self.sweep(self.space, "--quiet")
        for part in (3, 1, 2):
            done = self.sweep(self.space, "--shard", f"{part}/3", "--quiet", out=self.path / "parts.db")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        exports = [self.sweep("--export", "csv", out=out).stdout for out in (self.out, self.path / "parts.db")]
        self.assertEqual(*exports)

    def rows(self):
        """Results in the file so far."""
        if not self.out.exists() or not self.query("SELECT name FROM sqlite_master WHERE name = 'results'"):
            return 0
        return self.query("SELECT count(*) FROM results")[0][0]

    def test_killed_again_and_again(self):
        space = self.write("lasting.json", LASTING)
        known = 0
        for _ in range(4):
            process = subprocess.Popen([ORRERY, "sweep", space, "--out", self.out, "--only", "step_time_s"], stdout=subprocess.DEVNULL)
            while process.poll() is None and self.rows() == known:
                time.sleep(0.05)
            process.kill()
            process.wait()
            self.assertGreaterEqual(self.rows(), known)
            self.assertEqual(self.query("PRAGMA integrity_check"), [("ok",)])
            known = self.rows()
        self.assertGreater(known, 0)
        connection = sqlite3.connect(self.out)
        with connection:
            connection.execute("UPDATE results SET reason = 'known before'")
        connection.close()
        done = self.sweep(space, "--quiet", "--only", "step_time_s")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.query("SELECT count(*) FROM results WHERE reason = 'known before'")[0][0], known)
        self.sweep(space, "--quiet", "--only", "step_time_s", out=self.path / "whole.db")
        for sql in ("SELECT content, point FROM points ORDER BY point", "SELECT content, state, step_time_s FROM results ORDER BY content",
                    "SELECT because, sum(points) FROM removed GROUP BY because"):
            self.assertEqual(self.query(sql), self.query(sql, self.path / "whole.db"))

    def test_two_at_once(self):
        space = self.write("lasting.json", LASTING)
        command = [ORRERY, "sweep", space, "--out", self.out, "--only", "step_time_s", "--quiet"]
        both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        for process in both:
            self.assertEqual((process.communicate(timeout=120)[1], process.returncode), ("", 0))
        self.sweep(space, "--quiet", "--only", "step_time_s", out=self.path / "whole.db")
        # Where both end at the same moment neither can remove the journal; the file is whole without it, and the next
        # sweep that ends alone removes it.
        shutil.copy(self.out, self.path / "copy.db")
        exports = {self.sweep("--export", "csv", out=out).stdout for out in (self.out, self.path / "whole.db", self.path / "copy.db")}
        self.assertEqual(len(exports), 1)
        self.assertEqual(self.sweep(space, "--quiet", "--only", "step_time_s").returncode, 0)
        self.assertFalse([name for name in self.files() if name.startswith("r.db-")])

    def test_no_room(self):
        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
        done = subprocess.run([ORRERY, "sweep", self.space, "--out", self.out], capture_output=True, text=True, preexec_fn=limited, timeout=120)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(f"cannot use {self.out}", done.stderr)
        self.assertEqual(self.query("PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(self.sweep(self.space, "--quiet").returncode, 0)
        self.sweep(self.space, "--quiet", out=self.path / "whole.db")
        self.assertEqual(self.sweep("--export", "csv").stdout, self.sweep("--export", "csv", out=self.path / "whole.db").stdout)

    def test_wrong_files(self):
        other = self.path / "other.db"
        connection = sqlite3.connect(other)
        with connection:
            connection.execute("CREATE TABLE t (x)")
        connection.close()
        before = other.read_bytes()
        self.refused(self.space, out=other, says="a database of something else")
        self.refused("--top", 3, out=other, says="a database of something else")
        self.assertEqual(other.read_bytes(), before)
        self.refused(self.space, out=self.path / "none" / "r.db", says="No such file or directory", status=1)
        self.refused("--top", 3, out=self.path / "none.db", says="No such file or directory")
        self.refused(self.space, out=self.space, says="would replace the input")
        self.refused(self.space, out=self.path, says="cannot use", status=1)
        if os.getuid() != 0:
            self.sweep(self.space, "--quiet")
            self.out.chmod(0o444)
            self.refused(self.space, says="cannot use", status=1)

    def test_wrong_spaces_and_options(self):
        empty = self.write("empty.json", {**SPACE, "where": "plan.tensor_parallel > 8"})
        self.refused(empty, says="none of the 320 points of the space is an experiment: 320 removed by plan.tensor_parallel > 8")
        self.refused(self.write("typo.json", {**SPACE, "plan.tensor_paralel": [1]}), says='did you mean "plan.tensor_parallel"?')
        self.refused(self.experiment, says="is an experiment: a space of it needs --vary")
        self.refused(self.write("alone.json", {"plan.tensor_parallel": [1]}), says="an experiment is missing")
        self.refused(self.space, "--where", "plan.tensor_parallel <", says="--where")
        self.refused(self.space, "--shard", "4/3", says="allowed I/N with I from 1 to N")
        self.refused(self.space, "--only", "step_tim_s", says='did you mean "step_time_s"?')
        self.refused(self.space, "--only", "memory.per_stage", says="--only: a row")
        self.refused(self.space, "--sweep", 1, says="--sweep chooses among sweeps in the file")
        self.refused(self.space, "--top", 0, says="allowed an integer from 1")
        self.refused(self.space, "--export", "parquet", says="allowed csv, jsonl, columns")
        self.sweep(self.space, "--quiet")
        self.refused("--top", 3, "--by", "plan.recompute", says="allowed a column of numbers")
        self.refused("--pareto", "step_time_s,memory.peak", says='did you mean "memory.peak_gb"?')
        self.refused("--sweep", 9, says="found no sweep 9 in the file")

    def test_every_point_fails(self):
        no_room = {"base": "dgx-a100-80gb", "nodes": 4, "fabric": {"kind": "fat-tree", "shape": [2], "nic_gbps": 200}}
        wrong = self.write("wrong.json", {"experiment": {**SMALL, "cluster": no_room, "plan": {}}, "plan.zero_stage": [0, 1]})
        self.refused(wrong, says="none of the 2 points of the space can be simulated: 2 fail (")
        self.refused(wrong, says="/cluster/fabric/shape: the tree has room for 2")

    def test_front_of_a_figure_without_values(self):
        self.sweep(self.space, "--quiet")  # no length of a training is given
        self.refused("--pareto", "step_time_s,training_days", says='feasible points has a value of "training_days"')
        self.refused("--top", 3, "--by", "training_days", says='feasible points has a value of "training_days"')

    def test_points_on_dask_have_the_numbers_of_any_sweep(self):
        """The keys go to the Python module in the order in which points are numbered."""
        tools = self.path / "tools"
        tools.mkdir()
        asked = self.path / "asked.json"
        python = tools / "python3"
        python.write_text(f"#!/bin/sh\ncat > {asked}\nexit 7\n")
        python.chmod(0o755)
        done = subprocess.run([ORRERY, "sweep", self.experiment, "--vary", "plan.zero_stage=0,1", "--vary", "plan.micro_batch_size=1,2", "--dask",
                               "tcp://127.0.0.1:1", "--out", self.out], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("exit status 7", done.stderr)
        self.assertEqual(json.loads(asked.read_text())["order"], ["plan.zero_stage", "plan.micro_batch_size"])

    def test_nothing_fits(self):
        huge = self.write("huge.json", {"experiment": {**SMALL, "model": "gpt3-175b"}, "plan.zero_stage": [0, 1]})
        done = self.sweep(huge)
        self.assertEqual(done.returncode, 3)
        self.assertIn("2  do not fit into memory", done.stdout)
        self.assertIn("out of memory", self.query("SELECT reason FROM plans")[0][0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
