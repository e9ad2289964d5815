#!/usr/bin/env python3
"""Result.write_svg(): the picture that the command line draws."""

import pathlib
import tempfile
import unittest

from common import ROOT, command, main

import orrery

PIPELINE = ROOT / "examples" / "pipeline-1f1b.json"


class Picture(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def test_is_that_of_the_command_line(self):
        result = orrery.simulate(PIPELINE)
        result.write_svg(self.path / "a.svg", stages=[1, 2], from_s=0.05, to_s=0.15, width=700, memory=True)
        command("simulate", PIPELINE, "--quiet", "--svg", self.path / "b.svg", "--svg-stages", "1,2", "--svg-time",
                "50..150ms", "--svg-width", "700", "--svg-memory")
        self.assertEqual((self.path / "a.svg").read_text(), (self.path / "b.svg").read_text())

    def test_png_where_librsvg_is(self):
        try:
            orrery.simulate(PIPELINE).write_svg(str(self.path / "a.png"))
        except orrery.RunError as error:
            self.assertIn("librsvg2-2", str(error))
        else:
            self.assertEqual((self.path / "a.png").read_bytes()[1:4], b"PNG")

    def test_mistakes_leave_no_file(self):
        result = orrery.simulate(PIPELINE)
        for words, arguments in {"stages from 0 to 3": {"stages": [4]}, "before the end of the run": {"from_s": 1},
                                 "seconds from 0": {"from_s": -1}, "400 to 20000": {"width": 3}}.items():
            with self.subTest(words), self.assertRaisesRegex(orrery.ExperimentError, words):
                result.write_svg(self.path / "a.svg", **arguments)
        self.assertEqual(list(self.path.iterdir()), [])


if __name__ == "__main__":
    main()
