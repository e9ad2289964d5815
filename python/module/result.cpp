#include "python/module/result.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "config/text/wording.hpp"
#include "python/module/bindings.hpp"
#include "python/module/python_from_json.hpp"
#include "reports/result/result_key.hpp"

namespace orrery::python {
namespace {

py::object section_type() { return py::module_::import("orrery.result").attr("Section"); }

bool lies_in(std::string_view path, std::string_view object) {
  return object.empty() ||
         (path.size() > object.size() && path.starts_with(object) && path[object.size()] == '.');
}

/// Puts a value at a dotted path below `root`, whose objects are made on the way.
void put(py::dict root, std::string_view path, const py::object& value, const py::object& dict_type) {
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    const py::str key = text_of(path.substr(0, dot));
    if (!root.contains(key)) root[key] = dict_type ? dict_type() : py::dict();
    root = py::dict(root[key]);
    path.remove_prefix(dot + 1);
  }
  root[text_of(path)] = value;
}

std::string wrong_path(const std::string& path) {
  const std::vector<std::string_view> known = ResultSelection::names();
  const bool is_known = std::ranges::find(known, path) != known.end();
  if (is_known) return quote(path) + " was not asked for: `only` leaves it out";
  return quote(path) + " is no key of a result" + hint(path, known);
}

std::string joined_json(const Result& result, int indent) {
  std::string text;
  write_json(result.report(), result.keys(), indent, [&text](std::string_view part) { text += part; });
  return text;
}

std::string summary(const Result& result) {
  std::string text;
  write_summary(result.report(), SummaryStyle{}, [&text](std::string_view part) { text += part; });
  return text;
}

}  // namespace

py::dict Result::members_of(std::string_view object, const py::object& dict_type) const {
  py::dict members;
  const std::size_t skipped = object.empty() ? 0 : object.size() + 1;
  for (const ResultKey* key : keys_->keys()) {
    if (!lies_in(key->path, object)) continue;
    const ResultJson value = key->value(*report_);
    if (!value.is_discarded())
      put(members, key->path.substr(skipped), from_json(value, dict_type), dict_type);
  }
  return members;
}

py::object Result::at(const std::string& path) const {
  bool is_object = false;
  for (const ResultKey* key : keys_->keys()) {
    if (key->path == path) {
      const ResultJson value = key->value(*report_);
      return value.is_discarded() ? py::none() : from_json(value, section_type());
    }
    is_object = is_object || lies_in(key->path, path);
  }
  if (!is_object) throw py::key_error(wrong_path(path));
  const py::dict members = members_of(path, section_type());
  return members.empty() ? py::none() : section_type()(members);
}

py::object Result::attribute(const std::string& name) const {
  if (name.starts_with("__")) throw py::attribute_error(name);  // asked for by Python's own protocols
  try {
    return at(name);
  } catch (const py::key_error& error) {
    throw py::attribute_error(error.what());
  }
}

bool Result::contains(const std::string& path) const {
  return std::ranges::any_of(keys_->keys(), [&](const ResultKey* key) {
    return (key->path == path || lies_in(key->path, path)) && !key->value(*report_).is_discarded();
  });
}

py::list Result::paths() const {
  py::list paths;
  for (const ResultKey* key : keys_->keys()) {
    if (!key->value(*report_).is_discarded()) paths.append(text_of(key->path));
  }
  return paths;
}

py::dict Result::to_dict() const { return members_of("", {}); }

py::dict Result::row() const {
  py::dict row;
  for (const ResultKey* key : keys_->keys()) {
    const ResultJson value = key->is_list ? absent() : key->value(*report_);
    if (!value.is_discarded()) row[text_of(key->path)] = from_json(value);
  }
  return row;
}

std::string Result::repr() const {
  char time[80];
  if (report_->makespan_ps > 0) {
    std::snprintf(time, sizeof time, "step_time_s=%.6g", report_->step_time_s());
  } else {
    std::snprintf(time, sizeof time, "not timed");
  }
  const std::string name = report_->name.empty() ? "" : quote(report_->name) + " ";
  return "<orrery.Result " + name + time + (report_->feasible ? ">" : ", infeasible>");
}

void bind_results(py::module_& module) {
  py::class_<Result, std::shared_ptr<Result>> result(
      module, "Result",
      "The figures of one simulated experiment, under the keys of the JSON result of `orrery simulate`.\n\n"
      "result.step_time_s, result.memory.peak_gb and result[\"memory.peak_gb\"] read them; units are the "
      "last\n"
      "part of a name. None stands where this result has no such figure (times of plans that were not\n"
      "simulated, ranges where nothing supports one).");
  result.def("__getitem__", &Result::at, py::arg("path"))
      .def("__getattr__", &Result::attribute)
      .def("__contains__", &Result::contains)
      .def("__dir__",
           [](const py::object& self) {
             py::list names = py::module_::import("builtins").attr("object").attr("__dir__")(self);
             for (const std::string_view name : ResultSelection::names()) {
               if (name.find('.') == std::string_view::npos) names.append(text_of(name));
             }
             return names;
           })
      .def("__repr__", [](const Result& self) { return text_of(self.repr()); })
      .def("keys", &Result::paths, "Dotted paths of all figures that this result has.")
      .def("to_dict", &Result::to_dict, "The JSON result as dicts and lists, the same to the bit.")
      .def("row", &Result::row, "Dotted path to value, without lists of objects: a row of a table.")
      .def(
          "to_json", [](const Result& self, int indent) { return text_of(joined_json(self, indent)); },
          py::arg("indent") = 2, "The text that `orrery simulate --json` writes; one line below 0.")
      .def(
          "summary", [](const Result& self) { return text_of(summary(self)); },
          "The text that `orrery simulate` prints.");
  bind_picture(result);
  bind_timeline(result);
}

}  // namespace orrery::python
