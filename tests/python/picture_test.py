#!/usr/bin/env python3
"""Result.write_svg(), write_trace() and write_page(): what the command line writes, of steps and of requests."""

import gzip
import json
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

    def test_requests_that_are_served_have_picture_trace_and_page(self):
        served = {"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "gpus_per_node": 1, "nodes": 1},
                  "inference": {"prompt_tokens": 100, "output_tokens": 5, "batch_size": 2, "requests": 4}}
        for result in (orrery.simulate(served), orrery.simulate(PIPELINE)):
            result.write_trace(self.path / "trace.json.gz")
            with gzip.open(self.path / "trace.json.gz") as trace:
                self.assertGreater(len(json.load(trace)["traceEvents"]), 10)
            result.write_page(self.path / "run.html")
            self.assertTrue((self.path / "run.html").read_text().startswith("<!doctype html>"))
            result.write_svg(self.path / "run.svg")
            self.assertTrue((self.path / "run.svg").read_text().endswith("</svg>\n"))
        with self.assertRaisesRegex(orrery.ExperimentError, "no operations one by one"):
            orrery.simulate(served).record()

    def test_folders_of_ranks_are_those_of_the_command_line(self):
        result = orrery.simulate(PIPELINE)
        for kind, write in {"kineto": result.write_kineto, "chakra": result.write_chakra}.items():
            with self.subTest(kind):
                write(self.path / kind, ranks=[0, 3])
                command("simulate", PIPELINE, "--quiet", f"--{kind}", self.path / f"{kind}-of-command",
                        "--trace-ranks", "0,3")
                names = sorted(file.name for file in (self.path / kind).iterdir())
                self.assertEqual(len(names), 3 if kind == "chakra" else 2)
                for name in names:
                    self.assertEqual(self.text(self.path / kind / name), self.text(self.path / f"{kind}-of-command" / name))
        with self.assertRaisesRegex(orrery.RunError, "chakra"):
            result.write_chakra(self.path / "chakra")
        with self.assertRaisesRegex(orrery.ExperimentError, "rank"):
            result.write_chakra(self.path / "other", ranks=[1000])
        self.assertFalse((self.path / "other").exists())

    @staticmethod
    def text(path):
        """Bytes of a file, but for what says which program made it."""
        if path.suffix != ".gz":
            return path.read_bytes()
        return json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]

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
                                 "seconds from 0": {"from_s": -1}, "300 to 20000": {"width": 3}}.items():
            with self.subTest(words), self.assertRaisesRegex(orrery.ExperimentError, words):
                result.write_svg(self.path / "a.svg", **arguments)
        self.assertEqual(list(self.path.iterdir()), [])


if __name__ == "__main__":
    main()
