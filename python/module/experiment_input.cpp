#include "python/module/experiment_input.hpp"

#include <utility>

#include "config/catalog/calibration_files.hpp"
#include "config/text/document.hpp"
#include "planner/methods/choose_plan.hpp"
#include "python/module/json_from_python.hpp"

namespace orrery::python {
namespace {

GivenExperiment file_at(std::string path, const std::string& source) {
  if (path.find('\0') != std::string::npos)
    throw InputError({Diagnostic{source, 0, 0, "", "found a path with a NUL character"}});
  return {GivenExperiment::Form::path, "", std::move(path)};
}

bool is_text(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return text.find('\n') != std::string::npos || (first != std::string::npos && text[first] == '{');
}

/// Calls os.fspath() of an object that stands for a path.
std::string path_of(py::handle value, const std::string& source) {
  const py::object path = py::reinterpret_steal<py::object>(PyOS_FSPath(value.ptr()));
  if (path && py::isinstance<py::str>(path)) return path.cast<std::string>();
  PyErr_Clear();
  throw InputError({Diagnostic{source, 0, 0, "",
                               std::string("found a value of type ") + Py_TYPE(value.ptr())->tp_name +
                                   ", allowed are a dict, a path and a text of JSON or YAML"}});
}

std::string text_of_str(py::handle value, const std::string& source) {
  py::ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (bytes != nullptr) return {bytes, static_cast<std::size_t>(size)};
  PyErr_Clear();
  throw InputError({Diagnostic{source, 0, 0, "", "found a text that is not Unicode (a lone surrogate)"}});
}

const Menus& all_names() {
  static const Menus names = menus_that_choose_plans();
  return names;
}

const Catalog& plain_catalog() {
  static const Catalog catalog = Catalog::embedded();
  return catalog;
}

}  // namespace

GivenExperiment given_experiment(py::handle value, const std::string& source) {
  using Form = GivenExperiment::Form;
  if (PyDict_Check(value.ptr()) != 0) return {Form::object, json_text(value, source), source};
  if (PyUnicode_Check(value.ptr()) != 0) {
    std::string text = text_of_str(value, source);
    return is_text(text) ? GivenExperiment{Form::text, std::move(text), source}
                         : file_at(std::move(text), source);
  }
  if (py::hasattr(value, "keys") && py::hasattr(value, "__getitem__"))
    return {Form::object, json_text(value, source), source};
  return file_at(path_of(value, source), source);
}

std::shared_ptr<const ReadSetting> read_setting(std::vector<std::string> overrides,
                                                const std::vector<std::string>& calibrations) {
  Catalog catalog = calibrations.empty() ? plain_catalog() : catalog_with(calibrations);
  if (!overrides.empty()) check_overrides(overrides, catalog, all_names());
  return std::make_shared<const ReadSetting>(
      ReadSetting{std::move(catalog), all_names(), std::move(overrides)});
}

std::string InputSeries::text_of_input(const GivenExperiment& given) {
  return given.form == GivenExperiment::Form::path ? read_text(given.source) : given.text;
}

InputError InputSeries::without_positions(const InputError& error, const std::string& source) {
  std::vector<Diagnostic> diagnostics = error.diagnostics();
  for (Diagnostic& one : diagnostics) {
    if (one.source == source) one.line = one.column = 0;
  }
  return InputError(std::move(diagnostics));
}

}  // namespace orrery::python
