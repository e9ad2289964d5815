// Reads the text of a calibration and checks it against the field tables. Internal to config/.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/catalog/catalog_data.hpp"
#include "config/schema/field.hpp"

namespace orrery {

/// Returns the parts that a calibration can describe.
std::span<const std::string_view> calibrated_parts();

/// The fields of `part` that a calibration may give: its numbers, integers and flags.
std::vector<FieldInfo> calibrated_fields(std::string_view part);

struct NamedCalibration {
  std::string name;  ///< its key `name`; may be empty
  CatalogEntry entry;
};

/// Throws InputError with all problems, by line and column. Whether `inherits` is known is found on use.
NamedCalibration read_calibration(std::string_view text, const std::string& source);

}  // namespace orrery
