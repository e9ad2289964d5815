// Pipelines and batches from Megatron's arguments.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "importers/frameworks/layer_list.hpp"
#include "importers/frameworks/megatron.hpp"

namespace orrery::importers::frameworks {
namespace {

std::int64_t stages_of(LaunchArguments& all) {
  return whole_number(all.draft().value("plan.pipeline_parallel")).value_or(1);
}

void interleave(LaunchArguments& all, std::string_view name, std::int64_t chunks, std::string note) {
  if (chunks <= 1) return all.ignore(name, "one chunk of each stage");
  all.became(name, "plan.virtual_stages", chunks, std::move(note));
  all.draft().default_to("plan.pipeline_schedule", "interleaved-1f1b", "chunks of stages are interleaved");
}

/// Chunks of each stage: their number, or the layers of one.
void read_chunks(LaunchArguments& all) {
  const std::int64_t stages = stages_of(all);
  if (const auto chunks = all.take_count("virtual_pipeline_model_parallel_size"))
    interleave(all, "virtual_pipeline_model_parallel_size", *chunks, "");
  const auto layers = whole_number(all.draft().value("model.layers"));
  const auto of_chunk = all.take_count("num_layers_per_virtual_pipeline_stage");
  if (!of_chunk || !layers || stages < 2)
    return all.ignore("num_layers_per_virtual_pipeline_stage", "no pipeline");
  if (all.draft().stated("plan.virtual_stages"))
    return all.ignore("num_layers_per_virtual_pipeline_stage", "the number of chunks is given");
  interleave(all, "num_layers_per_virtual_pipeline_stage",
             std::max<std::int64_t>(1, *layers / stages / *of_chunk),
             fmt::format("{} layers / {} stages / {} layers of a chunk", *layers, stages, *of_chunk));
}

/// Embedding, layers and loss of each chunk, in the order of the model.
void read_layout(LaunchArguments& all) {
  const LaunchArgument* layout = all.take("pipeline_model_parallel_layout");
  if (layout == nullptr) return;
  const auto layers = layout_layers(text_of(layout->value));
  const std::int64_t stages = stages_of(all);
  const auto chunks = static_cast<std::int64_t>(layers.size());
  if (layers.empty() || chunks % stages != 0)
    return all.draft().contradict(
        layout->source,
        fmt::format("found {} stages, allowed a multiple of the {} of the pipeline", chunks, stages));
  all.became("pipeline_model_parallel_layout", "plan.stage_layers", layers);
  if (chunks == stages) return;
  all.draft().default_to("plan.virtual_stages", chunks / stages, "stages of the layout / pipeline ranks");
  all.draft().default_to("plan.pipeline_schedule", "interleaved-1f1b", "chunks of stages are interleaved");
}

/// Layers of stages as layers of chunks, in the order of the model: chunk c of stage s is the (c p + s)-th
/// one.
std::vector<std::int64_t> chunks_of(const std::vector<std::int64_t>& stages, std::int64_t chunks) {
  if (chunks <= 1 || chunks > kMostLayers / static_cast<std::int64_t>(stages.size())) return stages;
  std::vector<std::int64_t> all;
  for (std::int64_t c = 0; c < chunks; ++c)
    for (const std::int64_t layers : stages) all.push_back(layers / chunks);
  return all;
}

/// The first and the last stage may have layers of their own, or count embedding and loss as one.
void read_ends(LaunchArguments& all) {
  const std::int64_t stages = stages_of(all);
  const auto layers = whole_number(all.draft().value("model.layers"));
  const auto first = all.take_count("decoder_first_pipeline_num_layers", 0);
  const auto last = all.take_count("decoder_last_pipeline_num_layers", 0);
  const bool embedding = all.take_flag("account_for_embedding_in_pipeline_split").value_or(false);
  const bool loss = all.take_flag("account_for_loss_in_pipeline_split").value_or(false);
  if (!(first || last || embedding || loss) || !layers || stages < 2 || stages > kMostLayers) return;
  const std::int64_t even = (*layers + embedding + loss) / stages;
  const std::int64_t at_first = first.value_or(even - embedding), at_last = last.value_or(even - loss);
  const std::int64_t between = *layers - at_first * (first ? 1 : 0) - at_last * (last ? 1 : 0);
  const std::int64_t shared = stages - (first ? 1 : 0) - (last ? 1 : 0);
  std::vector<std::int64_t> of_stages(static_cast<std::size_t>(stages),
                                      embedding || loss ? even : between / std::max<std::int64_t>(shared, 1));
  if (first || embedding) of_stages.front() = at_first;
  if (last || loss) of_stages.back() = at_last;
  const char* told = first       ? "decoder_first_pipeline_num_layers"
                     : last      ? "decoder_last_pipeline_num_layers"
                     : embedding ? "account_for_embedding_in_pipeline_split"
                                 : "account_for_loss_in_pipeline_split";
  all.became(told, "plan.stage_layers",
             chunks_of(of_stages, whole_number(all.draft().value("plan.virtual_stages")).value_or(1)));
  all.ignore("decoder_last_pipeline_num_layers", "stands with plan.stage_layers");
}

/// Thresholds and batches such as 0:384 200B:768: the phase that the training ends in.
struct Phase {
  double from = 0;
  std::int64_t batch = 0;
};

double threshold(const std::string& text) {
  const std::size_t suffix = text.find_first_of("KMBT");
  double scale = 1;
  if (suffix != std::string::npos)
    scale = text[suffix] == 'K' ? 1e3 : text[suffix] == 'M' ? 1e6 : text[suffix] == 'B' ? 1e9 : 1e12;
  return static_cast<double>(whole_number(Json(text.substr(0, suffix))).value_or(0)) * scale;
}

std::vector<Phase> phases_of(const std::string& text) {
  std::vector<Phase> phases;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string part = text.substr(at, end - at);
    const std::size_t colon = part.find(':');
    const auto batch = colon == std::string::npos ? std::nullopt : whole_number(Json(part.substr(colon + 1)));
    if (batch) phases.push_back({threshold(part.substr(0, colon)), *batch});
    at = end + 1;
  }
  return phases;
}

void read_batch_schedule(LaunchArguments& all) {
  const LaunchArgument* schedule = all.take("step_batch_size_schedule");
  if (schedule == nullptr) return;
  if (all.draft().stated("plan.global_batch_size"))
    return all.ignore("step_batch_size_schedule",
                      "the batch grows; the experiment is a step of plan.global_batch_size");
  const auto phases = phases_of(text_of(schedule->value));
  if (phases.empty()) return all.draft().contradict(schedule->source, "found no list such as 0:384 200B:768");
  const LaunchArgument* limit = all.find("train_samples");
  const auto samples = whole_number(limit != nullptr ? limit->value : Json());
  const auto length = whole_number(all.draft().value("model.seq_length"));
  const double tokens =
      samples && length ? static_cast<double>(*samples) * static_cast<double>(*length) : 1e300;
  Phase last = phases.front();
  for (const Phase& phase : phases)
    if (phase.from < tokens) last = phase;
  all.became("step_batch_size_schedule", "plan.global_batch_size", last.batch,
             "the batch grows over the training: the batch that it ends with; --set plan.global_batch_size=N "
             "takes another one");
}

void read_length(LaunchArguments& all) {
  for (const char* length : {"train_samples", "train_tokens", "train_iters"})
    if (all.contains(length) && !unresolved_variable(all.find(length)->value).empty())
      all.ignore(length, "the length of the training changes no step");
  const auto length_in = [&all](const char* name) {
    return all.answers(name) ? std::nullopt : all.take_count(name);
  };
  if (const auto samples = length_in("train_samples"))
    return all.became("train_samples", "training.samples", *samples);
  if (const auto tokens = length_in("train_tokens"))
    return all.became("train_tokens", "training.tokens", *tokens);
  const auto batch = whole_number(all.draft().value("plan.global_batch_size"));
  const auto steps = all.answers("train_iters") ? std::nullopt : all.take_count("train_iters", 0);
  if (steps && *steps > 0 && batch && *batch > 0 && *steps < 1'000'000'000 && *batch < 1'000'000'000)
    all.became("train_iters", "training.samples", *steps * *batch, "times the global batch");
  all.ignore("train_iters", "the length of the training changes no step");
}

}  // namespace

void read_megatron_pipeline(LaunchArguments& all) {
  read_chunks(all);
  read_layout(all);
  read_ends(all);
  const bool interleaved = all.draft().has("plan.virtual_stages");
  if (interleaved)
    all.map_count("microbatch_group_size_per_virtual_pipeline_stage", "plan.micro_batch_group_size");
  all.ignore("microbatch_group_size_per_virtual_pipeline_stage", "stages have one chunk");
  if (all.take_flag("enable_zbh1_pipeline") == true)
    all.became("enable_zbh1_pipeline", "plan.pipeline_schedule", "zb-h1");
  all.draft().default_to("plan.pipeline_schedule", "1f1b", "Megatron-LM's default");
}

void read_megatron_batch(LaunchArguments& all) {
  all.map_count("micro_batch_size", "plan.micro_batch_size");
  all.map_count("global_batch_size", "plan.global_batch_size");
  all.ignore("rampup_batch_size",
             "the batch grows up to plan.global_batch_size, which is that of the experiment");
  read_batch_schedule(all);
  read_length(all);
}

}  // namespace orrery::importers::frameworks
