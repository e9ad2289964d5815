// Describes the work that requests put into one iteration of a serving replica. Made by sim/serving/, read by
// workloads/inference/, which turns it into kernels and messages.
#pragma once

#include <cstdint>

namespace orrery {

/// The work of one iteration: one pass over all layers with the next tokens of some requests. Sums over
/// requests are all that kernels see.
struct IterationBatch {
  std::int64_t prompt_tokens = 0;    ///< of prompts, or pieces of prompts, that are computed now
  std::int64_t prompt_requests = 0;  ///< whose these are
  std::int64_t prompt_pairs = 0;    ///< of a prompt's token and a token that it attends to, itself among them
  std::int64_t prompt_context = 0;  ///< tokens whose keys and values prompts read: earlier pieces and these
  std::int64_t decode_requests = 0;  ///< with one token each (or those of a speculation)
  std::int64_t decode_tokens = 0;
  std::int64_t decode_context = 0;  ///< tokens whose keys and values they read, summed over requests
  std::int64_t results = 0;  ///< tokens that go through the head: one a request that gets its next token
  friend bool operator==(const IterationBatch&, const IterationBatch&) = default;

  [[nodiscard]] std::int64_t tokens() const { return prompt_tokens + decode_tokens; }
};

}  // namespace orrery
