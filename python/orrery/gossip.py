"""Gossip graphs: who averages with whom, as mixing matrices and NetworkX graphs, in and out."""

from orrery import _orrery

# Rounds drawn of random matchings, as `orrery gossip` does.
_RANDOM_ROUNDS = 16


class GossipGraph:
    """Mixing matrices W_0, W_1, ...: in step k worker i takes sum over j of W[i, j] x_j with W = W_(k mod rounds).

    workers, rounds  int
    topology         its name, "explicit" of matrices
    """

    def __init__(self, native):
        self._native = native
        self.topology = native.topology
        self.workers = native.workers
        self.rounds = native.rounds

    def __repr__(self):
        return f"<orrery.GossipGraph {self.topology}, {self.workers} workers, {self.rounds} rounds>"

    @classmethod
    def from_matrices(cls, matrices):
        """From one matrix of shape (workers, workers), or a list of those, one per round; rows add up to 1."""
        import numpy

        if getattr(matrices, "ndim", None) == 2:
            matrices = [matrices]
        return cls(_orrery.GossipGraph([numpy.asarray(matrix, dtype=float) for matrix in matrices]))

    @classmethod
    def from_networkx(cls, graph):
        """From a NetworkX graph with Metropolis-Hastings weights, 1 / (1 + the larger degree) per edge; those of a
        directed graph share a worker's in-neighbours equally. An edge attribute `weight` is what its end takes of
        its beginning, and then every edge has one. Workers are the nodes in the graph's order."""
        import numpy

        place = {node: number for number, node in enumerate(graph.nodes)}
        matrix = numpy.zeros((len(place), len(place)))
        edges = [(u, v, w) for u, v, w in graph.edges(data="weight") if u != v]
        weighted = [edge for edge in edges if edge[2] is not None]
        if weighted and len(weighted) != len(edges):
            raise ValueError("some edges have a weight and some have none; allowed are all or none")
        for source, target, weight in edges:
            if weight is None:
                weight = (1 / (1 + graph.in_degree(target)) if graph.is_directed() else
                          1 / (1 + max(graph.degree(source), graph.degree(target))))
            matrix[place[target], place[source]] = weight
            if not graph.is_directed():
                matrix[place[source], place[target]] = weight
        matrix[numpy.diag_indices_from(matrix)] = 1 - matrix.sum(axis=1)
        return cls.from_matrices(matrix)

    def matrix(self, round=0):
        """The mixing matrix of a round: array f8 of shape (workers, workers)."""
        return self._native.matrix(round)

    def edges(self, round=0):
        """(ends, weights) of a round: array u4 of shape (edges, 2) with who is taken from and who takes, and array f8
        of shape (edges,). A worker's own share is no edge."""
        return self._native.edges(round)

    def to_networkx(self, round=0):
        """A networkx.DiGraph of the workers 0 to workers - 1; edges have `weight`."""
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from(range(self.workers))
        ends, weights = self.edges(round)
        graph.add_weighted_edges_from((int(u), int(v), float(w)) for (u, v), w in zip(ends, weights))
        return graph

    def neighbour_lists(self):
        """Returns the list for `data_parallel_sync.topology`: for each worker the ones it receives from. Needs one round; weights
        come from `data_parallel_sync.weights` then."""
        if self.rounds != 1:
            raise ValueError(f"found {self.rounds} rounds, allowed is one")
        lists = [[] for _ in range(self.workers)]
        for source, target in self.edges()[0].tolist():
            lists[target].append(source)
        return lists

    def spectral_gap(self):
        """1 - ||W - 11^T/n||_2, of several rounds the same per step of their product."""
        return self._native.spectral_gap()

    def averaging_period(self):
        """After how many rounds all hold the exact average; None where that does not come within a period."""
        return self._native.averaging_period()

    def degree(self):
        """Most neighbours that a worker receives from or sends to in a round."""
        return self._native.degrees()[0]

    def messages_per_step(self):
        """Returns the messages of all workers together, mean over the rounds."""
        return self._native.messages_per_step()

    def is_doubly_stochastic(self):
        """Returns True if rows and columns add up to 1 within 1e-9 and no weight is negative."""
        return self._native.is_doubly_stochastic()


def gossip_graph(topology, workers, *, weights="auto", workers_per_node=8, random_rounds=_RANDOM_ROUNDS, seed=0, shape=(),
                 probability=None, peers=1):
    """The GossipGraph of a name out of `orrery.names("gossip")`.

    weights           rule of the weights, as the key `data_parallel_sync.weights`
    workers_per_node  for the inner-outer topologies
    random_rounds     rounds drawn of topologies that are random anew in each step
    shape             grid, torus: extents
    probability       erdos-renyi: of an edge
    peers             base-k: neighbours a worker may have in a round
    """
    return GossipGraph(_orrery.GossipGraph(topology, workers, weights, workers_per_node, random_rounds, seed, list(shape),
                                           probability, peers))
