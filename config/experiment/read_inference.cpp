// `inference`: the requests that an experiment serves, and how.
#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "config/experiment/read_parts.hpp"
#include "config/experiment/usual_stacks.hpp"
#include "config/schema/fields.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

class InferenceReader {
 public:
  InferenceReader(const Json& value, const Experiment& experiment, const Path& path, Scope& scope)
      : value_(value), experiment_(experiment), path_(path), scope_(scope) {}

  Inference read() {
    read_fields(value_, inference_fields(), inference_, path_, scope_);
    if (!value_.is_object()) return inference_;
    take_defaults_of_engine();
    read_requests();
    const auto requests = value_.find("requests");
    if (requests == value_.end() || !names_file(*requests)) {
      constexpr std::string_view kOwner = "inference without a file of requests";
      read_token_lengths(value_, field_named(inference_fields(), "prompt_tokens"), kOwner, inference_.prompt,
                         path_, scope_);
      read_token_lengths(value_, field_named(inference_fields(), "output_tokens"), kOwner, inference_.output,
                         path_, scope_);
    }
    read_part("speculative", speculation_fields(), inference_.speculation,
              {"num_speculative_tokens", "acceptance_rate"});
    read_part("slo", service_level_fields(), inference_.slo, {});
    read_part("disaggregated", disaggregation_fields(), inference_.disaggregated, {"prefill", "decode"});
    return inference_;
  }

 private:
  [[nodiscard]] bool is_given(const char* key) const {
    const auto given = value_.find(key);
    return given != value_.end() && !given->is_null();
  }

  /// Static batches have no schedule, and where another way with prompts is chosen than the engine's, its
  /// tokens are none of that way.
  void take_defaults_of_engine() {
    const ServingEngine* const engine = serving_engine(experiment_.stack);
    if (engine == nullptr || inference_.batching != Batching::continuous) return;
    if (!is_given("chunked_prefill")) inference_.chunked_prefill = engine->chunks_prefills;
    if (!is_given("guaranteed_no_evict")) inference_.guaranteed_no_evict = engine->guaranteed_no_evict;
    if (inference_.chunked_prefill == engine->chunks_prefills && inference_.max_batched_tokens == 0)
      inference_.max_batched_tokens = engine->iteration_tokens(experiment_.cluster);
  }

  void read_requests() {
    const auto given = value_.find("requests");
    if (given == value_.end()) return;
    const Path path(path_, "requests");
    if (!names_file(*given)) return read_field(*given, request_count_field(), inference_, path, scope_);
    const std::int64_t context =
        inference_.context_tokens > 0 ? inference_.context_tokens : experiment_.model.seq_length;
    inference_.trace =
        read_request_trace(given->get<std::string>(), context, is_given("prefix_reuse"), path, scope_);
    for (const std::string_view key : {"prompt_tokens", "output_tokens", "requests_per_s"}) {
      if (value_.contains(key))
        scope_.findings.add(Path(path_, key), "found beside a file of requests, which has these",
                            Anchor::key);
    }
  }

  /// A text that is no number as people write them, such as 10k.
  static bool names_file(const Json& given) {
    if (!given.is_string()) return false;
    const auto& text = given.get_ref<const std::string&>();
    return text.find_first_not_of("0123456789.kKM") != std::string::npos;
  }

  template <class Part>
  void read_part(std::string_view key, const std::vector<Field<Part>>& fields, Part& part,
                 std::initializer_list<std::string_view> needed) {
    const auto given = value_.find(key);
    if (given == value_.end()) return;
    const Path path(path_, key);
    read_fields(*given, fields, part, path, scope_);
    if (!given->is_object()) return;
    for (const std::string_view name : needed) require(*given, fields, name, key, path, scope_);
  }

  const Json& value_;
  const Experiment& experiment_;
  const Path& path_;
  Scope& scope_;
  Inference inference_;
};

}  // namespace

Inference read_inference(const Json& value, const Experiment& experiment, const Path& path, Scope& scope) {
  return InferenceReader(value, experiment, path, scope).read();
}

}  // namespace orrery
