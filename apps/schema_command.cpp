#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "apps/commands.hpp"
#include "apps/option_checks.hpp"
#include "config/experiment/schema.hpp"
#include "config/schema/menus.hpp"
#include "sim/run/run.hpp"

namespace orrery {

Command add_schema(CLI::App& app, const CommonOptions& /*common*/) {
  auto what = std::make_shared<std::string>("experiment");
  app.add_option("what", *what, "model, cluster, experiment or calibration")
      ->check(one_of({"model", "cluster", "experiment", "calibration"}));
  return [what] {
    std::printf("%s\n", json_schema(*what, menus()).c_str());
    return kDone;
  };
}

}  // namespace orrery
