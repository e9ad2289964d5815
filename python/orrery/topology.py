"""The physical network of a cluster: arrays, routes and NetworkX graphs, and clusters from such graphs."""

import collections.abc

from orrery import _orrery
from orrery.errors import ExperimentError
from orrery.names import LINK_KINDS, names
from orrery.runs import override_list, path_list

# Precisions of which every GPU has one: a cluster is read with a step of any model, which takes a peak.
_PRECISIONS = ("fp32", "bf16")


class Topology:
    """GPUs and switches joined by directed links.

    gpus           int; GPUs are the vertices 0 to gpus - 1
    gpus_per_node  int; GPU g is in node g // gpus_per_node
    vertices       int; GPUs, switches of the nodes, NICs, switches of the fabric, in this order
    links          read-only structured array, shape (links,), a view of the simulator's own; fields from u4, to u4
                   (vertices), bytes_per_s i8, latency_ps i8, kind u1 (index in orrery.LINK_KINDS)
    """

    def __init__(self, native):
        self._native = native
        self.gpus = native.gpus
        self.gpus_per_node = native.gpus_per_node
        self.vertices = native.vertices
        self.links = native.links

    def __repr__(self):
        return f"<orrery.Topology {self.gpus} GPUs, {self.vertices} vertices, {len(self.links)} links>"

    def route(self, source, target):
        """Numbers of the links that a message takes from one GPU to another, in order; shape (hops,) as a list."""
        return self._native.route(source, target)

    def vertex_names(self):
        """The name of each vertex, a tuple of shape (vertices,)."""
        return self._native.vertex_names()

    def edges(self):
        """Array u4 of shape (links, 2): the vertices that each link goes from and to."""
        import numpy

        return numpy.stack([self.links["from"], self.links["to"]], axis=1)

    def to_networkx(self):
        """A networkx.MultiDiGraph: vertices are numbers with the attributes `name` and `gpu` (bool), links have
        `gb_per_s` (1e9 bytes/s), `latency_us` and `kind`."""
        import networkx

        graph = networkx.MultiDiGraph()
        for vertex, name in enumerate(self.vertex_names()):
            graph.add_node(vertex, name=name, gpu=vertex < self.gpus)
        for number, (source, target, rate, latency, kind) in enumerate(self.links.tolist()):
            graph.add_edge(source, target, key=number, gb_per_s=rate / 1e9, latency_us=latency / 1e6,
                           kind=LINK_KINDS[kind])
        return graph


def topology(cluster, overrides=None, *, calibrations=()):
    """The Topology of a cluster.

    cluster    a name of the catalog (`orrery.names("clusters")`), the dict of a cluster ({"base": "dgx-h100",
               "nodes": 4}), or an experiment as for `simulate`
    overrides  as for `simulate`, such as {"cluster.nodes": 4}
    """
    settings = override_list(overrides, {}), path_list(calibrations)
    is_cluster = (isinstance(cluster, str) and cluster in names("clusters") or
                  isinstance(cluster, collections.abc.Mapping) and "cluster" not in cluster)
    if not is_cluster:
        return Topology(_orrery.topology(cluster, *settings))
    for precision in _PRECISIONS:
        step = {"model": "gpt3-125m", "plan": {"precision": precision}, "cluster": cluster}
        try:
            return Topology(_orrery.topology(step, *settings))
        except ExperimentError as error:
            if precision == _PRECISIONS[-1] or error.diagnostics[0].pointer != "/plan/precision":
                raise
    raise AssertionError("unreachable")


def cluster_of_graph(graph, gpu, gpus_per_node=None):
    """The `cluster` of an experiment from a NetworkX graph, as its key `graph` describes one.

    graph          edges have `gb_per_s` (1e9 bytes/s per direction) and may have `latency_us` (0); those of an
                   undirected graph carry messages both ways. Vertices whose attribute `gpu` is true are the GPUs, in
                   the order of the graph; where no vertex has it, those named gpu0, gpu1, ... are
    gpu            a name of the catalog, or the dict of a GPU
    gpus_per_node  default: all GPUs are one node
    """
    marked = [vertex for vertex, is_gpu in graph.nodes(data="gpu") if is_gpu]
    vertex_names = {vertex: f"gpu{number}" for number, vertex in enumerate(marked)}
    for number, vertex in enumerate(graph.nodes):
        vertex_names.setdefault(vertex, f"switch{number}" if marked else str(vertex))
    count = sum(name.startswith("gpu") for name in vertex_names.values())
    links = []
    for source, target, data in graph.edges(data=True):
        if "gb_per_s" not in data:
            raise ValueError(f"edge {source!r} to {target!r} has no gb_per_s")
        links.append({"from": vertex_names[source], "to": vertex_names[target], "gb_per_s": data["gb_per_s"],
                      "latency_us": data.get("latency_us", 0), "bidirectional": not graph.is_directed()})
    per_node = count if gpus_per_node is None else gpus_per_node
    return {"gpu": gpu, "gpus_per_node": per_node, "nodes": -(-count // max(per_node, 1)),
            "graph": {"vertices": list(vertex_names.values()), "links": links}}
