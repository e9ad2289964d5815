#include "planner/space/space.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/experiment/read_experiment.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "planner/space/normal_form.hpp"
#include "planner/space/points.hpp"

namespace orrery {
namespace {

using Values = std::vector<std::string>;

constexpr const char* kSmall = R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 2},
  "plan": {"tensor_parallel": 2, "global_batch_size": 32}})";

Space space_of(const std::string& description, const std::string& experiment = kSmall) {
  return {
      read_space(description, "space.json"), {"experiment.json", experiment}, Catalog::embedded(), menus()};
}

std::string refusal(const std::string& description) {
  try {
    static_cast<void>(space_of(description));
  } catch (const InputError& error) {
    return error.diagnostics().front().text();
  }
  return "";
}

TEST_CASE("values are lists, ranges with a step or a factor, one value, or all that may fit") {
  const auto values = [](const std::string& text) {
    return read_space("{\"plan.micro_batch_size\": " + text + "}", "").keys.front().values;
  };
  CHECK(values("[1, 2, 4]") == Values{"1", "2", "4"});
  CHECK(values("\"1..4\"") == Values{"1", "2", "3", "4"});
  CHECK(values("\"1..16*2\"") == Values{"1", "2", "4", "8", "16"});
  CHECK(values("\"1,6..12+3\"") == Values{"1", "6", "9", "12"});
  CHECK(values(R"({"from": 1, "to": 64, "factor": 4})") == Values{"1", "4", "16", "64"});
  CHECK(values(R"({"from": 0.1, "to": 0.3, "step": 0.1})") == Values{"0.1", "0.2", "0.3"});
  CHECK(values("8") == Values{"8"});
  CHECK(values(R"([{"layers": 1}, "none", "true"])") == Values{"{\"layers\":1}", "none", "\"true\""});
  CHECK(read_space(R"({"plan.recompute": "auto"})", "").keys.front().automatic);
}

TEST_CASE("automatic values follow from the experiment") {
  const auto values = [](const std::string& key) {
    return space_of("{\"" + key + "\": \"auto\"}").keys().front().values;
  };
  CHECK(values("plan.tensor_parallel") == Values{"1", "2", "4", "8", "16"});  // 16 heads, 16 GPUs
  CHECK(values("plan.pipeline_parallel") == Values{"1", "2", "4", "8", "16"});
  CHECK(values("plan.micro_batch_size") == Values{"1", "2", "4", "8", "16", "32"});
  CHECK(values("plan.virtual_stages") == Values{"1", "2", "3", "4", "6", "8", "12", "24"});  // 24 layers
  CHECK(values("plan.recompute") == Values{"none", "selective", "full"});
  CHECK(values("plan.sequence_parallel") == Values{"false", "true"});
  CHECK(values("plan.zero_stage") == Values{"0", "1", "2", "3"});
  CHECK(values("plan.rank_order").size() == 24);
  CHECK(refusal(R"({"plan.bucket_mb": "auto"})").find("too many values") != std::string::npos);
}

TEST_CASE("automatic values need no plan that fits") {
  const Space space = space_of(
      R"({"plan.micro_batch_size": "auto", "plan.tensor_parallel": "auto"})",
      R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 2}, "plan": {"global_batch_size": 12,
          "pipeline_parallel": 7}})");
  CHECK(space.keys()[0].values == Values{"1", "2", "3", "4", "6", "12"});
  CHECK(space.keys()[1].values == Values{"1", "2", "4", "8", "16"});
}

TEST_CASE("a point is the experiment with its values, or why there is none") {
  const Space space = space_of(R"({"plan.tensor_parallel": [1, 2, 3], "plan.pipeline_parallel": [1, 4],
    "where": "plan.tensor_parallel * plan.pipeline_parallel != 8"})");
  REQUIRE(space.size() == 6);
  PointReader reader(space);
  std::map<std::string, int> removed;
  std::set<std::int64_t> replicas;
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const PointOrRemoval read = reader.read(i);
    if (const auto* removal = std::get_if<Removal>(&read))
      ++removed[removal->by];
    else
      replicas.insert(std::get<Point>(read).experiment.plan.data_parallel);
  }
  // 2 x 4 breaks the condition, 3 divides neither the 16 heads nor the 16 GPUs.
  CHECK(removed == std::map<std::string, int>{{"plan.tensor_parallel * plan.pipeline_parallel != 8", 1},
                                              {"plan.tensor_parallel", 2}});
  CHECK(replicas == std::set<std::int64_t>{16, 8, 4});
}

TEST_CASE("what is wrong with a point is what is wrong with its experiment read alone") {
  const Space space = space_of(R"({"plan.tensor_parallel": [1, 2, 3, 32], "plan.pipeline_parallel": [1, 4, 5],
    "plan.virtual_stages": [1, 2], "plan.zero_stage": [0, 3], "plan.micro_batch_size": [1, 64],
    "plan.recompute": ["none", {"layers": 2}], "plan.precision": ["bf16", "fp8"]})");
  PointReader reader(space);
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const PointOrRemoval read = reader.read(i);
    std::vector<std::string> messages;
    try {
      static_cast<void>(read_experiment_text(reader.text_at(i), "", {}, space.catalog(), space.menus()));
    } catch (const InputError& error) {
      for (const Diagnostic& diagnostic : error.diagnostics()) messages.push_back(diagnostic.message);
    }
    const auto* removal = std::get_if<Removal>(&read);
    CHECK((removal == nullptr) == messages.empty());
    if (removal != nullptr) CHECK(std::ranges::find(messages, removal->message) != messages.end());
  }
}

TEST_CASE("a key that does nothing beside the others has no value") {
  const Space space = space_of(R"({"plan.context_parallel_type": ["ring"],
    "plan.hierarchical_context_parallel_size": [2]})");
  const PointOrRemoval read = PointReader(space).read(0);
  REQUIRE(std::holds_alternative<Point>(read));
  CHECK(std::get<Point>(read).values == Values{"ring", ""});
}

TEST_CASE("orders that place all ranks alike are one point") {
  const Space space = space_of(R"({"plan.rank_order": "auto", "plan.tensor_parallel": [2]})");
  PointReader reader(space);
  std::set<std::pair<std::uint64_t, std::uint64_t>> contents;
  std::set<Picoseconds> times;
  Simulator simulator;
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const Point point = std::get<Point>(reader.read(i));
    contents.insert({point.content.a, point.content.b});
    times.insert(simulator.simulate(point.experiment).makespan_ps);
  }
  CHECK(contents.size() == 2);  // tensor ranks side by side, or replicas
  CHECK(times.size() == 2);
}

TEST_CASE("points of one normal form have the same step") {
  const Space space = space_of(R"({"plan.rank_order": "auto", "plan.tensor_parallel": [1, 2],
    "plan.pipeline_parallel": [1, 2, 4], "plan.pipeline_schedule": ["1f1b", "interleaved-1f1b"],
    "plan.virtual_stages": [1, 2], "plan.zero_stage": [0, 1]})");
  PointReader reader(space);
  Simulator simulator;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<Picoseconds, Bytes>> known;
  int repeats = 0;
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const PointOrRemoval read = reader.read(i);
    const auto* point = std::get_if<Point>(&read);
    if (point == nullptr) continue;
    const Report report = simulator.simulate(point->experiment);
    const std::pair figures(report.makespan_ps, report.stage_memory.front().total());
    const auto [at, is_new] = known.try_emplace({point->content.a, point->content.b}, figures);
    repeats += is_new ? 0 : 1;
    CHECK(at->second == figures);
  }
  CHECK(repeats > 100);
}

TEST_CASE("what is no space is refused where it stands") {
  CHECK(
      refusal(R"({"plan.tensor_paralel": [1]})") ==
      "space.json:1:2: /plan.tensor_paralel: unknown key \"plan.tensor_paralel\", allowed dotted keys of an "
      "experiment, experiment and where; did you mean \"plan.tensor_parallel\"?");
  CHECK(refusal("[1]").find("space.json:1:1: found [1], allowed an object") == 0);
  CHECK(refusal("{}").find("allowed at least one") != std::string::npos);
  CHECK(refusal(R"({"plan.tensor_parallel": []})").find("an empty list") != std::string::npos);
  CHECK(refusal(R"({"plan.tensor_parallel": "8..1"})").find("allowed one that grows") != std::string::npos);
  CHECK(refusal(R"({"plan.tensor_parallel": "1..1e9"})").find("more than 100000 values") !=
        std::string::npos);
  CHECK(
      refusal(R"({"plan.tensor_parallel": [1], "where": "plan.tensor_parallel <"})").find("found the end") !=
      std::string::npos);
  CHECK(refusal(R"({"plan.tensor_parallel": [1], "where": "plan.tensor < 1"})").find("did you mean") !=
        std::string::npos);
  CHECK(refusal(R"({"plan.tensor_parallel": {"from": 1, "until": 4}})").find("unknown key \"until\"") !=
        std::string::npos);
}

}  // namespace
}  // namespace orrery
