"""Mistakes as people type them, each with the hint that leads on: what was found, what is allowed, the nearest first."""

import sys
import unittest

from command_line import CommandLineCase, orrery

FILE = "e.json"  # of the case
MISTAKES = [
    (["simulat", FILE], 'found command "simulat"', 'did you mean "simulate"?'),
    (["simulate", FILE, "--jsn", "out.json"], 'found option "--jsn"', 'did you mean "--json"?'),
    (["simulate", FILE, "--tensor-parallel", "4"], 'found option "--tensor-parallel"',
     'keys of the experiment stand without dashes: plan.tensor_parallel=VALUE'),
    (["simulate", FILE, "--tp=4"], 'found option "--tp"', "plan.tensor_parallel=VALUE"),
    (["simulate", FILE, "plan.tensor_paralel=4"], 'found unknown key "tensor_paralel"', 'did you mean "tensor_parallel"?'),
    (["simulate", FILE, "plan.pipeline_model_parallel_size=2"], "found unknown key",
     'did you mean "plan.pipeline_parallel"?'),
    (["simulate", FILE, "plan.tp=5"], "/plan/tensor_parallel: found 5", "allowed a divisor of heads 12"),
    (["simulate", FILE, "plan.gbs=17"], "/plan/global_batch_size: found 17", "allowed a multiple of data_parallel 2"),
    (["simulate", FILE, "plan.precision=b16"], 'found "b16"', 'did you mean "bf16"?'),
    (["simulate", FILE, "plan.recompute=selctive"], 'found "selctive"', 'did you mean "selective"?'),
    (["simulate", FILE, "plan.zero_stage=4"], "/plan/zero_stage: found 4", "allowed an integer from 0 to 3"),
    (["simulate", FILE, "model=llama3.1-70"], 'found "llama3.1-70"', 'did you mean "llama3.1-70b"?'),
    (["simulate", FILE, "cluster=h100"], 'found "h100", which is a GPU', "dgx-h100"),
    (["simulate", FILE, "cluster.gpu=H10O"], 'found "H10O"', 'did you mean "h100"?'),
    (["simulate", FILE, "stack=megatron"], '/stack: found "megatron"', 'did you mean "megatron-2021"?'),
    (["simulate", "no-such.json"], "no-such.json: cannot be read", "No such file or directory"),
    (["simulate"], "an experiment file is missing", "--batch"),
    (["plan", FILE, "--objective", "step_time"], '--objective: found "step_time"', 'did you mean "step_time_s"?'),
    (["capacity", FILE], "/inference: found none", "allowed an experiment that serves requests"),
    (["list", "gpu"], 'found "gpu"', 'did you mean "gpus"?'),
    (["show", "gpt3-175"], 'found "gpt3-175"', 'did you mean "gpt3-175b"?'),
]


class TypicalMistakes(CommandLineCase):
    def test_each_says_what_was_found_and_leads_on(self):
        for words, found, hint in MISTAKES:
            with self.subTest(" ".join(words)):
                result = orrery(*[self.experiment if word == FILE else word for word in words])
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(found, result.stderr)
                self.assertIn(hint, result.stderr)
                self.assertEqual(self.files(), ["e.json"])
                for line in result.stderr.splitlines():
                    self.assertLess(len(line), 500, line)

    def test_a_comma_too_many_has_its_place(self):
        self.experiment.write_text('{"model": "gpt3-125m",\n "cluster": "dgx-a100-80gb",}')
        result = orrery("simulate", self.experiment)
        self.assertEqual(result.returncode, 2)
        self.assertIn("e.json:2:", result.stderr)

    def test_conditions_know_short_names(self):
        result = orrery("plan", self.experiment, "--vary", "plan.tensor_parallel=1,2", "--vary", "plan.data_parallel=null",
                        "--where", "tp * pp <= 2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("removed by tp * pp <= 2", result.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
