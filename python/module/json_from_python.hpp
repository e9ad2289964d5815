// Converts Python values to JSON text, the form in which experiments are read.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace orrery::python {

namespace py = pybind11;

/// Returns the JSON text of dicts (or other mappings) with text keys, lists, tuples, texts, numbers, booleans
/// and None, NumPy's scalars among the numbers. Floating point is written so that reading it gives the same
/// bits.
/// @throws InputError at the JSON pointer of a value that has no place in an experiment: other types, NaN,
/// integers beyond 64 bits, nesting deeper than a document may have (such as a dict within itself).
[[nodiscard]] std::string json_text(py::handle value, const std::string& source);

}  // namespace orrery::python
