#!/usr/bin/env python3
"""Topologies and gossip graphs as arrays and NetworkX graphs, in and out; tables of results."""

import json
import unittest

from common import ROOT, SMALL, command, main, need, small

need("numpy", "networkx", "pandas")

import networkx
import numpy

import orrery


class Topologies(unittest.TestCase):
    def test_a_node_with_a_switch(self):
        # Eight GPUs with a link to and from one NVSwitch each; a message takes two of them.
        node = orrery.topology("dgx-h100")
        self.assertEqual((node.gpus, node.vertices, len(node.links), node.gpus_per_node), (8, 9, 16, 8))
        for source, target in ((0, 5), (7, 1)):
            up, down = node.links[node.route(source, target)]
            self.assertEqual((up["from"], up["to"], down["from"], down["to"]), (source, 8, 8, target))
        self.assertEqual(node.route(3, 3), [])
        self.assertRaises(IndexError, node.route, 0, 8)
        self.assertRaises(TypeError, node.route, 0, -1)

    def test_every_cluster_of_the_catalog(self):
        for name in orrery.names("clusters"):
            cluster = orrery.topology(name)
            self.assertEqual(cluster.edges().shape, (len(cluster.links), 2))
            self.assertLess(cluster.edges().max(initial=0), cluster.vertices)

    def test_routes_are_paths_and_the_graph_is_the_arrays(self):
        cluster = orrery.topology({"base": "dgx-h100", "nodes": 4})
        graph = cluster.to_networkx()
        self.assertEqual((graph.number_of_nodes(), graph.number_of_edges()), (cluster.vertices, len(cluster.links)))
        for target in (1, 9, 31):
            at = 0
            for number in cluster.route(0, target):
                link = cluster.links[number]
                self.assertEqual(link["from"], at)
                self.assertTrue(graph.has_edge(int(link["from"]), int(link["to"]), key=number))
                at = link["to"]
            self.assertEqual(at, target)
        self.assertEqual(sum(gpu for _, gpu in graph.nodes(data="gpu")), 32)
        self.assertEqual(len(set(cluster.vertex_names())), cluster.vertices)

    def test_links_are_a_view(self):
        links = orrery.topology("dgx-h100").links
        self.assertFalse(links.flags.owndata)
        self.assertFalse(links.flags.writeable)
        self.assertEqual(links["from"].tolist()[:2], [0, 8])

    def test_experiments_files_and_errors(self):
        self.assertEqual(orrery.topology(ROOT / "examples" / "explicit-graph.json").vertices, 6)
        self.assertEqual(orrery.topology(SMALL, {"cluster.nodes": 2}).gpus, 16)
        self.assertRaises(orrery.ExperimentError, orrery.topology, {"base": "dgx-h101"})
        self.assertRaises(orrery.ExperimentError, orrery.topology, "dgx-h101")
        self.assertRaises(orrery.ExperimentError, orrery.topology, 7)

    def test_a_cluster_from_a_graph(self):
        # The ring of four GPUs of a networkx graph: neighbours have one link, others two.
        ring = networkx.cycle_graph(4)
        networkx.set_edge_attributes(ring, 50, "gb_per_s")
        networkx.set_node_attributes(ring, True, "gpu")
        cluster = orrery.cluster_of_graph(ring, "v100")
        built = orrery.topology(cluster)
        self.assertEqual((built.gpus, len(built.links)), (4, 8))
        self.assertEqual([len(built.route(0, other)) for other in range(4)], [0, 1, 2, 1])
        self.assertEqual(built.links["bytes_per_s"].tolist(), [50 * 10**9] * 8)
        step = {"model": "gpt3-125m", "stack": "ideal", "cluster": cluster, "plan": {"precision": "fp16"}}
        self.assertGreater(orrery.simulate(step).step_time_s, 0)
        self.assertRaises(ValueError, orrery.cluster_of_graph, networkx.cycle_graph(4), "v100")


class GossipGraphs(unittest.TestCase):
    def test_figures_are_those_of_the_command_line(self):
        names = ["ring", "exponential", "one-peer-exponential", "hypercube"]
        for row in json.loads(command("gossip", *names, "--workers", 16, "--quiet", "--json", "-")):
            graph = orrery.gossip_graph(row["topology"], 16)
            self.assertEqual((graph.rounds, graph.degree(), graph.messages_per_step(), graph.spectral_gap(),
                              graph.averaging_period()),
                             (row["rounds"], row["degree"], row["messages_per_step"], row["spectral_gap"],
                              row["exact_after_rounds"]))

    def test_matrices_out_and_in(self):
        for name in ("ring", "one-peer-exponential", "base-k"):
            graph = orrery.gossip_graph(name, 8)
            matrices = [graph.matrix(round) for round in range(graph.rounds)]
            for matrix in matrices:
                numpy.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-12)
            again = orrery.GossipGraph.from_matrices(matrices)
            self.assertEqual(again.spectral_gap(), graph.spectral_gap())
            self.assertTrue(again.is_doubly_stochastic())
            for round in range(graph.rounds):
                numpy.testing.assert_array_equal(again.matrix(round), matrices[round])

    def test_the_gap_of_a_ring(self):
        # Weights 1/3: eigenvalues (1 + 2 cos(2 pi k / n)) / 3, so the gap is 2/3 (1 - cos(2 pi / n)).
        expected = 2 / 3 * (1 - numpy.cos(2 * numpy.pi / 8))
        for graph in (orrery.gossip_graph("ring", 8), orrery.GossipGraph.from_networkx(networkx.cycle_graph(8))):
            self.assertAlmostEqual(graph.spectral_gap(), expected, 12)

    def test_networkx_there_and_back(self):
        graph = orrery.gossip_graph("exponential", 12)
        again = orrery.GossipGraph.from_networkx(graph.to_networkx())
        numpy.testing.assert_allclose(again.matrix(), graph.matrix(), atol=1e-15)

    def test_a_graph_of_ones_own_is_simulated(self):
        graph = orrery.GossipGraph.from_networkx(networkx.cycle_graph(4))
        self.assertEqual(graph.neighbour_lists(), [[1, 3], [0, 2], [1, 3], [0, 2]])
        sync = {"method": "gossip", "topology": graph.neighbour_lists()}
        named = orrery.simulate({**SMALL, "data_parallel_sync": {"method": "gossip", "topology": "ring"}})
        self.assertEqual(orrery.simulate({**SMALL, "data_parallel_sync": sync}).step_time_s, named.step_time_s)

    def test_errors(self):
        for matrices in ([], [[1.0, 0.0]], [[0.5, 0.4], [0.5, 0.5]], [[float("nan"), 1], [0, 1]]):
            self.assertRaises((orrery.ExperimentError, ValueError), orrery.GossipGraph.from_matrices,
                              numpy.array(matrices) if matrices else [])
        self.assertRaises(orrery.ExperimentError, orrery.GossipGraph.from_matrices, [numpy.eye(2), numpy.eye(3)])
        with self.assertRaisesRegex(orrery.ExperimentError, "ring"):
            orrery.gossip_graph("rink", 8)
        self.assertRaises(orrery.ExperimentError, orrery.gossip_graph, "ring", 8, weights="none")
        self.assertRaises(IndexError, orrery.gossip_graph("ring", 8).matrix, 1)
        self.assertRaises(ValueError, orrery.gossip_graph("one-peer-exponential", 8).neighbour_lists)


class Tables(unittest.TestCase):
    def test_rows_columns_and_errors(self):
        plans = [SMALL, small(tensor_parallel=3), small(tensor_parallel=4)]
        results = list(orrery.simulate_many(plans, errors="return"))
        frame = orrery.to_pandas(results)
        self.assertEqual(frame["step_time_s"][0], results[0].step_time_s)
        self.assertEqual(frame["feasible"].tolist(), [True, False, True])
        self.assertIn("tensor_parallel", frame["error"][1])
        self.assertNotIn("memory.per_stage", frame.columns)
        few = orrery.to_pandas(results[:1], keys=["plan.tensor_parallel", "step_time_s"])
        self.assertEqual(few.columns.tolist(), ["plan.tensor_parallel", "step_time_s"])
        self.assertEqual(len(orrery.to_pandas([])), 0)


if __name__ == "__main__":
    main()
