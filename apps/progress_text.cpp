#include <fmt/format.h>

#include "apps/progress.hpp"

namespace orrery {
namespace {

/// Seconds, minutes or hours, rounded.
std::string time_in_words(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  return seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

std::string rate_in_words(double per_second) {
  return per_second < 0.1 ? fmt::format("{:.2g} per minute", 60 * per_second)
                          : fmt::format("{:.{}f} per second", per_second, per_second < 99.5 ? 1 : 0);
}

}  // namespace

std::string progress_text(std::size_t done, std::size_t total, double seconds) {
  if (done == 0) return total == 0 ? time_in_words(seconds) : fmt::format("0 of {}", total);
  const double per_second = static_cast<double>(done) / seconds;
  const std::string rate = rate_in_words(per_second);
  if (total == 0) return fmt::format("{} done, {}", done, rate);
  const double left = static_cast<double>(total - done) / per_second;
  return fmt::format("{} of {}, {}, {} left", done, total, rate, time_in_words(left));
}

}  // namespace orrery
