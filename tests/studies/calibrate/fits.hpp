// Tables of runs that were simulated with known constants.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "config/schema/menus.hpp"
#include "sim/run/run.hpp"
#include "studies/calibrate/calibrate.hpp"
#include "studies/calibrate/calibration_file.hpp"
#include "studies/validate/validate.hpp"

namespace orrery::calibration_test {

/// The built-in catalog and a calibration "made" that has the constants of these tests.
inline const TableContext& context() {
  static const TableContext made{
      Catalog::embedded()
          .with_calibration(R"({"part": "software", "summary": "made up", "constants": {
            "forward_issue_us": {"value": 4, "source": "made up"},
            "elementwise_traffic": {"value": 2, "source": "made up", "minimum": 1, "maximum": 5}}})",
                            "made.json", "made")
          .first,
      menus(),
      {"plan.global_batch_size=8", "model.seq_length=64", "simulation.network=alpha-beta"}};
  return made;
}

inline constexpr const char* kHeader =
    "name,model,cluster.base,cluster.nodes,cluster.gpus_per_node,plan.data_parallel,plan.micro_batch_size,"
    "stack,"
    "measured.step_time_s\n";

/// Eight small runs of stack `stack`, measured as simulated with `truth` in place of made's constants.
inline TableText table(const std::map<std::string, double>& truth, const std::string& stack = "made") {
  const TableContext real{with_constants(context().catalog, "made", truth), menus(), context().overrides};
  std::string text = kHeader;
  Simulator simulator;
  for (const char* model : {"gpt3-125m", "gpt3-350m"}) {
    for (const int batch : {1, 2, 4, 8}) {
      const std::string row =
          fmt::format("{} {},{},dgx-a100-80gb,1,1,1,{},{},", model, batch, model, batch, stack);
      const MeasuredTable one = read_measured_table(kHeader + row + "1\n", "t.csv", real);
      const Prediction run = predict(one.rows[0].experiment, one.keys, simulator);
      const double measured = run.figures.find("step_time_s")->second;
      text += fmt::format("{}{}\n", row, measured);
    }
  }
  return {"t.csv", text};
}

}  // namespace orrery::calibration_test
