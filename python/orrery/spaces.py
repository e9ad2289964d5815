"""Spaces of actions and observations: Gymnasium's where it is installed, else as much of them as a planner needs."""

import numpy

try:
    import gymnasium

    Env = gymnasium.Env
    Discrete = gymnasium.spaces.Discrete
    MultiDiscrete = gymnasium.spaces.MultiDiscrete
except ImportError:

    class Env:
        """Holds the parts that environments share."""

        metadata = {"render_modes": []}
        render_mode = None
        spec = None

        @property
        def unwrapped(self):
            return self

        def render(self):
            """Nothing is drawn."""

        def close(self):
            """Nothing is held."""

    class Discrete:
        """The integers 0 to n - 1."""

        def __init__(self, n, seed=None):
            self.n = int(n)
            self.shape = ()
            self.dtype = numpy.dtype(numpy.int64)
            self.seed(seed)

        def __repr__(self):
            return f"Discrete({self.n})"

        def seed(self, seed=None):
            self._chance = numpy.random.default_rng(seed)

        def sample(self, mask=None):
            """An integer by chance; `mask`, shape (n,), says with 1 which may be drawn."""
            allowed = numpy.arange(self.n) if mask is None else numpy.flatnonzero(mask)
            return numpy.int64(self._chance.choice(allowed)) if len(allowed) else numpy.int64(0)

        def contains(self, x):
            return isinstance(x, (int, numpy.integer)) and 0 <= x < self.n

        __contains__ = contains

    class MultiDiscrete:
        """Lists of integers, each from 0 to its entry of nvec - 1."""

        def __init__(self, nvec, seed=None):
            self.nvec = numpy.asarray(nvec, dtype=numpy.int64)
            self.shape = self.nvec.shape
            self.dtype = self.nvec.dtype
            self.seed(seed)

        def __repr__(self):
            return f"MultiDiscrete({self.nvec.tolist()})"

        def seed(self, seed=None):
            self._chance = numpy.random.default_rng(seed)

        def sample(self):
            return self._chance.integers(self.nvec)

        def contains(self, x):
            return isinstance(x, numpy.ndarray) and x.shape == self.shape and bool(((0 <= x) & (x < self.nvec)).all())

        __contains__ = contains
