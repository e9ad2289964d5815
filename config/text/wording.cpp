#include "config/text/wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "orrery/printable.hpp"

namespace orrery {
namespace {

constexpr std::size_t kShown = 60;
constexpr std::size_t kLongestName = 64;

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

std::size_t first_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = first_character(text.substr(i)).bytes;
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string printable(std::string_view text) {
  std::size_t shown = 0;
  while (shown < text.size() && shown < kShown)
    shown += std::max<std::size_t>(1, first_character(text.substr(shown)).bytes);
  return one_line(text.substr(0, shown)) + (shown < text.size() ? "..." : "");
}

std::string quote(std::string_view text) { return "\"" + printable(text) + "\""; }

std::string described(const Json& value) {
  if (value.is_string()) return quote(value.get_ref<const std::string&>());
  if (value.is_object()) return "an object";
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (value.is_array() && value.size() > 8) return fmt::format("a list of {} values", value.size());
  if (value.is_array() && std::any_of(value.begin(), value.end(),
                                      [](const Json& v) { return v.is_structured() || v.is_string(); })) {
    return value.size() == 1 ? "a list of 1 value" : fmt::format("a list of {} values", value.size());
  }
  return value.dump();
}

std::string joined(std::span<const std::string_view> names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kLongestName);
  b = b.substr(0, kLongestName);
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

namespace {

/// Returns the name that an abbreviation such as "micro_batch" may stand for; "" for less than three letters.
std::string_view shortest_with_prefix(std::string_view name, std::span<const std::string_view> known) {
  std::string_view best;
  if (name.size() < 3) return best;
  for (const std::string_view candidate : known) {
    if (candidate.starts_with(name) && (best.empty() || candidate.size() < best.size())) best = candidate;
  }
  return best;
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t least = std::max<std::size_t>(1, std::min(name.size(), kLongestName) / 3) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best.empty() ? shortest_with_prefix(name, known) : best;
}

std::string hint(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view nearest = nearest_name(name, known);
  return nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest);
}

namespace {

/// Returns the nearest names: first those that contain `name` or are part of it, then by edit distance.
std::vector<std::string_view> nearest_names(std::string_view name, std::span<const std::string_view> known,
                                            std::size_t count) {
  std::vector<std::pair<std::size_t, std::string_view>> ranked;
  for (const std::string_view candidate : known) {
    const bool within =
        name.size() > 1 && (candidate.find(name) != std::string_view::npos || name.starts_with(candidate));
    const std::size_t begins = edit_distance(name, candidate.substr(0, name.size()));
    ranked.emplace_back(within ? 0 : 1 + std::min(edit_distance(name, candidate), 1 + begins), candidate);
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<std::size_t, std::string_view>::first);
  std::vector<std::string_view> nearest;
  for (std::size_t i = 0; i < std::min(count, ranked.size()); ++i) nearest.push_back(ranked[i].second);
  return nearest;
}

}  // namespace

std::string names_allowed(std::string_view name, std::string_view what,
                          std::span<const std::string_view> known, std::string_view all) {
  constexpr std::size_t kFew = 16;
  constexpr std::size_t kNearest = 5;
  const std::string meant = hint(name, known);
  if (known.size() > kFew)
    return fmt::format("{}{}{}{} The nearest of {} are {} ({})", what.empty() ? "" : ", allowed ", what,
                       meant, meant.empty() ? "." : "", known.size(),
                       joined(nearest_names(name, known, kNearest)), all);
  if (what.empty()) return fmt::format(", allowed {}{}", joined(known), meant);
  return fmt::format(", allowed {} ({}){}", what, joined(known), meant);
}

std::string not_modelled_yet(std::string_view name, std::span<const std::string_view> available) {
  return fmt::format("found {}, which the interface knows but Orrery does not model yet; available: {}",
                     quote(name), joined(available));
}

std::vector<std::string_view> views(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

}  // namespace orrery
