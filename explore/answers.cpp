#include "explore/answers.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "config/catalog/catalog.hpp"
#include "config/schema/menus.hpp"
#include "config/text/json_text.hpp"
#include "explore/knobs.hpp"
#include "orrery/error.hpp"
#include "orrery/recorded_run.hpp"
#include "orrery/write.hpp"
#include "planner/emit/emit.hpp"
#include "planner/methods/search.hpp"
#include "planner/methods/usual_space.hpp"
#include "planner/space/automatic_values.hpp"
#include "planner/space/base_document.hpp"
#include "reports/step_difference.hpp"

namespace orrery::explore {
namespace {

constexpr std::size_t kMostVariants = 24;
constexpr double kGigabytesPerByte = 1e-9;

std::string written(const std::function<void(const Sink&)>& write) {
  std::string text;
  write([&text](std::string_view piece) { text += piece; });
  return text;
}

Json result_of(const Report& report) {
  return Json::parse(written([&](const Sink& sink) { write_json(report, ResultSelection(), -1, sink); }));
}

/// JSON of any text: bytes outside UTF-8 become replacement characters.
std::string line(const Json& answer) { return answer.dump(-1, ' ', false, Json::error_handler_t::replace); }

void emit_yaml(YAML::Emitter& out, const Json& value) {
  if (value.is_string()) {
    out << value.get<std::string>();
  } else if (value.is_array()) {
    out << YAML::Flow << YAML::BeginSeq;
    for (const Json& element : value) emit_yaml(out, element);
    out << YAML::EndSeq;
  } else if (value.is_object()) {
    out << YAML::BeginMap;
    for (const auto& [name, member] : value.items()) {
      out << YAML::Key << name << YAML::Value;
      emit_yaml(out, member);
    }
    out << YAML::EndMap;
  } else {
    out << value.dump();
  }
}

/// The order in which people write the parts of an experiment; others follow.
constexpr std::array<const char*, 7> kParts{"name",  "model",    "cluster",  "plan",
                                            "stack", "training", "inference"};

std::string yaml_of(const Setup& setup) {
  Json document = base_document(setup.base());
  YAML::Emitter out;
  out << YAML::BeginMap;
  const auto write = [&out](const std::string& part, const Json& value) {
    out << YAML::Key << part << YAML::Value;
    emit_yaml(out, value);
  };
  for (const char* part : kParts)
    if (document.contains(part)) {
      write(part, document[part]);
      document.erase(part);
    }
  for (const auto& [part, value] : document.items()) write(part, value);
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

Json terms_json(const DifferenceTerms& terms, double unit) {
  Json list = Json::array();
  for (const DifferenceTerm& term : terms)
    list.push_back({{"term", term.name},
                    {"pinned", static_cast<double>(term.first) * unit},
                    {"now", static_cast<double>(term.second) * unit}});
  return list;
}

Json difference_json(const Report& pinned, const Report& now) {
  const StepDifference difference = step_difference(pinned, now);
  constexpr double kSecondsPerPicosecond = 1e-12;
  return {{"result", result_of(pinned)},
          {"breakdown_s", terms_json(difference.breakdown, kSecondsPerPicosecond)},
          {"critical_path_s", terms_json(difference.critical_path, kSecondsPerPicosecond)},
          {"memory_gb", terms_json(difference.memory, kGigabytesPerByte)}};
}

Report report_of(const LocatedExperiment& read, Simulator& simulator) {
  return read.apply([&](const Experiment& experiment) { return simulator.simulate(experiment); });
}

/// The difference to the pinned run; null where there is none, or one of another kind.
Json difference_to_pinned(const Question& question, const Report& now, Simulator& simulator) {
  if (question.pinned.text.empty()) return {};
  const Report pinned = report_of(read_setup(question.pinned), simulator);
  if (pinned.serving.has_value() != now.serving.has_value()) return {};
  return difference_json(pinned, now);
}

Json names_of(CatalogKind kind) { return Catalog::embedded().names(kind); }

}  // namespace

std::string errors_answer(const InputError& error) {
  Json list = Json::array();
  for (const Diagnostic& one : error.diagnostics())
    list.push_back(
        {{"line", one.line}, {"column", one.column}, {"pointer", one.pointer}, {"message", one.message}});
  return line({{"errors", std::move(list)}});
}

std::string catalog_answer(const std::string& version) {
  return line({{"version", version},
               {"models", names_of(CatalogKind::model)},
               {"clusters", names_of(CatalogKind::cluster)},
               {"gpus", names_of(CatalogKind::gpu)},
               {"knobs", knobs_json()},
               {"frameworks", framework_names()}});
}

std::string figures_answer(const Question& question, Simulator& simulator) {
  const LocatedExperiment read = read_setup(question.setup);
  const Report report = report_of(read, simulator);
  Json warnings = report.warnings;
  for (const Diagnostic& warning : read.positions.warnings(read.experiment))
    warnings.push_back(warning.message);
  return line({{"experiment", yaml_of(question.setup)},
               {"result", result_of(report)},
               {"resolved", parse_json(read.positions.resolved(read.experiment))},
               {"given", base_document(question.setup.base())},
               {"serves", report.serving.has_value()},
               {"warnings", std::move(warnings)},
               {"difference", difference_to_pinned(question, report, simulator)}});
}

namespace {

Json per_gpu(const Json& result) {
  const Json tokens = result.value("tokens_per_s", Json());
  return tokens.is_number() ? Json(tokens.get<double>() / result.at("gpus").get<double>()) : Json();
}

/// Returns the figures of the experiment with one more change.
Json variant(const Setup& setup, const std::string& key, const std::string& value, Simulator& simulator) {
  Setup changed = setup;
  changed.changes.push_back(key + "=" + value);
  try {
    const Report report = report_of(read_setup(changed), simulator);
    const Json result = result_of(report);
    return {{"value", value},
            {"feasible", report.feasible},
            {"reason", report.reasons.empty() ? "" : report.reasons.front()},
            {"time_s", result.value(report.serving ? "tpot_s" : "step_time_s", Json())},
            {"tokens_per_s_per_gpu", per_gpu(result)}};
  } catch (const InputError& error) {
    const Diagnostic& first = error.diagnostics().front();
    return {{"value", value},
            {"feasible", false},
            {"reason", first.message},
            {"time_s", nullptr},
            {"tokens_per_s_per_gpu", nullptr}};
  }
}

/// A number and its neighbours, by factors of two.
std::vector<std::string> neighbours(const Json& number) {
  if (number.is_number_integer()) {
    const auto value = number.get<std::int64_t>();
    std::vector<std::string> values;
    if (value > 1) values.push_back(std::to_string(value / 2));
    values.push_back(std::to_string(value));
    values.push_back(std::to_string(value * 2));
    return values;
  }
  const auto value = number.get<double>();
  return {fmt::format("{}", value / 2), fmt::format("{}", value), fmt::format("{}", value * 2)};
}

/// All values of a key that has few; of a number its neighbours. None of a key that has no value here.
std::vector<std::string> values_to_try(const Question& question) {
  const LocatedExperiment read = read_setup(question.setup);
  try {
    std::vector<std::string> values = automatic_values(question.key, read.experiment, menus());
    if (values.size() <= kMostVariants) return values;
  } catch (const InputError&) {
    // A key with too many values to list: a number has neighbours all the same.
  }
  const Json current = value_at(parse_json(read.positions.resolved(read.experiment)), question.key);
  return current.is_number() ? neighbours(current) : std::vector<std::string>();
}

}  // namespace

std::string variants_answer(const Question& question, Simulator& simulator) {
  const std::vector<std::string> values = values_to_try(question);
  Json list = Json::array();
  for (const std::string& value : values)
    list.push_back(variant(question.setup, question.key, value, simulator));
  return line({{"key", question.key}, {"values", std::move(list)}});
}

std::string best_answer(const Question& question, unsigned threads, const BestProgress& progress) {
  BaseExperiment base = question.setup.base();
  SpaceDescription usual = usual_space(base, Catalog::embedded(), menus());
  const Space space(std::move(usual), std::move(base), Catalog::embedded(), menus());
  SearchRequest request;
  request.objective = Objective(usual_objective(space));
  request.budget.seconds = kSearchSeconds;
  request.threads = threads;
  add_own_limits(space, request);
  const SearchResult found = search(space, request, progress);
  Json plans = Json::array();
  for (const FoundPlan& plan : found.best)
    plans.push_back(
        {{"changes", overrides_of(space.keys(), plan.trial.values)}, {"result", result_of(plan.report)}});
  return line({{"optimal", found.optimal},
               {"points", found.points},
               {"simulated", found.simulated},
               {"objective", usual_objective(space)},
               {"plans", std::move(plans)},
               {"removed", found.removed}});
}

namespace {

std::string picture_of(const Question& question) {
  const RecordedRun run =
      read_setup(question.setup).apply([](const Experiment& experiment) { return record(experiment); });
  return written([&run](const Sink& sink) { write_picture(run, PictureOptions{}, sink); });
}

std::string figures_file(const Question& question, bool csv) {
  const Report report =
      read_setup(question.setup).apply([](const Experiment& experiment) { return simulate(experiment); });
  return written([&](const Sink& sink) { csv ? write_csv(report, sink) : write_json(report, sink); });
}

std::string run_file(const Question& question,
                     const std::function<void(const RecordedRun&, const Sink&)>& write) {
  const RecordedRun run =
      read_setup(question.setup).apply([](const Experiment& experiment) { return record(experiment); });
  return written([&](const Sink& sink) { write(run, sink); });
}

struct Form {
  std::string_view form;
  std::string_view name;
  std::string_view type;
  std::string (*text)(const Question&);
};

constexpr std::array<Form, 6> kForms{{
    {"experiment", "experiment.yaml", "application/yaml", [](const Question& q) { return yaml_of(q.setup); }},
    {"json", "result.json", "application/json", [](const Question& q) { return figures_file(q, false); }},
    {"csv", "result.csv", "text/csv", [](const Question& q) { return figures_file(q, true); }},
    {"svg", "step.svg", "image/svg+xml", picture_of},
    {"page", "run.html", "text/html",
     [](const Question& q) {
       return run_file(q, [](const RecordedRun& run, const Sink& sink) { write_page(run, sink); });
     }},
    {"trace", "trace.json", "application/json",
     [](const Question& q) {
       return run_file(
           q, [](const RecordedRun& run, const Sink& sink) { write_trace(run, TraceOptions{}, sink); });
     }},
}};

}  // namespace

std::string picture_answer(const Question& question) { return line({{"svg", picture_of(question)}}); }

std::string taken_answer(const Question& question) {
  const auto form = std::ranges::find(kForms, question.form, &Form::form);
  if (form != kForms.end())
    return line({{"name", form->name}, {"type", form->type}, {"text", form->text(question)}});
  const RecordedRun run =
      read_setup(question.setup).apply([](const Experiment& experiment) { return record(experiment); });
  return line({{"name", question.form + ".txt"},
               {"type", "text/plain"},
               {"text", emit(question.form, run.experiment())}});
}

}  // namespace orrery::explore
