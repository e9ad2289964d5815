#include "apps/calibration_files.hpp"

#include <CLI/CLI.hpp>

#include "apps/option_checks.hpp"

namespace orrery {

void add_calibration_files(CLI::App& app, std::vector<std::string>& files) {
  app.add_option("--calibration", files,
                 "A calibration file that stack and calibration keys may name, as orrery calibrate writes; "
                 "repeatable")
      ->type_name(kFile)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace orrery
