// Checks shared by the builders, and the conversion of specified rates to whole bytes per second.
#pragma once

#include <cstdint>
#include <string>

#include "orrery/topology.hpp"
#include "orrery/units.hpp"

namespace orrery {

/// Most links a topology may have.
inline constexpr std::int64_t kMaxLinks = std::int64_t{1} << 24;
/// Approximate bytes that a simulation of the cluster holds per link, as measured on full meshes and on
/// clusters of up to 500,000 GPUs, and the limit on their sum.
inline constexpr double kBytesPerLink = 250;
inline constexpr double kBytesPerGpu = 1700;
inline constexpr double kMaxClusterBytes = 6e9;

/// Most nodes, GPUs, NICs or children there may be; doubles of them stay within 32 bits.
inline constexpr std::int64_t kMaxCount = std::int64_t{1} << 31;

/// Product of two numbers >= 0, or 2^62 where it is larger than that.
[[nodiscard]] constexpr std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 62;
  const Int128 product = static_cast<Int128>(a) * b;
  return product > kLimit ? kLimit : static_cast<std::int64_t>(product);
}

/// A number as a person would write it, for messages.
[[nodiscard]] std::string number_text(double value);

/// @throws InputError at `pointer` for more than kMaxLinks.
void check_link_count(std::int64_t links, const char* pointer = "/cluster/nodes");

/// @throws InputError at /cluster/nodes if a simulation of them needs more than kMaxClusterBytes.
void check_memory(std::int64_t gpus, std::int64_t links);

/// @throws InputError unless first <= value <= last.
void check_range(const std::string& pointer, std::int64_t value, std::int64_t first, std::int64_t last);

/// round(bytes_per_s * efficiency); `section`/`field` is where the rate was written.
/// @throws InputError unless the result is at least 1 and the efficiency within (0, 1].
[[nodiscard]] std::int64_t link_rate(double bytes_per_s, double efficiency, const std::string& section,
                                     const std::string& field);

/// Overhead of the collectives on links of one kind; `section` has the fields of these names.
/// @throws InputError unless times are 0 to 1e9 and the share is within (0, 1].
[[nodiscard]] CollectiveOverhead collective_overhead(double base_latency_us, double ramp_us,
                                                     double ramp_efficiency, const std::string& section);

/// @throws InputError unless 0 <= microseconds <= 1e9.
[[nodiscard]] Picoseconds link_latency(double microseconds, const std::string& pointer);

}  // namespace orrery
