#include "studies/compare/compare.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "config/experiment/read_experiment.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "studies/converge/rates.hpp"
#include "tests/studies/compare/small_comparisons.hpp"

namespace orrery {
namespace {

using comparison_test::kSmall;
using comparison_test::request;

TEST_CASE("rows are the points of a space: values that may fit, those that conditions let through") {
  ComparisonRequest wide = request({"plan.tensor_parallel=auto", "plan.pipeline_parallel=1..4*2"});
  CHECK(compare(wide, 1).rows.size() == 4 * 3 - 3);  // 1, 2, 4 divide 12 heads; 8 GPUs
  wide.conditions.emplace_back("plan.tensor_parallel * plan.pipeline_parallel == 4");
  const Comparison comparison = compare(wide, 1);
  REQUIRE(comparison.rows.size() == 3);
  CHECK(comparison.rows[1].varied == std::vector<std::string>{"2", "2"});
  wide.conditions.emplace_back("plan.tensor_parallel > 8");
  CHECK_THROWS_AS(static_cast<void>(compare(wide, 1)), InputError);
}

TEST_CASE("a row is what simulating its overrides gives, whatever the threads") {
  const auto wanted = request({"plan.zero_stage=0,1", "plan.micro_batch_size=1,2"}, {"stack=ideal"});
  const Comparison one = compare(wanted, 1);
  const Comparison four = compare(wanted, 4);
  REQUIRE(one.rows.size() == 4);
  CHECK(one.keys == std::vector<std::string>{"plan.zero_stage", "plan.micro_batch_size"});
  CHECK(one.rows[2].varied == std::vector<std::string>{"1", "1"});
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<std::string> overrides{"stack=ideal", "plan.zero_stage=" + one.rows[i].varied[0],
                                       "plan.micro_batch_size=" + one.rows[i].varied[1]};
    const Report alone =
        simulate(read_experiment_text(kSmall, "", overrides, wanted.catalog, wanted.menus).experiment);
    REQUIRE(one.rows[i].report);
    CHECK(one.rows[i].report->makespan_ps == alone.makespan_ps);
    CHECK(four.rows[i].report->makespan_ps == alone.makespan_ps);
    CHECK(one.rows[i].communication_s() == four.rows[i].communication_s());
  }
}

TEST_CASE("ratios are to the first row") {
  // Twice the nodes with a batch per replica: weak scaling.
  const Comparison weak = compare(request({"cluster.nodes=1,2"}), 2);
  const Report& first = *weak.rows[0].report;
  const Report& second = *weak.rows[1].report;
  REQUIRE(second.gpus == 2 * first.gpus);
  CHECK(weak.rows[0].ratios->speed_up == 1);
  CHECK(weak.rows[0].ratios->scaling_efficiency == 1);
  const double step = second.step_time_s() / first.step_time_s();
  CHECK(weak.rows[1].ratios->step_time == doctest::Approx(step));
  CHECK(weak.rows[1].ratios->speed_up.value() == doctest::Approx(2 / step));  // twice the samples a step
  CHECK(weak.rows[1].ratios->scaling_efficiency.value() == doctest::Approx(1 / step));
}

TEST_CASE("what contradicts itself or does not fit is a row with its reason") {
  const Comparison contradicts = compare(request({"plan.tensor_parallel=4,5"}), 1);
  REQUIRE(contradicts.rows.size() == 2);
  CHECK(contradicts.rows[0].feasible());
  CHECK_FALSE(contradicts.rows[1].report);
  REQUIRE_FALSE(contradicts.rows[1].reasons.empty());
  CHECK(contradicts.rows[1].reasons[0].find("/plan/tensor_parallel") == 0);
  const Comparison large = compare(request({"model=gpt3-125m,gpt3-175b"}), 1);
  CHECK(large.rows[1].report);
  CHECK_FALSE(large.rows[1].feasible());
  CHECK(large.rows[1].reasons[0].find("out of memory") == 0);
  CHECK(large.rows[1].ratios);
  // Other rows are compared with the first one that was simulated.
  const Comparison late = compare(request({"plan.tensor_parallel=5,4,2"}), 1);
  CHECK_FALSE(late.rows[0].ratios);
  CHECK(late.rows[1].ratios->speed_up == 1);
}

std::vector<Diagnostic> problems_of(const ComparisonRequest& wanted) {
  try {
    static_cast<void>(compare(wanted, 1));
  } catch (const InputError& error) {
    return error.diagnostics();
  }
  return {};
}

TEST_CASE("what is wrong in all variants of an experiment stops the comparison") {
  const auto unknown = problems_of(request({"plan.tensor_paralel=1,2"}));
  REQUIRE(unknown.size() == 1);
  CHECK(unknown[0].source == "command line");
  CHECK(unknown[0].pointer == "/plan/tensor_paralel");
  const auto second = problems_of(request(
      {"plan.micro_batch_size=1,2"}, {}, {{"small.json", kSmall}, {"b.json", "{\"model\": \"gpt3-126m\"}"}}));
  REQUIRE(second.size() == 2);  // no such model, no cluster
  CHECK(second[0].source == "b.json");
  CHECK(problems_of(request({"plan.data_parallel=3,5"})).size() == 2);  // nothing left to compare
  CHECK(problems_of(request({"plan.data_parallel=3,8"})).empty());
}

TEST_CASE("models with other sequences are compared by tokens, those without tokens not at all") {
  const auto with = [](const std::string& model) {
    return R"({"model": )" + model + R"(, "cluster": {"base": "dgx-a100-80gb", "nodes": 1}})";
  };
  const Comparison models = compare(request({}, {},
                                            {{"a.json", with(R"({"base": "gpt3-125m", "seq_length": 1024})")},
                                             {"b.json", with(R"({"base": "gpt3-125m", "seq_length": 2048})")},
                                             {"c.json", with("\"resnet-50\"")}}),
                                    2);
  const Report& shorter = *models.rows[0].report;
  const Report& longer = *models.rows[1].report;
  CHECK(models.rows[1].ratios->speed_up.value() ==
        doctest::Approx(2 * longer.samples_per_s() / shorter.samples_per_s()));
  CHECK(models.rows[1].ratios->scaling_efficiency.value() ==
        doctest::Approx(longer.tokens_per_s() / shorter.tokens_per_s()));  // on as many GPUs
  CHECK(!models.rows[2].ratios->speed_up);
  CHECK(!models.rows[2].ratios->scaling_efficiency);
  CHECK(models.rows[2].ratios->step_time > 0);
}

TEST_CASE("experiments of one name are told apart by their files") {
  const std::string other = R"({"model": "gpt3-125m", "cluster": "dgx-a100-80gb"})";
  const Comparison alike =
      compare(request({}, {}, {{"a.json", kSmall}, {"b.json", kSmall}, {"c.json", other}}), 2);
  CHECK(alike.several);
  CHECK(alike.rows[0].name == "a.json");
  CHECK(alike.rows[1].name == "b.json");
  CHECK(alike.rows[2].name == "gpt3-125m on dgx-a100-80gb");
}

TEST_CASE("communication per step is the exposed part of the breakdown") {
  const Comparison comparison = compare(request({"cluster.nodes=1,2"}, {"simulation.steps=2"}), 1);
  for (const ComparedRow& row : comparison.rows) {
    // Over 2 steps and all GPUs, per GPU and step.
    const Int128 sum = row.report->breakdown.exposed_ps[static_cast<std::size_t>(Dimension::data)];
    CHECK(row.communication_s() ==
          doctest::Approx(static_cast<double>(sum) * 1e-12 / static_cast<double>(row.report->gpus) / 2));
    CHECK(row.communication_s() < row.report->step_time_s());
    CHECK(row.data_bytes() > 0);
  }
}

TEST_CASE("time to target is the rate's iterations times the step time") {
  const std::vector<std::string> accuracy{"accuracy={target: 0.001, heterogeneity: 0.5}"};
  const Comparison comparison =
      compare(request({"data_parallel_sync.method=all-reduce,gossip,gossip-pga,local-sgd,none",
                       "data_parallel_sync.period=4"},
                      accuracy),
              2);
  DataParallelSync sync;
  sync.period = 4;
  // 8 replicas; one-peer exponential averages exactly after 3 steps: gap 2 / (1 + 3).
  const RateSetting setting{8, 1, 0.5, 0.5, 768};
  const std::vector<SyncMethod> methods{SyncMethod::all_reduce, SyncMethod::gossip, SyncMethod::gossip_pga,
                                        SyncMethod::local_sgd};
  double least = 0;
  std::size_t best = 0;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    sync.method = methods[i];
    const ComparedRow& row = comparison.rows[i];
    REQUIRE(row.target);
    REQUIRE(row.target->steps);
    const Rate rate = *rate_of(sync, setting);
    CHECK(row.target->steps->iterations == rate.iterations(0.001));
    CHECK(row.target->steps->transient == doctest::Approx(rate.transient_iterations()));
    CHECK(row.target->time_s == doctest::Approx(rate.iterations(0.001) * row.report->step_time_s()));
    CHECK(row.target->gap.has_value() == sync.gossips());
    if (i == 0 || row.target->time_s < least) best = i;
    least = i == 0 ? row.target->time_s : std::min(least, row.target->time_s);
  }
  CHECK_FALSE(comparison.rows[4].target->steps);  // replicas that stay apart
  CHECK(comparison.sweet_spot() == best);
  CHECK_FALSE(compare(request({}), 1).sweet_spot());
}

TEST_CASE("a varied key that does nothing is left out, and rows that are alike then come once") {
  const Comparison comparison =
      compare(request({"data_parallel_sync.method=all-reduce,gossip,local-sgd",
                       "data_parallel_sync.topology=ring,exponential", "data_parallel_sync.period=2,4"}),
              2);
  // all-reduce once; gossip on 2 graphs; local SGD with 2 periods.
  using Values = std::vector<std::string>;
  REQUIRE(comparison.rows.size() == 5);
  CHECK(comparison.rows[0].varied == Values{"all-reduce", "", ""});
  CHECK(comparison.rows[2].varied == Values{"gossip", "exponential", ""});
  CHECK(comparison.rows[4].varied == Values{"local-sgd", "", "4"});
  for (const ComparedRow& row : comparison.rows) CHECK(row.feasible());
  // Where nothing but idle keys is asked for, or one is not varied, that is a mistake as ever.
  CHECK(problems_of(request({"data_parallel_sync.method=all-reduce,none"}, {"data_parallel_sync.period=2"}))
            .size() == 2);
}

TEST_CASE("noise of a sample makes the batch matter, noise of a replica does not") {
  const std::vector<std::string> target{"accuracy.target=1e-5"};
  const auto steps = [&](const std::string& of) {
    std::vector<std::string> overrides = target;
    overrides.push_back("accuracy.noise_of=" + of);
    const Comparison comparison = compare(request({"plan.micro_batch_size=1,4"}, overrides), 2);
    return comparison.rows[0].target->steps->iterations / comparison.rows[1].target->steps->iterations;
  };
  CHECK(steps("replica") == 1);
  // sigma^2 / (n epsilon^2) with sigma^2 a quarter; the 1/T term is 1e5 of some 1e9.
  CHECK(steps("sample") == doctest::Approx(4).epsilon(0.01));
}

TEST_CASE("nodes are workers where the exchange is between nodes") {
  const Comparison comparison =
      compare(request({"data_parallel_sync.level=gpu,node"},
                      {"cluster.nodes=4", "data_parallel_sync.method=gossip", "accuracy.target=0.01"}),
              2);
  CHECK(comparison.rows[0].sync.workers == 32);
  CHECK(comparison.rows[1].sync.workers == 4);
  // One-peer exponential over 2^5 and 2^2 workers: 2 / 6 and 2 / 3.
  CHECK(*comparison.rows[0].target->gap == doctest::Approx(1.0 / 3));
  CHECK(*comparison.rows[1].target->gap == doctest::Approx(2.0 / 3));
}

}  // namespace
}  // namespace orrery
