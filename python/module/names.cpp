// Names, catalog entries and schemas.
#include "orrery/names.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <string>

#include "config/text/wording.hpp"
#include "orrery/workload.hpp"
#include "orrery/write.hpp"
#include "python/module/bindings.hpp"
#include "python/module/errors.hpp"
#include "python/module/python_from_json.hpp"
#include "reports/trace/labels.hpp"

namespace orrery::python {
namespace {

NameKind kind_named(const std::string& name) {
  const auto found = std::ranges::find(kNameKindNames, name);
  if (found != kNameKindNames.end()) return static_cast<NameKind>(found - kNameKindNames.begin());
  throw InputError({Diagnostic{
      "kind", 0, 0, "",
      "found " + quote(name) + ", allowed one of " + joined(kNameKindNames) + hint(name, kNameKindNames)}});
}

py::dict names_of(const std::string& kind) {
  py::dict names;
  for (const NamedEntry& entry : list_names(kind_named(kind)))
    names[text_of(entry.name)] = text_of(entry.summary);
  return names;
}

py::object entry_of(const std::string& kind, const std::string& name) {
  return from_json_text(catalog_entry(kind_named(kind), name));
}

template <class Names>
py::tuple tuple_of(const Names& names) {
  py::list list;
  for (const std::string_view name : names) list.append(text_of(name));
  return py::tuple(list);
}

}  // namespace

void bind_names(py::module_& module) {
  module.attr("KINDS") = tuple_of(kNameKindNames);
  module.attr("STREAMS") = tuple_of(kStreamNames);
  module.attr("OPERATION_NAMES") = tuple_of(TraceLabels().names());
  module.attr("OPERATION_KINDS") = py::make_tuple("compute", "communicate", "pass");
  module.attr("PHASES") = tuple_of(kPhaseNames);
  module.attr("RESULT_KEYS") = tuple_of(ResultSelection::names());
  module.def(
      "stream_name", [](std::uint16_t number) { return text_of(stream_name(static_cast<Stream>(number))); },
      py::arg("number"));
  module.def("names", &names_of, py::arg("kind"));
  module.def("entry", &entry_of, py::arg("kind"), py::arg("name"));
  module.def(
      "schema", [](const std::string& which) { return from_json_text(experiment_schema(which)); },
      py::arg("which"));
}

}  // namespace orrery::python
