// Makes a row of a fit of an experiment and what was measured of it, where there is no table.
#pragma once

#include <map>
#include <string>

#include "studies/validate/measured_table.hpp"

namespace orrery {

/// An experiment as text, and figures of a run of it by their keys of the result.
struct MeasuredRun {
  TableText experiment;
  std::map<std::string, double> figures;
};

/// Returns a table of the one row, named after the experiment's file.
/// @throws InputError as reading the experiment does
[[nodiscard]] MeasuredTable read_measured_run(const MeasuredRun& run, const TableContext& context);

}  // namespace orrery
