#!/usr/bin/env python3
"""orrery.Environment: spaces, masks, rewards and seeds, with the package gymnasium where it is installed and without."""

import math
import sys
import unittest

from common import main, need, small

need("numpy")

import numpy

STAND_INS = "--with-gymnasium" not in sys.argv
if STAND_INS:
    sys.modules["gymnasium"] = None  # its import fails as where it is missing
else:
    sys.argv.remove("--with-gymnasium")
    need("gymnasium")

import orrery

SMALL = small(global_batch_size=32)
KEYS = {"plan.tensor_parallel": [1, 2, 4, 8], "plan.micro_batch_size": [1, 2, 4], "plan.recompute": ["none", "full"]}
DESCRIPTION = {"experiment": SMALL, **KEYS, "where": "plan.tensor_parallel * plan.micro_batch_size <= 8"}


def play(environment, choose, seed=None):
    """(actions, reward, last info) of an episode."""
    _, info = environment.reset(seed=seed)
    actions = []
    while True:
        actions.append(int(choose(info["action_mask"])))
        observation, reward, over, truncated, info = environment.step(actions[-1])
        assert environment.observation_space.contains(observation) and not truncated
        if over:
            return actions, reward, info
        assert reward == 0


class Episodes(unittest.TestCase):
    def setUp(self):
        self.environment = orrery.Environment(DESCRIPTION)

    def test_spaces(self):
        # Keys in the order of the space, which is that of the alphabet: micro_batch_size, recompute, tensor_parallel.
        environment = self.environment
        self.assertEqual(environment.keys, tuple(sorted(KEYS)))
        self.assertEqual(environment.action_space.n, 4)
        self.assertEqual(environment.observation_space.nvec.tolist(), [4, 3, 5, 4])
        observation, _ = environment.reset()
        self.assertEqual(observation.tolist(), [0, 0, 0, 0])
        self.assertEqual(environment.step(2)[0].tolist(), [3, 0, 0, 1])
        self.assertIs(environment.unwrapped, environment)

    def test_masks_forbid_what_leaves_no_point(self):
        environment = self.environment
        _, info = environment.reset()
        self.assertEqual(info["action_mask"].tolist(), [True, True, True, False])  # three micro-batch sizes
        info = environment.step(2)[4]  # of 4
        self.assertEqual(info["action_mask"].tolist(), [True, True, False, False])  # two modes
        info = environment.step(0)[4]
        self.assertEqual(info["action_mask"].tolist(), [True, True, False, False])  # tensor parallelism of 1 or 2
        self.assertTrue((environment.action_masks() == info["action_mask"]).all())
        _, reward, over, truncated, info = environment.step(3)
        self.assertEqual((reward, over, truncated, info["feasible"]), (-math.log(10), True, False, False))

    def test_rewards_are_logarithms_of_the_objective(self):
        environment = self.environment
        self.assertEqual(environment.baseline, orrery.simulate(SMALL, environment.space[0]).step_time_s)
        _, reward, info = play(environment, lambda mask: mask.nonzero()[0][-1])
        expected = orrery.simulate(SMALL, info["point"]).step_time_s
        self.assertEqual(info["step_time_s"], expected)
        self.assertAlmostEqual(reward, -math.log(expected / environment.baseline), 15)
        more = orrery.Environment(DESCRIPTION, "tokens_per_s")
        self.assertAlmostEqual(play(more, lambda mask: mask.nonzero()[0][-1])[1], reward, 12)
        half = orrery.Environment(DESCRIPTION, baseline=environment.baseline / 2)
        self.assertAlmostEqual(play(half, lambda mask: mask.nonzero()[0][-1])[1], reward - math.log(2), 12)

    def test_every_point_can_be_reached_once(self):
        reached = set()

        def visit(prefix):
            self.environment.reset()
            mask, over = self.environment.action_masks(), False
            for action in prefix:
                _, _, over, _, info = self.environment.step(action)
                mask = info["action_mask"]
            if over:
                reached.add(self.environment.space.index(info["point"]))
                return
            for action in numpy.flatnonzero(mask):
                visit([*prefix, int(action)])

        visit([])
        self.assertEqual(reached, set(self.environment.space.survey().valid))

    def test_plans_that_do_not_fit(self):
        large = {**SMALL, "plan": {**SMALL["plan"], "global_batch_size": 4096}}
        environment = orrery.Environment({"experiment": large, "plan.micro_batch_size": [1, 512]}, infeasible_reward=-5)
        environment.reset()
        _, reward, over, _, info = environment.step(1)
        self.assertEqual((reward, over, info["feasible"], info["step_time_s"]), (-5, True, False, None))
        with self.assertRaisesRegex(ValueError, "fits into memory"):
            orrery.Environment({"experiment": large, "plan.micro_batch_size": [512]})

    def test_seeds(self):
        sample = lambda mask: self.environment.action_space.sample(mask.astype(numpy.int8))
        episodes = [play(self.environment, sample, seed) for seed in (1, 2, 3, 1, 2, 3)]
        self.assertEqual([episode[:2] for episode in episodes[:3]], [episode[:2] for episode in episodes[3:]])
        self.assertGreater(len({tuple(episode[0]) for episode in episodes}), 1)

    def test_mistakes(self):
        environment = self.environment
        self.assertRaises(RuntimeError, environment.step, 0)
        environment.reset()
        for action in (-1, 4, 1.5, "2", None):
            self.assertRaises(ValueError, environment.step, action)
        self.assertRaises(ValueError, environment.reset, options={"x": 1})
        self.assertRaises(ValueError, orrery.Environment, DESCRIPTION, baseline=0)
        self.assertRaises(orrery.ExperimentError, orrery.Environment, DESCRIPTION, "name")
        with self.assertRaisesRegex(ValueError, "no valid point"):
            orrery.Environment({**DESCRIPTION, "plan.tensor_parallel": [8], "plan.micro_batch_size": [4]})


class Interface(unittest.TestCase):
    def test_spaces_draw_what_they_contain(self):
        environment = orrery.Environment(DESCRIPTION)
        for space in (environment.action_space, environment.observation_space):
            space.seed(3)
            drawn = [space.sample() for _ in range(20)]
            self.assertTrue(all(space.contains(one) for one in drawn))
            space.seed(3)
            self.assertEqual(str(drawn), str([space.sample() for _ in range(20)]))
        self.assertEqual(environment.action_space.shape, ())
        self.assertEqual(environment.observation_space.shape, (4,))
        self.assertFalse(environment.action_space.contains(4))
        environment.close()

    @unittest.skipIf(STAND_INS, "without gymnasium")
    def test_gymnasium_finds_no_fault(self):
        from gymnasium.utils.env_checker import check_env

        check_env(orrery.Environment({"experiment": SMALL, "plan.micro_batch_size": [1, 2]}), skip_render_check=True)


if __name__ == "__main__":
    main()
