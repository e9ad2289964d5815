"""`orrery simulate --emit`: usage emit_option_test.py ORRERY EXAMPLES. What is written is what shells and parsers of
the formats read."""

import json
import subprocess
import sys
import tomllib
import unittest

from command_line import CommandLineCase, changed, orrery

try:
    import yaml
except ImportError:
    yaml = None

HOSTILE = "a\nb 'c' \"d\" `touch pwned` $(touch pwned) \\ \u2028 \u00e9"
PLANS = [
    {},
    {"virtual_stages": 2, "pipeline_schedule": "interleaved-1f1b", "recompute": "full"},
    {"zero_stage": 1, "overlap_gradient_reduce": True, "offload": "optimizer", "offload_fraction": 0.25},
    {"pipeline_parallel": 3, "data_parallel": 1, "stage_layers": [3, 4, 5], "tensor_parallel": 2},
    {"precision": "fp16", "moment_precision": "bf16"},
]


def variants():
    for plan in PLANS:
        nodes = 1
        cluster = {"base": "dgx-a100-80gb", "nodes": nodes}
        if plan.get("pipeline_parallel") == 3:
            cluster["gpus_per_node"] = 6
        whole = {"tensor_parallel": 2, "pipeline_parallel": 2, "data_parallel": 2, "global_batch_size": 16, **plan}
        yield changed(name=HOSTILE, cluster=cluster, plan=whole)


# Stands for the launchers: prints the arguments of what they would start, a line each.
LAUNCHER = 'torchrun() { printf "%s\\n" "$@"; }; deepspeed() { torchrun "$@"; }; exec() { "$@"; }\n'


class EmitOption(CommandLineCase):
    def emitted(self, framework, experiment):
        self.experiment.write_text(json.dumps(experiment))
        out = orrery("simulate", self.experiment, "--emit", framework)
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        return out.stdout

    def launched(self, script):
        done = subprocess.run(["bash", "-c", LAUNCHER + script, "launch", "--data-path", "my data"], cwd=self.path,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("pwned", self.files())
        return done.stdout.splitlines()

    def test_megatron_is_a_script_that_launches_with_its_arguments(self):
        for experiment in variants():
            words = self.launched(self.emitted("megatron", experiment))
            plan = experiment["plan"]
            tensor = words.index("--tensor-model-parallel-size")
            self.assertEqual(words[tensor + 1], str(plan["tensor_parallel"]))
            self.assertEqual(words[-2:], ["--data-path", "my data"])
            if "stage_layers" in plan:
                ends = [words[words.index(f"--decoder-{end}-pipeline-num-layers") + 1] for end in ("first", "last")]
                self.assertEqual(ends, ["3", "5"])

    def test_deepspeed_writes_its_file_and_launches(self):
        for experiment in variants():
            words = self.launched(self.emitted("deepspeed", experiment))
            config = json.loads((self.path / "ds_config.json").read_text())
            self.assertEqual(words[words.index("--deepspeed_config") + 1], "ds_config.json")
            self.assertEqual(config["train_batch_size"], 16)
            self.assertEqual(str(config["zero_optimization"]["stage"]), words[words.index("--zero-stage") + 1])

    def test_torchtitan_is_toml(self):
        for experiment in variants():
            config = tomllib.loads(self.emitted("torchtitan", experiment))
            self.assertEqual(config["parallelism"]["tensor_parallel_degree"], 2)
            if "stage_layers" in experiment["plan"]:
                parts = config["parallelism"]["module_fqns_per_model_part"]
                self.assertEqual([len(part) for part in parts], [1 + 3, 4, 5 + 2])

    @unittest.skipIf(yaml is None, "needs PyYAML")
    def test_nemo_is_yaml(self):
        for experiment in variants():
            config = yaml.safe_load(self.emitted("nemo", experiment))
            self.assertEqual(config["model"]["tensor_model_parallel_size"], 2)
            self.assertEqual(config["train"]["global_batch_size"], 16)
            if experiment["plan"].get("offload_fraction"):
                self.assertEqual(config["optimizer"]["optimizer_offload_fraction"], 0.25)

    def test_an_unknown_framework_is_an_error(self):
        out = orrery("simulate", self.experiment, "--emit", "megatorn")
        self.assertEqual(out.returncode, 2)
        self.assertIn("megatron", out.stderr)
        self.assertEqual(out.stdout, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
