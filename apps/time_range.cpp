#include "apps/time_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "config/text/wording.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

constexpr double kMostPs = 9e18;
constexpr std::array<std::pair<std::string_view, double>, 6> kUnits{
    {{"s", 1e12}, {"ms", 1e9}, {"us", 1e6}, {"ns", 1e3}, {"%", 0}, {"", -1}}};  // -1: none given

std::optional<TimeRange::End> parse_end(std::string_view text) {
  TimeRange::End end;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), end.value);
  std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [name, ps] : kUnits) {
    if (error != std::errc() || unit != name || !(end.value >= 0)) continue;
    end.unit_ps = ps;
    if (end.value * (ps > 0 ? ps : 1) > kMostPs) return {};
    return end;
  }
  return {};
}

[[noreturn]] void refuse_range(const std::string& text, const std::string& option) {
  throw InputError(
      {Diagnostic{"command line", 0, 0, "",
                  fmt::format("{}: found {}, allowed FROM..TO with units s, ms, us, ns or %, such as "
                              "0.5..2s, 250..300ms, 50%.. or ..10%",
                              option, quote(text))}});
}

Picoseconds time_of(const TimeRange::End& end, Picoseconds makespan_ps) {
  const double unit = end.unit_ps > 0 ? end.unit_ps : static_cast<double>(makespan_ps) / 100;
  return static_cast<Picoseconds>(std::floor(std::min(end.value * unit, kMostPs) + 0.5));
}

}  // namespace

Picoseconds TimeRange::from_ps(Picoseconds makespan_ps) const { return time_of(from, makespan_ps); }

Picoseconds TimeRange::to_ps(Picoseconds makespan_ps) const {
  return to_the_end ? 0 : std::max<Picoseconds>(1, time_of(to, makespan_ps));
}

TimeRange parse_time_range(const std::string& text, const std::string& option) {
  TimeRange range;
  if (text.empty()) return range;
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos || text.size() == 2) refuse_range(text, option);
  const std::string first = text.substr(0, dots);
  const std::string second = text.substr(dots + 2);
  const auto from = parse_end(first.empty() ? "0s" : first);
  const auto to = parse_end(second.empty() ? "0s" : second);
  if (!from || !to) refuse_range(text, option);
  range = {*from, *to, second.empty()};
  if (range.to.unit_ps < 0) range.to.unit_ps = kUnits[0].second;
  if (range.from.unit_ps < 0) range.from.unit_ps = second.empty() ? kUnits[0].second : range.to.unit_ps;
  const bool alike = (range.from.unit_ps == 0) == (range.to.unit_ps == 0);
  const auto size = [](const TimeRange::End& end) { return end.value * (end.unit_ps > 0 ? end.unit_ps : 1); };
  if (!range.to_the_end && (alike ? size(range.to) <= size(range.from) : range.to.value == 0))
    refuse_range(text, option);
  return range;
}

}  // namespace orrery
