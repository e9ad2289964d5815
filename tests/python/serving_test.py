#!/usr/bin/env python3
"""Experiments that serve requests, from Python: figures, searches and sweeps."""

import unittest

from common import main

import orrery

SERVING = {"model": "llama3.1-8b", "cluster": "dgx-h100",
           "inference": {"prompt_tokens": 500, "output_tokens": 20, "batch_size": 4, "max_model_len": 1024}}


class Serving(unittest.TestCase):
    def test_figures(self):
        result = orrery.simulate(SERVING, plan={"tensor_parallel": 2})
        self.assertTrue(result.feasible)
        self.assertGreater(result.ttft_s, result.tpot_s)
        self.assertAlmostEqual(result.output_tokens_per_s_per_gpu * 8, result.output_tokens_per_s)
        self.assertEqual(result.serving.requests, 4 * 4)

    def test_plan(self):
        found = orrery.plan(SERVING, limits={"ttft_s_p99": 0.2}, pareto="tpot_s_p99")
        self.assertEqual(found.objective, "tokens_per_s_per_gpu")
        self.assertTrue(found.best and all(one["ttft_s_p99"] <= 0.2 for one in found.best))
        with self.assertRaises(orrery.ExperimentError):
            orrery.plan(SERVING, limits={"speed": 1})
        with self.assertRaises(orrery.ExperimentError):
            orrery.plan(SERVING, "dp", space={"plan.stage_layers": "auto"})


if __name__ == "__main__":
    main()
