// Holds the tables of published runs that say what methods need in practice, beside what their bounds say.
// Used by studies/compare/.
#pragma once

#include "config/catalog/catalog.hpp"

namespace orrery {

/// The tables in catalog/practice/ as they were when the program was built: CSV texts by name.
CatalogFiles embedded_practice();

}  // namespace orrery
