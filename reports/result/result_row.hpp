// Lists the scalars of a result with their types, for tables that are no text, such as databases.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "orrery/write.hpp"

namespace orrery {

/// Holds no value, a flag, a count, a number or a text.
using ResultScalar = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// The keys of a selection that have a place in a row, in order.
[[nodiscard]] std::vector<std::string_view> row_names(const ResultSelection& keys);

/// The values of row_names(); nothing where the report does not have one. Lists of texts are one text, as in
/// CSV.
[[nodiscard]] std::vector<ResultScalar> result_row(const Report& report, const ResultSelection& keys);

/// Returns the keys of a row that are equal for equal experiments on any machine, take no runs of their own,
/// and are no sentences.
[[nodiscard]] std::vector<std::string> lasting_row_names();

}  // namespace orrery
