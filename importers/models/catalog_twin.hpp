// Compares a model of a file with the one of the catalog that it seems to be.
#pragma once

#include <string>
#include <string_view>

#include "config/catalog/catalog.hpp"
#include "importers/models/model_reading.hpp"

namespace orrery::importers::models {

/// Names the model after the entry of the catalog that has its name or its sizes, and says in what they
/// differ.
/// @param called  what the file calls itself; "" where it does not
void name_after_twin(ModelReading& reading, const Catalog& catalog, std::string_view called);

}  // namespace orrery::importers::models
