#!/usr/bin/env python3
"""What `orrery simulate --emit` writes, `orrery import` reads back.

The machine is no part of what frameworks are told, so `--set` gives it. Defaults of the framework's stack that an
experiment of another stack does not share are no part of the comparison: degrees, batches and all sizes of the model are.

Usage: round_trip_test.py ORRERY EXAMPLES
"""

import json
import pathlib
import sys
import unittest

from command_line import CommandLineCase, orrery

EXAMPLES = pathlib.Path(sys.argv[2])
DEGREES = ["tensor_parallel", "pipeline_parallel", "data_parallel", "context_parallel", "expert_parallel"]
PLAN = [*DEGREES, "micro_batch_size", "global_batch_size", "precision", "zero_stage", "virtual_stages", "recompute",
        "optimizer", "sequence_parallel"]
MODEL = ["layers", "hidden", "ffn_hidden", "heads", "kv_heads", "head_dim", "vocab", "seq_length", "gated_mlp",
         "tied_embeddings", "experts", "experts_per_token", "normalization", "positions"]
# Frameworks that cannot say it: DeepSpeed's engine has no virtual stages.
NOT_SAID = {"deepspeed": {"virtual_stages"}}
# Megatron pads its vocabulary to 128 x tp rows: 50,257 to 51,200 under tp 8, which its arguments say.
PADDED = {("gpt3-175b.json", "megatron"): 51200, ("gpt3-175b.json", "deepspeed"): 51200}
SUFFIX = {"megatron": "sh", "deepspeed": "sh", "nemo": "yaml", "torchtitan": "toml"}
NAMES = {"megatron": ["megatron-145b.json", "gpt3-175b.json", "llama-7b.yaml", "llama3.1-70b.json", "llama-13b-fsdp.json",
                      "experts.json", "hsdp.json"],
         "deepspeed": ["megatron-145b.json", "gpt3-175b.json", "llama-7b.yaml", "llama3.1-70b.json", "llama-13b-fsdp.json",
                       "hsdp.json"],
         "nemo": ["megatron-145b.json", "gpt3-175b.json", "llama-7b.yaml", "llama3.1-70b.json", "llama-13b-fsdp.json",
                  "experts.json", "hsdp.json"],
         "torchtitan": ["hsdp.json"]}


def without_comments(text):
    return "\n".join(line.split(" //")[0] for line in text.splitlines() if not line.strip().startswith("//"))


class RoundTrip(CommandLineCase):
    def resolved(self, path):
        out = orrery("simulate", path, "--resolved")
        self.assertEqual(out.returncode, 0, out.stderr)
        return json.loads(without_comments(out.stdout))

    def test_all_frameworks(self):
        for framework, names in NAMES.items():
            for name in names:
                with self.subTest(framework=framework, name=name):
                    self.round_trip(framework, name)

    def round_trip(self, framework, name):
        before = self.resolved(EXAMPLES / name)
        gpus = before["cluster"]["nodes"] * before["cluster"]["gpus_per_node"]
        emitted = self.path / f"{name}.{SUFFIX[framework]}"
        emitted.write_text(orrery("simulate", EXAMPLES / name, "--emit", framework).stdout)
        back = self.path / "back.yaml"
        out = orrery("import", emitted, "--set", f"launch.gpus={gpus}", "--set", "cluster=dgx-h100", "-o", back)
        self.assertEqual(out.returncode, 0, out.stderr + out.stdout)
        after = self.resolved(back)
        expected = {f"plan.{key}": before["plan"].get(key) for key in PLAN}
        expected |= {f"model.{key}": before["model"].get(key) for key in MODEL}
        for key in NOT_SAID.get(framework, ()):
            del expected[f"plan.{key}"]
        if (name, framework) in PADDED:
            expected["model.vocab"] = PADDED[name, framework]
        found = {key: after[key.split(".")[0]].get(key.split(".")[1]) for key in expected}
        self.assertEqual(found, expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
