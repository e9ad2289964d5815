// Errors of the library as exceptions of the package.
#include "python/module/errors.hpp"

#include <exception>
#include <utility>

#include "config/schema/overrides.hpp"
#include "orrery/error.hpp"
#include "python/module/bindings.hpp"

namespace orrery::python {
namespace {

py::object error_class(const char* name) { return py::module_::import("orrery.errors").attr(name); }

void raise_run_error(const RunError& error) {
  const py::object type = error_class("RunError");
  PyErr_SetString(type.ptr(), error.what());
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const InputError& error) {
    const py::object value = to_python(error);
    PyErr_SetObject(py::type::of(value).ptr(), value.ptr());
  } catch (const RunError& error) {
    raise_run_error(error);
  }
}

/// Returns source and message: an option of the command line is an argument here.
std::pair<std::string_view, std::string_view> in_words_of_python(const Diagnostic& diagnostic) {
  const std::string_view message = diagnostic.message;
  if (diagnostic.source != kCommandLine) return {diagnostic.source, message};
  const std::size_t colon = message.find(": ");
  if (!message.starts_with("--") || colon == std::string_view::npos) return {"override", message};
  return {message.substr(2, colon - 2), message.substr(colon + 2)};
}

}  // namespace

py::object to_python(const InputError& error) {
  const py::object diagnostic = error_class("Diagnostic");
  py::list diagnostics;
  for (const Diagnostic& one : error.diagnostics()) {
    const auto [source, message] = in_words_of_python(one);
    diagnostics.append(
        diagnostic(text_of(source), one.line, one.column, text_of(one.pointer), text_of(message)));
  }
  return error_class("ExperimentError")(diagnostics);
}

py::object to_python(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const InputError& error) {
    return to_python(error);
  } catch (const std::bad_alloc&) {
    return py::reinterpret_borrow<py::object>(PyExc_MemoryError)();
  } catch (const std::exception& error) {
    return error_class("RunError")(text_of(error.what()));
  }
}

py::str text_of(std::string_view bytes) {
  PyObject* text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<py::ssize_t>(bytes.size()), "replace");
  if (text == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(text);
}

void bind_errors() { py::register_exception_translator(translate); }

}  // namespace orrery::python
