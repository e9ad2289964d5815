// The stack `ideal` is a bound: no experiment is faster under another one.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "orrery/simulate.hpp"
#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::RandomExperiment;
using orrery::test::read;

namespace {

/// Nothing where the experiment is not allowed.
std::optional<Picoseconds> time_under(const std::string& stack, const std::string& text,
                                      std::vector<std::string> changes) {
  changes.push_back("stack=" + stack);
  // By default some stacks overlap gradients, and ideal does not: a bound is one of the same plan.
  if (text.find("overlap_gradient_reduce") == std::string::npos)
    changes.emplace_back("plan.overlap_gradient_reduce=false");
  try {
    return simulate(read(text, changes)).makespan_ps;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

struct Compared {
  std::size_t pairs = 0;
  std::size_t faster = 0;  ///< than under the stack ideal
};

/// Compares random experiments on several GPUs, with half of the overlap settings left to the software.
Compared compare(std::uint64_t first_seed, std::uint64_t seeds, const std::string& network) {
  Compared compared;
  const std::vector<std::string> all = test::software_stacks();
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    const std::string text = RandomExperiment(seed).text_with_open_flags();
    const char* const gpus[] = {"a100-80gb", "h100", "b200", "v100", "l4"};
    const std::vector<std::string> changes{"cluster.gpu=" + std::string(gpus[seed % 5]),
                                           "plan.precision=fp16", "simulation.network=" + network};
    const auto bound = time_under("ideal", text, changes);
    if (!bound) continue;
    for (const std::string& stack : all) {
      const auto time = time_under(stack, text, changes);
      if (!time) continue;
      ++compared.pairs;
      compared.faster += *time < *bound ? 1 : 0;
      CAPTURE(text);
      CAPTURE(stack);
      if (network == "alpha-beta") CHECK(*time >= *bound);
    }
  }
  return compared;
}

}  // namespace

TEST_CASE("no random experiment is faster than under the stack ideal") {
  CHECK(compare(9000, test::trials(60), "alpha-beta").pairs > test::trials(500));
}

/// A faster kernel can let transfers meet that else would not, so this is no bound.
TEST_CASE(
    "where transfers share links, one experiment of a hundred may be faster than under the stack ideal") {
  const Compared compared = compare(9100, test::trials(40), "flow");
  CHECK(compared.pairs > test::trials(300));
  CHECK(100 * compared.faster <= compared.pairs);
}

TEST_CASE("no stack has a constant that is better than that of the stack ideal") {
  const std::string text = R"({"model": "gpt3-125m", "cluster": "dgx-a100-80gb"})";
  const Software bound = read(text, {"stack=ideal"}).software;
  for (const std::string& stack : test::software_stacks()) {
    CAPTURE(stack);
    const Software s = read(text, {"stack=" + stack}).software;
    for (const double Software::*const cost : {&Software::forward_issue_us,
                                               &Software::backward_issue_us,
                                               &Software::collective_issue_us,
                                               &Software::tensor_skew_us,
                                               &Software::tensor_wait_us,
                                               &Software::parameter_issue_us,
                                               &Software::pass_overhead_us,
                                               &Software::step_overhead_ms,
                                               &Software::many_nodes_wait_ms,
                                               &Software::elementwise_traffic,
                                               &Software::forward_bytes_per_logit,
                                               &Software::backward_bytes_per_logit,
                                               &Software::optimizer_bytes_per_parameter,
                                               &Software::accumulation_bytes_per_parameter,
                                               &Software::packed_attention_columns,
                                               &Software::data_reduce_wait_ms,
                                               &Software::exchange_wait_ms,
                                               &Software::jitter,
                                               &Software::straggler_share,
                                               &Software::iteration_us,
                                               &Software::request_us,
                                               &Software::front_end_ms,
                                               &Software::front_end_request_us,
                                               &Software::front_end_message_us})
      CHECK(s.*cost >= bound.*cost);
    for (const double Software::*const speed :
         {&Software::gemm_speed, &Software::flash_speed, &Software::convolution_speed,
          &Software::parameter_gather_efficiency, &Software::split_node_efficiency,
          &Software::data_reduce_efficiency, &Software::tensor_overlap, &Software::weight_read_share,
          &Software::widened_read_share, &Software::cached_attention_share, &Software::grouped_query_reuse})
      CHECK(s.*speed <= bound.*speed);
    CHECK(s.gradient_bytes >= bound.gradient_bytes);
  }
}
