#include "python/module/json_from_python.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "config/text/document.hpp"
#include "config/text/findings.hpp"
#include "config/text/tree_builder.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"

namespace orrery::python {
namespace {

constexpr std::string_view kAllowed = "allowed are dicts, lists, tuples, texts, numbers, booleans and None";

std::string type_name(py::handle value) { return Py_TYPE(value.ptr())->tp_name; }

class JsonWriter {
 public:
  explicit JsonWriter(const std::string& source) : source_(source) {}

  std::string write(py::handle value) {
    add(value);
    return std::move(text_);
  }

 private:
  /// A key or an index on the way to a value.
  struct Level {
    py::handle key{};
    py::ssize_t index = 0;
  };

  void add(py::handle value) {
    PyObject* const object = value.ptr();
    if (text_.size() > kMaxTextBytes) fail("longer than 16 MB");
    if (PyUnicode_Check(object)) return add_text(value);
    if (PyBool_Check(object)) return add_plain(object == Py_True ? "true" : "false");
    if (PyLong_Check(object)) return add_integer(value);
    if (PyFloat_Check(object)) return add_float(PyFloat_AS_DOUBLE(object));
    if (PyDict_Check(object)) return add_dict(value);
    if (object == Py_None) return add_plain("null");
    if (PyList_Check(object) || PyTuple_Check(object)) return add_list(value);
    add_other(value);
  }

  void add_plain(std::string_view text) { text_ += text; }

  /// Mappings, and scalars of NumPy, which know themselves as numbers but are not Python's.
  void add_other(py::handle value) {
    if (py::isinstance(value, mapping_type()))
      return add_dict(py::dict(py::reinterpret_borrow<py::object>(value)));
    const bool array = py::hasattr(value, "__len__") || py::hasattr(value, "__iter__");
    if (array || PyBytes_Check(value.ptr()) || PyComplex_Check(value.ptr())) refuse(value);
    if (type_name(value).starts_with("numpy.bool"))
      return add_plain(py::cast<bool>(py::bool_(py::reinterpret_borrow<py::object>(value))) ? "true"
                                                                                            : "false");
    if (PyIndex_Check(value.ptr())) return add_converted(PyNumber_Index(value.ptr()), value);
    const PyNumberMethods* const number = Py_TYPE(value.ptr())->tp_as_number;
    if (number != nullptr && number->nb_float != nullptr)
      return add_converted(PyNumber_Float(value.ptr()), value);
    refuse(value);
  }

  void add_converted(PyObject* number, py::handle value) {
    if (number == nullptr) {
      PyErr_Clear();
      refuse(value);
    }
    add(py::reinterpret_steal<py::object>(number));
  }

  void add_integer(py::handle value) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow != 0) fail("found an integer beyond 64 bits, allowed are smaller ones");
    add_number(number);
  }

  void add_float(double number) {
    if (!std::isfinite(number))
      fail(std::isnan(number) ? "found nan, allowed are finite numbers"
                              : "found an infinite number, allowed are finite ones");
    const std::size_t begin = text_.size();
    add_number(number);
    // 4.0 stays a floating-point number for readers that distinguish the two.
    if (text_.find_first_of(".e", begin) == std::string::npos) text_ += ".0";
  }

  template <class Number>
  void add_number(Number number) {
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    text_.append(digits, end);
  }

  void add_text(py::handle value) {
    py::ssize_t size = 0;
    const char* const bytes = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
    if (bytes == nullptr) {
      PyErr_Clear();
      fail("found a text that is not Unicode (a lone surrogate)");
    }
    text_ += '"';
    for (const char c : std::string_view(bytes, static_cast<std::size_t>(size))) add_character(c);
    text_ += '"';
  }

  void add_character(char c) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20U) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      text_ += "\\u00";
      text_ += kDigits[static_cast<unsigned char>(c) >> 4U];
      text_ += kDigits[static_cast<unsigned char>(c) & 15U];
    } else {
      text_ += c;
    }
  }

  void add_dict(py::handle value) {
    enter();
    text_ += '{';
    PyObject* key = nullptr;
    PyObject* member = nullptr;
    py::ssize_t at = 0;
    while (PyDict_Next(value.ptr(), &at, &key, &member) != 0) {
      if (text_.back() != '{') text_ += ',';
      if (PyUnicode_Check(key) == 0) refuse_key(key);
      const py::object held_key = py::reinterpret_borrow<py::object>(key);
      const py::object held = py::reinterpret_borrow<py::object>(member);  // its methods may change the dict
      levels_.back().key = held_key;
      add_text(held_key);
      text_ += ':';
      add(held);
    }
    levels_.pop_back();
    text_ += '}';
  }

  void add_list(py::handle value) {
    enter();
    text_ += '[';
    for (py::ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value.ptr()); ++i) {
      if (i > 0) text_ += ',';
      levels_.back().index = i;
      add(py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(value.ptr(), i)));
    }
    levels_.pop_back();
    text_ += ']';
  }

  void enter() {
    if (levels_.size() >= kMaxDepth) fail("nested deeper than 64 levels");
    levels_.push_back({});
  }

  /// A key that is no text has no pointer: the dict's stands for it.
  [[noreturn]] void refuse_key(py::handle key) {
    levels_.pop_back();
    fail("found a key of type " + printable(type_name(key)) + ", allowed are texts");
  }

  [[noreturn]] void refuse(py::handle value) const {
    fail("found a value of type " + printable(type_name(value)) + ", " + std::string(kAllowed));
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw InputError({Diagnostic{source_, 0, 0, pointer(), message}});
  }

  [[nodiscard]] std::string pointer() const {
    std::string out;
    for (const Level& level : levels_) {
      const char* const key = level.key ? PyUnicode_AsUTF8(level.key.ptr()) : nullptr;
      PyErr_Clear();
      out += "/" + (key != nullptr ? pointer_token(key) : std::to_string(level.index));
    }
    return out;
  }

  static py::handle mapping_type() {
    static const py::handle type =
        py::object(py::module_::import("collections.abc").attr("Mapping")).release();
    return type;
  }

  const std::string& source_;
  std::string text_;
  std::vector<Level> levels_;
};

}  // namespace

std::string json_text(py::handle value, const std::string& source) { return JsonWriter(source).write(value); }

}  // namespace orrery::python
