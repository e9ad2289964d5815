// Constants of memory, fitted to quantities of memory that were measured.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "config/schema/menus.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "studies/calibrate/calibrate.hpp"
#include "studies/calibrate/calibration_file.hpp"

using namespace orrery;

namespace {

const TableContext& memory_context() {
  static const TableContext made{
      Catalog::embedded()
          .with_calibration(R"({"part": "software", "summary": "made up", "constants": {
            "allocator_overhead": {"value": 0.1, "source": "made up", "minimum": 0, "maximum": 0.3},
            "framework_gb": {"value": 1, "source": "made up", "minimum": 0, "maximum": 5},
            "context_gb": {"value": 1, "source": "made up", "minimum": 0, "maximum": 5}}})",
                            "made.json", "made")
          .first,
      menus(),
      {"plan.global_batch_size=8", "model.seq_length=128"}};
  return made;
}

/// Eight runs whose allocated, reserved and used bytes are those of known constants.
TableText measured_memory(const std::map<std::string, double>& truth) {
  constexpr const char* kColumns =
      "name,model,cluster.base,cluster.nodes,cluster.gpus_per_node,plan.micro_batch_size,stack,"
      "measured.memory.peak_gb,measured.memory.reserved_gb,measured.memory.device_gb\n";
  const TableContext& context = memory_context();
  const TableContext real{with_constants(context.catalog, "made", truth), menus(), context.overrides};
  std::string text = kColumns;
  for (const char* model : {"gpt3-125m", "gpt3-350m"}) {
    for (const int batch : {1, 2, 4, 8}) {
      const std::string row = fmt::format("{} {},{},dgx-a100-80gb,1,1,{},made,", model, batch, model, batch);
      const MeasuredTable one = read_measured_table(kColumns + row + "1,1,1\n", "t.csv", real);
      const StageMemory memory = account_memory(one.rows[0].experiment).stage_memory[0];
      text += fmt::format("{}{},{},{}\n", row, static_cast<double>(memory.total()) / 1e9,
                          static_cast<double>(memory.reserved()) / 1e9,
                          static_cast<double>(memory.device()) / 1e9);
    }
  }
  return {"t.csv", text};
}

const std::map<std::string, double> kMemoryTruth{
    {"allocator_overhead", 0.08}, {"framework_gb", 0.6}, {"context_gb", 2.2}};
const std::vector<std::string> kMemoryKeys{"software.allocator_overhead", "software.framework_gb",
                                           "software.context_gb"};

}  // namespace

TEST_CASE("constants of memory are recovered from what was allocated, reserved and used") {
  const FitProblem problem =
      make_fit_problem({{measured_memory(kMemoryTruth)}, {"made"}, kMemoryKeys, {}}, memory_context());
  CHECK(problem.of_memory);
  REQUIRE(problem.rows.size() == 3 * 8);
  FitOptions options;
  options.folds = 2;
  options.threads = 1;
  const Fit fit = calibrate(problem, options);
  CHECK(fit.constants[0].value == doctest::Approx(0.08).epsilon(0.02));
  CHECK(fit.constants[1].value == doctest::Approx(0.6).epsilon(0.02));
  CHECK(fit.constants[2].value == doctest::Approx(2.2).epsilon(0.02));
  // Deciles of peaks, and none of times.
  const auto json = nlohmann::json::parse(calibration_text(memory_context().catalog, "made", fit));
  CHECK(json["constants"]["memory_error_p10"]["source"] == "held-out residuals of 24 peaks of t");
  CHECK_FALSE(json["constants"].contains("error_p10_one_node"));
}

TEST_CASE("constants of memory are not fitted beside constants of times") {
  std::vector<std::string> keys = kMemoryKeys;
  keys.emplace_back("software.gemm_speed");
  try {
    (void)make_fit_problem({{measured_memory(kMemoryTruth)}, {"made"}, keys, {}}, memory_context());
    FAIL("it was taken");
  } catch (const InputError& error) {
    CHECK(
        error.diagnostics().front().message ==
        "--fit: found software.allocator_overhead beside constants of times, allowed in a fit of their own");
  }
}
