// Solves --solve in a row of a comparison: it simulates the experiment with other values of a key. Internal
// to studies/compare/.
#pragma once

#include <string>
#include <vector>

#include "studies/compare/compare.hpp"

namespace orrery {

/// @throws InputError unless the key exists and is not varied too.
void check_solved_key(const ComparisonRequest& request);

/// The value of the key in the experiment with `overrides`. @throws InputError as solve(), where the
/// experiment is wrong, its key has no number, or there is no such figure.
[[nodiscard]] std::string solve_row(const ComparisonRequest& request, const ExperimentText& experiment,
                                    const std::vector<std::string>& overrides);

}  // namespace orrery
