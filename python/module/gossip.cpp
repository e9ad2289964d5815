// Gossip graphs and their mixing matrices, from names and from matrices.
#include "topologies/gossip/gossip.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "orrery/gossip_graph.hpp"
#include "python/module/bindings.hpp"
#include "python/module/errors.hpp"
#include "topologies/gossip/analysis.hpp"

namespace orrery::python {
namespace {

using Matrix = py::array_t<double, py::array::c_style | py::array::forcecast>;

struct GossipOptions {
  std::string topology;
  std::uint32_t workers = 1;
  std::string weights;
  std::uint32_t workers_per_node = 1;
  std::uint32_t random_rounds = 1;
  std::int64_t seed = 0;
  std::vector<std::int64_t> shape;
  double probability = 0;
  std::int64_t peers = 1;
};

[[noreturn]] void refuse(const std::string& source, const std::string& message) {
  throw InputError({Diagnostic{source, 0, 0, "", message}});
}

template <class Names>
std::size_t choice(const std::string& source, const std::string& name, const Names& names) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    refuse(source, "found " + quote(name) + ", allowed one of " + joined(names) + hint(name, names));
  return static_cast<std::size_t>(found - names.begin());
}

GossipGraph build(const GossipOptions& options) {
  std::vector<std::string_view> known;
  for (const GossipTopologyEntry& entry : gossip_topologies()) known.push_back(entry.name);
  static_cast<void>(choice("topology", options.topology, known));
  if (options.workers < 1 || options.workers_per_node < 1)
    throw InputError("", "found no workers, allowed at least one, and one per node");
  DataParallelSync sync;
  sync.method = SyncMethod::gossip;
  sync.topology = options.topology;
  sync.weights = static_cast<MixingWeights>(choice("weights", options.weights, kMixingWeightsNames));
  sync.shape = options.shape;
  sync.probability = options.probability;
  sync.peers = options.peers;
  return build_gossip_graph(sync,
                            {options.workers, options.workers_per_node, options.random_rounds, options.seed});
}

/// Reads row i of `matrix` as the weights of worker i: its own, and that of each worker it receives from.
Mixing mixing_of(const Matrix& matrix) {
  if (matrix.ndim() != 2 || matrix.shape(0) != matrix.shape(1) || matrix.shape(0) == 0)
    refuse("matrix", "found another shape, allowed are square matrices of floats");
  const auto entry = matrix.unchecked<2>();
  Mixing mixing;
  mixing.begin.push_back(0);
  for (py::ssize_t i = 0; i < entry.shape(0); ++i) {
    double sum = 0;
    for (py::ssize_t j = 0; j < entry.shape(1); ++j) {
      sum += entry(i, j);
      if (i == j || entry(i, j) == 0) continue;
      mixing.from.push_back(static_cast<std::uint32_t>(j));
      mixing.weight.push_back(entry(i, j));
    }
    if (!(std::abs(sum - 1) < 1e-9))
      refuse("matrix", "row " + std::to_string(i) + " adds up to " + std::to_string(sum) + ", allowed is 1");
    mixing.self.push_back(entry(i, i));
    mixing.begin.push_back(static_cast<std::uint32_t>(mixing.from.size()));
  }
  return mixing;
}

GossipGraph graph_of(const std::vector<Matrix>& matrices) {
  if (matrices.empty()) refuse("matrix", "found none, allowed are one or more");
  GossipGraph graph;
  graph.topology = "explicit";
  for (const Matrix& matrix : matrices) {
    graph.rounds.push_back(mixing_of(matrix));
    if (graph.rounds.back().workers() != graph.workers())
      refuse("matrix", "found rounds of different sizes, allowed are equal ones");
  }
  return graph;
}

const Mixing& round_of(const GossipGraph& graph, std::size_t round) {
  if (round < graph.rounds.size()) return graph.rounds[round];
  throw py::index_error("round " + std::to_string(round) + " does not exist; rounds are 0 to " +
                        std::to_string(graph.rounds.size() - 1));
}

Matrix matrix_of(const GossipGraph& graph, std::size_t round) {
  const Mixing& mixing = round_of(graph, round);
  const auto n = static_cast<py::ssize_t>(mixing.workers());
  Matrix matrix({n, n});
  std::fill_n(matrix.mutable_data(), n * n, 0.0);
  auto entry = matrix.mutable_unchecked<2>();
  for (std::uint32_t i = 0; i < mixing.workers(); ++i) {
    entry(i, i) = mixing.self[i];
    for (std::uint32_t e = mixing.begin[i]; e < mixing.begin[i + 1]; ++e)
      entry(i, mixing.from[e]) = mixing.weight[e];
  }
  return matrix;
}

/// (n_edges, 2) of (from, to), and (n_edges,) of weights.
py::tuple edges_of(const GossipGraph& graph, std::size_t round) {
  const Mixing& mixing = round_of(graph, round);
  const auto count = static_cast<py::ssize_t>(mixing.from.size());
  py::array_t<std::uint32_t> ends({count, py::ssize_t{2}});
  auto end = ends.mutable_unchecked<2>();
  for (std::uint32_t to = 0; to < mixing.workers(); ++to) {
    for (std::uint32_t e = mixing.begin[to]; e < mixing.begin[to + 1]; ++e) {
      end(e, 0) = mixing.from[e];
      end(e, 1) = to;
    }
  }
  return py::make_tuple(ends, py::array_t<double>(count, mixing.weight.data()));
}

py::tuple degrees_of(const GossipGraph& graph) {
  const GossipDegrees degrees = gossip_degrees(graph);
  return py::make_tuple(std::max(degrees.max_in, degrees.max_out), std::min(degrees.min_in, degrees.min_out));
}

}  // namespace

void bind_gossip(py::module_& module) {
  py::class_<GossipGraph>(module, "GossipGraph")
      .def(py::init(&graph_of), py::arg("matrices"))
      .def(py::init([](const std::string& topology, std::uint32_t workers, const std::string& weights,
                       std::uint32_t workers_per_node, std::uint32_t random_rounds, std::int64_t seed,
                       std::vector<std::int64_t> shape, std::optional<double> probability,
                       std::int64_t peers) {
             GossipOptions options{topology,
                                   workers,
                                   weights,
                                   workers_per_node,
                                   random_rounds,
                                   seed,
                                   std::move(shape),
                                   probability.value_or(DataParallelSync{}.probability),
                                   peers};
             return build(options);
           }),
           py::arg("topology"), py::arg("workers"), py::arg("weights"), py::arg("workers_per_node"),
           py::arg("random_rounds"), py::arg("seed"), py::arg("shape"), py::arg("probability"),
           py::arg("peers"))
      .def_readonly("topology", &GossipGraph::topology)
      .def_property_readonly("workers", &GossipGraph::workers)
      .def_property_readonly("rounds", [](const GossipGraph& graph) { return graph.rounds.size(); })
      .def("matrix", &matrix_of, py::arg("round"))
      .def("edges", &edges_of, py::arg("round"))
      .def("degrees", &degrees_of)
      .def("spectral_gap", [](const GossipGraph& graph) { return spectral_gap(graph); })
      .def("averaging_period", &averaging_period)
      .def("messages_per_step", &messages_per_step)
      .def("is_doubly_stochastic", [](const GossipGraph& graph) { return is_doubly_stochastic(graph); });
}

}  // namespace orrery::python
