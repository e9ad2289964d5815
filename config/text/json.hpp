// Declares the JSON value used inside config/. Never included by a public header: it costs a second to
// compile.
#pragma once

#include <nlohmann/json.hpp>

namespace orrery {

using Json = nlohmann::json;

}  // namespace orrery
