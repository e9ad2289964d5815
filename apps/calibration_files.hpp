// Declares --calibration FILE, which adds calibrations to those of the catalog.
#pragma once

#include <string>
#include <vector>

#include "config/catalog/calibration_files.hpp"

namespace CLI {
class App;
}

namespace orrery {

/// Adds the option; `files` must live as long as `app`.
void add_calibration_files(CLI::App& app, std::vector<std::string>& files);

}  // namespace orrery
