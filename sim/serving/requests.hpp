// Makes the requests that an experiment serves: those of its trace, or random ones by its seed.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/inference.hpp"

namespace orrery {

/// Tokens of a prompt whose keys and values are in the cache already: whole pages, and never all of it.
[[nodiscard]] std::int64_t reused_tokens(const Inference& inference, std::int64_t prompt_tokens);

struct MadeRequests {
  std::vector<RequestSpec> requests;
  std::int64_t cut = 0;  ///< whose lengths were drawn longer than the context leaves
};

/// Makes `count` requests in order of their arrival, the first one at 0; a trace has its own number. If new
/// requests come as old ones end, all arrivals are 0.
/// @param context  most tokens of a request, at least 2: prompts are cut so that the least output fits beside
///   them, outputs so that they fit beside their prompt
[[nodiscard]] MadeRequests make_requests(const Inference& inference, std::int64_t context, std::int64_t count,
                                         std::uint64_t seed);

}  // namespace orrery
