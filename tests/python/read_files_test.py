#!/usr/bin/env python3
"""orrery.read_files(): files of other tools become an experiment, the one that `orrery import` writes."""

import json
import pathlib
import tempfile
import unittest

from common import command, main

import orrery

# 4,096 wide, 7 layers (a prime number), 32 heads over 8 of keys and values.
CONFIG = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "intermediate_size": 14336,
          "num_hidden_layers": 7, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
          "max_position_embeddings": 8192, "tie_word_embeddings": False, "rope_theta": 500000.0, "hidden_act": "silu"}


class ReadFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.config = pathlib.Path(self.folder.name) / "config.json"
        self.config.write_text(json.dumps(CONFIG))

    def test_is_what_the_command_writes(self):
        read = orrery.read_files(self.config)
        written = json.loads(command("import", self.config, "--quiet", "--report", "-"))
        self.assertEqual(read, written)
        self.assertEqual(str(read), command("import", self.config))
        self.assertEqual(orrery.simulate(read.experiment).step_time_s, orrery.simulate(read.yaml).step_time_s)

    def test_settings_decide(self):
        read = orrery.read_files([self.config], {"plan.micro_batch_size": 3})
        self.assertEqual(read.experiment.plan.micro_batch_size, 3)

    def test_parameters_by_hand(self):
        # Attention 2 x 4096 x 4096 + 2 x 4096 x 1024, MLP 3 x 4096 x 14336, two norms; a last norm, two embeddings.
        layer = 2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096
        result = orrery.simulate(orrery.read_files(self.config).experiment)
        self.assertEqual(result.parameters, 7 * layer + 4096 + 2 * 128256 * 4096)

    def test_a_model_that_cannot_be_said_names_its_kind(self):
        self.config.write_text(json.dumps({**CONFIG, "model_type": "perceptron", "architectures": ["PerceptronForCausalLM"]}))
        with self.assertRaises(orrery.ExperimentError) as caught:
            orrery.read_files(self.config)
        self.assertIn("perceptron", str(caught.exception))
        self.assertEqual(caught.exception.diagnostics[0].source, str(self.config))

    def test_tables(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no pandas")
        read = orrery.read_files(self.config)
        self.assertEqual(len(read.to_pandas()), len(read["items"]))

    def test_no_file_is_refused(self):
        self.assertRaises(orrery.ExperimentError, orrery.read_files, "nowhere.json")


if __name__ == "__main__":
    main()
