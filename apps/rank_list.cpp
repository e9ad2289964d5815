#include "apps/rank_list.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "orrery/error.hpp"

namespace orrery {
namespace {

[[noreturn]] void refuse_ranks(const std::string& option, const std::string& found, std::uint64_t limit) {
  throw InputError(
      {Diagnostic{"command line", 0, 0, "",
                  option + ": found \"" + found + "\", allowed are numbers and ranges from 0 to " +
                      std::to_string(limit - 1) + ", such as 0-7,64"}});
}

bool parse_rank_number(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::vector<std::uint32_t> parse_number_list(const std::string& text, std::uint64_t limit,
                                             const std::string& option) {
  std::vector<std::uint32_t> numbers;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const auto dash = part.find('-');
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    const bool good = parse_rank_number(part.substr(0, dash), first) &&
                      parse_rank_number(dash == std::string::npos ? part : part.substr(dash + 1), last);
    if (!good || first > last || last >= limit) refuse_ranks(option, part, limit);
    for (std::uint64_t number = first; number <= last; ++number)
      numbers.push_back(static_cast<std::uint32_t>(number));
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

}  // namespace orrery
