// Explains measured runs.
#include "studies/explain/explain.hpp"

#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "python/module/bindings.hpp"
#include "python/module/experiment_input.hpp"
#include "python/module/python_from_json.hpp"
#include "studies/explain/constants.hpp"
#include "studies/explain/writers.hpp"

namespace orrery::python {
namespace {

/// Returns (the explanation as `orrery explain --json` writes it, the text it prints).
py::tuple explain_files(const py::object& experiment, const std::vector<std::string>& files,
                        std::vector<std::string> overrides, const std::vector<std::string>& calibrations,
                        const py::object& dict_type) {
  constexpr std::size_t kColumns = 100;
  const GivenExperiment given = given_experiment(experiment, "experiment");
  std::string json, text;
  {
    const py::gil_scoped_release released;
    const auto setting = read_setting(std::move(overrides), calibrations);
    const Measurements measured = read_measurements(files);
    const auto one = [&](const Experiment& of, const auto&) {
      Explanation explanation = explain(of, measured);
      find_constants(of, explanation);
      return explanation;
    };
    const Explanation explanation = InputSeries(*setting).apply(given, one);
    write_explanation_json(explanation, [&](std::string_view part) { json += part; });
    write_explanation_text(explanation, kColumns, false, [&](std::string_view part) { text += part; });
  }
  return py::make_tuple(from_json_text(json, dict_type), text_of(text));
}

}  // namespace

void bind_explain(py::module_& module) {
  module.def("explain", &explain_files, py::arg("experiment"), py::arg("files"), py::arg("overrides"),
             py::arg("calibrations"), py::arg("dict_type"));
}

}  // namespace orrery::python
