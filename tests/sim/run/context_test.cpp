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
  for (const char* type : {"ring", "all-to-all", "hierarchical", "all-gather"}) {
    for (const char* network : {"alpha-beta", "flow"}) {
      for (const char* order : {"tp-cp-ep-dp-pp", "cp-tp-ep-dp-pp", "dp-tp-cp-ep-pp"}) {
        CAPTURE(type);
        CAPTURE(network);
        CAPTURE(order);
        const std::vector<std::string> more{std::string("simulation.network=") + network,
                                            std::string("plan.rank_order=") + order, "model.layers=2",
                                            std::string_view(type) == "hierarchical"
                                                ? "plan.hierarchical_context_parallel_size=2"
                                                : "plan.sequence_parallel=true"};
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

// Eight ranks over two nodes: heads are exchanged within nodes, and only keys and values cross.
TEST_CASE("groups that exchange heads are those of a node") {
  const std::vector<std::string> wide{"plan.tensor_parallel=2", "plan.context_parallel=8",
                                      "model.seq_length=131072", "plan.global_batch_size=1"};
  const Experiment e = shared("hierarchical", wide);
  CHECK(e.plan.hierarchical_context_parallel_size == 4);
  const Report groups = simulate(e);
  const Report heads = simulate(shared("all-to-all", wide));
  const auto exposed = [](const Report& report) {
    return report.breakdown.exposed_ps[static_cast<std::size_t>(Dimension::context)];
  };
  CHECK(exposed(groups) < exposed(heads));
}

TEST_CASE("a rank's part of a sequence says how many share it") {
  CHECK(shared("ring", {"plan.context_parallel=null", "plan.sub_seq_length=2048"}) == shared("ring", {}));
  CHECK(shared("ring", {"plan.sub_seq_length=2k", "model.seq_length=8000"}) ==
        shared("ring", {"model.seq_length=8000"}));
  CHECK(contains(diagnostic_of("ring", {"plan.sub_seq_length=1024"}),
                 "/plan/sub_seq_length: found 1024 (context_parallel 8), allowed one that agrees with "
                 "context_parallel 4"));
  CHECK(contains(diagnostic_of("ring", {"plan.sub_seq_length=3000"}),
                 "/plan/sub_seq_length: found 3000, allowed a divisor of seq_length 8192"));
}

TEST_CASE("sequences of a million tokens run, and cost what their attention does") {
  const auto long_context = [](const std::string& type, const char* sequence) {
    return read(
        R"({"model": {"base": "llama3.1-405b", "layers": 14}, "cluster": {"base": "dgx-h100", "nodes": 128},
      "plan": {"tensor_parallel": 8, "pipeline_parallel": 2, "stage_layers": [7, 7], "context_parallel": 64,
               "sequence_parallel": true, "global_batch_size": 2, "recompute": "full"}})",
        {"plan.context_parallel_type=" + type, std::string("model.seq_length=") + sequence});
  };
  for (const char* type : {"ring", "hierarchical", "all-gather"}) {
    CAPTURE(type);
    const Report half = simulate(long_context(type, "524288"));
    const Report whole = simulate(long_context(type, "1048576"));
    CHECK(half.makespan_ps > 0);
    // Twice the products with weights, four times the attention: 2 to 4 times as long.
    CHECK(whole.makespan_ps > 2 * half.makespan_ps);
    CHECK(whole.makespan_ps < 4 * half.makespan_ps);
    CHECK(whole.mfu() > 0);
  }
}

TEST_CASE("what shared sequences ask of a plan") {
  CHECK(diagnostic_of("ring", {"model.seq_length=8191"})
            .find("/plan/context_parallel: found 2 x context_parallel = 8, "
                  "allowed a divisor of seq_length 8191") != std::string::npos);
  CHECK(contains(
      diagnostic_of("ring", {"model.attention=core"}),
      "/plan/context_parallel_type: found \"ring\" with attention \"core\", allowed attention \"flash\""));
  CHECK(diagnostic_of("all-to-all", {"plan.context_parallel=8"}).empty());  // 4 heads on 8 ranks
  CHECK(contains(diagnostic_of("all-to-all", {"model.heads=24", "model.kv_heads=12", "model.head_dim=128"}),
                 "/plan/context_parallel: found 4 ranks that share 6 key and value heads of a tensor rank, "
                 "allowed a divisor or a multiple of them"));
  CHECK(contains(diagnostic_of("all-to-all", {"model.heads=12", "model.kv_heads=4", "model.head_dim=128"}),
                 "found tensor_parallel x context_parallel = 8, allowed a divisor of heads 12"));
  CHECK(
      contains(diagnostic_of("hierarchical", {"plan.hierarchical_context_parallel_size=3"}),
               "/plan/hierarchical_context_parallel_size: found 3, allowed a divisor of context_parallel 4"));
  CHECK(contains(diagnostic_of("ring", {"plan.hierarchical_context_parallel_size=2"}),
                 "found a value that does nothing without context_parallel_type \"hierarchical\""));
  CHECK(
      contains(diagnostic_of("hierarchical", {"model.window=128"}),
               "found \"hierarchical\" with window, allowed none, or context_parallel_type \"all-to-all\" or "
               "\"all-gather\""));
  CHECK(diagnostic_of("all-gather", {"model.window=128"}).empty());
  CHECK(contains(diagnostic_of("ring", {"data_parallel_sync.method=none"}),
                 "/plan/context_parallel: found 4, allowed 1 where data_parallel_sync"));
  CHECK(contains(diagnostic_of("spiral", {}), "allowed one of ring, all-to-all, hierarchical, all-gather"));
}
