// Converts the domain of a calibration from and to its file.
#pragma once

#include <string>

#include "orrery/calibration_domain.hpp"

namespace orrery {

/// An object of lists of names and of [least, largest], as JSON text.
[[nodiscard]] std::string domain_text(const CalibrationDomain& domain);

}  // namespace orrery
