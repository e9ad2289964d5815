#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>

#include "config/schema/aliases.hpp"
#include "config/schema/experiment_keys.hpp"
#include "config/text/document.hpp"
#include "config/text/findings.hpp"
#include "config/text/wording.hpp"
#include "planner/space/space.hpp"

namespace orrery {
namespace {

using namespace std::string_view_literals;

/// Reads one description; collects its errors, by pointer.
class SpaceReader {
 public:
  SpaceReader(std::string_view text, const std::string& source)
      : document_(parse_document(text, source)), source_(source), known_(experiment_keys()) {}

  SpaceDescription read() {
    const Json& root = document_.value;
    if (!root.is_object()) {
      add("", "found " + described(root) + ", allowed an object with keys and their values");
    } else {
      for (const auto& [key, value] : root.items()) read_entry(key, value);
      if (space_.keys.empty() && findings_.empty()) add("", "found no key with values, allowed at least one");
    }
    if (!findings_.empty()) throw InputError(located());
    return std::move(space_);
  }

 private:
  void add(std::string pointer, std::string message, Anchor anchor = Anchor::value) {
    findings_.add(std::move(pointer), std::move(message), anchor);
  }

  void read_entry(const std::string& key, const Json& value) {
    const std::string pointer = "/" + pointer_token(key);
    if (key == "experiment") return read_experiment(value, pointer);
    if (key == "where") return read_conditions(value, pointer);
    if (!is_known(key)) return refuse_key(key, pointer);
    try {
      space_.keys.push_back(read_values(key, value, pointer));
    } catch (const InputError& error) {
      add(pointer, error.diagnostics().front().message);
    }
  }

  /// Entries of lists, such as cluster.groups.0.nodes, have the key of the list.
  [[nodiscard]] bool is_known(std::string_view key) const {
    const auto begins = [key](const std::string& known) {
      return key == known || (key.starts_with(known) && key[known.size()] == '.' &&
                              key.find_first_of("0123456789", known.size()) == known.size() + 1);
    };
    return std::ranges::any_of(known_, begins);
  }

  void refuse_key(const std::string& key, const std::string& pointer) {
    std::vector<std::string_view> names = views(known_);
    names.insert(names.end(), {"experiment"sv, "where"sv});
    add(pointer,
        fmt::format("unknown key {}, allowed dotted keys of an experiment, experiment and where{}",
                    quote(key), hint(key, names)),
        Anchor::key);
  }

  void read_experiment(const Json& value, const std::string& pointer) {
    if (value.is_object())
      space_.experiment_text = value.dump();
    else if (value.is_string())
      space_.experiment_file = beside_description(value.get<std::string>());
    else
      add(pointer, "found " + described(value) + ", allowed a file or an experiment");
  }

  [[nodiscard]] std::string beside_description(const std::string& file) const {
    return (std::filesystem::path(source_).parent_path() / file).lexically_normal().string();
  }

  void read_conditions(const Json& value, const std::string& pointer) {
    if (!value.is_array()) return read_condition(value, pointer);
    for (std::size_t i = 0; i < value.size(); ++i)
      read_condition(value[i], pointer + "/" + std::to_string(i));
  }

  void read_condition(const Json& value, const std::string& pointer) {
    if (!value.is_string())
      return add(pointer, "found " + described(value) + ", allowed a condition in quotes");
    try {
      space_.conditions.emplace_back(value.get<std::string>());
    } catch (const ConditionError& error) {
      add(pointer, error.message);
    }
  }

  SpaceKey read_values(const std::string& key, const Json& value, const std::string& pointer) {
    if (value.is_string()) return parse_values(key, value.get_ref<const std::string&>(), key);
    if (value.is_object() && value.contains("from")) return parse_values(key, range_of(value, pointer), key);
    SpaceKey read{full_key(key), {}};
    if (!value.is_array()) {
      read.values.push_back(value.dump());
      return read;
    }
    if (value.empty()) add(pointer, "found an empty list, allowed at least one value");
    for (const Json& item : value) {
      if (item.is_number_float() && !std::isfinite(item.get<double>()))
        add(pointer, "found a number that is not finite, allowed finite ones");
      read.values.push_back(text_of(item));
    }
    return read;
  }

  /// Names as people write them, where nothing else can be meant.
  static std::string text_of(const Json& value) {
    if (!value.is_string()) return value.dump();
    const auto& text = value.get_ref<const std::string&>();
    const bool plain = !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
                       text.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                           "-_.") == std::string::npos;
    static const std::set<std::string_view> kOtherwiseRead{"null",  "true", "false", "Null",  "True",
                                                           "False", "NULL", "TRUE",  "FALSE", "yes",
                                                           "no",    "on",   "off",   "nan",   "inf"};
    return plain && !kOtherwiseRead.contains(text) ? text : value.dump();
  }

  void check_range(const Json& value, const std::string& pointer) {
    for (const auto& [key, item] : value.items()) {
      const bool flag = key == "continuous";
      if (!flag && key != "from" && key != "to" && key != "step" && key != "factor")
        add(pointer + "/" + pointer_token(key),
            fmt::format("unknown key {}, allowed from, to, step, factor and continuous", quote(key)),
            Anchor::key);
      else if (flag ? !item.is_boolean() : !item.is_number())
        add(pointer + "/" + key,
            fmt::format("found {}, allowed {}", described(item), flag ? "true or false" : "a number"));
    }
    const int ways = int{value.contains("step")} + int{value.contains("factor")} + int{is_continuous(value)};
    if (!value.contains("to") || ways > 1)
      add(pointer, "allowed a range with from and to, and one of step, factor and continuous");
  }

  static bool is_continuous(const Json& range) {
    return range.contains("continuous") && range["continuous"] == true;
  }

  /// {"from": 1, "to": 64, "factor": 2} as 1..64*2.
  std::string range_of(const Json& value, const std::string& pointer) {
    check_range(value, pointer);
    if (!findings_.empty()) return "auto";
    if (is_continuous(value)) return value["from"].dump() + "~" + value["to"].dump();
    const bool multiplies = value.contains("factor");
    std::string text = value["from"].dump() + ".." + value["to"].dump();
    if (multiplies) text += "*" + value["factor"].dump();
    if (value.contains("step")) text += "+" + value["step"].dump();
    return text;
  }

  [[nodiscard]] std::vector<Diagnostic> located() {
    PositionTable table;
    for (const Finding& finding : findings_.list()) table.want(finding.pointer);
    find_positions(document_, table);
    std::vector<Diagnostic> diagnostics;
    for (const Finding& finding : findings_.list()) {
      Diagnostic diagnostic{source_, 0, 0, finding.pointer, finding.message};
      const TokenOffsets at = table.at(finding.pointer);
      const std::size_t offset = finding.anchor == Anchor::key ? at.key : at.value;
      if (offset != kNoOffset) set_position(diagnostic, document_.text, offset);
      diagnostics.push_back(std::move(diagnostic));
    }
    return diagnostics;
  }

  Document document_;
  const std::string& source_;
  std::vector<std::string> known_;
  SpaceDescription space_;
  Findings findings_;
};

}  // namespace

SpaceDescription read_space(std::string_view text, const std::string& source) {
  return SpaceReader(text, source).read();
}

}  // namespace orrery
