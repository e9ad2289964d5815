"""Holds the parts that tests of the Python module share."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("ORRERY_PROGRAM", str(ROOT / "build/release/apps/orrery"))
BUILD = pathlib.Path(os.environ.get("ORRERY_BUILD", str(ROOT / "build/release")))
SKIPPED = 77  # exit status of a test that cannot run here

# A step that takes a millisecond.
SMALL = {"model": {"base": "gpt3-125m", "layers": 2}, "cluster": "dgx-a100-80gb",
         "plan": {"tensor_parallel": 2, "micro_batch_size": 1, "global_batch_size": 8}}


def need(*modules):
    """Ends the test as skipped where packages of the distribution are missing."""
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        print(f"skipped: {sys.executable} has no module {', '.join(missing)} (apt-packages.txt)")
        sys.exit(SKIPPED)


def small(**plan):
    return {**SMALL, "plan": {**SMALL["plan"], **plan}}


def command(*arguments, text=None, expected=0):
    """Standard output of the command line."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == expected, (arguments, done.returncode, done.stderr)
    return done.stdout


def without_machine(result):
    """A result without what depends on the machine."""
    rest = json.loads(json.dumps(result))
    for key in ("wall_s", "tasks_per_s", "peak_rss_mb"):
        rest.get("stats", {}).pop(key, None)
    return rest


def main():
    unittest.main(module="__main__")
