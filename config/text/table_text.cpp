#include "config/text/table_text.hpp"

#include <cstdint>

namespace orrery {
namespace {

/// Days since 1970-01-01 of the Gregorian calendar (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = year / 400;
  const std::int64_t in_era = year - era * 400;
  const std::int64_t in_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146'097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719'468;
}

bool is_date(std::int64_t year, std::int64_t month, std::int64_t day) {
  if (month < 1 || month > 12 || day < 1) return false;
  const std::int64_t next = month == 12 ? days_of(year + 1, 1, 1) : days_of(year, month + 1, 1);
  return day <= next - days_of(year, month, 1);
}

/// Seconds by which a clock is ahead that ends in Z, +01:00 or -05:30, which is cut off; nothing where it
/// does not.
double take_zone(std::string_view& text) {
  constexpr std::size_t kZone = 6;  // +hh:mm
  if (text.ends_with('Z')) {
    text.remove_suffix(1);
    return 0;
  }
  if (text.size() < kZone) return 0;
  const std::string_view zone = text.substr(text.size() - kZone);
  const auto hours = number_of_cell<std::int64_t>(zone.substr(1, 2));
  const auto minutes = number_of_cell<std::int64_t>(zone.substr(4, 2));
  if ((zone[0] != '+' && zone[0] != '-') || zone[3] != ':' || !hours || !minutes) return 0;
  text.remove_suffix(kZone);
  const auto ahead = static_cast<double>(*hours * 3600 + *minutes * 60);
  return zone[0] == '-' ? -ahead : ahead;
}

}  // namespace

std::string_view trimmed_cell(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\"";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return text.substr(0, 0);
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

void split_cells(std::string_view line, std::vector<std::string_view>& cells) {
  cells.clear();
  for (;;) {
    const std::size_t comma = line.find(',');
    cells.push_back(trimmed_cell(line.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

std::optional<double> seconds_of_date(std::string_view text) {
  constexpr std::size_t kSecondsAt = 17;
  const double ahead = text.size() > kSecondsAt ? take_zone(text) : 0;
  if (text.size() <= kSecondsAt || text[4] != '-' || text[7] != '-' || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const auto year = number_of_cell<std::int64_t>(text.substr(0, 4));
  const auto month = number_of_cell<std::int64_t>(text.substr(5, 2));
  const auto day = number_of_cell<std::int64_t>(text.substr(8, 2));
  const auto hour = number_of_cell<std::int64_t>(text.substr(11, 2));
  const auto minute = number_of_cell<std::int64_t>(text.substr(14, 2));
  const auto second = number_of_cell<double>(text.substr(kSecondsAt));
  if (!year || !month || !day || !hour || !minute || !second || !is_date(*year, *month, *day))
    return std::nullopt;
  if (*hour < 0 || *hour > 23 || *minute < 0 || *minute > 59 || !(*second >= 0 && *second < 61))
    return std::nullopt;
  return static_cast<double>(days_of(*year, *month, *day) * 86'400 + *hour * 3600 + *minute * 60) + *second -
         ahead;
}

}  // namespace orrery
