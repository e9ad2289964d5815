#include "studies/validate/statistics.hpp"

#include <doctest/doctest.h>

using namespace orrery;

TEST_CASE("errors, by hand") {
  // Errors +10 %, -20 %, +40 %, 0 %: absolute values sorted 0, 10, 20, 40.
  const std::vector<Pair> pairs{{1.1, 1, "a"}, {1.6, 2, "a"}, {4.2, 3, "a"}, {4, 4, "b"}};
  const ErrorStatistics s = error_statistics(pairs);
  CHECK(s.rows == 4);
  CHECK(s.mean_abs_error == doctest::Approx(0.175));   // 70 / 4
  CHECK(s.median_abs_error == doctest::Approx(0.15));  // (10 + 20) / 2
  CHECK(s.p90_abs_error == doctest::Approx(0.34));     // position 2.7: 20 + 0.7 x 20
  CHECK(s.max_abs_error == doctest::Approx(0.4));
  CHECK(s.bias == doctest::Approx(0.075));  // (10 - 20 + 40 + 0) / 4
  // Ranks 1 2 4 3 against 1 2 3 4: 1 - 6 x (0 + 0 + 1 + 1) / (4 x 15) = 0.8.
  CHECK(s.rank_correlation.value() == doctest::Approx(0.8));
  CHECK(!s.rank_correlation_within_model);  // three rows of a are too few
  CHECK(!s.inside_p10_p90);
}

TEST_CASE("ranks share their mean where values are equal") {
  // Ranks 1.5 1.5 3 against 1 2 3: deviations (-.5 -.5 1) and (-1 0 1), 1.5 / sqrt(1.5 x 2) = 0.866.
  CHECK(rank_correlation(std::vector<double>{5, 5, 9}, std::vector<double>{1, 2, 3}).value() ==
        doctest::Approx(0.8660254));
  CHECK(rank_correlation(std::vector<double>{1, 2, 3}, std::vector<double>{9, 4, 1}).value() ==
        doctest::Approx(-1));
  CHECK(!rank_correlation(std::vector<double>{5, 5, 5}, std::vector<double>{1, 2, 3}));
  CHECK(!rank_correlation(std::vector<double>{5}, std::vector<double>{1}));
}

TEST_CASE("order within a model, weighted by rows") {
  // a: four rows in order, 1; b: five rows, 1 2 3 4 5 against 2 1 3 4 5, 1 - 6 x 2 / (5 x 24) = 0.9.
  // c has three rows and does not count. (4 x 1 + 5 x 0.9) / 9 = 0.94444.
  std::vector<Pair> pairs;
  for (int i = 1; i <= 4; ++i) pairs.push_back({100.0 + i, 1.0 * i, "a"});
  for (const auto& [p, m] : {std::pair{1, 2}, {2, 1}, {3, 3}, {4, 4}, {5, 5}})
    pairs.push_back({1.0 * p, 50.0 + m, "b"});
  for (int i = 1; i <= 3; ++i) pairs.push_back({1.0 * i, 9.0 - i, "c"});
  const ErrorStatistics s = error_statistics(pairs);
  CHECK(s.rank_correlation_within_model.value() == doctest::Approx(8.5 / 9));
  CHECK(s.lowest_within_model.value() == doctest::Approx(0.9));
}

TEST_CASE("share inside the predicted range") {
  const std::vector<Pair> pairs{{1, 1, "", true}, {1, 1, "", false}, {1, 1, "", true}, {1, 1, ""}};
  CHECK(error_statistics(pairs).inside_p10_p90.value() == doctest::Approx(2.0 / 3));
}

TEST_CASE("one row") {
  const std::vector<Pair> pairs{{3, 2, ""}};
  const ErrorStatistics s = error_statistics(pairs);
  CHECK(s.median_abs_error == 0.5);
  CHECK(s.p90_abs_error == 0.5);
  CHECK(s.bias == 0.5);
  CHECK(!s.rank_correlation);
}

TEST_CASE("Kendall's tau-b counts pairs in order") {
  // 5 of 6 pairs are in order and 1 is not: 4 / 6.
  CHECK(kendall_tau(std::vector<double>{1, 2, 3, 4}, std::vector<double>{1, 2, 4, 3}).value() ==
        doctest::Approx(4.0 / 6));
  // A tie in a: 2 of 3 pairs differ there, both in order, all 3 differ in b: 2 / sqrt(2 x 3).
  CHECK(kendall_tau(std::vector<double>{5, 5, 9}, std::vector<double>{1, 2, 3}).value() ==
        doctest::Approx(0.8164966));
  CHECK(!kendall_tau(std::vector<double>{5, 5}, std::vector<double>{1, 2}));
}

TEST_CASE("regret of the plan that would be chosen among those that fit") {
  // The first is predicted fastest and does not fit; of the others the one measured at 12 is, the best is
  // at 10.
  std::vector<Pair> pairs{{1, 30, "a"}, {2, 12, "a"}, {3, 10, "a"}, {4, 20, "a"}};
  pairs[0].fits = false;
  const ErrorStatistics s = error_statistics(pairs);
  CHECK(s.regret_within_model.value() == doctest::Approx(0.2));
  CHECK(s.largest_regret_within_model.value() == doctest::Approx(0.2));
  // In order: 30 12 10 20 has pairs 12-20 and 10-20 in order of 6: (2 - 4) / 6.
  CHECK(s.kendall_within_model.value() == doctest::Approx(-2.0 / 6));
  for (Pair& pair : pairs) pair.fits = false;
  CHECK(!error_statistics(pairs).regret_within_model);
}

TEST_CASE("between the deciles of n values lies the next one in 8 of 10 cases") {
  // Positions (n + 1) / 10 and 9 (n + 1) / 10 of 9 values are the 1st and the 9th, of 19 the 2nd and the
  // 18th.
  std::vector<double> values;
  for (int i = 9; i >= 1; --i) values.push_back(i);
  CHECK(deciles(values)->p10 == 1);
  CHECK(deciles(values)->p90 == 9);
  for (int i = 10; i <= 19; ++i) values.push_back(i);
  CHECK(deciles(values)->p10 == doctest::Approx(2));
  CHECK(deciles(values)->p90 == doctest::Approx(18));
  CHECK_FALSE(deciles({1, 2, 3, 4, 5, 6, 7, 8}).has_value());
}
