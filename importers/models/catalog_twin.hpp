// Compares a model of a file with the one of the catalog that it seems to be.
#pragma once

#include <string>
#include <string_view>

#include "config/catalog/catalog.hpp"
#include "importers/models/model_reading.hpp"

namespace orrery::importers::models {

/// Compares the model with the entry of the catalog that has its sizes or its name, and names it after one
/// that is the same. @returns in what they differ, in words; "" where there is none
/// @param called  what the file calls itself; "" where it does not
std::string compare_with_twin(ModelReading& reading, const Catalog& catalog, std::string_view called);

}  // namespace orrery::importers::models
