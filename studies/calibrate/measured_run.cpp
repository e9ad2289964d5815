#include "studies/calibrate/measured_run.hpp"

#include <filesystem>

#include "config/experiment/read_experiment.hpp"

namespace orrery {

MeasuredTable read_measured_run(const MeasuredRun& run, const TableContext& context) {
  const std::string& source = run.experiment.source;
  MeasuredTable table;
  table.name = std::filesystem::path(source).stem().string();
  table.source = source;
  MeasuredRow row;
  row.experiment =
      read_experiment_text(run.experiment.text, source, context.overrides, context.catalog, context.menus)
          .experiment;
  row.name = row.experiment.name.empty() ? table.name : row.experiment.name;
  row.model_key = row.experiment.model.name.empty() ? source : row.experiment.model.name;
  for (const auto& [key, value] : run.figures) {
    table.keys.push_back(key);
    row.measured.push_back({key, value});
  }
  table.rows.push_back(std::move(row));
  return table;
}

}  // namespace orrery
