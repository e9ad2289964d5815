#include "config/catalog/spelling.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace orrery {
namespace {

/// Longer ones are no names.
constexpr std::size_t kLongest = 100;

/// Letters and digits alone, in lower case.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

/// Drops the owner of a repository of Hugging Face, OWNER/NAME.
std::string_view without_owner(std::string_view name) { return name.substr(name.rfind('/') + 1); }

/// Plain names that `name` may stand for.
std::array<std::string, 2> readings(std::string_view name) {
  std::string whole = plain(without_owner(name));
  std::string model = whole;
  if (model.starts_with("metallama")) model.erase(0, std::string_view("meta").size());
  for (const std::string_view end : {"instruct", "chat", "base", "hf", "it", "v01", "v03"})
    if (model.size() > end.size() && model.ends_with(end)) model.erase(model.size() - end.size());
  return {std::move(whole), std::move(model)};
}

}  // namespace

std::string_view spelled_otherwise(std::string_view name, std::span<const std::string_view> known) {
  if (name.size() > kLongest) return "";
  for (const std::string& reading : readings(name)) {
    const auto is_meant = [&](std::string_view candidate) { return plain(candidate) == reading; };
    if (!reading.empty() && std::ranges::count_if(known, is_meant) == 1)
      return *std::ranges::find_if(known, is_meant);
  }
  return "";
}

}  // namespace orrery
