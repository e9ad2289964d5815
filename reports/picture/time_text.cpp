#include "reports/picture/time_text.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace orrery {
namespace {

struct Unit {
  Picoseconds ps;
  std::string_view name;
};
constexpr std::array<Unit, 5> kUnits{
    {{kPicosecondsPerSecond, "s"}, {1'000'000'000, "ms"}, {1'000'000, "us"}, {1'000, "ns"}, {1, "ps"}}};

Unit unit_of_time(Picoseconds time) {
  for (const Unit& unit : kUnits) {
    if (time >= unit.ps) return unit;
  }
  return kUnits.back();
}

/// Returns `time` in the unit with `decimals` decimals, of which the last is rounded.
std::string in_unit(Picoseconds time, Unit unit, int decimals) {
  std::int64_t parts = 1;
  for (int i = 0; i < decimals; ++i) parts *= 10;
  const auto scaled = static_cast<std::int64_t>(divide_rounded(Int128{time} * parts, unit.ps));
  std::string text = fmt::format("{}", scaled / parts);
  if (decimals > 0) text += fmt::format(".{:0{}}", scaled % parts, decimals);
  return text;
}

}  // namespace

std::string time_text(Picoseconds time) {
  if (time == 0) return "0 s";
  const Unit unit = unit_of_time(time);
  std::string text = in_unit(time, unit, unit.ps >= 1'000 ? 3 : 0);
  if (text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return fmt::format("{} {}", text, unit.name);
}

std::vector<TimeTick> time_ticks(Picoseconds from_ps, Picoseconds to_ps, std::int64_t most) {
  const Int128 room = Int128{to_ps} - from_ps;
  Picoseconds power = 1;
  Picoseconds step = 1;
  const auto fits = [&](Picoseconds candidate) {
    step = candidate;
    return Int128{candidate} * most >= room;
  };
  while (!fits(power) && !fits(2 * power) && !fits(5 * power)) power *= 10;
  const Unit unit = unit_of_time(to_ps);
  int decimals = 0;
  for (Picoseconds part = unit.ps; part > 1 && step % part != 0; part /= 10) ++decimals;
  std::vector<TimeTick> ticks;
  for (Int128 at = (Int128{from_ps} + step - 1) / step * step; at <= to_ps; at += step) {
    const auto time = static_cast<Picoseconds>(at);
    ticks.push_back({time, fmt::format("{} {}", in_unit(time, unit, decimals), unit.name)});
  }
  return ticks;
}

}  // namespace orrery
