// Reads files of other tools as one experiment.
#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "config/schema/menus.hpp"
#include "importers/import.hpp"
#include "python/module/bindings.hpp"
#include "python/module/python_from_json.hpp"

namespace orrery::python {
namespace {

/// Throws an InputError with each contradiction and each value that is missing.
void check_complete(const importers::Imported& imported) {
  if (!imported.stopped()) return;
  std::vector<Diagnostic> diagnostics;
  for (const importers::ImportItem& item : imported.items) {
    if (!item.stops()) continue;
    std::string message = std::string(importers::to_string(item.fate)) + ": " + item.key;
    if (!item.found.empty()) message += " " + item.found;
    if (!item.note.empty()) message += " (" + item.note + ")";
    diagnostics.push_back(Diagnostic{item.place.file.empty() ? "files" : item.place.file,
                                     static_cast<int>(item.place.line), item.place.line > 0 ? 1 : 0, "",
                                     std::move(message)});
  }
  throw InputError(std::move(diagnostics));
}

/// Returns (files, items and experiment as `orrery import --report` writes them, the text it prints, the
/// YAML).
py::tuple read_files(std::vector<std::string> files, std::vector<std::string> settings, std::string kind,
                     bool approximate, const py::object& dict_type) {
  std::string json, text, yaml;
  {
    const py::gil_scoped_release released;
    const importers::ImportRequest request{std::move(files), std::move(settings), std::move(kind),
                                           approximate};
    const importers::Imported imported = importers::import_files(request, Catalog::embedded(), menus());
    check_complete(imported);
    importers::write_import_json(imported, [&](std::string_view part) { json += part; });
    importers::write_import_text(imported, [&](std::string_view part) { text += part; });
    yaml = imported.experiment_yaml;
  }
  return py::make_tuple(from_json_text(json, dict_type), text_of(text), text_of(yaml));
}

}  // namespace

void bind_read_files(py::module_& module) {
  module.def("read_files", &read_files, py::arg("files"), py::arg("settings"), py::arg("kind"),
             py::arg("approximate"), py::arg("dict_type"));
}

}  // namespace orrery::python
