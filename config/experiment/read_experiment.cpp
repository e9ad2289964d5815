#include "config/experiment/read_experiment.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "config/catalog/locate.hpp"
#include "config/experiment/experiment_reader.hpp"
#include "config/experiment/resolved.hpp"
#include "config/schema/aliases.hpp"
#include "config/schema/overrides.hpp"
#include "config/text/document.hpp"
#include "config/text/wording.hpp"

namespace orrery {

/// Holds the parts that all experiments of a series share.
struct ExperimentSeries::Setting {
  Catalog catalog;
  Menus menus;
  std::vector<std::string> overrides;
};

struct ExperimentSeries::Latest {
  KnownParts parts;
};

/// Holds the inputs for reading a text once more.
struct ExperimentPositions::Reading {
  std::string text;
  std::string source;
  std::shared_ptr<const ExperimentSeries::Setting> setting;
  Json plan;  ///< that was chosen for it; null: none
};

namespace {

constexpr std::size_t kLongestId = 1000;

}  // namespace

/// A text with its overrides, parsed.
struct ParsedExperiment {
  Document document;                    ///< its value is in `given`
  Json given;                           ///< without the keys `id` and `$schema`, which editors read
  std::vector<Diagnostic> diagnostics;  ///< of overrides that cannot be applied
  std::vector<std::string> set;         ///< pointers that overrides set
  Json id;                              ///< null: none

  /// @param plan  that was chosen for it; null: none
  ParsedExperiment(std::string_view text, const std::string& source,
                   const std::vector<std::string>& overrides, const Json& plan = nullptr)
      : document(parse_document(text, source)), given(std::move(document.value)) {
    use_full_names(given, source, diagnostics);
    name_base();
    if (!overrides.empty()) set = apply_overrides(given, overrides, diagnostics);
    if (!given.is_object()) return;
    name_base();
    take_id();
    given.erase("$schema");
    if (!plan.is_null()) given["plan"] = plan;
  }

 private:
  /// A plan that is "auto" as an object, which overrides may add keys to.
  void name_base() {
    if (!given.is_object()) return;
    const auto plan = given.find("plan");
    if (plan != given.end() && *plan == "auto") *plan = Json{{"base", "auto"}};
  }

  /// Says nothing of the experiment, which may be equal to another one but for it.
  void take_id() {
    const auto found = given.find("id");
    if (found == given.end()) return;
    id = std::move(*found);
    given.erase(found);
  }
};

namespace {

bool is_id(const Json& id) {
  if (id.is_string()) return id.get_ref<const std::string&>().size() <= kLongestId;
  return id.is_number_integer();
}

void check_id(const Json& id, Findings& findings) {
  if (id.is_null() || is_id(id)) return;
  findings.add("/id", "found " + described(id) + ", allowed a text of at most 1000 bytes or an integer");
}

void set_label(const ParsedExperiment& parsed, ExperimentLabel& label) {
  if (is_id(parsed.id)) label.id = parsed.id.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (!parsed.given.is_object()) return;
  const auto name = parsed.given.find("name");
  if (name != parsed.given.end() && name->is_string()) label.name = name->get<std::string>();
}

/// Returns true if the experiment leaves the choice of its plan to a planner.
bool leaves_plan_open(const Json& experiment) {
  if (!experiment.is_object()) return false;
  const auto plan = experiment.find("plan");
  return plan == experiment.end() || (plan->is_object() && plan->value("base", Json()) == "auto");
}

}  // namespace

InputError ExperimentPositions::located(const InputError& error) const {
  Findings findings;
  std::vector<Diagnostic> diagnostics;
  for (const Diagnostic& diagnostic : error.diagnostics()) {
    if (diagnostic.source.empty()) {
      findings.add(diagnostic);
    } else {
      diagnostics.push_back(diagnostic);
    }
  }
  const ExperimentSeries::Setting& setting = *reading_->setting;
  const ParsedExperiment parsed(reading_->text, reading_->source, setting.overrides, reading_->plan);
  ExperimentReader reader(setting.catalog, setting.menus);  // for where in the catalog its parts are from
  static_cast<void>(reader.read(parsed.given, parsed.set));
  std::ranges::move(orrery::located(findings, {parsed.document, reading_->source, parsed.given, parsed.set,
                                               reader.resolver().uses(), setting.catalog.data()}),
                    std::back_inserter(diagnostics));
  return InputError(std::move(diagnostics));
}

std::vector<Diagnostic> ExperimentPositions::warnings(const Experiment& experiment) const {
  Findings findings;
  const ExperimentSeries::Setting& setting = *reading_->setting;
  warn_of_oddities(experiment, setting.catalog.data(), findings);
  warn_of_idle_software(
      ParsedExperiment(reading_->text, reading_->source, setting.overrides, reading_->plan).given,
      experiment.inference.has_value(), findings);
  if (findings.empty()) return {};
  std::vector<Diagnostic> diagnostics;
  for (const Finding& finding : findings.list())
    diagnostics.push_back({"", 0, 0, finding.pointer, "warning: " + finding.message});
  return located(InputError(std::move(diagnostics))).diagnostics();
}

std::string ExperimentPositions::resolved(const Experiment& experiment) const {
  const ExperimentSeries::Setting& setting = *reading_->setting;
  const ParsedExperiment parsed(reading_->text, reading_->source, setting.overrides, reading_->plan);
  ExperimentReader reader(setting.catalog, setting.menus);
  static_cast<void>(reader.read(parsed.given, parsed.set));
  return resolved_document(experiment, reader.cluster_keys(parsed.given),
                           {parsed.document, reading_->source, parsed.given, parsed.set,
                            reader.resolver().uses(), setting.catalog.data()},
                           setting.menus);
}

Experiment ExperimentPositions::changed(const std::string& override) const {
  const ExperimentSeries::Setting& setting = *reading_->setting;
  ParsedExperiment parsed(reading_->text, reading_->source, setting.overrides, reading_->plan);
  std::vector<Diagnostic> diagnostics;
  const std::vector<std::string> set = apply_overrides(parsed.given, {override}, diagnostics);
  ExperimentReader reader(setting.catalog, setting.menus);
  Experiment experiment = reader.read(parsed.given, set);
  for (const Finding& finding : reader.findings().list())
    diagnostics.push_back({"", 0, 0, finding.pointer, finding.message});
  if (!diagnostics.empty()) throw InputError(std::move(diagnostics));
  return experiment;
}

ExperimentSeries::ExperimentSeries(const Catalog& catalog, Menus menus, std::vector<std::string> overrides,
                                   bool remembers)
    : setting_(std::make_shared<const Setting>(Setting{catalog, std::move(menus), std::move(overrides)})),
      latest_(remembers ? std::make_unique<Latest>() : nullptr) {}
ExperimentSeries::~ExperimentSeries() = default;
ExperimentSeries::ExperimentSeries(ExperimentSeries&&) noexcept = default;

/// Returns a chosen plan for an experiment without one; nullopt if it has a plan, or if no planner is
/// present.
std::optional<ChosenPlan> ExperimentSeries::choose(const ParsedExperiment& parsed,
                                                   const std::string& source) const {
  const Menus& menus = setting_->menus;
  if (menus.choose_plan == nullptr || !parsed.diagnostics.empty() || !leaves_plan_open(parsed.given))
    return std::nullopt;
  try {
    return menus.choose_plan(parsed.given.dump(), setting_->catalog);
  } catch (const InputError& error) {
    Findings findings;
    for (const Diagnostic& diagnostic : error.diagnostics()) findings.add(diagnostic);
    const ExperimentReader reader(setting_->catalog, menus);
    throw InputError(orrery::located(findings, {parsed.document, source, parsed.given, parsed.set,
                                                reader.resolver().uses(), setting_->catalog.data()}));
  }
}

LocatedExperiment ExperimentSeries::read(std::string_view text, const std::string& source,
                                         ExperimentLabel* label) {
  ParsedExperiment parsed(text, source, setting_->overrides);
  if (label != nullptr) set_label(parsed, *label);
  const std::optional<ChosenPlan> chosen = choose(parsed, source);
  if (chosen) parsed.given["plan"] = Json::parse(chosen->plan);
  ExperimentReader series(setting_->catalog, setting_->menus, latest_ == nullptr ? nullptr : &latest_->parts);
  Experiment experiment = series.read(parsed.given, parsed.set);
  if (!series.findings().empty() || !(parsed.id.is_null() || is_id(parsed.id))) {
    // A fresh reader reports the errors, because it sees all of the experiment and reuses no known parts.
    ExperimentReader alone(setting_->catalog, setting_->menus);
    static_cast<void>(alone.read(parsed.given, parsed.set));
    Findings findings = alone.findings();
    check_id(parsed.id, findings);
    std::ranges::move(orrery::located(findings, {parsed.document, source, parsed.given, parsed.set,
                                                 alone.resolver().uses(), setting_->catalog.data()}),
                      std::back_inserter(parsed.diagnostics));
  }
  if (!parsed.diagnostics.empty()) throw InputError(std::move(parsed.diagnostics));
  if (chosen) experiment.plan_reason = chosen->reason;
  return {
      std::move(experiment),
      ExperimentPositions(std::make_shared<const ExperimentPositions::Reading>(ExperimentPositions::Reading{
          std::string(text), source, setting_, chosen ? parsed.given["plan"] : Json()}))};
}

Experiment ExperimentSeries::read_without_positions(std::string_view text) {
  ParsedExperiment parsed(text, "", setting_->overrides);
  ExperimentReader reader(setting_->catalog, setting_->menus, latest_ == nullptr ? nullptr : &latest_->parts);
  Experiment experiment = reader.read(parsed.given, parsed.set);
  for (const Finding& finding : reader.findings().list())
    parsed.diagnostics.push_back(
        {"", 0, 0, finding.pointer, finding.message, finding.not_modelled, finding.idle});
  if (!parsed.diagnostics.empty()) throw InputError(std::move(parsed.diagnostics));
  return experiment;
}

LocatedExperiment read_experiment_text(std::string_view text, const std::string& source,
                                       const std::vector<std::string>& overrides, const Catalog& catalog,
                                       const Menus& menus) {
  return ExperimentSeries(catalog, menus, overrides, false).read(text, source);
}

LocatedExperiment read_experiment_file(const std::string& path, const std::vector<std::string>& overrides,
                                       const Catalog& catalog, const Menus& menus) {
  return read_experiment_text(read_text(path), path, overrides, catalog, menus);
}

}  // namespace orrery
