// Writes Chrome Trace Event JSON.
#pragma once

#include <string_view>

#include "orrery/write.hpp"
#include "reports/trace/source.hpp"

namespace orrery {

/// @param metadata_json  an object that viewers show
TraceInfo write_chrome_trace(TraceSource& source, std::string_view metadata_json, const Sink& sink);

}  // namespace orrery
