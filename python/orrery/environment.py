"""The search for a plan as an environment with Gymnasium's interface."""

import bisect
import math

import numpy

from orrery import _orrery
from orrery.runs import simulate
from orrery.space import Space
from orrery.spaces import Discrete, Env, MultiDiscrete


class Environment(Env):
    """An episode chooses the values of a space's keys one by one, in their order; the last one has the plan simulated.

    space              a Space, or what one is made of
    objective          a number of the result, such as step_time_s or tokens_per_s; min:KEY and max:KEY say what is
                       better where the name does not
    baseline           value of the objective that is worth a reward of 0; None: that of the first point of the space
                       that fits into memory
    infeasible_reward  of a plan that does not fit into memory and of an action that is masked; the default is that of
                       a plan ten times worse than the baseline

    Actions are integers: action a takes the a-th value of the next key (`keys`, `values`). action_space is
    Discrete(n) with n the most values of a key, and `action_masks()` says which lead to a valid point: an array of
    bool, shape (n,). Observations are MultiDiscrete, int64 of shape (keys + 1,): per key 1 + the place of the chosen
    value or 0 before it is chosen, and the number of the next key.

    The reward is 0 on the way and -log(objective / baseline) in the end (+log where more is better), so a plan twice
    as fast as the baseline is worth log 2. `info` has `action_mask`, and in the end `point`, `feasible` and the
    objective under its key.

    Nothing is left to chance but what the caller draws: the same actions give the same rewards, and
    `reset(seed=...)` seeds action_space, so that its samples come again. Points are simulated once.
    """

    metadata = {"render_modes": []}

    def __init__(self, space, objective="step_time_s", *, baseline=None, infeasible_reward=-math.log(10)):
        self.space = space if isinstance(space, Space) else Space(space)
        self.objective, self._most = _orrery.objective(objective)
        self.infeasible_reward = float(infeasible_reward)
        self.keys = tuple(self.space.values)
        self.values = tuple(tuple(values) for values in self.space.values.values())
        self._valid = self.space.survey().valid
        if not self._valid:
            removed = (f"{count} removed by {by}" for by, count in self.space.survey().removed.items())
            raise ValueError(f"the space has no valid point: {', '.join(removed)}")
        sizes = [len(values) for values in self.values]
        self._strides = [math.prod(sizes[place + 1:]) for place in range(len(sizes))]
        self.action_space = Discrete(max(sizes))
        self.observation_space = MultiDiscrete([size + 1 for size in sizes] + [len(sizes) + 1])
        self._known = {}
        self._choices = []
        self._over = True
        self.baseline = self._first_value() if baseline is None else float(baseline)
        if not self.baseline > 0:
            raise ValueError(f"baseline: found {self.baseline}, allowed are numbers above 0")

    def reset(self, *, seed=None, options=None):
        """(observation, info) of a new episode. There are no options."""
        if options:
            raise ValueError(f"options: found {', '.join(map(str, options))}, allowed are none")
        if seed is not None:
            self.action_space.seed(seed)
        self._choices = []
        self._over = False
        return self._observation(), {"action_mask": self.action_masks()}

    def step(self, action):
        """(observation, reward, terminated, truncated, info) after one more value is chosen; an action that is masked
        ends the episode."""
        if self._over:
            raise RuntimeError("the episode is over; call reset()")
        if not self.action_space.contains(action):
            raise ValueError(f"action: found {action!r}, allowed are integers from 0 to {self.action_space.n - 1}")
        if not self.action_masks()[action]:
            self._over = True
            return self._observation(), self.infeasible_reward, True, False, {"action_mask": self.action_masks(),
                                                                             "feasible": False}
        self._choices.append(int(action))
        if len(self._choices) < len(self.keys):
            return self._observation(), 0.0, False, False, {"action_mask": self.action_masks()}
        self._over = True
        index = self._begin()
        value = self._value(index)
        info = {"action_mask": self.action_masks(), "point": self.space[index], "feasible": value is not None,
                self.objective: value}
        return self._observation(), self._reward(value), True, False, info

    def action_masks(self):
        """Which actions lead to a valid point: array of bool, shape (action_space.n,); none once all keys are
        chosen."""
        mask = numpy.zeros(self.action_space.n, dtype=bool)
        place = len(self._choices)
        if place == len(self.keys):
            return mask
        begin, stride = self._begin(), self._strides[place]
        for action in range(len(self.values[place])):
            first = bisect.bisect_left(self._valid, begin + action * stride)
            mask[action] = first < len(self._valid) and self._valid[first] < begin + (action + 1) * stride
        return mask

    def _begin(self):
        """The first point with the values chosen so far: those are neighbours, since the last key changes fastest."""
        return sum(choice * stride for choice, stride in zip(self._choices, self._strides))

    def _observation(self):
        chosen = [choice + 1 for choice in self._choices]
        left = len(self.keys) - len(chosen)
        return numpy.array(chosen + [0] * left + [len(chosen)], dtype=numpy.int64)

    def _value(self, index):
        """The objective at a point; None where the plan does not fit."""
        if index not in self._known:
            result = simulate(self.space.experiment(index), only=[self.objective, "feasible"], skip_infeasible=True)
            self._known[index] = result[self.objective] if result.feasible else None
        return self._known[index]

    def _first_value(self):
        for index in self._valid:
            value = self._value(index)
            if value is not None:
                return value
        raise ValueError("no point of the space fits into memory")

    def _reward(self, value):
        if value is None or not value > 0:
            return self.infeasible_reward
        gain = math.log(value / self.baseline)
        return gain if self._most else -gain
