"""Holds the parts that tests of the command line share: the program, a small experiment, a folder of their own."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest


ORRERY = sys.argv[1]
EXAMPLES = pathlib.Path(sys.argv[2])
# Seconds become minutes then, so tests that only repeat the same paths do so less often.
SANITIZED = "ORRERY_SANITIZED" in os.environ
SMALL = {"model": "gpt3-125m", "cluster": {"base": "dgx-a100-80gb", "nodes": 1},
         "plan": {"tensor_parallel": 2, "pipeline_parallel": 2, "data_parallel": 2, "global_batch_size": 16}}


def orrery(*arguments, text=""):
    return subprocess.run([ORRERY, *map(str, arguments)], input=text, capture_output=True, text=True, timeout=120)


def changed(**parts):
    return {**SMALL, **parts}


class CommandLineCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.experiment = self.path / "e.json"
        self.experiment.write_text(json.dumps(SMALL, indent=1))

    def tearDown(self):
        self.folder.cleanup()

    def files(self):
        return sorted(p.name for p in self.path.iterdir())
