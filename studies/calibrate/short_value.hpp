// Figures in files: no more digits than are of use.
#pragma once

#include <fmt/format.h>

#include <cstdlib>

namespace orrery {

[[nodiscard]] inline double short_value(double value, int digits = 4) {
  return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
}

}  // namespace orrery
