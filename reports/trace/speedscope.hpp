// Writes speedscope's own format.
#pragma once

#include <string_view>

#include "orrery/write.hpp"
#include "reports/trace/source.hpp"

namespace orrery {

TraceInfo write_speedscope(TraceSource& source, std::string_view metadata_json, const Sink& sink);

}  // namespace orrery
