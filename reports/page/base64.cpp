#include "reports/page/base64.hpp"

#include <algorithm>
#include <cstddef>

namespace orrery {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t i) {
      return at + i < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i]))
                                   : 0U;
    };
    const std::uint32_t three = byte(0) << 16U | byte(1) << 8U | byte(2);
    const std::size_t digits = std::min<std::size_t>(bytes.size() - at, 3) + 1;
    for (std::size_t d = 0; d < 4; ++d) out += d < digits ? kDigits[three >> (18 - 6 * d) & 63U] : '=';
  }
  return out;
}

}  // namespace orrery
