#include "topologies/checks.hpp"

#include <cmath>
#include <sstream>

#include "orrery/error.hpp"
#include "orrery/topology.hpp"

namespace orrery {

std::string number_text(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

void check_link_count(std::int64_t links) {
  if (links <= kMaxLinks) return;
  throw InputError("/cluster/nodes", "the cluster needs " + std::to_string(links) + " links; at most " +
                                         std::to_string(kMaxLinks) + " are possible");
}

void check_range(const std::string& pointer, std::int64_t value, std::int64_t first, std::int64_t last) {
  if (value >= first && value <= last) return;
  throw InputError(pointer, "found " + std::to_string(value) + "; allowed are " + std::to_string(first) +
                                " to " + std::to_string(last));
}

std::int64_t link_rate(double bytes_per_s, double efficiency, const std::string& section,
                       const std::string& field) {
  if (!(efficiency > 0 && efficiency <= 1)) {
    throw InputError(section + "/efficiency",
                     "found " + number_text(efficiency) + "; allowed is a share above 0, at most 1");
  }
  const double rate = bytes_per_s * efficiency;
  if (!(rate >= 0.5 && rate <= static_cast<double>(kMaxLinkBytesPerS))) {
    throw InputError(section + "/" + field, "found a bandwidth of " + number_text(rate) +
                                                " bytes/s per link; allowed are 1 to 7e13");
  }
  return std::llround(rate);
}

Picoseconds link_latency(double microseconds, const std::string& pointer) {
  if (!(microseconds >= 0 && microseconds <= 1e9)) {
    throw InputError(pointer, "found " + number_text(microseconds) + "; allowed are 0 to 1e9");
  }
  return from_microseconds(microseconds);
}

}  // namespace orrery
