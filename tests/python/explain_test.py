#!/usr/bin/env python3
"""orrery.explain(): terms add up to the difference, and become tables."""

import json
import pathlib
import subprocess
import tempfile
import unittest

from common import PROGRAM, main, small

import orrery


class Explained(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        slow = {**small(), "cluster": {"base": "dgx-a100-80gb", "overrides": [{"gpu": 1, "speed": 0.8}]}}
        (self.path / "slow.json").write_text(json.dumps(slow))
        subprocess.run([PROGRAM, "simulate", self.path / "slow.json", "--quiet", "--kineto", self.path / "traces"], check=True)
        self.traces = sorted((self.path / "traces").iterdir())

    def test_a_slow_gpu(self):
        why = orrery.explain(small(), self.traces)
        self.assertAlmostEqual(sum(term.difference_s for term in why.terms), why.difference_s, delta=1e-9)
        self.assertEqual(sum(term.difference_ps for term in why.terms), round(why.difference_s * 1e12))
        self.assertIn("rank 1", [finding.cause for finding in why.findings])
        self.assertIn("rank 1", str(why))

    def test_errors(self):
        (self.path / "poem.txt").write_text("no steps\n")
        self.assertRaises(orrery.ExperimentError, orrery.explain, small(), self.path / "poem.txt")

    def test_tables(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no pandas")
        why = orrery.explain(small(), self.traces)
        self.assertEqual(len(why.to_pandas()), len(why.terms))
        self.assertIn(1, set(why.to_pandas("ranks")["rank"]))


if __name__ == "__main__":
    main()
