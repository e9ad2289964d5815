#include "apps/option_checks.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <utility>

#include "config/text/wording.hpp"

namespace orrery {
namespace {

/// The number that all of `text` is.
template <class Number>
bool parse(const std::string& text, Number& number) {
  const auto end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end;
}

template <class Number>
CLI::Validator within(const char* what, Number least, Number most) {
  return {[=](const std::string& text) -> std::string {
            Number number{};
            if (parse(text, number) && number >= least && number <= most) return "";  // no number: false
            return fmt::format("found {}, allowed {} from {} to {}", quote(text), what, least, most);
          },
          fmt::format("{} to {}", least, most)};
}

}  // namespace

CLI::Validator integer_within(std::int64_t least, std::int64_t most) {
  return within<std::int64_t>("an integer", least, most);
}

CLI::Validator number_within(double least, double most) { return within<double>("a number", least, most); }

CLI::Validator not_empty(std::string allowed) {
  return {[allowed = std::move(allowed)](const std::string& text) {
            return text.empty() ? "found \"\", allowed " + allowed : std::string();
          },
          ""};
}

CLI::Validator one_of(std::vector<std::string> names) {
  std::string shown = fmt::format("{}", fmt::join(names, "|"));
  return {[names = std::move(names)](const std::string& text) -> std::string {
            if (std::ranges::find(names, text) != names.end()) return "";
            const std::vector<std::string_view> known = views(names);
            return fmt::format("found {}, allowed {}{}", quote(text), joined(known), hint(text, known));
          },
          std::move(shown)};
}

CLI::Option* add_output(CLI::App& app, const std::string& option, std::string& path,
                        const std::string& help) {
  const auto named = [](const std::string& name) -> std::string {
    return name.empty() ? "found \"\", allowed the name of a file, or - for standard output" : "";
  };
  const bool main = option == "--json" || option == "--out";  // the main output of a command
  return app.add_option(main ? "-o," + option : option, path, help)
      ->type_name(kFile)
      ->check(CLI::Validator(named, ""));
}

}  // namespace orrery
