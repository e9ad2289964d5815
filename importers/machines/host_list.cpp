#include "importers/machines/host_list.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "importers/common/text_lines.hpp"

namespace orrery::importers::machines {
namespace {

constexpr std::size_t kMaxHosts = 200'000;

/// Parts between commas that stand in no brackets.
std::vector<std::string_view> comma_parts(std::string_view list) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') ++depth;
    if (i < list.size() && list[i] == ']') --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    if (const std::string_view part = trimmed(list.substr(begin, i - begin)); !part.empty())
      parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

/// The numbers of "01-08" with their leading zeros.
void add_range(std::string_view range, std::vector<std::string>& out) {
  const std::size_t dash = range.find('-');
  const auto first = integer_of(range.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : integer_of(range.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first)
    throw std::invalid_argument(fmt::format("found [{}], allowed numbers and ranges", std::string(range)));
  if (static_cast<std::size_t>(*last - *first) >= kMaxHosts)
    throw std::invalid_argument(fmt::format("more than {} hosts", kMaxHosts));
  const std::size_t width = range.substr(0, dash).size();
  for (std::int64_t i = *first; i <= *last; ++i) out.push_back(fmt::format("{:0{}}", i, width));
}

std::vector<std::string> numbers_of(std::string_view ranges) {
  std::vector<std::string> numbers;
  for (const std::string_view range : comma_parts(ranges)) add_range(range, numbers);
  return numbers;
}

/// All names of a part with any number of brackets, one after the other.
std::vector<std::string> names_of(std::string_view part) {
  std::vector<std::string> names{""};
  while (!part.empty()) {
    const std::size_t open = part.find('[');
    const std::size_t close = part.find(']', open == std::string_view::npos ? 0 : open);
    if (open != std::string_view::npos && close == std::string_view::npos)
      throw std::invalid_argument("a bracket is not closed");
    for (std::string& name : names) name += part.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::vector<std::string> numbers = numbers_of(part.substr(open + 1, close - open - 1));
    if (names.size() * numbers.size() > kMaxHosts)
      throw std::invalid_argument(fmt::format("more than {} hosts", kMaxHosts));
    std::vector<std::string> longer;
    for (const std::string& name : names)
      for (const std::string& number : numbers) longer.push_back(name + number);
    names = std::move(longer);
    part.remove_prefix(close + 1);
  }
  return names;
}

}  // namespace

std::vector<std::string> expanded_hosts(std::string_view list) {
  std::vector<std::string> hosts;
  for (const std::string_view part : comma_parts(list)) {
    for (std::string& name : names_of(part)) hosts.push_back(std::move(name));
    if (hosts.size() > kMaxHosts) throw std::invalid_argument(fmt::format("more than {} hosts", kMaxHosts));
  }
  return hosts;
}

}  // namespace orrery::importers::machines
