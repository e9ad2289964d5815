// Holds a space of experiments with its sources, so that other processes can make it again.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "planner/space/points.hpp"
#include "planner/space/space.hpp"

namespace orrery::python {

namespace py = pybind11;

/// Describes a space free of files and of Python objects, except for calibrations.
struct SpaceSource {
  std::string text;  ///< the description, JSON or YAML
  std::string source;
  std::string experiment;  ///< text; "" where the description has it
  std::string experiment_source;
  std::vector<std::string> overrides;
  std::vector<std::string> calibrations;  ///< paths
  bool intervals = false;                 ///< keys may take all numbers of one
  std::vector<std::string> order{};       ///< of the keys; empty: by name, as documents have them
};

/// The value that the text of an override stands for.
[[nodiscard]] py::object value_of_override(const std::string& text);

/// Points are read one thread at a time; copies of a space, which share it, can be read side by side.
class BoundSpace {
 public:
  explicit BoundSpace(SpaceSource source);

  [[nodiscard]] const SpaceSource& source() const { return source_; }
  [[nodiscard]] const Space& space() const { return *space_; }
  [[nodiscard]] PointReader& reader() { return reader_; }

 private:
  SpaceSource source_;
  std::unique_ptr<const Space> space_;
  PointReader reader_;
};

}  // namespace orrery::python
