// Options of the benchmarks that send requests to servers.
#pragma once

#include "importers/common/draft.hpp"
#include "importers/common/source_keys.hpp"

namespace orrery::importers::serving {

/// Puts the requests of vllm bench serve, benchmark_serving.py or sglang.bench_serving into the draft.
void read_client(const SourceKeys& keys, Draft& draft);

}  // namespace orrery::importers::serving
