#!/usr/bin/env python3
"""orrery.sweep() on this machine: the file of the command line, going on, and Ctrl-C."""

import json
import pathlib
import pickle
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from common import command, main, need, small

import orrery

SMALL = small(global_batch_size=32)
DESCRIPTION = {"experiment": SMALL, "plan.tensor_parallel": [1, 2, 4, 8], "plan.micro_batch_size": [1, 2, 4],
               "plan.recompute": ["none", "full"], "plan.global_batch_size": [32, 64],
               "where": "plan.tensor_parallel * plan.micro_batch_size <= 8"}

# Layer by layer and unfolded: seconds of work.
SLOW = {"experiment": {"model": "gpt3-13b", "cluster": {"base": "dgx-a100-80gb", "nodes": 8}, "simulation": {"folding": "off"}},
        "plan.tensor_parallel": [2, 4, 8], "plan.pipeline_parallel": [2, 4, 8], "plan.micro_batch_size": [1, 2],
        "plan.global_batch_size": [256, 512, 768, 1024]}


def contents(file):
    """Returns the contents of a file, without the order of rows."""
    return sorted(map(str, orrery.Sweep(file).rows()))


class Here(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_it_is_the_file_of_the_command_line(self):
        space = self.folder / "space.json"
        space.write_text(json.dumps(DESCRIPTION), encoding="utf-8")
        command("sweep", space, "--out", self.folder / "theirs.db", "--quiet")
        mine = orrery.sweep(DESCRIPTION, self.folder / "mine.db", threads=2)
        self.assertTrue(mine.complete)
        self.assertEqual(mine.points, 48)
        self.assertEqual(mine.removed, {DESCRIPTION["where"]: 12, "plan.tensor_parallel": 4})
        self.assertEqual(contents(self.folder / "mine.db"), contents(self.folder / "theirs.db"))

    def test_points_are_numbered_as_the_command_line_does(self):
        """Checks the request of `orrery sweep --dask`: keys in the order of --vary, in copies on workers too."""
        order = ["plan.tensor_parallel", "plan.micro_batch_size"]
        keys = {key: [1, 2] for key in order}
        space = orrery.Space._of(keys, SMALL, [], [], False, order)
        self.assertEqual([list(pickle.loads(pickle.dumps(space))[1].items()), list(space[2].items())],
                         [[(order[0], 1), (order[1], 2)], [(order[0], 2), (order[1], 1)]])
        file, theirs = self.folder / "mine.db", self.folder / "theirs.db"
        orrery.sweep(space, file)
        vary = [argument for key in order for argument in ("--vary", f"{key}=1,2")]
        experiment = self.folder / "e.json"
        experiment.write_text(space_text := json.dumps(SMALL), encoding="utf-8")
        command("sweep", experiment, *vary, "--out", theirs, "--quiet")
        self.assertEqual(contents(file), contents(theirs))
        found = orrery.sweep(orrery.Space._of(keys, space_text, [], [], False, order), theirs)
        self.assertEqual(found.id, 1)  # the sweep of the command line is gone on with

    def test_figures_are_those_of_simulate(self):
        file = self.folder / "results.db"
        found = orrery.sweep(DESCRIPTION, file, only="step_time_s,memory.peak_gb")
        rows = found.rows()
        self.assertEqual(len(rows), 32)
        for row in rows:
            point = {key: row[key] for key in DESCRIPTION if key.startswith("plan.")}
            result = orrery.simulate(SMALL, point)
            self.assertEqual((row["step_time_s"], row["memory.peak_gb"]), (result.step_time_s, result.memory.peak_gb))
        best = found.best(2)
        self.assertEqual([row["step_time_s"] for row in best], sorted(row["step_time_s"] for row in rows)[:2])
        self.assertEqual(found.pareto(["step_time_s"])[0], best[0])
        self.assertIn("32 fit", repr(found))

    def test_a_table_for_pandas(self):
        need("pandas")
        found = orrery.sweep(DESCRIPTION, self.folder / "results.db", only=["step_time_s"])
        self.assertEqual(found.to_pandas()["step_time_s"].min(), found.best(1)[0]["step_time_s"])

    def test_it_goes_on_with_what_is_missing(self):
        file = self.folder / "results.db"
        few = {**DESCRIPTION, "plan.global_batch_size": [64]}
        orrery.sweep(few, file)
        told = []
        orrery.sweep(DESCRIPTION, file, progress=lambda done, points: told.append((done, points)))
        self.assertEqual(told[-1], (48, 48))
        results = sqlite3.connect(file).execute("SELECT count(*) FROM results").fetchone()[0]
        self.assertEqual(results, orrery.Sweep(file).distinct)

    def test_ctrl_c_leaves_what_is_finished(self):
        file = self.folder / "results.db"
        code = f"import orrery\nprint('begun', flush=True)\norrery.sweep({SLOW!r}, {str(file)!r})\n"
        loop = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(loop.stdout.readline(), "begun\n")
        time.sleep(1.5)
        loop.send_signal(signal.SIGINT)
        errors = loop.communicate(timeout=60)[1]
        self.assertTrue(errors.rstrip().endswith("KeyboardInterrupt"), errors)
        before = len(orrery.Sweep(file).rows())
        self.assertGreater(before, 0)
        self.assertTrue(orrery.sweep(SLOW, file).complete)

    def test_mistakes(self):
        file = self.folder / "results.db"
        self.assertRaises(orrery.ExperimentError, orrery.sweep, {"plan.seed": [1]}, file)
        self.assertRaises(orrery.ExperimentError, orrery.sweep, DESCRIPTION, file, threads=-1)
        self.assertRaises(orrery.ExperimentError, orrery.sweep, DESCRIPTION, file, only=["name_"])
        self.assertRaises((orrery.ExperimentError, orrery.RunError), orrery.sweep, DESCRIPTION, self.folder / "no" / "file.db")
        other = self.folder / "other.db"
        other.write_text("a text", encoding="utf-8")
        self.assertRaises(orrery.ExperimentError, orrery.sweep, DESCRIPTION, other)
        self.assertEqual(other.read_text(encoding="utf-8"), "a text")
        self.assertRaises(orrery.ExperimentError, orrery.Sweep, self.folder / "none.db")
        with self.assertRaises(ZeroDivisionError):
            orrery.sweep(DESCRIPTION, file, progress=lambda done, points: 1 / 0)


if __name__ == "__main__":
    main()
