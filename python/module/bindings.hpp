// Declares the parts of the extension `_orrery`, one function each, called once when it is imported.
#pragma once

#include <pybind11/pybind11.h>

namespace orrery::python {

namespace py = pybind11;

/// Makes an InputError an orrery.errors.ExperimentError and a RunError an orrery.errors.RunError.
void bind_errors();
void bind_results(py::module_& module);
void bind_runs(py::module_& module);
void bind_names(py::module_& module);
void bind_topology(py::module_& module);
void bind_gossip(py::module_& module);
void bind_space(py::module_& module);
void bind_sweep(py::module_& module);
void bind_plan(py::module_& module);
void bind_explain(py::module_& module);
void bind_read_files(py::module_& module);

}  // namespace orrery::python
