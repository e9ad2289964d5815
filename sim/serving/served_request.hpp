// Holds the state of a request while it is served, and afterwards.
#pragma once

#include <cstdint>

#include "orrery/inference.hpp"
#include "orrery/units.hpp"

namespace orrery {

struct ServedRequest {
  static constexpr Picoseconds kNotYet = -1;

  RequestSpec spec;
  std::int64_t made = 0;             ///< tokens, as of its last prompt's pass or preemption
  Picoseconds token_ps = kNotYet;    ///< its latest token was there, as of the same time
  std::uint32_t scheduler = 0;       ///< of the replica that it is assigned to
  std::uint32_t replica = 0;         ///< to which it came, and which makes its first token
  std::uint32_t decode_replica = 0;  ///< which makes the others, where keys and values travel
  Picoseconds start_ps = kNotYet;    ///< its first iteration begins
  Picoseconds first_token_ps = kNotYet;
  Picoseconds transfer_start_ps = kNotYet;  ///< of its keys and values, where they travel
  Picoseconds transfer_end_ps = kNotYet;
  Picoseconds end_ps = kNotYet;  ///< its last token is there

  [[nodiscard]] std::int64_t left() const { return spec.output_tokens - made; }
  /// Returns the tokens that a complete prefill caches: the prompt, and the tokens generated before it lost
  /// its pages.
  [[nodiscard]] std::int64_t to_cache() const { return spec.prompt_tokens + made; }
  /// Returns the most tokens it ever caches: its last token is not read back.
  [[nodiscard]] std::int64_t most_cached() const { return spec.prompt_tokens + spec.output_tokens - 1; }
};

}  // namespace orrery
