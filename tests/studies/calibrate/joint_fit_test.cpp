#include "studies/calibrate/joint_fit.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "studies/calibrate/calibration_file.hpp"
#include "studies/calibrate/left_out.hpp"
#include "tests/studies/calibrate/fits.hpp"

using namespace orrery;
using namespace orrery::calibration_test;

namespace {

/// A family: `root` learns gemm_speed and elementwise_traffic, which heirs may have quite different; `first`
/// and `second` inherit both.
Catalog family(double spread = 1) {
  const Catalog root = context()
                           .catalog
                           .with_calibration(fmt::format(R"({{"part": "software", "constants": {{
      "gemm_speed": {{"value": 1, "source": "made up", "spread": {0}}},
      "elementwise_traffic": {{"value": 2, "source": "made up", "spread": {0}}}}}}})",
                                                         spread),
                                             "root.json", "root")
                           .first;
  const char* heir = R"({"part": "software", "inherits": "root", "constants": {}})";
  return root.with_calibration(heir, "first.json", "first")
      .first.with_calibration(heir, "second.json", "second")
      .first;
}

TableContext family_context(Catalog catalog) { return {std::move(catalog), menus(), context().overrides}; }

/// Runs of `stack`, measured as simulated with `truth`, `slower` times as long.
TableText runs_of(const std::string& stack, const std::map<std::string, double>& truth, double slower = 1) {
  const TableContext real = family_context(with_constants(family(), stack, truth));
  std::string text = kHeader;
  Simulator simulator;
  for (const char* model : {"gpt3-125m", "gpt3-350m", "gpt3-760m"}) {
    for (const int batch : {2, 4, 8}) {
      const std::string row =
          fmt::format("{} {},{},dgx-a100-80gb,1,1,1,{},{},", model, batch, model, batch, stack);
      const MeasuredTable one = read_measured_table(kHeader + row + "1\n", "t.csv", real);
      const Prediction run = predict(one.rows[0].experiment, one.keys, simulator);
      text += fmt::format("{}{}\n", row, slower * run.figures.find("step_time_s")->second);
    }
  }
  return {stack + ".csv", text};
}

std::size_t variable(const JointProblem& problem, const std::string& base, const std::string& name) {
  for (std::size_t j = 0; j < problem.fit.variables.size(); ++j) {
    const FitVariable& v = problem.fit.variables[j];
    if (v.base == base && v.constant.name == name) return j;
  }
  FAIL("no such variable");
  return 0;
}

const std::map<std::string, double> kFast{{"gemm_speed", 1.1}, {"elementwise_traffic", 1.5}};
const std::map<std::string, double> kSlow{{"gemm_speed", 0.95}, {"elementwise_traffic", 2.5}};

}  // namespace

TEST_CASE("stacks that differ get their own constants, and what they share lies between") {
  const JointProblem problem =
      make_joint_problem({runs_of("first", kFast), runs_of("second", kSlow)}, family_context(family()));
  REQUIRE(problem.fit.rows.size() == 18);
  REQUIRE(problem.fit.variables.size() == 6);  // two constants of root, first and second
  CHECK(problem.heritage[variable(problem, "root", "gemm_speed")].is_root());
  const Prior& first = problem.heritage[variable(problem, "first", "gemm_speed")];
  CHECK(first.parent == variable(problem, "root", "gemm_speed"));
  CHECK(first.spread == 1);

  const JointFit fit = fit_jointly(problem, 2);
  const auto value = [&](const char* base, const char* name) {
    return fit.values[variable(problem, base, name)];
  };
  // Each stack has 9 exact rows, so the pull of the spread is small beside them.
  CHECK(value("first", "gemm_speed") == doctest::Approx(1.1).epsilon(0.06));
  CHECK(value("second", "gemm_speed") == doctest::Approx(0.95).epsilon(0.06));
  CHECK(value("first", "elementwise_traffic") == doctest::Approx(1.5).epsilon(0.15));
  CHECK(value("second", "elementwise_traffic") == doctest::Approx(2.5).epsilon(0.15));
  CHECK(value("root", "gemm_speed") > 0.97);
  CHECK(value("root", "gemm_speed") < 1.08);
  CHECK(fit.loss < fit.base_loss / 4);
  CHECK(fit_jointly(problem, 1).values == fit.values);  // whatever the number of threads

  const auto texts = calibration_texts(family(), problem, fit);
  const auto json = nlohmann::json::parse(texts.at("first"));
  CHECK(json["constants"]["gemm_speed"]["source"] ==
        "fitted together with its kin (orrery calibrate --together): 9 rows of first");
  CHECK(json["constants"]["gemm_speed"]["standard_error"].get<double>() > 0);
}

TEST_CASE("rows left out have no part in what is predicted for them") {
  const auto left_out_by_stack = [](double slower) {
    const JointProblem problem = make_joint_problem(
        {runs_of("first", kFast), runs_of("second", kSlow, slower)}, family_context(family()));
    return left_out_rows(problem, {LeftOut::stack}, 2).front();
  };
  const LeftOutRows rows = left_out_by_stack(1);
  const LeftOutRows twice = left_out_by_stack(2);
  REQUIRE(rows.ratios.size() == 18);
  for (std::size_t i = 9; i < 18; ++i) {
    CHECK(rows.groups[i] == "second");
    // Measured times twice as long leave the prediction, ratio x measured, as it was.
    CHECK(2 * twice.ratios[i] == doctest::Approx(rows.ratios[i]).epsilon(1e-9));
  }
}

TEST_CASE("a stack without rows of its own is predicted with what it inherits") {
  // Heirs are much alike, so the other stack alone moves the root, and the one left out lies where the root
  // lies.
  const JointProblem both =
      make_joint_problem({runs_of("first", kFast), runs_of("second", kFast)}, family_context(family(0.05)));
  const LeftOutRows rows = left_out_rows(both, {LeftOut::stack}, 2).front();
  double inherited = 0, base = 0;
  const JointFit fit = fit_jointly(both, 2);
  for (std::size_t i = 0; i < rows.ratios.size(); ++i) {
    inherited += std::abs(rows.ratios[i] - 1) / 18;
    base += std::abs(fit.base_ratios[i] - 1) / 18;
  }
  CHECK(base > 0.03);
  CHECK(inherited < base / 2);
}

TEST_CASE("a pinned constant and one that is 0 are not fitted") {
  const Catalog pinned = family()
                             .with_calibration(R"({"part": "software", "inherits": "root", "constants": {
      "gemm_speed": {"value": 1.05, "source": "known", "pinned": true}}})",
                                               "first.json", "first")
                             .first
                             .with_calibration(R"({"part": "software", "inherits": "first",
      "constants": {}})",
                                               "second.json", "second")
                             .first;
  const JointProblem problem =
      make_joint_problem({runs_of("first", kFast), runs_of("second", kFast)}, family_context(pinned));
  for (const FitVariable& v : problem.fit.variables)
    CHECK_FALSE((v.base == "first" && v.constant.name == "gemm_speed"));
  const Prior& heir = problem.heritage[variable(problem, "second", "gemm_speed")];
  CHECK_FALSE(heir.parent.has_value());
  CHECK(heir.parent_value == 1.05);
}

// The root starts at 2 and its heirs may have 1.8 at most; the truth is 1.5.
TEST_CASE("a value outside its bounds starts at the nearer one, and the output says so") {
  const Catalog outside = family()
                              .with_calibration(R"({"part": "software", "constants": {
      "gemm_speed": {"value": 1, "source": "made up", "spread": 1},
      "elementwise_traffic": {"value": 2, "source": "made up", "spread": 1, "maximum": 1.8}}})",
                                                "root.json", "root")
                              .first;
  const JointProblem problem = make_joint_problem({runs_of("first", kFast)}, family_context(outside));
  const JointFit fit = fit_jointly(problem, 2);
  CHECK(fit.rounds > 1);
  CHECK(fit.loss < fit.base_loss);
  CHECK(fit.values[variable(problem, "first", "elementwise_traffic")] == doctest::Approx(1.5).epsilon(0.15));
  std::string text;
  write_joint_text(problem, fit, [&](std::string_view part) { text += part; });
  CHECK(text.find("warning: first: software.elementwise_traffic is 2, allowed 1 to 1.8: the fit starts at") !=
        std::string::npos);
}

TEST_CASE("the ranges of a calibration come from rows left out, its domain from its rows") {
  const TableContext made = family_context(family());
  const JointProblem problem = make_joint_problem({runs_of("first", kFast), runs_of("second", kSlow)}, made);
  const auto rows = left_out_rows(problem, kAllLeftOut, 2);
  const auto texts =
      with_ranges(calibration_texts(made.catalog, problem, fit_jointly(problem, 2)), problem, rows);
  const auto first = nlohmann::json::parse(texts.at("first"));
  CHECK(first["domain"]["gpu"].size() == 1);
  CHECK(first["domain"]["gpus"] == nlohmann::json({1.0, 1.0}));
  CHECK(first["domain"]["seq_length"] == nlohmann::json({64.0, 64.0}));
  CHECK(first["constants"]["error_p10_one_node"]["value"].get<double>() <=
        first["constants"]["error_p90_one_node"]["value"].get<double>());
  const auto root = nlohmann::json::parse(texts.at("root"));
  CHECK(root["domain"]["parameters_b"][1].get<double>() > 0.7);
  CHECK(root["constants"].contains("error_p90_new_stack"));
  CHECK_FALSE(root["constants"].contains("error_p90_new_fabric"));  // all rows are on one node
  const auto summary = left_out_groups(problem, rows[1]);
  REQUIRE(summary.size() == 3);
  CHECK(summary[2].group == "all");
  CHECK(summary[2].errors.rows == 18);
}
