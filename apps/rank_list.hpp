// Lists of numbers on the command line, such as 0-7,64.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// The numbers of `text`, ascending, each once; all must be below `limit`. Empty text: none.
/// @throws InputError naming `option`.
[[nodiscard]] std::vector<std::uint32_t> parse_number_list(const std::string& text, std::uint64_t limit,
                                                           const std::string& option);

}  // namespace orrery
