// The result of a step of post-training as text, JSON and CSV.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "studies/post_training/post_training.hpp"

namespace orrery {
namespace {

using OrderedJson = nlohmann::ordered_json;

double seconds_of(Int128 time_ps) { return static_cast<double>(time_ps) * 1e-12; }
double in_gb(Bytes bytes) { return static_cast<double>(bytes) / 1e9; }

std::string_view role_name(PostTrainingRole role) {
  return kPostTrainingRoleNames[static_cast<std::size_t>(role)];
}

/// Null where nothing was simulated.
template <class Value>
OrderedJson if_timed(const PostTrainingResult& result, Value value) {
  return result.duration_ps > 0 ? OrderedJson(value()) : OrderedJson();
}

/// Seconds of a step in the mean.
OrderedJson phases_json(const PhaseTimes& times, const PostTrainingResult& result) {
  OrderedJson phases = OrderedJson::object();
  for (std::size_t p = 0; p < kPostTrainingPhaseCount; ++p)
    phases[std::string(kPostTrainingPhaseNames[p])] =
        if_timed(result, [&] { return to_seconds(times[p]) / static_cast<double>(result.steps); });
  return phases;
}

OrderedJson idle_json(const PostTrainingResult& result) {
  const auto of_step = [&](Int128 time_ps) {
    return if_timed(result, [&] { return seconds_of(time_ps) / static_cast<double>(result.steps); });
  };
  return {{"tail", of_step(result.idle.tail_ps)},
          {"rollouts", of_step(result.idle.rollouts_ps)},
          {"trainers", of_step(result.idle.trainers_ps)},
          {"others", of_step(result.idle.others_ps)}};
}

OrderedJson scalars(const PostTrainingResult& result) {
  const PostTraining& section = result.section;
  const auto figure = [&](auto value) { return if_timed(result, value); };
  const auto per_step = [&](std::int64_t sum) {
    return figure([&] { return static_cast<double>(sum) / static_cast<double>(result.steps); });
  };
  return {{"name", result.name},
          {"feasible", result.feasible},
          {"algorithm", kPostTrainingAlgorithmNames[static_cast<std::size_t>(section.algorithm)]},
          {"placement", kRolePlacementNames[static_cast<std::size_t>(section.placement)]},
          {"schedule", kRolloutScheduleNames[static_cast<std::size_t>(section.schedule)]},
          {"gpus", result.gpus},
          {"step_time_s", figure([&] { return result.step_time_s(); })},
          {"generation_share", figure([&] { return result.generation_share(); })},
          {"samples_per_s", figure([&] { return result.samples_per_s(); })},
          {"tokens_per_s", figure([&] { return result.tokens_per_s(); })},
          {"tokens_per_s_per_gpu",
           figure([&] { return result.tokens_per_s() / static_cast<double>(result.gpus); })},
          {"gpu_hours_per_step", figure([&] { return result.gpu_hours_per_step(); })},
          {"simulated_steps", result.steps},
          {"samples_per_step", per_step(result.samples)},
          {"generated_samples_per_step", per_step(result.generated)},
          {"prompt_tokens_per_step", per_step(result.prompt_tokens)},
          {"response_tokens_per_step", per_step(result.response_tokens)},
          {"micro_batches", figure([&] { return result.micro_batches; })},
          {"replica_imbalance", figure([&] { return result.imbalance; })},
          {"micro_batch_fill", figure([&] { return result.fill; })},
          {"rollout_batch_mean", figure([&] { return result.batch_mean; })},
          {"preemptions", figure([&] { return result.preemptions; })}};
}

OrderedJson staleness_json(const PostTrainingResult& result) {
  return {{"mean", if_timed(result, [&] { return result.mean_staleness(); })},
          {"most",
           if_timed(result, [&] { return std::max<std::int64_t>(0, std::ssize(result.staleness) - 1); })}};
}

/// Null where the way of the weights was not priced.
OrderedJson sync_json(const WeightSync& sync) {
  const auto figure = [&](auto value) { return sync.tensors > 0 ? OrderedJson(value) : OrderedJson(); };
  return {{"model_bytes", figure(sync.model_bytes)},
          {"rollout_gpu_bytes", figure(sync.rollout_gpu_bytes)},
          {"tensors", figure(sync.tensors)},
          {"host_s", figure(to_seconds(sync.host_ps))},
          {"gather_s", figure(to_seconds(sync.gather_ps))},
          {"send_s", figure(to_seconds(sync.send_ps))},
          {"load_s", figure(to_seconds(sync.load_ps))},
          {"time_s", figure(to_seconds(sync.total_ps))}};
}

OrderedJson memory_json(const std::vector<RoleMemory>& roles) {
  OrderedJson memory = OrderedJson::object();
  for (const RoleMemory& role : roles)
    memory[std::string(role_name(role.role))] = {{"gpus", role.gpus},
                                                 {"states_gb", in_gb(role.states)},
                                                 {"peak_gb", in_gb(role.peak)},
                                                 {"usable_gb", in_gb(role.usable)},
                                                 {"offloaded_gb", in_gb(role.offloaded)}};
  return memory;
}

OrderedJson whole_json(const PostTrainingResult& result) {
  OrderedJson all = scalars(result);
  all["phases_s"] = phases_json(result.phases, result);
  all["exposed_s"] = phases_json(result.exposed, result);
  all["idle_gpu_s"] = idle_json(result);
  all["staleness"] = staleness_json(result);
  all["weight_sync"] = sync_json(result.sync);
  all["memory"] = memory_json(result.memory);
  return all;
}

void add_cells(const OrderedJson& value, const std::string& key, std::string& names, std::string& cells) {
  if (value.is_object()) {
    for (const auto& [name, member] : value.items())
      add_cells(member, key.empty() ? name : key + "." + name, names, cells);
    return;
  }
  const std::string cell = value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
  const bool quoted = cell.find_first_of(",\"\n") != std::string::npos;
  names += (names.empty() ? "" : ",") + key;
  cells += cells.empty() && names == key ? "" : ",";
  if (!quoted) {
    cells += cell;
    return;
  }
  cells += '"';
  for (const char c : cell) cells += c == '"' ? std::string("\"\"") : std::string(1, c);
  cells += '"';
}

std::string head_text(const PostTrainingResult& result) {
  const PostTraining& section = result.section;
  std::string text = fmt::format("{}  {}\n", result.name, result.feasible ? "feasible" : "not feasible");
  text += fmt::format("{} GPUs, {}, {}, {}; {} prompts of {} samples a step\n\n", result.gpus,
                      kPostTrainingAlgorithmNames[static_cast<std::size_t>(section.algorithm)],
                      kRolePlacementNames[static_cast<std::size_t>(section.placement)],
                      kRolloutScheduleNames[static_cast<std::size_t>(section.schedule)],
                      section.prompts_per_step, section.samples_per_prompt);
  for (const std::string& reason : result.reasons) text += "  " + reason + "\n";
  return text;
}

std::string rates_text(const PostTrainingResult& result) {
  return fmt::format(
      "  step time  {:>11.3f} s    {:.4g} samples/s   {:.4g} tokens/s ({:.4g} per GPU)   {:.3g} GPU "
      "hours\n\n",
      result.step_time_s(), result.samples_per_s(), result.tokens_per_s(),
      result.tokens_per_s() / static_cast<double>(result.gpus), result.gpu_hours_per_step());
}

std::string phases_text(const PostTrainingResult& result) {
  std::string text = "Phases  s of a step           exposed\n";
  for (std::size_t p = 0; p < kPostTrainingPhaseCount; ++p) {
    if (result.phases[p] == 0 && result.exposed[p] == 0) continue;
    const auto steps = static_cast<double>(result.steps);
    const double exposed = to_seconds(result.exposed[p]) / steps;
    text += fmt::format("  {:<22}{:>10.3f}  {:>10.3f}  {:>5.1f} %\n", kPostTrainingPhaseNames[p],
                        to_seconds(result.phases[p]) / steps, exposed, 100 * exposed / result.step_time_s());
  }
  return text;
}

std::string rollouts_text(const PostTrainingResult& result) {
  std::string text = "\nSamples under way after";
  for (const RunningSamples& running : result.running)
    text += fmt::format(" {:.0f} %: {}{}", 100 * running.share, running.samples,
                        &running == &result.running.back() ? " of generation\n" : ",");
  const double steps = static_cast<double>(result.steps);
  text += fmt::format(
      "Idle GPU-seconds of a step: tail {:.4g}, rollouts {:.4g}, trainers {:.4g}, others {:.4g}\n",
      seconds_of(result.idle.tail_ps) / steps, seconds_of(result.idle.rollouts_ps) / steps,
      seconds_of(result.idle.trainers_ps) / steps, seconds_of(result.idle.others_ps) / steps);
  text +=
      fmt::format("Updates: {} micro-batches, {:.1f} % full; the fullest replica has {:.3f} of the mean\n",
                  result.micro_batches, 100 * result.fill, result.imbalance);
  text += fmt::format("Staleness: {:.3g} updates in the mean, {} at most\n", result.mean_staleness(),
                      std::max<std::int64_t>(0, std::ssize(result.staleness) - 1));
  text += fmt::format("Weights: {:.4g} GB, to rollouts in {:.3f} s\n", in_gb(result.sync.model_bytes),
                      to_seconds(result.sync.total_ps));
  return text;
}

std::string memory_text(const PostTrainingResult& result) {
  std::string text = "\nMemory  GB of a GPU        GPUs    states      peak    usable  offloaded\n";
  for (const RoleMemory& role : result.memory)
    text +=
        fmt::format("  {:<22}{:>8}{:>10.2f}{:>10.2f}{:>10.2f}{:>11.2f}\n", role_name(role.role), role.gpus,
                    in_gb(role.states), in_gb(role.peak), in_gb(role.usable), in_gb(role.offloaded));
  return text;
}

std::string sentences(std::string_view title, const std::vector<std::string>& list) {
  if (list.empty()) return "";
  std::string text = fmt::format("\n{}\n", title);
  for (const std::string& one : list) text += fmt::format("  - {}\n", one);
  return text;
}

}  // namespace

std::string post_training_text(const PostTrainingResult& result) {
  std::string text = head_text(result);
  if (result.duration_ps > 0)
    text += rates_text(result) + phases_text(result) + rollouts_text(result) + memory_text(result);
  return text + sentences("Warnings", result.warnings) + sentences("Assumptions", result.assumptions);
}

std::string post_training_json(const PostTrainingResult& result, int indent) {
  OrderedJson all = whole_json(result);
  all["staleness"]["samples_by_updates"] = result.staleness;
  OrderedJson& running = all["running_samples"] = OrderedJson::array();
  for (const RunningSamples& one : result.running)
    running.push_back({{"share_of_generation", one.share}, {"samples", one.samples}});
  all["reasons"] = result.reasons;
  all["warnings"] = result.warnings;
  all["assumptions"] = result.assumptions;
  return all.dump(indent, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string post_training_csv(const PostTrainingResult& result) {
  std::string names;
  std::string cells;
  add_cells(whole_json(result), "", names, cells);
  return names + "\n" + cells + "\n";
}

}  // namespace orrery
