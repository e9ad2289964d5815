#include "importers/serving/benchmark_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "importers/serving/engine_options.hpp"

namespace orrery::importers::serving {
namespace {

constexpr const char* kClient = "how the benchmark reaches the server changes no request";

/// All at once where the rate is infinite: the next comes as one ends.
void read_rate(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  if (key.value == "inf") return draft.ignore(key, "requests wait at the door: the next comes as one ends");
  draft.map(key, "inference.requests_per_s", key.value);
}

/// Requests in flight over all replicas: at most so many in a batch.
void read_concurrency(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  const Json& batch = draft.value("inference.batch_size");
  const Json& data = draft.value("plan.data_parallel");
  const std::int64_t replicas =
      data.is_number_integer() ? std::max<std::int64_t>(1, data.get<std::int64_t>()) : 1;
  if (!key.value.is_number_integer()) return draft.contradict(key, "allowed is a number of requests");
  const std::int64_t each =
      std::max<std::int64_t>(1, (key.value.get<std::int64_t>() + replicas - 1) / replicas);
  if (batch.is_number_integer() && batch <= each)
    return draft.ignore(key, "the engine holds no more than its own limit");
  draft.map(key, "inference.batch_size", each, "requests in flight on a replica");
}

void read_client_model(const SourceKey& key, const SourceKeys& all, Draft& draft) {
  if (draft.has(launch::kModel)) return draft.ignore(key, "the server says which model it is");
  read_model_name(key, all, draft);
}

void read_dataset(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  if (key.value == "random") return draft.ignore(key, "lengths of requests are given");
  draft.ignore(
      key, "texts of a data set: lengths are those given, or those of random requests; a trace says others");
}

void read_spread(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  if (key.value == 0 || key.value == 1) return draft.ignore(key, "lengths are taken as given");
  draft.ignore(
      key,
      "lengths are drawn around those given: --set inference.prompt_tokens.distribution=uniform, .min and "
      ".max say it");
}

const std::array kClientRows{
    ImportRow{"model", "", read_client_model},
    ImportRow{"request_rate", "", read_rate},
    ImportRow{"max_concurrency", "", read_concurrency},
    ImportRow{"num_prompts", "inference.requests"},
    ImportRow{"num_prompt", "inference.requests"},
    ImportRow{"random_input_len", "inference.prompt_tokens"},
    ImportRow{"random_input", "inference.prompt_tokens"},
    ImportRow{"input_len", "inference.prompt_tokens"},
    ImportRow{"random_output_len", "inference.output_tokens"},
    ImportRow{"random_output", "inference.output_tokens"},
    ImportRow{"output_len", "inference.output_tokens"},
    ImportRow{"random_range_ratio", "", read_spread},
    ImportRow{"dataset_name", "", read_dataset},
    ImportRow{"dataset_path", "", read_dataset},
};

bool is_of_requests(const std::string& key) {
  return key != "model" && key != "max_concurrency" &&
         std::ranges::find(kClientRows, key, &ImportRow::key) != kClientRows.end();
}

}  // namespace

void read_client(const SourceKeys& keys, Draft& draft) {
  if (!draft.value("inference.requests").is_string()) return read_options(keys, kClientRows, kClient, draft);
  SourceKeys others;
  for (const SourceKey& key : keys.list()) {
    if (is_of_requests(key.key))
      draft.ignore(key, "a trace has the requests");
    else
      others.add(key);
  }
  read_options(others, kClientRows, kClient, draft);
}

}  // namespace orrery::importers::serving
