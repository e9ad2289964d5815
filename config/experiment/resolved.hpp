// Writes a whole experiment as a document: every key with its value, and where the value came from. For
// config/ and whatever hands an experiment on key by key.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "config/catalog/locate.hpp"
#include "config/schema/menus.hpp"
#include "orrery/experiment.hpp"

namespace orrery {

/// JSON with a comment behind each value: the line of the text, the command line, an entry of the catalog, or
/// nothing for a default. Reading it gives an equal experiment. `cluster`: the cluster's keys, bases
/// resolved.
std::string resolved_document(const Experiment& experiment, const Json& cluster, const Origins& origins,
                              const Menus& menus);

/// Returns the same keys as values, in the order of the tables: all but the cluster and those of studies.
/// Keys that are off are missing.
nlohmann::ordered_json resolved_keys(const Experiment& experiment, const Menus& menus);

}  // namespace orrery
