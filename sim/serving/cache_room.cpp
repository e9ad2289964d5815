#include <fmt/format.h>

#include <algorithm>

#include "sim/serving/requests.hpp"
#include "sim/serving/serve.hpp"

namespace orrery {
namespace {

std::int64_t pages_for(const Inference& inference, std::int64_t tokens) {
  return (tokens + inference.page_tokens - 1) / inference.page_tokens;
}

/// Returns true if replicas of that kind serve only prefill.
bool has_prompts_alone(const ServingSetup& setup, std::size_t kind) {
  if (setup.prompt_replicas() == 0 || !setup.is_mixed()) return false;
  for (std::int64_t r = setup.prompt_replicas(); r < setup.replicas; ++r)
    if (setup.kind_of(r) == kind) return false;
  return true;
}

/// " (stage 1 of replica 0, on l4)", where GPUs differ.
std::string in_brackets(const std::string& place) { return place.empty() ? "" : " (" + place + ")"; }

double decimal_gigabytes(Bytes bytes) { return static_cast<double>(bytes) / 1e9; }

/// Parts of a state where it alone is in the cache: many, so that the pages of a request's tokens weigh
/// nothing.
constexpr std::int64_t kPagesOfState = std::int64_t{1} << 30;

/// Tokens that a cache holds where a token takes nothing, or the memory is unknown.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 40;

}  // namespace

CacheRoom cache_room(const ServingSetup& setup, std::size_t kind, const std::vector<RequestSpec>& requests) {
  const Inference& inference = setup.inference;
  const ServingMemory& memory = setup.memory_of(kind);
  const bool prompts_alone = has_prompts_alone(setup, kind);
  CacheRoom room;
  const bool is_known = memory.usable > 0;
  const Bytes left = memory.usable - memory.weights - memory.workspace;
  if (is_known && left < 0) {
    room.obstacle = fmt::format(
        "weights of {:.1f} GB and activations of {:.1f} GB do not fit into the {:.1f} GB of a GPU{}",
        decimal_gigabytes(memory.weights), decimal_gigabytes(memory.workspace),
        decimal_gigabytes(memory.usable), in_brackets(memory.place));
    return room;
  }
  // Where no layer has keys and values, pages are parts of a state.
  const Bytes page = memory.cache_per_token * inference.page_tokens;
  const Bytes state = memory.state_per_request;
  room.pages = kNoLimit / inference.page_tokens;
  if (page > 0) {
    room.pages = is_known ? left / page : room.pages;
    room.state_pages = (state + page - 1) / page;
  } else if (state > 0 && is_known) {
    room.pages = left / state * kPagesOfState;
    room.state_pages = kPagesOfState;
  }
  std::int64_t most_own = 0;
  std::int64_t most_tokens = 0;
  for (const RequestSpec& request : requests) {
    const std::int64_t reused = reused_tokens(inference, request.prompt_tokens);
    const std::int64_t outputs =
        prompts_alone ? 0 : request.output_tokens - 1;  // the last token is not read back
    const std::int64_t tokens = request.prompt_tokens + outputs;
    room.lasting_pages = std::max(room.lasting_pages, reused / inference.page_tokens);
    const std::int64_t own = pages_for(inference, tokens) - reused / inference.page_tokens;
    most_own = std::max(most_own, room.state_pages + own);
    most_tokens = std::max(most_tokens, tokens);
  }
  if (room.lasting_pages + most_own > room.pages)
    room.obstacle = fmt::format("the cache of {:.1f} GB a GPU holds {} tokens, a request needs {}{}",
                                decimal_gigabytes(left), room.pages * inference.page_tokens, most_tokens,
                                in_brackets(memory.place));
  return room;
}

std::int64_t max_num_seqs(const Inference& inference, const CacheRoom& room) {
  if (inference.batch_size > 0) return inference.batch_size;
  const bool is_needed = inference.is_closed_loop() || inference.batching == Batching::fixed;
  if (!is_needed) return 0;
  const auto [prompt, output] = inference.mean_lengths();
  const std::int64_t own = room.state_pages + pages_for(inference, prompt + output - 1) -
                           reused_tokens(inference, prompt) / inference.page_tokens;
  return std::max<std::int64_t>(1, room.pages / std::max<std::int64_t>(1, own));
}

}  // namespace orrery
