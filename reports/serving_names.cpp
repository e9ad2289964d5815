#include "reports/serving_names.hpp"

#include <fmt/format.h>

namespace orrery {

IterationKind kind_of(const ServedIteration& iteration) {
  if (iteration.decode_requests == 0) return IterationKind::prefill;
  return iteration.prompt_tokens == 0 ? IterationKind::decode : IterationKind::mixed;
}

std::string iteration_name(const ServedIteration& iteration) {
  switch (kind_of(iteration)) {
    case IterationKind::prefill:
      return fmt::format("prefill {}", iteration.prompt_tokens);
    case IterationKind::decode:
      return fmt::format("decode {}", iteration.decode_requests);
    case IterationKind::mixed:
      break;
  }
  return fmt::format("prefill {} + decode {}", iteration.prompt_tokens, iteration.decode_requests);
}

std::string replica_name(const ServingRecord& record, std::uint32_t replica) {
  if (record.prefill_replicas == 0) return fmt::format("replica {}", replica);
  return fmt::format("replica {} ({})", replica, replica < record.prefill_replicas ? "prefill" : "decode");
}

}  // namespace orrery
