// Checks serving on unlike GPUs: each replica, stage and role runs, and has to fit, on its own GPUs.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "orrery/simulate.hpp"
#include "sim/run/replica_kinds.hpp"
#include "sim/run/run.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::read;

namespace {

/// A card by its memory and by its speed over 100 TFLOP/s and 750 GB/s.
std::string gpu_card(const std::string& name, double speed, double memory_gb = 24) {
  return R"({"name": ")" + name + R"(", "peak_tflops": {"bf16": )" + std::to_string(100 * speed) +
         R"(}, "memory_gb": )" + std::to_string(memory_gb) + R"(, "memory_gb_per_s": )" +
         std::to_string(750 * speed) + R"(, "sms": 100, "calibration": "rtx4090"})";
}

/// A node of one card each, in that order.
Experiment on_cards(const std::vector<std::string>& cards, const std::vector<std::string>& overrides = {}) {
  std::string groups;
  for (const std::string& one : cards)
    groups += (groups.empty() ? "" : ", ") + (R"({"nodes": 1, "gpu": )" + one + "}");
  return read(R"({"model": {"base": "qwen3-8b", "seq_length": 4096},
      "cluster": {"gpus_per_node": 1, "node": "none", "fabric": {"kind": "switch", "nic_gbps": 100}, "groups": [)" +
                  groups + R"(]},
      "inference": {"prompt_tokens": 512, "output_tokens": 64, "batch_size": 8, "requests": 16,
                    "max_model_len": 4096, "chunked_prefill": true},
      "software": {"front_end_ms": 19.594, "front_end_request_us": 0}})",
              overrides);
}

const std::string kSlowCard = gpu_card("slow", 1);
const std::string kFastCard = gpu_card("fast", 2);

Serving requests_on(const Experiment& experiment) { return *simulate(experiment).serving; }

void check_same_serving(const Serving& a, const Serving& b) {
  CHECK(a.duration_ps == b.duration_ps);
  CHECK(a.ttft_s.mean == doctest::Approx(b.ttft_s.mean).epsilon(1e-12));
  CHECK(a.tpot_s.mean == doctest::Approx(b.tpot_s.mean).epsilon(1e-12));
  CHECK(a.end_to_end_s.p99 == b.end_to_end_s.p99);
  CHECK(a.cache_tokens == b.cache_tokens);
}

}  // namespace

TEST_CASE("each replica serves at the speed of its own card") {
  // Eight of the sixteen requests on each, as on a pair of like cards: 34.480 and 18.856 ms a further token,
  // and the mean of both.
  const Serving slow = requests_on(on_cards({kSlowCard, kSlowCard}));
  const Serving fast = requests_on(on_cards({kFastCard, kFastCard}));
  CHECK(slow.tpot_s.mean == doctest::Approx(0.034480).epsilon(1e-4));
  CHECK(fast.tpot_s.mean == doctest::Approx(0.018856).epsilon(1e-4));
  CHECK(slow.groups.empty());
  const Serving mixed = requests_on(on_cards({kSlowCard, kFastCard}));
  CHECK(mixed.tpot_s.mean == doctest::Approx((slow.tpot_s.mean + fast.tpot_s.mean) / 2).epsilon(1e-12));
  CHECK(mixed.duration_ps == slow.duration_ps);  // which ends last
  REQUIRE(mixed.groups.size() == 2);
  CHECK(mixed.groups[0].gpus == "fast");
  CHECK(mixed.groups[0].requests == 8);
  CHECK(mixed.groups[0].tpot_s == doctest::Approx(fast.tpot_s.mean).epsilon(1e-12));
  CHECK(mixed.groups[1].gpus == "slow");
  CHECK(mixed.groups[1].tpot_s == doctest::Approx(slow.tpot_s.mean).epsilon(1e-12));
  check_same_serving(mixed, requests_on(on_cards({kFastCard, kSlowCard})));
}

TEST_CASE("a mix lies between its cards, and the faster one takes more of the requests") {
  for (const std::string& load :
       {std::string("inference.requests=160"),
        std::string("inference.output_tokens={distribution: uniform, min: 8, max: 90}")}) {
    const std::vector<std::string> many{load, "inference.requests=160"};
    const Serving slow = requests_on(on_cards({kSlowCard, kSlowCard}, many));
    const Serving fast = requests_on(on_cards({kFastCard, kFastCard}, many));
    const Serving mixed = requests_on(on_cards({kSlowCard, kFastCard}, many));
    CHECK(mixed.output_tokens_per_s() > slow.output_tokens_per_s());
    CHECK(mixed.output_tokens_per_s() < fast.output_tokens_per_s());
    CHECK(mixed.tpot_s.mean < slow.tpot_s.mean);
    CHECK(mixed.tpot_s.mean > fast.tpot_s.mean);
    CHECK(mixed.groups[0].requests > mixed.groups[1].requests);
    check_same_serving(mixed, requests_on(on_cards({kFastCard, kSlowCard}, many)));
  }
}

TEST_CASE("unlike nodes in another order change names alone, whenever requests arrive") {
  const std::string medium = gpu_card("medium", 1.5);
  for (const char* rate : {"0.5", "3", "20"}) {
    const std::vector<std::string> arriving{"inference.requests=100",
                                            std::string("inference.requests_per_s=") + rate};
    const Serving one = requests_on(on_cards({kSlowCard, medium, kFastCard}, arriving));
    check_same_serving(one, requests_on(on_cards({kFastCard, kSlowCard, medium}, arriving)));
    check_same_serving(one, requests_on(on_cards({medium, kFastCard, kSlowCard}, arriving)));
  }
}

TEST_CASE("a faster card makes nothing that is saturated slower") {
  // Finite runs end with a last batch: by no more than that may they end later (Graham 1969).
  Serving before;
  for (const double speed : {0.5, 0.8, 1.0, 1.3, 2.0, 4.0}) {
    const Serving now =
        requests_on(on_cards({kSlowCard, gpu_card("changed", speed), kFastCard}, {"inference.requests=120"}));
    if (before.duration_ps > 0) {
      CHECK(static_cast<double>(now.duration_ps) <=
            static_cast<double>(before.duration_ps) + now.end_to_end_s.p99 * 1e12);
    }
    before = now;
  }
}

TEST_CASE("a GPU of lower speed slows its own replica") {
  const auto node = [](const std::string& overrides) {
    return requests_on(read(R"({"model": {"base": "llama3.1-8b", "seq_length": 8192},
        "cluster": {"base": "dgx-h100", "nodes": 1)" +
                            overrides + R"(}, "plan": {"data_parallel": 8},
        "inference": {"prompt_tokens": 1024, "output_tokens": 128, "batch_size": 8, "requests": 128}})"));
  };
  const Serving plain = node("");
  CHECK(plain.tpot_s.mean == doctest::Approx(8.3e-3).epsilon(0.01));
  const Serving hit = node(R"(, "overrides": [{"gpu": 0, "speed": 0.5}])");
  REQUIRE(hit.groups.size() == 2);
  CHECK(hit.groups[1].gpus == "h100 at 0.5 of its speed");
  CHECK(hit.groups[1].replicas == 1);
  CHECK(hit.groups[0].tpot_s == doctest::Approx(8.3e-3).epsilon(0.05));
  CHECK(hit.groups[1].tpot_s == doctest::Approx(16e-3).epsilon(0.06));
  CHECK(hit.output_tokens_per_s() < plain.output_tokens_per_s());
  // GPUs that are all as slow are alike again.
  CHECK(node(R"(, "overrides": [{"node": 0, "speed": 0.5}])").groups.empty());
}

TEST_CASE("each stage has to fit the card that runs it") {
  // 8 layers and the embedding are 4.3 GB of the 7.2 that a small card gives, 28 and the head 12.0 of 21.6.
  const std::vector<std::string> stages{"plan.pipeline_parallel=2", "plan.stage_layers=[8, 28]"};
  const auto pair = [&](double first_gb, double second_gb) {
    return simulate(on_cards({gpu_card("first", 2, first_gb), gpu_card("second", 2, second_gb)}, stages));
  };
  const Report mixed = pair(8, 24);
  CHECK(mixed.feasible);
  // Keys and values of 8 heads of 128 in 2 B take 4,096 B a layer. The tighter stage leaves this room.
  const std::int64_t first = pair(8, 1000).serving->cache_tokens;
  const std::int64_t second = pair(1000, 24).serving->cache_tokens;
  CHECK(first * 8 * 4096 < 7'200'000'000 - 4'300'000'000);
  CHECK(second * 28 * 4096 < 21'600'000'000 - 12'000'000'000);
  CHECK(mixed.serving->cache_tokens == std::min(first, second));
  // The other way round the full stage is on the small card.
  const Report turned = pair(24, 8);
  CHECK_FALSE(turned.feasible);
  CHECK(turned.reasons.at(0).ends_with(
      "do not fit into the 7.2 GB of a GPU (stage 1 of replica 0, on second)"));
  CHECK(account_memory(on_cards({gpu_card("first", 2, 8), gpu_card("second", 2, 24)}, stages)).feasible);
}

TEST_CASE("each stage runs at the speed of its own card") {
  const std::vector<std::string> stages{"plan.pipeline_parallel=2", "inference.batch_size=1",
                                        "inference.requests=1"};
  const double slow = requests_on(on_cards({kSlowCard, kSlowCard}, stages)).tpot_s.mean;
  const double fast = requests_on(on_cards({kFastCard, kFastCard}, stages)).tpot_s.mean;
  // One request goes through both stages in turn: half of its way on each card, but for head and embedding.
  const double first = requests_on(on_cards({kSlowCard, kFastCard}, stages)).tpot_s.mean;
  const double second = requests_on(on_cards({kFastCard, kSlowCard}, stages)).tpot_s.mean;
  CHECK(first + second == doctest::Approx(slow + fast).epsilon(1e-6));
  CHECK(first > fast);
  CHECK(second < slow);
}

TEST_CASE("the slowest and smallest card of a tensor group counts, and of replicas that share experts") {
  const std::vector<std::string> tensor{"plan.tensor_parallel=2"};
  check_same_serving(requests_on(on_cards({kSlowCard, kFastCard}, tensor)),
                     requests_on(on_cards({kSlowCard, kSlowCard}, tensor)));
  check_same_serving(requests_on(on_cards({gpu_card("small", 1, 16), gpu_card("large", 1, 24)}, tensor)),
                     requests_on(on_cards({gpu_card("small", 1, 16), gpu_card("small", 1, 16)}, tensor)));
  const std::vector<std::string> experts{
      R"(model={kind: moe-transformer, layers: 4, hidden: 1024, heads: 8, vocab: 1024, seq_length: 4096, experts: 8, experts_per_token: 2})",
      "plan.expert_parallel=2"};
  const Serving shared = requests_on(on_cards({kSlowCard, kFastCard}, experts));
  REQUIRE(shared.groups.size() == 2);
  CHECK(shared.groups[0].tpot_s == doctest::Approx(shared.groups[1].tpot_s).epsilon(1e-12));
  check_same_serving(shared, requests_on(on_cards({kSlowCard, kSlowCard}, experts)));
  const std::vector<std::string> apart{experts[0], "plan.expert_parallel=1"};
  CHECK(requests_on(on_cards({kSlowCard, kFastCard}, apart)).groups.size() == 2);
}

TEST_CASE("prompts and outputs run on the cards of their roles") {
  const std::vector<std::string> roles{R"(inference.disaggregated={"prefill": 1, "decode": 1})",
                                       "inference.chunked_prefill=false", "inference.requests=1"};
  const Serving slow = requests_on(on_cards({kSlowCard, kSlowCard}, roles));
  const Serving fast = requests_on(on_cards({kFastCard, kFastCard}, roles));
  const Serving outputs_fast = requests_on(on_cards({kSlowCard, kFastCard}, roles));
  CHECK(outputs_fast.ttft_s.mean == slow.ttft_s.mean);
  CHECK(outputs_fast.tpot_s.mean == doctest::Approx(fast.tpot_s.mean).epsilon(1e-12));
  const Serving prompts_fast = requests_on(on_cards({kFastCard, kSlowCard}, roles));
  CHECK(prompts_fast.ttft_s.mean == fast.ttft_s.mean);
  CHECK(prompts_fast.tpot_s.mean == doctest::Approx(slow.tpot_s.mean).epsilon(1e-12));
}

TEST_CASE("replicas have the places of their own caches, and fill all of them") {
  // Without a batch size as many requests are in flight as the caches hold, on each card by its memory.
  const std::vector<std::string> open{"inference.batch_size=null", "inference.requests=null"};
  const auto places = [&](const std::string& card) { return requests_on(on_cards({card}, open)).requests; };
  const std::string small = gpu_card("small", 1, 20);
  const Serving mixed = requests_on(on_cards({small, kSlowCard}, open));
  CHECK(places(small) < places(kSlowCard));
  CHECK(mixed.requests == places(small) + places(kSlowCard));
  REQUIRE(mixed.groups.size() == 2);
  CHECK(mixed.groups[0].requests == places(small));
  CHECK(mixed.groups[1].requests == places(kSlowCard));
  CHECK(mixed.cache_tokens == requests_on(on_cards({small}, open)).cache_tokens);
}

TEST_CASE("replicas on like GPUs are one kind, however many they are") {
  const Experiment many = read(R"({"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "nodes": 125,
      "overrides": [{"node": 3, "speed": 0.5}, {"gpu": 24, "speed": 1}]}, "plan": {"data_parallel": 1000},
      "inference": {"prompt_tokens": 10, "output_tokens": 2, "batch_size": 1, "requests": 1}})");
  const ReplicaKinds found = replica_kinds(many);
  REQUIRE(found.kinds.size() == 2);
  CHECK(found.kinds[1].first_replica == 25);  // GPU 24 is as fast as others again
  CHECK(std::ranges::count(found.of_replica, 1U) == 7);
  CHECK(replica_kinds(read(R"({"model": "llama3.1-8b", "cluster": "dgx-h100"})")).of_replica.empty());
}
