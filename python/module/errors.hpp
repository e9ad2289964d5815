// Errors of the library as Python objects.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <string_view>

#include "orrery/error.hpp"

namespace orrery::python {

namespace py = pybind11;

/// An orrery.ExperimentError with all its diagnostics.
[[nodiscard]] py::object to_python(const InputError& error);
/// The exception that tells of a failed run, to be raised or handed out as a value.
[[nodiscard]] py::object to_python(const std::exception_ptr& failure);
/// Bytes outside UTF-8 are replaced.
[[nodiscard]] py::str text_of(std::string_view bytes);

}  // namespace orrery::python
