// Turns the keys of the schema in an experiment, one by one, and says what became of each: a digit of the
// result changed, the reader refused it there, a warning says that it has no effect, or nothing at all. For
// tests that no key is accepted and does nothing. To use it on experiments of another kind:
//
//   TurnedKeys keys(values_of_keys(more), {experiment, another});   // texts of experiments
//   for (const auto& [unit, seen] : keys.units()) ... seen.is_sound()
//
// A unit is a key, or where its values are names or flags a key with one of them
// ("plan.dispatcher=deduplicated"). It is sound where it acts in one of the experiments at least, or does
// nothing silently in none of them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "config/experiment/read_experiment.hpp"
#include "config/experiment/schema.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/report_text.hpp"

namespace orrery::test {

using Values = std::map<std::string, std::vector<std::string>>;  ///< to try, by key

/// Adds values to try of every key below a node of a JSON Schema, `key`.
inline void add_values(const nlohmann::json& node, const std::string& key, Values& values) {
  using nlohmann::json;
  for (const json& one : node.value("anyOf", json::array())) add_values(one, key, values);
  const json inside = node.value("properties", json::object());
  for (const auto& [name, inner] : inside.items())
    add_values(inner, key.empty() ? name : key + "." + name, values);
  if (key.empty() || node.contains("anyOf") || node.contains("properties")) return;
  std::vector<std::string>& of_key = values[key];
  for (const json& name : node.value("enum", json::array())) of_key.push_back(name.get<std::string>());
  if (node.contains("type") && node["type"] == "boolean") of_key = {"true", "false"};
  if (!node.contains("minimum")) return;
  for (const char* number : {"-0.5", "0", "0.5", "1", "2", "3", "8", "64"}) {
    const double value = std::stod(number);
    if (value >= node["minimum"] && value <= node["maximum"]) of_key.emplace_back(number);
  }
}

/// Returns the values in the schema of experiments, and `more`, for keys that take more than numbers and
/// names.
inline Values values_of_keys(const Values& more) {
  Values values = more;
  add_values(nlohmann::json::parse(json_schema("experiment", menus())), "", values);
  return values;
}

/// Counts the effects of changing a key.
struct KeyEffects {
  int acted = 0;                      ///< a digit changed
  int refused = 0;                    ///< by the reader, or before the run
  int warned = 0;                     ///< by name
  std::vector<std::string> silent{};  ///< "value in the experiment of that number"

  [[nodiscard]] bool is_sound() const { return acted > 0 || silent.empty(); }
  [[nodiscard]] bool was_turned() const { return acted + refused + warned > 0 || !silent.empty(); }
};

class TurnedKeys {
 public:
  TurnedKeys(const Values& values, const std::vector<std::string>& experiments) {
    for (std::size_t number = 0; number < experiments.size(); ++number) {
      const Experiment base = read(experiments[number]);
      const Report report = simulate(base);
      const Unturned unturned{experiments[number], number, base, report, digits(report, report)};
      for (const auto& [key, tried] : values) turn(unturned, key, tried);
    }
  }
  [[nodiscard]] const std::map<std::string, KeyEffects>& units() const { return units_; }

 private:
  struct Unturned {
    const std::string& text;
    std::size_t number = 0;
    const Experiment& experiment;
    const Report& report;
    std::string digits;
  };

  /// Links and algorithms may be as good as others.
  [[nodiscard]] static bool counts_by_value(const std::string& key) {
    return !key.starts_with("cluster.") && !key.starts_with("plan.collectives.");
  }

  /// Returns all digits that do not repeat the input.
  [[nodiscard]] static std::string digits(Report report, const Report& of) {
    report.name = of.name;
    report.plan = of.plan;
    report.software = of.software;
    report.stack = of.stack;
    report.data_parallel_sync = of.data_parallel_sync;
    report.tensor_overlap = of.tensor_overlap;
    report.communication_interference = of.communication_interference;
    report.assumptions.clear();
    report.warnings.clear();
    return text_of(std::move(report));
  }

  [[nodiscard]] static bool is_named(const std::string& key, const LocatedExperiment& turned,
                                     const Report& report) {
    for (const std::string& warning : report.warnings)
      if (warning.find(key) != std::string::npos) return true;
    std::string pointer = "/" + key;
    for (char& c : pointer) c = c == '.' ? '/' : c;
    for (const Diagnostic& warning : turned.positions.warnings(turned.experiment))
      if (warning.pointer == pointer) return true;
    return false;
  }

  void turn(const Unturned& unturned, const std::string& key, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      const bool is_number = !value.empty() && value.find_first_not_of("-.0123456789") == std::string::npos;
      const bool alone = is_number || !counts_by_value(key);
      KeyEffects& seen = units_[alone ? key : key + "=" + value];
      if (alone && seen.acted > 0) continue;
      try {
        const LocatedExperiment turned =
            read_experiment_text(unturned.text, "test", {key + "=" + value}, catalog(), menus());
        if (turned.experiment == unturned.experiment) continue;
        const Report report = simulate(turned.experiment);
        if (digits(report, unturned.report) != unturned.digits) {
          ++seen.acted;
        } else if (is_named(key, turned, report)) {
          ++seen.warned;
        } else {
          seen.silent.push_back(value + " in experiment " + std::to_string(unturned.number));
        }
      } catch (const InputError&) {
        ++seen.refused;
      }
    }
  }

  std::map<std::string, KeyEffects> units_;
};

}  // namespace orrery::test
