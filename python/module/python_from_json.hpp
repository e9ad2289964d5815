// Converts JSON values to Python objects.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "python/module/errors.hpp"

namespace orrery::python {

/// Dicts, lists, texts, numbers, booleans and None; objects become `dict_type` where one is given, which is
/// called with a dict.
template <class Json>
py::object from_json(const Json& value, const py::object& dict_type = {}) {
  if (value.is_object()) {
    py::dict object;
    for (const auto& [key, member] : value.items()) object[text_of(key)] = from_json(member, dict_type);
    return dict_type ? dict_type(object) : object;
  }
  if (value.is_array()) {
    py::list list;
    for (const Json& member : value) list.append(from_json(member, dict_type));
    return list;
  }
  if (value.is_string()) return text_of(value.template get_ref<const std::string&>());
  if (value.is_boolean()) return py::bool_(value.template get<bool>());
  if (value.is_number_unsigned()) return py::int_(value.template get<std::uint64_t>());
  if (value.is_number_integer()) return py::int_(value.template get<std::int64_t>());
  if (value.is_number_float()) return py::float_(value.template get<double>());
  return py::none();
}

/// Converts a JSON text that this program wrote, which may have comments; objects keep the order of their
/// keys.
inline py::object from_json_text(const std::string& text, const py::object& dict_type = {}) {
  return from_json(nlohmann::ordered_json::parse(text, nullptr, true, true), dict_type);
}

}  // namespace orrery::python
