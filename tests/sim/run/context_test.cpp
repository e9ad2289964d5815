// Whole runs of plans whose ranks share sequences.
#include <doctest/doctest.h>

#include <string>

#include "orrery/simulate.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"

using namespace orrery;
using orrery::test::check_same_times;
using orrery::test::read;

namespace {

Experiment shared(const std::string& type, const std::vector<std::string>& more = {}) {
  std::vector<std::string> overrides{"plan.context_parallel_type=" + type};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return read(R"({"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "nodes": 2},
    "plan": {"tensor_parallel": 2, "context_parallel": 4, "global_batch_size": 4}})",
              overrides);
}

std::string diagnostic_of(const std::string& type, const std::vector<std::string>& more) {
  try {
    (void)shared(type, more);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("runs with shared sequences are the same folded and unfolded, in both networks") {
  for (const char* type : {"ring", "all-to-all"}) {
    for (const char* network : {"alpha-beta", "flow"}) {
      for (const char* order : {"tp-cp-ep-dp-pp", "cp-tp-ep-dp-pp", "dp-tp-cp-ep-pp"}) {
        CAPTURE(type);
        CAPTURE(network);
        CAPTURE(order);
        const std::vector<std::string> more{std::string("simulation.network=") + network,
                                            std::string("plan.rank_order=") + order, "model.layers=2"};
        Experiment e = shared(type, more);
        const Report folded = simulate(e);
        e.simulation.folding = Folding::off;
        check_same_times(folded, simulate(e));
        CHECK(folded.bytes_per_gpu[static_cast<std::size_t>(Dimension::context)] > 0);
      }
    }
  }
}

TEST_CASE("a ring hides what heads exchanged for tokens expose") {
  const auto context = [](const Report& report) {
    return report.breakdown.exposed_ps[static_cast<std::size_t>(Dimension::context)];
  };
  const Report ring = simulate(shared("ring", {"model.seq_length=65536"}));
  const Report heads = simulate(shared("all-to-all", {"model.seq_length=65536"}));
  CHECK(context(heads) > 0);
  CHECK(context(ring) < context(heads));
}

TEST_CASE("what shared sequences ask of a plan") {
  CHECK(diagnostic_of("ring", {"model.seq_length=8191"})
            .find("/plan/context_parallel: found 2 x context_parallel = 8, "
                  "allowed a divisor of seq_length 8191") != std::string::npos);
  CHECK(contains(
      diagnostic_of("ring", {"model.attention=core"}),
      "/plan/context_parallel_type: found \"ring\" with attention \"core\", allowed attention \"flash\""));
  CHECK(contains(diagnostic_of("all-to-all", {"plan.context_parallel=8"}),
                 "found tensor_parallel x context_parallel = 16, allowed a divisor of kv_heads 8"));
  CHECK(contains(diagnostic_of("ring", {"data_parallel_sync.method=none"}),
                 "/plan/context_parallel: found 4, allowed 1 where data_parallel_sync"));
  CHECK(contains(diagnostic_of("spiral", {}), "allowed one of ring, all-to-all"));
}
