// Keys of files of Hugging Face that change nothing that is simulated, with the reason.
#pragma once

#include <string>
#include <string_view>

namespace orrery::importers::models {

/// Returns why a key changes nothing; "" for a key that is not known.
[[nodiscard]] std::string_view reason_to_ignore(std::string_view key);

/// Returns the part that a key stands in whose keys are reported together, such as vision_config; "" for
/// none.
[[nodiscard]] std::string_view part_of(std::string_view key);
[[nodiscard]] std::string_view reason_to_ignore_part(std::string_view part);

}  // namespace orrery::importers::models
