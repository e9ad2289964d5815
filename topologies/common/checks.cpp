#include "topologies/common/checks.hpp"

#include <cmath>
#include <iomanip>
#include <sstream>

#include "orrery/error.hpp"
#include "orrery/topology.hpp"

namespace orrery {

std::string number_text(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

namespace {

std::string gigabytes_text(double bytes) {
  std::ostringstream out;
  out << std::setprecision(2) << bytes * 1e-9 << " GB";
  return out.str();
}

}  // namespace

void check_link_count(std::int64_t links, const char* pointer) {
  if (links <= kMaxLinks) return;
  throw InputError(pointer, "found a cluster of " + std::to_string(links) + " links, which take about " +
                                gigabytes_text(static_cast<double>(links) * kBytesPerLink) +
                                " to simulate; allowed are at most " + std::to_string(kMaxLinks));
}

void check_memory(std::int64_t gpus, std::int64_t links) {
  const double bytes = static_cast<double>(links) * kBytesPerLink + static_cast<double>(gpus) * kBytesPerGpu;
  if (bytes <= kMaxClusterBytes) return;
  throw InputError("/cluster/nodes", "found a cluster of " + std::to_string(gpus) + " GPUs and " +
                                         std::to_string(links) + " links, which take about " +
                                         gigabytes_text(bytes) + " to simulate; allowed are at most " +
                                         gigabytes_text(kMaxClusterBytes));
}

void check_range(const std::string& pointer, std::int64_t value, std::int64_t first, std::int64_t last) {
  if (value >= first && value <= last) return;
  throw InputError(pointer, "found " + std::to_string(value) + "; allowed are " + std::to_string(first) +
                                " to " + std::to_string(last));
}

namespace {

void check_share(double share, const std::string& pointer) {
  if (share > 0 && share <= 1) return;
  throw InputError(pointer, "found " + number_text(share) + "; allowed is a share above 0, at most 1");
}

}  // namespace

std::int64_t link_rate(double bytes_per_s, double efficiency, const std::string& section,
                       const std::string& field) {
  check_share(efficiency, section + "/efficiency");
  const double rate = bytes_per_s * efficiency;
  if (!(rate >= 0.5 && rate <= static_cast<double>(kMaxLinkBytesPerS))) {
    throw InputError(section + "/" + field, "found a bandwidth of " + number_text(rate) +
                                                " bytes/s per link; allowed are 1 to 7e13");
  }
  return std::llround(rate);
}

CollectiveOverhead collective_overhead(double base_latency_us, double ramp_us, double ramp_efficiency,
                                       const std::string& section) {
  check_share(ramp_efficiency, section + "/ramp_efficiency");
  return {link_latency(base_latency_us, section + "/base_latency_us"),
          link_latency(ramp_us, section + "/ramp_us"), std::llround((1 / ramp_efficiency - 1) * 1e6)};
}

Picoseconds link_latency(double microseconds, const std::string& pointer) {
  if (!(microseconds >= 0 && microseconds <= 1e9)) {
    throw InputError(pointer, "found " + number_text(microseconds) + "; allowed are 0 to 1e9");
  }
  return from_microseconds(microseconds);
}

}  // namespace orrery
