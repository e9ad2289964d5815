// Where tokens go in a mixture of experts, by hand.
#include "workloads/communicators/expert_load.hpp"

#include <doctest/doctest.h>

using namespace orrery;

namespace {

Model model_of(std::int64_t experts, std::int64_t chosen) {
  Model model;
  model.kind = ModelKind::moe_transformer;
  model.experts = experts;
  model.experts_per_token = chosen;
  return model;
}

Plan plan_of(std::int64_t ranks, TokenImbalance imbalance, std::vector<std::int64_t> histogram = {}) {
  Plan plan;
  plan.expert_parallel = ranks;
  plan.token_imbalance = imbalance;
  plan.token_histogram = std::move(histogram);
  return plan;
}

}  // namespace

TEST_CASE("the rank with most tokens") {
  CHECK(token_load(model_of(8, 2), plan_of(4, TokenImbalance::uniform)) == 1);
  // The two experts of a rank get all rows: 4 times the mean of 4 ranks. With one each, half of the rows.
  CHECK(token_load(model_of(8, 2), plan_of(4, TokenImbalance::worst)) == 4);
  CHECK(token_load(model_of(8, 2), plan_of(8, TokenImbalance::worst)) == 4);
  // 1, 1/2 of 1 + 1/2 + 1/3 + 1/4 = 25/12: 18/25, twice over.
  CHECK(token_load(model_of(4, 1), plan_of(2, TokenImbalance::zipf)) == doctest::Approx(36.0 / 25));
  // 6 of 8 rows on the first of two ranks.
  CHECK(token_load(model_of(4, 1), plan_of(2, TokenImbalance::histogram, {6, 0, 1, 1})) == 1.5);
}

TEST_CASE("a capacity drops what is beyond it") {
  Plan plan = plan_of(2, TokenImbalance::histogram, {6, 0, 1, 1});
  plan.capacity_factor = 1.25;  // 5/16 of the rows: the first rank keeps 5/16, the second has 4/16
  CHECK(token_load(model_of(4, 1), plan) == 0.625);
  plan = plan_of(4, TokenImbalance::worst);
  plan.capacity_factor = 1;  // each expert is 4 times beyond its share, so a quarter of 4 is left
  CHECK(token_load(model_of(8, 2), plan) == 1);
  plan = plan_of(4, TokenImbalance::uniform);
  plan.capacity_factor = 0.5;
  CHECK(token_load(model_of(8, 2), plan) == 0.5);
}

// Two of four experts: all six pairs are as likely, and two of them lie on one of two nodes.
TEST_CASE("how many ranks or nodes a token goes to") {
  CHECK(holders_per_token(model_of(4, 2), 2) == doctest::Approx((4 * 2 + 2 * 1) / 6.0));
  CHECK(holders_per_token(model_of(4, 2), 4) == doctest::Approx(2));
  CHECK(holders_per_token(model_of(4, 4), 2) == doctest::Approx(2));
  CHECK(holders_per_token(model_of(8, 3), 1) == doctest::Approx(1));
}

// A token takes 2 of 4 groups of two experts, each on a node, and 4 experts: all of both groups.
TEST_CASE("tokens of limited groups stay on few nodes") {
  Model model = model_of(8, 4);
  model.expert_groups = 4;
  model.groups_per_token = 2;
  CHECK(holders_per_token(model, 4) == doctest::Approx(2));
  CHECK(holders_per_token(model, 8) == doctest::Approx(4));
  // Two nodes with two groups each: both groups lie on one node in 2 of 6 cases.
  CHECK(holders_per_token(model, 2) == doctest::Approx((2 * 1 + 4 * 2) / 6.0));
}
