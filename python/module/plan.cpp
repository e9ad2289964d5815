// The search for the best point of a space.
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/catalog/calibration_files.hpp"
#include "config/schema/menus.hpp"
#include "planner/methods/objective.hpp"
#include "planner/methods/search.hpp"
#include "planner/methods/usual_space.hpp"
#include "planner/methods/write_search.hpp"
#include "python/module/bindings.hpp"
#include "python/module/errors.hpp"
#include "python/module/python_from_json.hpp"
#include "python/module/space.hpp"
#include "python/module/threads.hpp"

namespace orrery::python {
namespace {

using Names = std::vector<std::string>;

/// The description of the space that is searched around an experiment where none is given.
py::object usual_description(const std::string& text, const std::string& source, const Names& overrides,
                             const Names& calibrations) {
  const SpaceDescription usual = usual_space({source, text, overrides}, catalog_with(calibrations), menus());
  py::dict description;
  for (const SpaceKey& key : usual.keys) {
    py::list values;
    for (const std::string& value : key.values) values.append(value_of_override(value));
    description[text_of(key.key)] = key.automatic ? py::object(py::str("auto")) : values;
  }
  return description;
}

/// Between simulations: lets Ctrl-C end the search, and tells a caller how far it is.
SearchProgress progress_to(const py::object& callback) {
  return [&callback](std::size_t done, std::size_t) {
    const py::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!callback.is_none()) callback(done);
  };
}

SearchRequest request_of(const Space& space, const std::string& method,
                         const std::optional<std::string>& objective, const Names& pareto,
                         const Names& limits, const std::optional<std::string>& budget, std::size_t top,
                         std::uint64_t seed, std::int64_t threads) {
  SearchRequest request;
  request.method = method;
  request.objective = objective ? Objective(*objective) : Objective(usual_objective(space));
  for (const std::string& limit : limits) request.limits.emplace_back(limit);
  add_own_limits(space, request);
  for (const std::string& key : pareto) request.pareto.emplace_back(key);
  if (budget) request.budget = parse_budget(*budget);
  request.top = top;
  request.seed = seed;
  request.threads = threads_of(threads);
  return request;
}

/// Returns (the result as `orrery plan --json` writes it, the text it prints).
py::tuple plan(const BoundSpace& space, const std::string& method,
               const std::optional<std::string>& objective, const Names& pareto, const Names& limits,
               const std::optional<std::string>& budget, std::size_t top, std::uint64_t seed,
               std::int64_t threads, const py::object& progress, const py::object& dict_type) {
  const SearchRequest request =
      request_of(space.space(), method, objective, pareto, limits, budget, top, seed, threads);
  std::string json, text;
  {
    const py::gil_scoped_release released;
    const SearchResult result = search(space.space(), request, progress_to(progress));
    json = search_json(result, space.space(), request);
    text = search_text(result, space.space(), request);
  }
  return py::make_tuple(from_json_text(json, dict_type), text_of(text));
}

py::tuple objective_of(const std::string& text) {
  const Objective objective(text);
  return py::make_tuple(objective.key(), objective.most());
}

}  // namespace

void bind_plan(py::module_& module) {
  py::dict methods;
  for (const SearchMethod& method : search_methods()) methods[text_of(method.name)] = text_of(method.summary);
  module.attr("METHODS") = methods;
  module.def("objective", &objective_of, py::arg("text"));
  module.def("usual_description", &usual_description, py::arg("text"), py::arg("source"),
             py::arg("overrides"), py::arg("calibrations"));
  module.def("plan", &plan, py::arg("space"), py::arg("method"), py::arg("objective"), py::arg("pareto"),
             py::arg("limits"), py::arg("budget"), py::arg("top"), py::arg("seed"), py::arg("threads"),
             py::arg("progress"), py::arg("dict_type"));
}

}  // namespace orrery::python
