// Lists the figures of a row by name, for CSV, JSON and charts. Internal to studies/compare/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/compare/compare.hpp"

namespace orrery {

struct NamedFigure {
  std::string name;
  std::optional<double> value;
};

/// Figures of the comparison itself, always the same names: communication_s, speed_up, ...
[[nodiscard]] std::vector<NamedFigure> own_figures(const ComparedRow& row);

/// Returns own_figures() and the numbers of the result under their dotted keys, without those about the
/// simulator itself. Figures that compare with another row's result are missing in a row without one.
[[nodiscard]] std::vector<NamedFigure> all_figures(const ComparedRow& row);

}  // namespace orrery
