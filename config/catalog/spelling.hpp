// Names of the catalog however people write them.
#pragma once

#include <span>
#include <string_view>

namespace orrery {

/// The one of `known` that `name` is, upper and lower case, hyphens, dots and blanks aside, without the owner
/// of a model of Hugging Face and the end of its name that tells a checkpoint: RTX 4090,
/// meta-llama/Llama-3.1-70B-Instruct. "" where it is none or several.
[[nodiscard]] std::string_view spelled_otherwise(std::string_view name,
                                                 std::span<const std::string_view> known);

}  // namespace orrery
