#include "planner/space/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "config/experiment/read_experiment.hpp"
#include "config/schema/overrides.hpp"
#include "config/text/document.hpp"
#include "config/text/json.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "planner/space/base_document.hpp"
#include "planner/space/normal_form.hpp"

namespace orrery {
namespace {

ConditionValue value_of(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return {};
}

/// The value that an override's text stands for.
Json value_of_text(const SpaceKey& key, const std::string& text) {
  if (text == "null") return nullptr;  // takes the key out
  Json document = Json::object();
  std::vector<Diagnostic> diagnostics;
  apply_overrides(document, {"value=" + text}, diagnostics);
  const Json value = document.value("value", Json());
  const bool finite = !value.is_number_float() || std::isfinite(value.get<double>());
  if (!finite)
    throw InputError({Diagnostic{"command line", 0, 0, "",
                                 fmt::format("{}: found {}, allowed finite numbers", key.key, quote(text))}});
  if (diagnostics.empty()) return value;
  diagnostics.front().message = key.key + ": " + diagnostics.front().message;
  throw InputError(std::move(diagnostics));
}

}  // namespace

struct PointReader::Parts {
  /// Where the value of a key of a condition is from: a key of the space, or the experiment.
  struct ConditionKey {
    std::size_t key = 0;     ///< of the space; as many as there are: none
    ConditionValue given{};  ///< by the experiment
  };

  const Space& space;
  Json base;
  std::vector<std::vector<Json>> values;              ///< per key of the space
  std::vector<std::vector<ConditionKey>> conditions;  ///< per condition, its keys
  ExperimentSeries series;

  explicit Parts(const Space& of)
      : space(of), base(base_document(of.base())), series(of.catalog(), of.menus(), {}) {
    for (const SpaceKey& key : space.keys()) {
      values.emplace_back();
      for (const std::string& text : key.values) values.back().push_back(value_of_text(key, text));
    }
    for (const Condition& condition : space.conditions()) conditions.push_back(keys_of(condition));
  }

  [[nodiscard]] std::vector<ConditionKey> keys_of(const Condition& condition) const {
    std::vector<ConditionKey> keys;
    for (const std::string& name : condition.keys()) {
      const auto found = std::ranges::find(space.keys(), name, &SpaceKey::key);
      keys.push_back(
          {static_cast<std::size_t>(found - space.keys().begin()), value_of(value_at(base, name))});
    }
    return keys;
  }

  /// Values of all keys, as JSON and as texts.
  struct Choice {
    std::vector<Json> json;
    std::vector<std::string> texts;
  };

  [[nodiscard]] Choice choice_at(std::uint64_t index) const {
    Choice choice{std::vector<Json>(values.size()), std::vector<std::string>(values.size())};
    for (std::size_t k = values.size(); k-- > 0;) {
      choice.json[k] = values[k][index % values[k].size()];
      choice.texts[k] = space.keys()[k].values[index % values[k].size()];
      index /= values[k].size();
    }
    return choice;
  }

  [[nodiscard]] Choice choice_of(const std::vector<std::string>& texts) const {
    Choice choice{{}, texts};
    for (std::size_t k = 0; k < texts.size(); ++k)
      choice.json.push_back(value_of_text(space.keys()[k], texts[k]));
    return choice;
  }

  [[nodiscard]] bool holds(std::size_t c, const Choice& choice) const {
    require_values(c);
    std::vector<ConditionValue> found;
    for (const ConditionKey& key : conditions[c])
      found.push_back(key.key < choice.json.size() ? value_of(choice.json[key.key]) : key.given);
    const Condition& condition = space.conditions()[c];
    try {
      return condition.holds(found);
    } catch (const ConditionError& error) {
      throw InputError({Diagnostic{space.base().source, 0, 0, "",
                                   fmt::format("condition {}: {}", quote(condition.text()), error.message)}});
    }
  }

  /// A condition on a default would be false in silence.
  void require_values(std::size_t c) const {
    const Condition& condition = space.conditions()[c];
    for (std::size_t k = 0; k < conditions[c].size(); ++k) {
      const ConditionKey& key = conditions[c][k];
      if (key.key < values.size() || !std::holds_alternative<std::monostate>(key.given)) continue;
      throw InputError({Diagnostic{
          space.base().source, 0, 0, "",
          fmt::format(
              "condition {}: found key {}, of which neither the space nor the experiment gives a value",
              quote(condition.text()), quote(condition.keys()[k]))}});
    }
  }

  /// The first condition that does not hold, by its place; as many as there are where all do.
  [[nodiscard]] std::size_t broken(const Choice& choice) const {
    std::size_t c = 0;
    while (c < conditions.size() && holds(c, choice)) ++c;
    return c;
  }

  /// Points from `index` on in which all keys of a condition keep their values.
  [[nodiscard]] std::uint64_t alike(std::uint64_t index, std::size_t c) const {
    std::uint64_t stride = 1;
    for (std::size_t k = values.size(); k-- > 0; stride *= values[k].size())
      if (std::ranges::find(conditions[c], k, &ConditionKey::key) != conditions[c].end())
        return stride - index % stride;
    return stride - index % stride;
  }

  /// Text of the experiment; keys whose texts are "" are left as in the base.
  [[nodiscard]] std::string text(const Choice& choice) const {
    Json document = base;
    for (std::size_t k = 0; k < choice.texts.size(); ++k)
      if (!choice.texts[k].empty()) put(document, space.keys()[k].key, choice.json[k]);
    return document.dump();
  }

  PointOrRemoval read(std::uint64_t index, Choice choice) {
    if (const std::size_t c = broken(choice); c < conditions.size())
      return Removal{index, space.conditions()[c].text(), "", alike(index, c)};
    for (;;) {
      try {
        Point point{index, {}, series.read_without_positions(text(choice)), {}};
        point.values = std::move(choice.texts);
        point.content = content_of_normal_form(point.experiment);
        return point;
      } catch (const InputError& error) {
        if (drop_idle(error.diagnostics(), space.keys(), choice.texts)) continue;
        const Diagnostic& first = error.diagnostics().front();
        return Removal{index, key_of(first.pointer), first.message};
      }
    }
  }

  static void put(Json& document, const std::string& key, const Json& value) {
    std::vector<Diagnostic> diagnostics;
    if (value.is_null()) {
      apply_overrides(document, {key + "=null"}, diagnostics);
      return;
    }
    try {
      set_key(document, key, value);
    } catch (const OverrideError& error) {
      throw InputError(error.pointer, error.message);
    }
  }
};

PointReader::PointReader(const Space& space) : parts_(std::make_unique<Parts>(space)) {}
PointReader::~PointReader() = default;
PointReader::PointReader(PointReader&&) noexcept = default;

PointOrRemoval PointReader::read(std::uint64_t index) {
  return parts_->read(index, parts_->choice_at(index));
}

PointOrRemoval PointReader::read(const std::vector<std::string>& values) {
  return parts_->read(parts_->space.size(), parts_->choice_of(values));
}

const Condition* PointReader::broken_at(std::uint64_t index) const {
  const std::size_t c = parts_->broken(parts_->choice_at(index));
  return c < parts_->conditions.size() ? &parts_->space.conditions()[c] : nullptr;
}

std::string PointReader::text_at(std::uint64_t index) { return parts_->text(parts_->choice_at(index)); }

std::string key_of(std::string_view pointer) {
  std::string key(pointer.substr(pointer.empty() ? 0 : 1));
  std::ranges::replace(key, '/', '.');
  return key;
}

std::string words_of(const std::vector<SpaceKey>& keys, const std::vector<std::string>& values) {
  std::string words;
  for (const std::string& one : overrides_of(keys, values)) words += (words.empty() ? "" : " ") + one;
  return words;
}

}  // namespace orrery
