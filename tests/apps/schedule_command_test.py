"""The command `orrery schedule`: usage schedule_command_test.py ORRERY EXAMPLES"""

import json
import sys
import unittest

from command_line import CommandLineCase, orrery

CHANGES = {
    "1f1b": [],
    "interleaved-1f1b": ["plan.virtual_stages=2"],
    "zb-v": [],
    "dualpipe": [],
    "dualpipe-v": [],
}


class ScheduleCommand(CommandLineCase):
    def test_draws_a_line_for_each_rank(self):
        out = orrery("schedule", self.experiment)
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        # 8 micro-batches on 2 ranks: (m + p - 1) (1 + 2) units.
        self.assertIn("\n27 units; a rank idles 3 of them", out.stdout)
        self.assertRegex(out.stdout, r"(?m)^rank 0 F0 F1 \.  \.  B0 -- F2 B1 -- ")
        self.assertLessEqual(max(map(len, out.stdout.splitlines())), 80)

    def test_json_has_every_pass_once_in_order(self):
        for name, changes in CHANGES.items():
            with self.subTest(name):
                out = orrery("schedule", self.experiment, f"plan.pipeline_schedule={name}", *changes, "--json", "-")
                self.assertEqual((out.returncode, out.stderr), (0, ""))
                result = json.loads(out.stdout)
                self.assertEqual(result["micro_batches"], 8)
                seen = []
                for rank in result["ranks"]:
                    self.assertEqual(rank["busy_units"], sum(p["end"] - p["begin"] for p in rank["passes"]))
                    for before, after in zip(rank["passes"], rank["passes"][1:]):
                        self.assertLessEqual(before["end"], after["begin"])
                    seen += [(p["virtual_stage"], p["micro_batch"]) for p in rank["passes"] if p["pass"] == "forward"]
                stages = max(stage for stage, _ in seen) + 1
                self.assertEqual(sorted(seen), [(s, m) for s in range(stages) for m in range(8)])

    def test_a_long_schedule_is_cut_short_unless_all_is_asked_for(self):
        long = ["schedule", self.experiment, "plan.global_batch_size=1024"]
        out = orrery(*long)
        self.assertRegex(out.stdout, r"\.\.\. \d+ more units of time; --all draws them\n")
        self.assertGreater(len(orrery(*long, "--all").stdout), 4 * len(out.stdout))

    def test_says_what_a_schedule_needs(self):
        out = orrery("schedule", self.experiment, "plan.pipeline_schedule=dualpipe", "plan.global_batch_size=4")
        self.assertEqual(out.returncode, 2)
        self.assertEqual(out.stderr, "command line: /plan/global_batch_size: found 2 micro-batches, allowed at least "
                                     "2 x pipeline_parallel 2 = 4 for dualpipe\n")

    def test_batch_answers_each_line(self):
        out = orrery("schedule", "--batch", text=self.experiment.read_text().replace("\n", "") + "\n{}\n")
        answers = [json.loads(line) for line in out.stdout.splitlines()]
        self.assertEqual(answers[0]["units"], 27)
        self.assertIn("error", answers[1])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
