#include "orrery/read.hpp"

#include "config/catalog/calibration_files.hpp"
#include "config/experiment/read_experiment.hpp"
#include "config/schema/menus.hpp"

namespace orrery {

Experiment read_experiment(const std::string& path, const ReadOptions& options) {
  return read_experiment_file(path, options.overrides, catalog_with(options.calibrations), menus())
      .experiment;
}

Experiment parse_experiment(std::string_view text, const ReadOptions& options, const std::string& source) {
  return read_experiment_text(text, source, options.overrides, catalog_with(options.calibrations), menus())
      .experiment;
}

}  // namespace orrery
