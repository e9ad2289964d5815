// A run on its own, one of a batch and one with every GPU and micro-batch tell the same: every key of the
// result, over hundreds of micro-batches.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "sim/run/run.hpp"
#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/report_text.hpp"

using namespace orrery;
using orrery::test::RandomExperiment;
using orrery::test::read;
using orrery::test::text_of;

namespace {

using Result = nlohmann::ordered_json;

/// Returns all keys but those about the simulation itself: `assumptions` name folded parts, `stats` count
/// tasks.
Result figures_of(const Report& report) {
  Result result = Result::parse(text_of(report));
  result.erase("assumptions");
  result.erase("stats");
  return result;
}

/// Where two results differ: "" nowhere.
std::string difference(const Result& a, const Result& b, const std::string& at = "") {
  if (a.is_object() && b.is_object() && a.size() == b.size()) {
    std::string all;
    for (const auto& [key, value] : a.items())
      all += b.contains(key) ? difference(value, b[key], at + "/" + key) : at + "/" + key + " is missing; ";
    return all;
  }
  if (a.is_array() && b.is_array() && a.size() == b.size()) {
    std::string all;
    for (std::size_t i = 0; i < a.size(); ++i) all += difference(a[i], b[i], at + "/" + std::to_string(i));
    return all;
  }
  return a == b ? "" : at + ": " + a.dump() + " and " + b.dump() + "; ";
}

/// Which of several chains that end last is told may differ: their length is that of the step.
void join_critical_path(Result& result) {
  double sum = 0;
  for (const auto& [key, value] : result["critical_path_s"].items()) sum += value.get<double>();
  CHECK(sum == doctest::Approx(result["step_time_s"].get<double>()).epsilon(1e-12));
  result.erase("critical_path_s");
}

/// Returns true if micro-batches were left out.
bool check_alike(Experiment e, Simulator& batch) {
  Result alone = figures_of(run(e).report);
  const Report answer = batch.simulate(e);
  Result answered = figures_of(answer);
  CHECK(difference(answered, figures_of(batch.simulate(e))) == "");
  CHECK(difference(answered, figures_of(simulate(e))) == "");
  e.simulation.folding = Folding::off;
  Result unfolded = figures_of(simulate(e));
  for (Result* const result : {&alone, &answered, &unfolded}) join_critical_path(*result);
  CHECK(difference(alone, answered) == "");
  CHECK(difference(alone, unfolded) == "");
  return std::ranges::any_of(answer.assumptions, [](const std::string& assumption) {
    return assumption.find("are simulated up to the") != std::string::npos;
  });
}

const std::string kDense = R"("model": {"kind": "transformer", "layers": 4, "hidden": 512, "heads": 8,
    "vocab": 1024, "seq_length": 512, "attention": "flash"}, )";
const std::string kExperts = R"("model": {"kind": "moe-transformer", "layers": 4, "hidden": 512,
    "ffn_hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 512, "attention": "flash", "experts": 8,
    "experts_per_token": 2}, )";
const std::string kNode = R"("cluster": {"base": "dgx-h100", "gpus_per_node": 8, "nodes": 1}, )";
const std::string kTwoNodes = R"("cluster": {"base": "dgx-h100", "gpus_per_node": 4, "nodes": 2}, )";

std::string with(const std::string& parts, const std::string& plan) {
  return "{" + parts + "\"plan\": {" + plan + "}}";
}

std::vector<std::string> hand_picked() {
  std::vector<std::string> list;
  // Context ranks of every type, which send and receive on two slots of one channel.
  for (const char* type : {"ring", "all-to-all", "hierarchical", "all-gather"})
    list.push_back(with(kDense + kTwoNodes, R"("context_parallel": 8, "context_parallel_type": ")" +
                                                std::string(type) + R"(", "global_batch_size": 240)"));
  list.push_back(
      with(kDense + kTwoNodes, R"("context_parallel": 2, "pipeline_parallel": 2, "global_batch_size": 480)"));
  // Every schedule.
  for (const char* schedule : {"sequential", "gpipe", "1f1b", "zb-h1", "zb-h2"})
    list.push_back(with(kDense + kNode, R"("pipeline_parallel": 4, "global_batch_size": 480,
        "pipeline_schedule": ")" + std::string(schedule) +
                                            "\""));
  for (const char* schedule : {"zb-v", "v-half", "v-min", "dualpipe-v", "interleaved-1f1b"})
    list.push_back(with(kDense + kNode, R"("pipeline_parallel": 2, "global_batch_size": 960,
        "virtual_stages": 2, "pipeline_schedule": ")" +
                                            std::string(schedule) + "\""));
  list.push_back(with(kDense + kNode, R"("pipeline_parallel": 4, "global_batch_size": 480,
      "pipeline_schedule": "dualpipe")"));
  // Tensor ranks and stages with a host that lags.
  list.push_back("{" + kDense + kNode + R"("stack": "nemo-2024", "plan": {"tensor_parallel": 2,
      "pipeline_parallel": 2, "sequence_parallel": true, "global_batch_size": 420}})");
  // ZeRO of every stage, over all and over groups of replicas.
  for (const char* sharding :
       {R"("zero_stage": 1)", R"("zero_stage": 2)", R"("zero_stage": 3)",
        R"("zero_stage": 3, "zero_group_size": 4)", R"("zero_stage": 2, "gradient_reduction": "every-step")",
        R"("zero_stage": 3, "overlap_gradient_reduce": true, "prefetch": 2)"})
    list.push_back(with(kDense + kTwoNodes, std::string(sharding) + R"(, "global_batch_size": 1680)"));
  // Layers computed again, and activations and states in the memory of the host.
  for (const char* memory : {R"("recompute": "full")", R"("recompute": {"modules": ["mlp", "norm"]})",
                             R"("recompute": {"layers": 1, "method": "block"})",
                             R"("offload": "activations", "offload_fraction": 0.5)",
                             R"("offload": "optimizer", "offload_fraction": 0.5)"})
    list.push_back(with(kDense + kNode, std::string(memory) + R"(, "pipeline_parallel": 2,
        "global_batch_size": 960)"));
  // Experts: straight and over nodes, over pipelines, side by side.
  for (const char* experts :
       {R"("expert_parallel": 8, "global_batch_size": 1680)",
        R"("expert_parallel": 8, "dispatcher": "deduplicated", "global_batch_size": 1680)",
        R"("expert_parallel": 4, "pipeline_parallel": 2, "global_batch_size": 840)",
        R"("expert_parallel": 2, "pipeline_parallel": 4, "pipeline_schedule": "dualpipe",
           "global_batch_size": 420)"})
    list.push_back(with(kExperts + kTwoNodes, experts));
  // Replicas with batches of their own.
  list.push_back(
      with(kDense + kTwoNodes, R"("tensor_parallel": 2, "replica_batch_sizes": [210, 240, 210, 250])"));
  list.push_back(with(kDense + kTwoNodes, R"("pipeline_parallel": 2, "tensor_parallel": 2,
      "replica_batch_sizes": [210, 240])"));
  // Perceptrons whose matrices are cut in every way, in stages, on GPUs of two kinds and slow links.
  for (const char* cuts : {R"(["column", "row", "row", "column"])", R"(["row", "column", "column", "row"])",
                           R"(["column", "column", "column", "column"])", R"(["row", "row", "row", "row"])"})
    for (const char* stages : {"1", "2"})
      for (const char* first : {"h100", "a100-80gb"})
        list.push_back(R"({"model": {"kind": "mlp", "layers": 4, "hidden": 2048, "seq_length": 256},
            "cluster": {"gpus_per_node": 4, "node": {"kind": "nvswitch", "link_gb_per_s": 20},
                        "fabric": {"nic_gbps": 100}, "groups": [{"nodes": 1, "gpu": ")" +
                       std::string(first) + R"("}, {"nodes": 1, "gpu": "h100"}]},
            "plan": {"tensor_parallel": 2, "pipeline_parallel": )" +
                       stages + R"(, "global_batch_size": 880, "tensor_partition": )" + cuts + "}}");
  return list;
}

}  // namespace

TEST_CASE("every figure of hand-picked experiments is the same alone, in a batch and unfolded") {
  Simulator batch;
  int shortened = 0;
  for (const std::string& text : hand_picked()) {
    CAPTURE(text);
    const Experiment e = read(text);
    shortened += check_alike(e, batch) ? 1 : 0;
    if (test::kSanitized) continue;
    Experiment longer = e;  // most of its step is known already
    if (!longer.plan.replica_batch_sizes.empty()) continue;
    longer.plan.global_batch_size += longer.plan.global_batch_size / 10;
    if (longer.plan.micro_batches() % 2 == 0) check_alike(longer, batch);
  }
  CHECK(shortened > 20);
}

TEST_CASE("every figure of random experiments is the same alone, in a batch and unfolded") {
  Simulator batch;
  int shortened = 0;
  for (std::uint64_t seed = 40000; seed < 40000 + test::trials(60); ++seed) {
    const std::string text = RandomExperiment(seed).text_with_software();
    CAPTURE(seed);
    CAPTURE(text);
    try {
      Experiment e = read(text);
      e.simulation.steps = 1;
      e.simulation.detail = seed % 2 == 0 ? Detail::layer : Detail::stage;
      e.simulation.network = Network::alpha_beta;
      e.plan.global_batch_size = e.plan.data_parallel * (seed % 3 == 0 ? 204 : 36);
      shortened += check_alike(e, batch) ? 1 : 0;
    } catch (const InputError&) {
    }
  }
  CHECK(shortened > (test::kSanitized ? 2 : 20));
}

// By hand: 16 micro-batches go through 32 layers. Keys and values of a rank are 2 x 8 heads x 128 x 1024
// tokens x 2 bytes. They go round 7 times forward and 7 times backward, where their gradients go round 7
// times too: 21 messages of 4.19 MB a layer, 45.1 GB in all.
TEST_CASE("messages of context rings are counted once, however many micro-batches repeat") {
  const auto sent = [](const Report& report) {
    return report.bytes_per_gpu[static_cast<std::size_t>(Dimension::context)];
  };
  const std::string text = R"({"model": "llama3.1-8b", "cluster": "dgx-h100",
      "plan": {"context_parallel": 8, "global_batch_size": )";
  const double of_sixteen = sent(simulate(read(text + "16}}")));
  CHECK(of_sixteen == sent(run(read(text + "16}}")).report));
  CHECK(of_sixteen == 16.0 * 32 * 21 * (2 * 8 * 128 * 1024 * 2));
  CHECK(sent(simulate(read(text + "1600}}"))) == doctest::Approx(100 * of_sixteen).epsilon(1e-12));
}
