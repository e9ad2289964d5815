// Names replicas and iterations of a serving run, in every format.
#pragma once

#include <cstdint>
#include <string>

#include "orrery/serving_record.hpp"

namespace orrery {

enum class IterationKind : std::uint8_t { prefill, decode, mixed };
[[nodiscard]] IterationKind kind_of(const ServedIteration& iteration);

/// Returns a name such as "prefill 512 + decode 31": tokens of prompts, and requests that get their next
/// token.
[[nodiscard]] std::string iteration_name(const ServedIteration& iteration);

/// Returns a name such as "replica 2", with the replica's role if roles differ.
[[nodiscard]] std::string replica_name(const ServingRecord& record, std::uint32_t replica);

}  // namespace orrery
