#include "studies/calibrate/calibrate.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "config/schema/menus.hpp"
#include "orrery/error.hpp"
#include "studies/calibrate/fit_errors.hpp"
#include "tests/studies/calibrate/fits.hpp"

using namespace orrery;
using namespace orrery::calibration_test;

namespace {

const std::map<std::string, double> kTruth{{"elementwise_traffic", 3.3}, {"forward_issue_us", 11.5}};

FitRequest request(const TableText& text) {
  return {{text}, {"made"}, {"software.elementwise_traffic", "software.forward_issue_us"}, {}};
}

std::string refusal(const FitRequest& wrong) {
  try {
    static_cast<void>(make_fit_problem(wrong, context()));
    return "";
  } catch (const InputError& error) {
    return error.diagnostics().front().text();
  }
}

}  // namespace

TEST_CASE("known constants are recovered, and the same seed writes the same bytes") {
  const FitProblem problem = make_fit_problem(request(table(kTruth)), context());
  REQUIRE(problem.rows.size() == 8);
  CHECK(problem.variables[0].bounds.low == 1);  // as the calibration says
  CHECK(problem.variables[1].bounds.high == 80);
  FitOptions options;
  options.folds = 2;
  options.threads = 2;
  const Fit fit = calibrate(problem, options);
  CHECK(fit.constants[0].value == doctest::Approx(3.3).epsilon(0.01));
  CHECK(fit.constants[1].value == doctest::Approx(11.5).epsilon(0.01));
  CHECK(fit.constants[0].identifiable);
  CHECK(fit.constants[1].identifiable);
  const FitErrors errors = fit_errors(fit, [](const FitRow&) { return true; });
  CHECK(errors.base.mean > 0.04);
  CHECK(errors.fitted.worst < 0.005);
  REQUIRE(errors.held_out.has_value());
  CHECK(errors.held_out->worst < 0.02);

  const std::string text = calibration_text(context().catalog, "made", fit);
  options.threads = 1;
  CHECK(calibration_text(context().catalog, "made", calibrate(problem, options)) == text);

  // The file contains the values of the fit.
  const auto json = nlohmann::json::parse(text);
  CHECK(json["constants"]["elementwise_traffic"]["value"] == fit.constants[0].value);
  CHECK(json["constants"]["elementwise_traffic"]["source"] == "fitted on t (8 rows)");
  CHECK_FALSE(json["constants"].contains("error_p90_one_node"));  // 8 rows do not tell a decile
  CHECK(json["domain"]["gpus"] == nlohmann::json({1.0, 1.0}));
  CHECK(json["fit"]["rows"].size() == 8);
  const auto [catalog, name] = context().catalog.with_calibration(text, "made.json", "made");
  const TableContext fitted{catalog, menus(), context().overrides};
  const auto results = validate({read_measured_table(table(kTruth).text, "t.csv", fitted)}, 2);
  CHECK(results[0].main()->mean_abs_error == doctest::Approx(errors.fitted.mean).epsilon(1e-9));
}

TEST_CASE("a fit under flows, which keeps nothing from row to row, finds the same constants") {
  TableContext flows = context();
  flows.overrides.back() =
      "simulation.network=flow";  // one GPU: no transfers, so the measured times are the same
  const FitProblem problem = make_fit_problem(request(table(kTruth)), flows);
  const Fit fit = calibrate(problem, {});
  const Fit kept = calibrate(make_fit_problem(request(table(kTruth)), context()), {});
  for (std::size_t i = 0; i < fit.constants.size(); ++i)
    CHECK(fit.constants[i].value == kept.constants[i].value);
}

TEST_CASE("a constant that does nothing is reported and keeps its value") {
  FitRequest asked = request(table(kTruth));
  asked.keys = {"software.elementwise_traffic", "software.collective_issue_us"};
  asked.bounds["software.collective_issue_us"] = {1, 100};  // one GPU has nothing to issue
  FitOptions options;
  options.folds = 0;
  options.evaluations = 30;
  const Fit fit = calibrate(make_fit_problem(asked, context()), options);
  CHECK(fit.constants[0].identifiable);
  CHECK_FALSE(fit.constants[1].identifiable);
  CHECK(fit.constants[1].value == 0);
  std::string text;
  write_fit_text(fit, [&](std::string_view part) { text += part; });
  CHECK(text.find("software.collective_issue_us is not identifiable") != std::string::npos);
}

TEST_CASE("rows belong to a calibration when they take a constant from it") {
  const TableText other = table(kTruth, "ideal");
  CHECK(refusal(request(other)).find("no row with a measured step time takes") != std::string::npos);
  // Through another calibration that inherits it.
  TableContext heirs = context();
  heirs.catalog = heirs.catalog
                      .with_calibration(R"({"part": "software", "inherits": "made", "constants": {
      "forward_issue_us": {"value": 1, "source": "its own"}}})",
                                        "heir.json", "heir")
                      .first;
  TableText text = table(kTruth);
  text.text += "heir,gpt3-125m,dgx-a100-80gb,1,1,1,1,heir,1\n";
  const FitProblem problem = make_fit_problem(request(text), heirs);
  REQUIRE(problem.rows.size() == 9);
  CHECK(problem.rows[8].takes == std::vector<bool>{true, false});
}

TEST_CASE("what cannot be fitted is refused") {
  const TableText text = table(kTruth);
  const auto with = [&](auto change) {
    FitRequest asked = request(text);
    change(asked);
    return refusal(asked);
  };
  const auto has = [](const std::string& message, const char* words) {
    CAPTURE(message);
    CHECK(message.find(words) != std::string::npos);
  };
  has(with([](FitRequest& r) { r.bases = {"mad"}; }), "did you mean \"made\"?");
  has(with([](FitRequest& r) { r.keys = {"software.forward_issue"}; }), "did you mean");
  has(with([](FitRequest& r) { r.keys = {"software.flash_version"}; }), "no number that small steps");
  has(with([](FitRequest& r) { r.keys = {"cluster.gpu.sustained_clock"}; }), "calibrations of part gpu");
  has(with([](FitRequest& r) { r.keys = {"software.pass_overhead_us"}; }), "give --bounds");
  has(with([](FitRequest& r) { r.keys.push_back(r.keys[0]); }), "twice");
  has(with([](FitRequest& r) {
        r.bounds["software.elementwise_traffic"] = {0, 5};
      }),
      "allowed 1 to 6 (1: every chain of elementwise operations is one kernel");
  has(with([](FitRequest& r) { r.bounds["software.tensor_overlap"] = {0, 1}; }), "which is not fitted");
}
