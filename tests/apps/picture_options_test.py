#!/usr/bin/env python3
"""Pictures of runs from the command line: --svg as an XML parser reads it, --draw as a terminal would show it.

Usage: picture_options_test.py ORRERY EXAMPLES
"""

import gzip
import json
import os
import pty
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml

from command_line import CommandLineCase, EXAMPLES, ORRERY, changed, orrery

SVG = "{http://www.w3.org/2000/svg}"
PIPELINE = EXAMPLES / "pipeline-1f1b.json"
HOSTILE = "</title><script>alert(1)</script> \"q\" & 模型 🙂 \u202e \u0007 " + "x" * 900


def strokes(path):
    """(left, right) of the horizontal strokes of a path's text."""
    found, x = [], 0.0
    for command, numbers in re.findall(r"([Mmh])([-\d. ]+)", path):
        first = float(numbers.split()[0])
        if command == "h":
            found.append((x, x + first))
        x = first if command == "M" else x + first
    return found


class Picture:
    def __init__(self, text):
        self.text, self.root = text, xml.fromstring(text)
        self.width = float(self.root.get("width"))

    def texts(self):
        return ["".join(element.itertext()) for element in self.root.iter(SVG + "text")]

    def strokes(self, height):
        """By row (the height of their middle) the strokes of that height, sorted."""
        rows = {}
        for path in self.root.iter(SVG + "path"):
            if path.get("stroke-width") == height:
                rows.setdefault(path.get("d").split()[1].split("h")[0], []).extend(strokes(path.get("d")))
        return {row: sorted(found) for row, found in rows.items()}


def on_a_terminal(*arguments, **more):
    """Returns the program's output when its standard output is a terminal."""
    leader, follower = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    process = subprocess.Popen([ORRERY, *map(str, arguments)], stdout=follower, stderr=subprocess.DEVNULL,
                               env={**environment, "TERM": "xterm", **more})
    os.close(follower)
    text = b""
    try:
        while part := os.read(leader, 65536):
            text += part
    except OSError:
        pass  # the other end is closed
    process.wait()
    os.close(leader)
    return text.decode()


class Pictures(CommandLineCase):
    def picture(self, experiment, *options):
        out = orrery("simulate", experiment, "--svg", "-", *options)
        self.assertEqual((out.returncode, out.stderr), (0, ""), out.stderr)
        return Picture(out.stdout)

    def test_every_example_makes_a_small_picture_without_overlaps(self):
        for experiment in sorted(EXAMPLES.glob("*.json")):
            if experiment.stem in ("asynchronous", "streaming-diloco") or experiment.stem.startswith("converge"):
                continue  # without a timeline, or long
            with self.subTest(experiment.stem):
                picture = self.picture(experiment, "--svg-memory")
                self.assertLess(len(picture.text), 200_000)
                self.assertTrue(picture.strokes("22"))
                for row in picture.strokes("22").values():
                    for (_, end), (start, _) in zip(row, row[1:]):
                        self.assertLessEqual(end, start + 0.011)
                    self.assertGreaterEqual(row[0][0], 75.99)
                    self.assertLessEqual(row[-1][1], picture.width - 19.99)

    def test_drawn_widths_are_times(self):
        result = json.loads(orrery("simulate", PIPELINE, "--json", "-").stdout)
        picture = self.picture(PIPELINE)
        room = picture.width - 96
        busy = sum(right - left for row in picture.strokes("22").values() for left, right in row)
        self.assertAlmostEqual(busy / room / 4, result["utilization"]["gpu_mean"], delta=4 / room)

    def test_numbers_and_text(self):
        self.experiment.write_text(json.dumps(changed(name=HOSTILE)))
        picture = self.picture(self.experiment)
        title = picture.root.find(SVG + "title").text
        self.assertTrue(title.startswith("</title><script>alert(1)</script> \"q\" & 模型 🙂 \\u202e \\x07 xxx"))
        self.assertIn("…: a step of", title)
        self.assertEqual(list(picture.root.iter(SVG + "script")), [])
        numbers = [text for text in self.picture(PIPELINE).texts() if text.isdigit()]
        self.assertEqual(sorted(numbers), sorted([str(i) for i in range(8)] * 2 * 4 + ["0"]))  # and the legend's

    def test_the_same_bytes_each_time_folded_or_not(self):
        first = self.picture(self.experiment).text
        self.assertEqual(first, self.picture(self.experiment).text)
        self.assertEqual(first, self.picture(self.experiment, "simulation.folding=off").text)

    def test_stages_time_and_width(self):
        picture = self.picture(PIPELINE, "--svg-stages", "1,3", "--svg-time", "50..150ms", "--svg-width", "700")
        self.assertEqual(picture.width, 700)
        self.assertEqual([text for text in picture.texts() if text.startswith("stage")], ["stage 1", "stage 3"])
        self.assertIn("1F1B on 4 stages: 50 ms to 150 ms of a step of 300.764 ms", picture.texts())

    def test_png(self):
        out = orrery("simulate", PIPELINE, "--svg", self.path / "x.png", "--quiet")
        if out.returncode == 1:
            self.assertIn("librsvg2-2", out.stderr)
            self.assertEqual(self.files(), ["e.json"])
        else:
            self.assertEqual((self.path / "x.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_pdf_and_widths_of_papers(self):
        out = orrery("simulate", PIPELINE, "--pdf", self.path / "x.pdf", "--svg", self.path / "x.svg", "--width", "column", "--quiet")
        if out.returncode == 1:
            self.assertIn("librsvg2-2", out.stderr)
            return
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        self.assertEqual(Picture((self.path / "x.svg").read_text()).width, 320)  # 3.33 inches of 96 pixels
        self.assertIn(b"/MediaBox [ 0 0 240 ", (self.path / "x.pdf").read_bytes())  # points

    def test_a_name_of_another_format_is_refused(self):
        for option, name, hint in (("--svg", "x.pdf", "--pdf writes .pdf"), ("--png", "x.svg", "--svg writes .svg"), ("--pdf", "x.PNG", "--png")):
            out = orrery("simulate", PIPELINE, option, self.path / name, "--quiet")
            self.assertEqual(out.returncode, 2, out.stderr)
            self.assertIn(hint, out.stderr)
            self.assertEqual(self.files(), ["e.json"])

    def test_latencies_of_requests(self):
        served = EXAMPLES / "serve-70b.json"
        picture = Picture(orrery("simulate", served, "inference.requests=40", "--picture", "latencies", "--svg", "-").stdout)
        self.assertIn("latency (s)", picture.texts())
        self.assertEqual(picture.width, 672)
        for arguments, words in (((PIPELINE, "--picture", "latencies", "--svg", "-"), "allowed of an experiment that trains is schedule"),
                                 ((served, "--picture", "latencies"), "does nothing without --svg")):
            out = orrery("simulate", *arguments)
            self.assertEqual(out.returncode, 2)
            self.assertIn(words, out.stderr)

    def test_endings_in_upper_case_and_compressed(self):
        orrery("simulate", PIPELINE, "--svg", self.path / "a.svgz", "--quiet")
        self.assertEqual(gzip.decompress((self.path / "a.svgz").read_bytes()).decode(), self.picture(PIPELINE).text)
        out = orrery("simulate", PIPELINE, "--svg", self.path / "X.PNG", "--quiet")
        self.assertTrue(out.returncode == 1 or (self.path / "X.PNG").read_bytes()[1:4] == b"PNG", out.stderr)

    def test_mistakes_leave_no_file(self):
        cases = {
            ("--svg-stages", "0-9"): "--svg-stages: found \"0-9\", allowed are numbers and ranges from 0 to 3",
            ("--svg-time", "1..2s"): "found a beginning at 1 s, allowed are times before the end of the run at 300.764 ms",
            ("--svg-time", "2..1"): "--svg-time: found \"2..1\", allowed FROM..TO",
            ("--svg-width", "3"): "--svg-width: found \"3\", allowed from 300 to 20000 pixels: 320, 3.33in",
            ("--draw", "schedule,memroy"): "found \"memroy\", allowed schedule, memory, topology; did you mean \"memory\"?",
            ("--draw", "memory,schedule,memory"): "found \"memory\" twice",
            ("--draw", "memory", "--draw-width", "19"): "--draw-width: found \"19\", allowed an integer from 20 to 400",
            ("--draw", "memory", "--json", "-"): "--draw and another output go to standard output",
        }
        for options, words in cases.items():
            with self.subTest(options):
                out = orrery("simulate", PIPELINE, "--svg", self.path / "x.svg", *options)
                self.assertEqual((out.returncode, len(out.stderr.splitlines())), (2, 1), out.stderr)
                self.assertTrue(out.stderr.startswith("command line: "), out.stderr)
                self.assertIn(words, out.stderr)
                self.assertEqual(self.files(), ["e.json"])
        out = orrery("simulate", EXAMPLES / "asynchronous.json", "--draw", "schedule")
        self.assertEqual(out.returncode, 2)
        self.assertIn("/data_parallel_sync/method", out.stderr)

    def test_characters_fit(self):
        for columns in (20, 33, 80, 400):
            out = orrery("simulate", PIPELINE, "--quiet", "--draw", "schedule,memory,topology", "--draw-width", columns)
            self.assertEqual(out.returncode, 0)
            self.assertNotIn("\x1b", out.stdout)
            self.assertEqual([line for line in out.stdout.splitlines() if len(line) > columns], [])
            if columns >= 80:
                self.assertEqual(out.stdout.count("B7"), 4)

    def test_colours_on_a_terminal_without_no_color(self):
        arguments = ("simulate", PIPELINE, "--quiet", "--draw", "schedule")
        self.assertIn("\x1b[48;5;25m", on_a_terminal(*arguments))
        self.assertNotIn("\x1b", on_a_terminal(*arguments, NO_COLOR="1"))
        self.assertIn("\x1b[48;5;25m", on_a_terminal(*arguments, NO_COLOR=""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
