// The physical network as arrays.
#include "orrery/topology.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "python/module/bindings.hpp"
#include "python/module/errors.hpp"
#include "python/module/experiment_input.hpp"
#include "topologies/common/topologies.hpp"

namespace orrery::python {
namespace {

using Names = std::vector<std::string>;
using SharedTopology = std::shared_ptr<Topology>;

SharedTopology topology_of(py::handle experiment, const Names& overrides, const Names& calibrations) {
  const GivenExperiment given = given_experiment(experiment, "experiment");
  const auto setting = read_setting(overrides, calibrations);
  const py::gil_scoped_release released;
  InputSeries series(*setting);
  return series.apply(given, [](const Experiment& read, const ExperimentPositions&) {
    return SharedTopology(build_topology(read.cluster));
  });
}

/// The links themselves: `topology` is kept alive by the array.
py::array links_of(const py::object& topology) {
  static const bool described = [] {
    PYBIND11_NUMPY_DTYPE(Link, from, to, bytes_per_s, latency_ps, kind);
    return true;
  }();
  static_cast<void>(described);
  const std::vector<Link>& links = topology.cast<const Topology&>().links();
  py::array_t<Link> array(static_cast<py::ssize_t>(links.size()), links.data(), topology);
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

std::vector<std::uint32_t> route_of(const Topology& topology, std::uint32_t from, std::uint32_t to) {
  for (const std::uint32_t gpu : {from, to}) {
    if (gpu >= topology.gpus())
      throw py::index_error("GPU " + std::to_string(gpu) + " does not exist; GPUs are 0 to " +
                            std::to_string(topology.gpus() - 1));
  }
  std::vector<LinkId> route;
  topology.route(GpuId{from}, GpuId{to}, route);
  std::vector<std::uint32_t> numbers;
  for (const LinkId link : route) numbers.push_back(static_cast<std::uint32_t>(index(link)));
  return numbers;
}

py::tuple vertex_names_of(const Topology& topology) {
  py::tuple names(topology.vertices());
  for (std::uint32_t v = 0; v < topology.vertices(); ++v)
    names[v] = text_of(topology.vertex_name(VertexId{v}));
  return names;
}

}  // namespace

void bind_topology(py::module_& module) {
  py::list kinds;
  for (const std::string_view kind : kLinkKindNames) kinds.append(text_of(kind));
  module.attr("LINK_KINDS") = py::tuple(kinds);
  py::class_<Topology, SharedTopology>(module, "Topology")
      .def_property_readonly("gpus", &Topology::gpus)
      .def_property_readonly("gpus_per_node", &Topology::gpus_per_node)
      .def_property_readonly("vertices", &Topology::vertices)
      .def_property_readonly("links", &links_of)
      .def("vertex_names", &vertex_names_of)
      .def("route", &route_of, py::arg("source"), py::arg("target"));
  module.def("topology", &topology_of, py::arg("experiment"), py::arg("overrides"), py::arg("calibrations"));
}

}  // namespace orrery::python
