// Declares the keys of the result object, and helpers of their tables. Internal to reports/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/report.hpp"

namespace orrery {

using ResultJson = nlohmann::ordered_json;

/// The name of a choice.
template <class Names, class Value>
[[nodiscard]] ResultJson name_of(const Names& names, Value value) {
  return names[static_cast<std::size_t>(value)];
}

/// Describes one value of the result, under a dotted path such as memory.peak_gb.
struct ResultKey {
  enum class Needs : std::uint8_t {
    nothing,
    breakdown,
    critical_path,
    traffic,
    origin,
    range,
    process,
    warnings,
    capacity,
    kernels,
    long_run
  };
  std::string_view path;
  ResultJson (*value)(const Report& report) = nullptr;  ///< discarded where the report does not have it
  Needs needs = Needs::nothing;                         ///< the measurements it needs
  bool is_list = false;                                 ///< of objects, which has no place in a row of CSV
};

/// Stands for a key that a report does not have.
inline ResultJson absent() { return ResultJson(ResultJson::value_t::discarded); }

/// The value as a row of CSV has it, before it is quoted; the members of a list with semicolons.
[[nodiscard]] std::string cell_of(const ResultJson& value);

/// Keys of the plan as it was run, with every default in force.
[[nodiscard]] std::span<const ResultKey> plan_keys();
/// Returns the keys of serving runs.
[[nodiscard]] std::span<const ResultKey> serving_keys();
/// Returns the keys of weeks of training.
[[nodiscard]] std::span<const ResultKey> long_run_keys();
/// Returns all keys, in the order in which they are written; those of one object lie side by side.
[[nodiscard]] const std::vector<const ResultKey*>& all_keys();

}  // namespace orrery
