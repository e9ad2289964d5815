#!/usr/bin/env python3
"""Pictures of studies from the command line: --svg, --png and --pdf of compare, plan, sweep, validate, converge,
gossip, capacity, memory and elastic, as an XML parser reads them.

Usage: study_pictures_test.py ORRERY EXAMPLES
"""

import csv
import io
import sys
import unittest
import xml.etree.ElementTree as xml

from command_line import CommandLineCase, EXAMPLES, orrery

SVG = "{http://www.w3.org/2000/svg}"
LLAMA = EXAMPLES / "llama-7b.yaml"
PIPELINE = EXAMPLES / "pipeline-1f1b.json"


class StudyPictures(CommandLineCase):
    def drawn(self, *arguments):
        """Returns width and texts of the picture."""
        out = orrery(*arguments, "--svg", "-", "--quiet")
        self.assertEqual((out.returncode, out.stderr), (0, ""), out.stderr)
        self.assertNotIn("nan", out.stdout)
        self.assertEqual(orrery(*arguments, "--svg", "-", "--quiet").stdout, out.stdout)
        root = xml.fromstring(out.stdout)
        self.assertEqual(list(root.iter(SVG + "script")), [])
        return float(root.get("width")), ["".join(text.itertext()) for text in root.iter(SVG + "text")]

    def refused(self, words, *arguments):
        out = orrery(*arguments)
        self.assertEqual((out.returncode, len(out.stderr.splitlines())), (2, 1), out.stderr)
        self.assertIn(words, out.stderr)
        self.assertEqual(self.files(), ["e.json"])

    def test_compare_draws_degrees_as_they_are(self):
        width, texts = self.drawn("compare", PIPELINE, "--vary", "plan.micro_batch_size=1,2,4", "--width", "3.33in")
        self.assertEqual(width, 320)
        for tick in ("1", "2", "4", "micro batch size", "step time (s)"):
            self.assertIn(tick, texts)
        self.assertNotIn("3", texts)

    def test_compare_without_numbers_draws_parts_of_the_time(self):
        _, texts = self.drawn("compare", PIPELINE, EXAMPLES / "pipeline-gpipe.json")
        self.assertIn("compute", texts)
        self.assertIn("bubble", texts)

    def test_plan_draws_what_plans_weigh_and_its_progress(self):
        space = ("plan", LLAMA, "--vary", "plan.micro_batch_size=1,2", "--vary", "plan.recompute=none,full")
        _, texts = self.drawn(*space, "--pareto", "memory.peak_gb")
        self.assertIn("none is better in both", texts)
        self.assertIn("memory peak (GB)", texts)
        _, texts = self.drawn(*space)
        self.assertIn("best step time (s)", texts)
        self.refused('--picture: found "pareto", allowed with --pareto', *space, "--picture", "pareto", "--svg", "-")

    def test_sweep_draws_a_scatter_and_a_heat_map(self):
        results = ("-o", self.path / "r.sqlite")
        space = ("sweep", LLAMA, "--vary", "plan.micro_batch_size=1,2", "--vary", "plan.recompute=none,full", *results)
        self.assertEqual(orrery(*space, "--quiet").returncode, 0)
        _, texts = self.drawn("sweep", *results)
        self.assertIn("memory peak (GB)", texts)
        _, texts = self.drawn("sweep", *results, "--picture", "micro_batch_size:recompute:step_time_s")
        self.assertIn("full", texts)
        out = orrery("sweep", *results, "--picture", "step_tim_s:mfu", "--svg", "-")
        self.assertEqual(out.returncode, 2)
        self.assertIn('did you mean "step_time_s"?', out.stderr)

    def test_validate_draws_predictions_over_measurements(self):
        _, texts = self.drawn("validate", "alpa-v100")
        self.assertIn("measured step time (s)", texts)
        self.assertIn("equal", texts)

    def test_converge_draws_its_target(self):
        short = ("converge", EXAMPLES / "converge-gossip.json", "problem.iterations=50", "--target", "0.66")
        width, texts = self.drawn(*short, "--width", "column", "--height", "3in")
        self.assertEqual(width, 320)
        self.assertIn("target, a loss of 0.66", texts)

    def test_gossip_draws_its_law_and_writes_csv(self):
        _, texts = self.drawn("gossip", "ring", "complete")
        self.assertIn("workers", texts)
        self.assertIn("1024", texts)
        rows = list(csv.DictReader(io.StringIO(orrery("gossip", "ring", "--workers", "4,5", "--csv", "-").stdout)))
        self.assertEqual([row["workers"] for row in rows], ["4", "5"])

    def test_capacity_draws_latency_over_rates(self):
        _, texts = self.drawn("capacity", EXAMPLES / "serve-70b.json", "inference.slo.ttft_s_p99=2")
        self.assertIn("requests that arrive a second", texts)
        self.assertIn("limit of ttft_s_p99, 2 s", texts)

    def test_memory_draws_stages_below_the_limit(self):
        _, texts = self.drawn("memory", PIPELINE)
        self.assertIn("stage 0", texts)
        self.assertIn("optimizer states", texts)
        self.refused("allowed only with --accounting orrery", "memory", PIPELINE, "--accounting", "explorer", "--svg", "-")

    def test_elastic_draws_its_changes(self):
        run = ("elastic", EXAMPLES / "intellect-1.yaml", "--steps", "1000", "--change", "400:-asia")
        _, texts = self.drawn(*run)
        self.assertTrue(any(text.startswith("−asia: ") for text in texts), texts)
        rows = list(csv.DictReader(io.StringIO(orrery(*run, "--csv", "-").stdout)))
        self.assertEqual([(row["first_step"], row["steps"], row["away"]) for row in rows], [("0", "400", ""), ("400", "600", "asia")])

    def test_names_sizes_and_fonts_that_there_are_not(self):
        for words, arguments in (("--pdf writes .pdf", ("--svg", self.path / "x.pdf")),
                                 ("--png writes .png", ("--svg", self.path / "x.png")),
                                 ("allowed from 160 to 20000 pixels", ("--svg", "-", "--width", "3")),
                                 ("allowed from 160 to 20000 pixels", ("--svg", "-", "--width", "1e99in")),
                                 ("allowed from 100 to 20000 pixels", ("--svg", "-", "--height", "4mm")),
                                 ('did you mean "serif"?', ("--svg", "-", "--font", "serf")),
                                 ("--width does nothing without --svg, --png or --pdf", ("--width", "3in"))):
            with self.subTest(words):
                self.refused(words, "memory", PIPELINE, *arguments)

    def test_pdf_and_png(self):
        out = orrery("memory", PIPELINE, "--pdf", self.path / "m.pdf", "--png", self.path / "m.png", "--width", "column", "--quiet")
        if out.returncode == 1:
            self.assertIn("librsvg2-2", out.stderr)
            return
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        self.assertIn(b"/MediaBox [ 0 0 240 ", (self.path / "m.pdf").read_bytes())
        self.assertEqual((self.path / "m.png").read_bytes()[1:4], b"PNG")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
