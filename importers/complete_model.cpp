#include "importers/complete_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace orrery::importers {
namespace {

/// Lengths of the random requests that vllm bench serve and sglang.bench_serving send where nothing says
/// them.
constexpr std::int64_t kUsualPrompt = 1024;
constexpr std::int64_t kUsualOutput = 128;

/// Layers with a window become layers that attend to all.
Json without_windows(Json pattern) {
  for (Json& run : pattern)
    if (run.is_object() && run.value("attention", "") == "window") run["attention"] = "full";
  return pattern;
}

/// Returns the fraction of the longest request, of `context`, for a prompt or an output of usual length.
std::int64_t within(std::int64_t usual, std::int64_t context) {
  constexpr std::int64_t kBoth = kUsualPrompt + kUsualOutput;
  return context >= kBoth ? usual : std::max<std::int64_t>(1, usual * context / kBoth);
}

void default_requests(Draft& draft, std::int64_t context) {
  if (draft.value("inference.requests").is_string()) return;
  const char* note = "no file gives the lengths of requests: those of vllm bench serve; --set changes it";
  if (!draft.has("inference.prompt_tokens"))
    draft.default_to("inference.prompt_tokens", within(kUsualPrompt, context), note);
  if (!draft.has("inference.output_tokens"))
    draft.default_to("inference.output_tokens", within(kUsualOutput, context), note);
}

/// Layers for further tokens are loaded where they propose tokens.
void drop_unused_prediction(Draft& draft) {
  const Json& layers = draft.value("model.multi_token_prediction");
  if (!layers.is_number_integer() || layers == 0 || draft.has("inference.speculative.num_speculative_tokens"))
    return;
  if (draft.origin("model.multi_token_prediction")->place.file == "--set") return;
  draft.forget("model.multi_token_prediction");
  draft.default_to("model.multi_token_prediction", 0,
                   "engines load layers for further tokens only where they propose tokens");
}

void default_format(Draft& draft, std::string_view from, std::string_view to) {
  const Json value = draft.value(from);
  const ImportItem* origin = draft.origin(from);
  if (value.is_null() || draft.has(to)) return;
  draft.default_to(to, value, fmt::format("{} {}", origin->place.text(), origin->key));
}

}  // namespace

bool serves(const Draft& draft) {
  return std::ranges::any_of(draft.facts(),
                             [](const auto& fact) { return fact.first.starts_with("inference."); });
}

void drop_idle_window(Draft& draft) {
  const Json& window = draft.value("model.window");
  const Json& length = draft.value("model.seq_length");
  if (!window.is_number_integer() || !length.is_number_integer() || window <= length) return;
  if (draft.origin("model.window")->place.file == "--set") return;
  const std::string note =
      fmt::format("the window of {} is longer than samples of {}", window.dump(), length.dump());
  draft.forget("model.window");
  draft.forget("model.window_pattern");
  const Json pattern = draft.value("model.layer_pattern");
  if (!pattern.is_array()) return;
  draft.forget("model.layer_pattern");
  draft.default_to("model.layer_pattern", without_windows(pattern), note);
}

void complete_serving(Draft& draft) {
  drop_unused_prediction(draft);
  default_format(draft, launch::kServedPrecision, "plan.precision");
  default_format(draft, launch::kServedWeights, "inference.weight_precision");
  default_format(draft, launch::kServedCache, "inference.kv_precision");
  const Json& most = draft.value("inference.max_model_len");
  const Json& length = draft.value("model.seq_length");
  const Json& context = most.is_number_integer() ? most : length;
  default_requests(draft,
                   context.is_number_integer() ? context.get<std::int64_t>() : kUsualPrompt + kUsualOutput);
}

}  // namespace orrery::importers
