// Writes Perfetto's native form.
#pragma once

#include <string_view>

#include "orrery/write.hpp"
#include "reports/trace/source.hpp"

namespace orrery {

/// @param metadata_json  kept in the trace's metadata table as cr-orrery
TraceInfo write_perfetto_trace(TraceSource& source, std::string_view metadata_json, const Sink& sink);

}  // namespace orrery
