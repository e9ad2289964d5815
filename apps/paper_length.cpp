#include "apps/paper_length.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "config/text/wording.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

constexpr double kPixelsPerInch = 96;

struct PaperUnit {
  std::string_view name;
  double pixels;
};
constexpr std::array<PaperUnit, 6> kPaperUnits{{{"", 1},
                                                {"px", 1},
                                                {"in", kPixelsPerInch},
                                                {"cm", kPixelsPerInch / 2.54},
                                                {"mm", kPixelsPerInch / 25.4},
                                                {"pt", kPixelsPerInch / 72}}};

/// Returns pixels; nullopt for a text that is no length.
std::optional<double> length_of(std::string_view text) {
  if (text == "column") return 3.33 * kPixelsPerInch;
  if (text == "page") return 7 * kPixelsPerInch;
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  for (const PaperUnit& known : kPaperUnits)
    if (known.name == unit) return number * known.pixels;
  return std::nullopt;
}

}  // namespace

int parse_paper_length(const std::string& text, const std::string& option, int least, int most) {
  const std::optional<double> pixels = length_of(text);
  if (pixels && *pixels >= least - 0.5 && *pixels < most + 0.5) return static_cast<int>(std::lround(*pixels));
  throw InputError({Diagnostic{
      "command line", 0, 0, "",
      fmt::format(
          "{}: found {}, allowed from {} to {} pixels: 320, 3.33in, 8.5cm, 85mm, 240pt, column or page",
          option, quote(text), least, most)}});
}

}  // namespace orrery
