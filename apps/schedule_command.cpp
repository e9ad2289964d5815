#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/experiment_arguments.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/schedule_drawing.hpp"
#include "apps/text_columns.hpp"
#include "orrery/error.hpp"
#include "orrery/require_training.hpp"

namespace orrery {
namespace {

constexpr std::int64_t kMostPasses = 10'000'000;
constexpr std::int64_t kMostBlocks = 8;  // of lines below each other
constexpr std::array kPassNames{"forward", "backward", "backward-input", "backward-weight"};  // by PassKind

struct ScheduleOptions {
  ExperimentArguments arguments;
  std::string json;
  bool all = false;
};

/// The schedule of a plan and when its passes run.
struct PlannedSchedule {
  const Plan& plan;
  ScheduleShape shape;
  std::vector<std::vector<TimedPass>> ranks;

  [[nodiscard]] std::int64_t units() const {
    std::int64_t end = 0;
    for (const auto& rank : ranks) end = std::max(end, rank.back().end);
    return end;
  }
};

PlannedSchedule planned(const Experiment& experiment) {
  require_training(experiment, "pipeline schedule");
  const Plan& plan = experiment.plan;
  const ScheduleShape shape = schedule_shape(plan);
  const std::int64_t passes = 3 * shape.stages * shape.chunks * shape.micro_batches;
  if (passes > kMostPasses)
    throw InputError("/plan/global_batch_size",
                     fmt::format("makes up to {} passes per step, allowed are {}", passes, kMostPasses));
  return {plan, shape, time_schedule(schedule_of(plan), shape)};
}

std::int64_t busy_units(const std::vector<TimedPass>& rank) {
  std::int64_t busy = 0;
  for (const TimedPass& timed : rank) busy += timed.end - timed.begin;
  return busy;
}

/// Most passes whose activations a rank keeps at a time.
std::int64_t kept_passes(const std::vector<TimedPass>& rank) {
  std::int64_t kept = 0;
  std::int64_t most = 0;
  for (const TimedPass& timed : rank) {
    kept += timed.pass.kind == PassKind::forward ? 1 : 0;
    kept -= completes_gradients(timed.pass.kind) ? 1 : 0;
    most = std::max(most, kept);
  }
  return most;
}

nlohmann::ordered_json json_of(const TimedPass& timed) {
  return {{"pass", kPassNames[static_cast<std::size_t>(timed.pass.kind)]},
          {"micro_batch", timed.pass.micro_batch},
          {"chunk", timed.pass.chunk},
          {"virtual_stage", timed.virtual_stage},
          {"begin", timed.begin},
          {"end", timed.end}};
}

nlohmann::ordered_json json_of(const PlannedSchedule& schedule) {
  nlohmann::ordered_json out{{"pipeline_schedule", schedule.plan.pipeline_schedule},
                             {"pipeline_parallel", schedule.shape.stages},
                             {"virtual_stages", schedule.plan.virtual_stages},
                             {"micro_batches", schedule.shape.micro_batches},
                             {"units", schedule.units()}};
  auto& ranks = out["ranks"] = nlohmann::ordered_json::array();
  for (const std::vector<TimedPass>& rank : schedule.ranks) {
    nlohmann::ordered_json one{{"busy_units", busy_units(rank)}, {"kept_passes", kept_passes(rank)}};
    for (const TimedPass& timed : rank) one["passes"].push_back(json_of(timed));
    ranks.push_back(std::move(one));
  }
  return out;
}

std::string heading(const PlannedSchedule& schedule) {
  const bool halves = splits_backward(schedule.plan) != BackwardSplit::whole;
  std::string text = fmt::format("{}: {} pipeline rank{}", schedule.plan.pipeline_schedule,
                                 schedule.shape.stages, schedule.shape.stages == 1 ? "" : "s");
  if (schedule.shape.chunks > 1) text += fmt::format(" of {} chunks", schedule.shape.chunks);
  text += fmt::format(", {} micro-batch{}\n", schedule.shape.micro_batches,
                      schedule.shape.micro_batches == 1 ? "" : "es");
  text += "A unit of time is a forward pass, or half a backward pass, through a chunk; messages take none.\n";
  text += "F forward, B backward";
  if (halves) text += ", I gradients of inputs, W of weights";
  text += "; then the micro-batch";
  text += schedule.shape.chunks > 1 ? " and the chunk of the rank.\n\n" : ".\n\n";
  return text;
}

std::string totals(const PlannedSchedule& schedule) {
  std::int64_t busy = 0;
  std::int64_t kept = 0;
  for (const std::vector<TimedPass>& rank : schedule.ranks) {
    busy = std::max(busy, busy_units(rank));
    kept = std::max(kept, kept_passes(rank));
  }
  const std::int64_t idle = schedule.units() - busy;
  return fmt::format(
      "\n{} units; a rank idles {} of them, {:.1f} % of its work, and keeps the activations of at most {} "
      "passes\n",
      schedule.units(), idle, 100.0 * static_cast<double>(idle) / static_cast<double>(busy), kept);
}

void print(const PlannedSchedule& schedule, bool all) {
  const ScheduleDrawing drawing{schedule.ranks, schedule.shape.chunks, text_columns(), all ? 0 : kMostBlocks};
  const std::string text = wrapped_lines(heading(schedule), text_columns()) + draw_schedule(drawing) +
                           wrapped_lines(totals(schedule), text_columns());
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int deliver(const ScheduleOptions& options, const CommonOptions& common, const Experiment& experiment) {
  Outputs outputs(options.arguments.experiment);
  for (const std::string& file : options.arguments.calibrations) outputs.protect(file);
  OutputFile* json = outputs.open(options.json);
  const PlannedSchedule schedule = planned(experiment);
  if (json != nullptr) json->write(json_of(schedule).dump(2) + "\n");
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) print(schedule, options.all);
  return kDone;
}

}  // namespace

Command add_schedule(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<ScheduleOptions>();
  CLI::Option* batch = add_experiment_arguments(app, options->arguments);
  add_output(app, "--json", options->json, "Write the passes as JSON (- for standard output)")
      ->excludes(batch);
  app.add_flag("--all", options->all, "Draw all of it, however long")->excludes(batch);
  return [options, &common] {
    const auto one = [&](const LocatedExperiment& read) {
      return read.apply([&](const Experiment& experiment) { return deliver(*options, common, experiment); });
    };
    const LineMaker line = [](const Experiment& experiment) {
      return json_of(planned(experiment)).dump() + "\n";
    };
    return run_on_experiments(options->arguments, common, one, [&] { return line; });
  };
}

}  // namespace orrery
