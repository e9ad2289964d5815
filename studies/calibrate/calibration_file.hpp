// Reads and writes calibrations as files: the entry of a constant, a calibration with other constants, and
// the one that a fit writes.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "config/catalog/catalog.hpp"
#include "config/catalog/constants.hpp"
#include "studies/calibrate/calibrate.hpp"
#include "studies/calibrate/fit_files.hpp"
#include "studies/calibrate/joint_fit.hpp"

namespace orrery {

struct CalibratedValue {
  double value = 0;
  std::optional<double> minimum;  ///< where a fit may go, if the calibration says so
  std::optional<double> maximum;
};

/// The value that `calibration`, or one it inherits from, gives `constant`; else its default.
[[nodiscard]] CalibratedValue calibrated_value(const Catalog& catalog, const std::string& calibration,
                                               const Constant& constant);

/// `catalog` with other values of constants, by name, in `calibration`.
[[nodiscard]] Catalog with_constants(const Catalog& catalog, const std::string& calibration,
                                     const std::map<std::string, double>& values);

/// The text of `base` with its constants fitted and an account of the fit, for catalog/calibrations.
/// @param origin  written where its version is known
[[nodiscard]] std::string calibration_text(const Catalog& catalog, const std::string& base, const Fit& fit,
                                           const FitOrigin& origin = {});

/// The texts of the calibrations that a joint fit changes, by name.
[[nodiscard]] std::map<std::string, std::string> calibration_texts(const Catalog& catalog,
                                                                   const JointProblem& problem,
                                                                   const JointFit& fit);

}  // namespace orrery
