"""Orrery: a discrete-event simulator of LLM training clusters.

    import orrery
    result = orrery.simulate("examples/megatron-145b.json", plan__micro_batch_size=4)
    result.step_time_s, result.memory.peak_gb, result["breakdown_s.bubble"]

`simulate` and `simulate_many` predict training steps, `memory` what a GPU holds; `Space`, `plan` and `Environment` look
for the best; `read_files` takes files of other tools as an experiment;
`explain` sets measured runs beside simulated ones; `topology` and `gossip_graph` show
networks and who averages with whom; `names`, `entry` and `schema` tell what an experiment can say. Units are the last
part of a key (_s, _gb = 1e9 bytes, _gbps = 1e9 bits/s).
"""

import os as _os

from orrery import _orrery
from orrery._orrery import __version__
from orrery.errors import Diagnostic, ExperimentError, RunError
from orrery.explaining import Explanation, explain
from orrery.gossip import GossipGraph, gossip_graph
from orrery.importing import Imported, read_files
from orrery.names import (KINDS, LINK_KINDS, OPERATION_KINDS, OPERATION_NAMES, PHASES, RESULT_KEYS, STREAMS, entry, names,
                          schema, stream_name)
from orrery.planning import METHODS, Plan, plan
from orrery.result import Result, Section, to_pandas
from orrery.runs import memory, resolve, resolved_text, run, simulate, simulate_many
from orrery.space import Space, Survey
from orrery.sweeping import Sweep, sweep
from orrery.topology import Topology, cluster_of_graph, topology

# Threads of a parent may hold locks of what it has kept.
_os.register_at_fork(after_in_child=_orrery.start_afresh)


def __getattr__(name):
    if name == "Environment":  # needs NumPy, which nothing else does on import
        from orrery.environment import Environment

        return Environment
    raise AttributeError(f"module 'orrery' has no attribute {name!r}")


__all__ = [
    "Diagnostic", "Environment", "ExperimentError", "Explanation", "GossipGraph", "Imported", "KINDS", "LINK_KINDS", "METHODS", "OPERATION_KINDS",
    "OPERATION_NAMES", "PHASES", "Plan", "RESULT_KEYS", "Result", "RunError", "STREAMS", "Section", "Space", "Survey", "Sweep", "Topology",
    "__version__", "cluster_of_graph", "entry", "explain", "gossip_graph", "memory", "names", "plan", "read_files", "resolve", "resolved_text", "run", "schema",
    "simulate", "simulate_many", "stream_name", "sweep", "to_pandas", "topology",
]
