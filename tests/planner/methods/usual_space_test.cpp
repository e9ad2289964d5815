// Checks the default space of a search: it contains the keys that published runs varied, and its points add
// up.
#include "planner/methods/usual_space.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "orrery/simulate.hpp"
#include "planner/methods/search.hpp"
#include "planner/space/points.hpp"
#include "tests/sanitized.hpp"

using namespace orrery;

namespace {

/// Published plans; keys left out have one value in the space, or none.
struct Recipe {
  const char* name;
  const char* experiment;
  std::vector<std::pair<std::string, std::string>> values;
};

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> all{
      // Llama 3 report, table 4: tensor 8, pipeline 16 over 126 layers, one more than a chunk holds at
      // neither end
      {"Llama 3.1 405B",
       R"({"model": "llama3.1-405b", "cluster": {"base": "dgx-h100", "nodes": 2048}, "plan": {"global_batch_size": 2048}})",
       {{"tensor_parallel", "8"},
        {"pipeline_parallel", "16"},
        {"virtual_stages", "8"},
        {"micro_batch_size", "1"},
        {"zero_stage", "1"},
        {"sequence_parallel", "true"},
        {"recompute", "none"}}},
      {"Llama 3.1 70B, NeMo",
       R"({"model": "llama3.1-70b", "cluster": {"base": "dgx-h100", "nodes": 8}, "plan": {"global_batch_size": 128}})",
       {{"tensor_parallel", "4"},
        {"pipeline_parallel", "4"},
        {"virtual_stages", "5"},
        {"micro_batch_size", "1"},
        {"zero_stage", "1"},
        {"sequence_parallel", "true"}}},
      {"Llama 3.1 8B, TorchTitan",
       R"({"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "nodes": 1}, "plan": {"global_batch_size": 16}, "stack": "torchtitan-2024"})",
       {{"tensor_parallel", "1"},
        {"pipeline_parallel", "1"},
        {"micro_batch_size", "2"},
        {"zero_stage", "3"},
        {"recompute", "full"}}},
      {"GPT-3 175B, Megatron-LM",
       R"({"model": "gpt3-175b", "cluster": {"base": "dgx-a100-80gb", "nodes": 64}, "plan": {"global_batch_size": 1536}})",
       {{"tensor_parallel", "8"},
        {"pipeline_parallel", "8"},
        {"virtual_stages", "3"},
        {"micro_batch_size", "1"},
        {"sequence_parallel", "true"}}},
      {"Mixtral 8x7B, Megatron Core",
       R"({"model": "mixtral-8x7b", "cluster": {"base": "dgx-h100", "nodes": 16}, "plan": {"global_batch_size": 256}})",
       {{"tensor_parallel", "2"},
        {"expert_parallel", "8"},
        {"expert_tensor_parallel", "1"},
        {"pipeline_parallel", "4"},
        {"virtual_stages", "8"},
        {"micro_batch_size", "1"},
        {"sequence_parallel", "true"},
        {"zero_stage", "1"}}},
      {"Qwen3 235B, Megatron Core",
       R"({"model": "qwen3-235b-a22b", "cluster": {"base": "dgx-h100", "nodes": 32}, "plan": {"global_batch_size": 2048}})",
       {{"tensor_parallel", "2"},
        {"expert_parallel", "32"},
        {"expert_tensor_parallel", "1"},
        {"pipeline_parallel", "8"},
        {"virtual_stages", "4"},
        {"micro_batch_size", "1"},
        {"sequence_parallel", "true"}}},
      {"DeepSeek-V3, its report",
       R"({"model": "deepseek-v3", "cluster": {"base": "dgx-h800", "nodes": 256}, "plan": {"global_batch_size": 15360}})",
       {{"tensor_parallel", "1"},
        {"expert_parallel", "64"},
        {"pipeline_parallel", "16"},
        {"micro_batch_size", "1"},
        {"pipeline_schedule", "dualpipe"},
        {"zero_stage", "1"},
        {"dispatcher", "deduplicated"},
        {"overlap_expert_parallel", "true"},
        {"recompute", R"({"modules": ["norm", "latent-projection", "activation"]})"}}},
      {"gpt-oss-120b",
       R"({"model": "gpt-oss-120b", "cluster": {"base": "dgx-h100", "nodes": 8}, "plan": {"global_batch_size": 512}})",
       {{"expert_parallel", "16"},
        {"pipeline_parallel", "4"},
        {"micro_batch_size", "1"},
        {"zero_stage", "1"}}},
      {"Qwen3 30B, Megatron Bridge",
       R"({"model": "qwen3-30b-a3b", "cluster": {"base": "dgx-h100", "nodes": 2}, "plan": {"global_batch_size": 512}})",
       {{"tensor_parallel", "1"},
        {"expert_parallel", "8"},
        {"pipeline_parallel", "2"},
        {"virtual_stages", "12"},
        {"micro_batch_size", "1"},
        {"zero_stage", "1"}}},
  };
  return all;
}

/// The first value of each key, and those of the recipe; a key of the recipe without its value is none of the
/// space.
std::vector<std::string> point_of(const Space& space, const Recipe& recipe) {
  std::vector<std::string> values;
  for (const SpaceKey& key : space.keys()) values.push_back(key.values.front());
  for (const std::pair<std::string, std::string>& given : recipe.values) {
    const std::string& name = given.first;
    const std::string& value = given.second;
    const auto key = std::ranges::find(space.keys(), "plan." + name, &SpaceKey::key);
    REQUIRE_MESSAGE(key != space.keys().end(), name);
    CHECK_MESSAGE(std::ranges::find(key->values, value) != key->values.end(), name << " " << value);
    values[static_cast<std::size_t>(key - space.keys().begin())] = value;
  }
  return values;
}

Space usual_space_of(const std::string& text) {
  const BaseExperiment base{"experiment.json", text};
  return {usual_space(base, Catalog::embedded(), menus()), base, Catalog::embedded(), menus()};
}

}  // namespace

TEST_CASE("the usual space holds the plans of published runs") {
  for (const Recipe& recipe : recipes()) {
    INFO(recipe.name);
    const Space space = usual_space_of(recipe.experiment);
    PointReader reader(space);
    const PointOrRemoval read = reader.read(point_of(space, recipe));
    if (const auto* removal = std::get_if<Removal>(&read)) FAIL_CHECK(removal->by << " " << removal->message);
  }
}

TEST_CASE("no published plan is better than the optimum of its space") {
  if (test::kSanitized) return;           // minutes
  constexpr std::int64_t kMostGpus = 16;  // the others take minutes, and follow from the proof of the search
  for (const Recipe& recipe : recipes()) {
    INFO(recipe.name);
    const Space space = usual_space_of(recipe.experiment);
    PointReader reader(space);
    const PointOrRemoval read = reader.read(point_of(space, recipe));
    const auto* point = std::get_if<Point>(&read);
    if (point == nullptr || point->experiment.cluster.gpus() > kMostGpus) continue;
    const Report published = Simulator().simulate(point->experiment);
    SearchRequest request;
    request.threads = 2;
    const SearchResult found = search(space, request);
    CHECK(found.optimal);
    REQUIRE(!found.best.empty());
    CHECK(found.best.front().trial.makespan_ps <= published.makespan_ps);
  }
}

TEST_CASE("what a condition removes at once is what it removes one by one") {
  const Space space = usual_space_of(
      R"({"model": {"base": "mixtral-8x7b", "layers": 7}, "cluster": {"base": "dgx-h100", "nodes": 1}, "plan": {"global_batch_size": 16}})");
  PointReader reader(space);
  for (std::uint64_t index = 0; index < space.size();) {
    const Condition* condition = reader.broken_at(index);
    if (condition == nullptr) {
      ++index;
      continue;
    }
    const PointOrRemoval read = reader.read(index);
    const auto& removal = std::get<Removal>(read);
    REQUIRE(removal.alike >= 1);
    REQUIRE(index + removal.alike <= space.size());
    const std::uint64_t last = index + removal.alike - 1;
    CHECK(reader.broken_at(last) == condition);
    if (removal.alike > 2) CHECK(reader.broken_at(index + removal.alike / 2) == condition);
    index += removal.alike;
  }
}

TEST_CASE("a prime number of layers has pipelines, without chunks where there are none") {
  const Space space = usual_space_of(
      R"({"model": {"base": "llama3.1-8b", "layers": 31}, "cluster": {"base": "dgx-h100", "nodes": 1}, "plan": {"global_batch_size": 16}})");
  PointReader reader(space);
  bool pipelines = false;
  for (std::uint64_t index = 0; index < space.size(); ++index) {
    const PointOrRemoval read = reader.read(index);
    const auto* point = std::get_if<Point>(&read);
    if (point == nullptr) continue;
    const Plan& plan = point->experiment.plan;
    if (plan.pipeline_parallel == 1) CHECK(plan.virtual_stages == 1);
    pipelines = pipelines || plan.pipeline_parallel == 8;
  }
  CHECK(pipelines);
}
