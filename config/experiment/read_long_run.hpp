// Reads `run`. Internal to config/.
#pragma once

#include <string>
#include <vector>

#include "config/catalog/resolve.hpp"
#include "config/schema/read_fields.hpp"
#include "orrery/long_run.hpp"

namespace orrery {

LongRun read_long_run(const Json& value, const Path& path, Resolver& resolver, Scope& scope);

/// Reads a CSV file of failures in order of time, with the columns time_hours, component, and where it has
/// them node and repair_hours. `path` leads to its name; nothing after a finding.
std::vector<RecordedFailure> read_failure_trace(const std::string& file, const Path& path, Scope& scope);

}  // namespace orrery
