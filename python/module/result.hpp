// Holds one finished simulation as Python sees it: the figures of the report under the keys of the JSON
// result.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orrery/report.hpp"
#include "orrery/write.hpp"
#include "python/module/experiment_input.hpp"

namespace orrery::python {

class Result {
 public:
  Result(std::shared_ptr<const Report> report, std::shared_ptr<const ResultSelection> keys,
         std::shared_ptr<const ReadSetting> setting, GivenExperiment given)
      : report_(std::move(report)),
        keys_(std::move(keys)),
        setting_(std::move(setting)),
        given_(std::move(given)) {}

  [[nodiscard]] const Report& report() const { return *report_; }
  [[nodiscard]] const ResultSelection& keys() const { return *keys_; }
  [[nodiscard]] const ReadSetting& setting() const { return *setting_; }
  [[nodiscard]] const GivenExperiment& given() const { return given_; }

  /// The value at a dotted path; objects as orrery.result.Section. None where this result has no such figure.
  /// @throws py::key_error for a path that is no key, or that was not asked for.
  [[nodiscard]] py::object at(const std::string& path) const;
  [[nodiscard]] py::object attribute(const std::string& name) const;
  [[nodiscard]] bool contains(const std::string& path) const;
  /// Dotted paths of all values that this result has.
  [[nodiscard]] py::list paths() const;
  [[nodiscard]] py::dict to_dict() const;
  /// Dotted path to value, without lists of objects: a row of a table.
  [[nodiscard]] py::dict row() const;
  [[nodiscard]] std::string repr() const;

  py::object timeline{};  ///< as it was first asked for; empty before

 private:
  [[nodiscard]] py::dict members_of(std::string_view object, const py::object& dict_type) const;

  std::shared_ptr<const Report> report_;
  std::shared_ptr<const ResultSelection> keys_;
  std::shared_ptr<const ReadSetting> setting_;
  GivenExperiment given_;
};

/// Returns the selection of these keys of the result; nullopt: all. @throws InputError for a name that is no
/// key.
[[nodiscard]] std::shared_ptr<const ResultSelection> selected(
    const std::optional<std::vector<std::string>>& only);

/// Binds Result.record() to the class.
void bind_timeline(py::class_<Result, std::shared_ptr<Result>>& result);
/// Binds Result.write_svg() to the class.
void bind_picture(py::class_<Result, std::shared_ptr<Result>>& result);

}  // namespace orrery::python
