// Python values as JSON text, the form in which experiments are read.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace orrery::python {

namespace py = pybind11;

/// The JSON text of dicts (or other mappings) with text keys, lists, tuples, texts, numbers, booleans and
/// None, NumPy's scalars among the numbers. Floating point is written so that reading it gives the same bits.
/// @throws InputError at the JSON pointer of what has no place in an experiment: other types, NaN, integers
/// beyond 64 bits, what is nested deeper than a document may be (a dict within itself is).
[[nodiscard]] std::string json_text(py::handle value, const std::string& source);

}  // namespace orrery::python
