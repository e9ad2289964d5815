// The most requests per second within limits: closed forms of made-up services, and sweeps of simulated ones.
#include "sim/run/serving_capacity.hpp"

#include <doctest/doctest.h>

#include <string>

#include "experiments.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"

namespace orrery {
namespace {

/// Its first tokens take a tenth of a second for each request per second, and it keeps up with seven.
Serving made_up(double requests_per_s) {
  Serving serving;
  serving.ttft_s.p99 = requests_per_s / 10;
  serving.unstable = requests_per_s > 7;
  serving.requests = 1000;
  return serving;
}

double capacity_of(const Experiment& experiment) {
  Simulator simulator;
  Figures figures;
  figures.capacity = true;
  return simulator.simulate(experiment, figures).serving->capacity.value().requests_per_s;
}

bool keeps(const Experiment& experiment, double requests_per_s) {
  Experiment at_rate = experiment;
  at_rate.inference->requests_per_s = requests_per_s;
  const Report report = simulate(at_rate);
  return report.serving->unstable == false && broken_limits(report.slo, *report.serving).empty();
}

TEST_CASE("rates have three digits and follow each other") {
  CHECK(numbered_rate(0) == 0.001);
  CHECK(numbered_rate(2700) == 1.0);
  CHECK(numbered_rate(2700 + 899) == 9.99);
  CHECK(numbered_rate(3600) == 10.0);
}

TEST_CASE("the capacity is the last rate that keeps the limit, or the last with which the queue is stable") {
  ServiceLevel slo;
  CHECK(find_capacity(slo, made_up).requests_per_s == 7.0);
  CHECK(find_capacity(slo, made_up).broken == "queue");
  slo.ttft_s_p99 = 0.5;  // rate / 10 <= 0.5
  const Capacity limited = find_capacity(slo, made_up);
  CHECK(limited.requests_per_s == 5.0);
  CHECK(limited.offered_per_s == 5.01);
  CHECK(limited.broken == "ttft_s_p99");
  CHECK(limited.requests == 1000);
  CHECK(limited.simulations < 20);
  slo.ttft_s_p99 = 0.00009;  // less than the least rate takes
  CHECK(find_capacity(slo, made_up).requests_per_s == 0);
  const auto takes_all = [](double) {
    Serving serving;
    serving.unstable = false;
    return serving;
  };
  CHECK(find_capacity({}, takes_all).requests_per_s == 1e6);
  CHECK(find_capacity({}, takes_all).offered_per_s == 0);
}

TEST_CASE("a rate that breaks a limit by chance does not end the search") {
  const auto unlucky = [](double rate) {
    Serving serving = made_up(rate);
    if (rate > 4.495 && rate < 4.515) serving.unstable = true;  // 4.50 and 4.51
    return serving;
  };
  CHECK(find_capacity({}, unlucky).requests_per_s == 7.0);
}

TEST_CASE("rates that are too low, as batches fill slowly at them, do not hide those that are kept") {
  const auto fills_slowly = [](double rate) {
    Serving serving = made_up(rate);
    if (rate < 2) serving.unstable = true;
    return serving;
  };
  CHECK(find_capacity({}, fills_slowly).requests_per_s == 7.0);
  const Experiment batches = test::read(
      R"({"model": "llama-7b", "cluster": "dgx-h100",
          "inference": {"prompt_tokens": 512, "output_tokens": 64, "batching": "static", "batch_size": 64,
                        "requests": 1000, "slo": {"ttft_s": 5}}})");
  const double most = capacity_of(batches);
  CHECK(most > 60);
  CHECK(keeps(batches, most));
}

TEST_CASE("rates at which requests come for longer than a run may take end the search") {
  const auto slow = [](double rate) -> Serving {
    if (rate < 0.05) throw InputError("/inference", "too long");
    return Serving{};  // nobody can tell whether the queue grows
  };
  const Capacity none = find_capacity({}, slow);
  CHECK(none.requests_per_s == 0);
  CHECK(none.simulations < 30);
}

TEST_CASE("one request at a time is served as often as its time goes into a second") {
  const Experiment one = test::read(
      R"({"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "gpus_per_node": 1, "nodes": 1},
          "plan": {"precision": "bf16"},
          "software": {"front_end_ms": 0, "front_end_request_us": 0, "front_end_message_us": 0},
          "inference": {"prompt_tokens": 500, "output_tokens": 20, "batch_size": 1, "max_model_len": 1024}})");
  const double alone_s = 1 / simulate(one).serving->requests_per_s();
  const double most =
      capacity_of(one) * alone_s;  // utilisation: the queue of a single server grows from 1 on
  CHECK(most < 1.08);
  CHECK(most > 0.9);
}

TEST_CASE("the capacity is what a fine sweep of rates finds, on one GPU, on unlike ones, and disaggregated") {
  const char* kServices[] = {
      R"({"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "gpus_per_node": 1, "nodes": 1},
          "plan": {"precision": "bf16"},
          "inference": {"prompt_tokens": 500, "output_tokens": 40, "max_model_len": 1024, "chunked_prefill": true,
                        "slo": {"tpot_s_p99": 0.015, "ttft_s_p95": 0.2}}})",
      R"({"model": "llama3.1-8b", "plan": {"precision": "bf16"},
          "cluster": {"groups": [{"gpu": "h100", "nodes": 1}, {"gpu": "l4", "nodes": 1}], "gpus_per_node": 1,
                      "fabric": {"kind": "star", "nic_gbps": 100}},
          "inference": {"prompt_tokens": 300, "output_tokens": 30, "max_model_len": 1024,
                        "slo": {"end_to_end_s_p90": 3}}})",
      R"({"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "gpus_per_node": 4},
          "plan": {"precision": "bf16"},
          "inference": {"prompt_tokens": 1000, "output_tokens": 30, "batch_size": 64, "max_model_len": 2048,
                        "disaggregated": {"prefill": 3, "decode": 1},
                        "slo": {"inter_token_latency_s_p99": 0.03, "ttft_s": 0.3}}})"};
  for (const char* service : kServices) {
    const Experiment experiment = test::read(service);
    const double most = capacity_of(experiment);
    CAPTURE(service);
    CAPTURE(most);
    REQUIRE(most > 0);
    CHECK(keeps(experiment, most));
    for (const double share : {0.5, 0.7, 0.8, 0.9, 0.95, 0.98}) CHECK(keeps(experiment, most * share));
    for (const double share : {1.05, 1.1, 1.2, 1.5, 2.0}) CHECK_FALSE(keeps(experiment, most * share));
  }
}

TEST_CASE(
    "a run at a rate is as long as it needs to tell whether the queue grows, unless its length is given") {
  Experiment experiment = test::read(
      R"({"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "gpus_per_node": 1, "nodes": 1},
          "plan": {"precision": "bf16"},
          "software": {"front_end_ms": 0, "front_end_request_us": 0, "front_end_message_us": 0},
          "inference": {"prompt_tokens": 500, "output_tokens": 20, "batch_size": 1, "max_model_len": 1024}})");
  const double alone = simulate(experiment).serving->requests_per_s();
  experiment.inference->requests_per_s = 1.07 * alone;  // 1000 requests stray by 7 % of them
  const Report open = simulate(experiment);
  CHECK(open.serving->requests > 1000);
  CHECK(open.serving->unstable == true);
  experiment.inference->requests = 300;
  CHECK(simulate(experiment).serving->requests == 300);
}

}  // namespace
}  // namespace orrery
