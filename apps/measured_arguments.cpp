#include "apps/measured_arguments.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "orrery/error.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 12> kFirstKeys{"$schema",  "name",      "id",         "base",
                                                      "model",    "cluster",   "plan",       "stack",
                                                      "software", "inference", "simulation", "calibration"};

/// The first key of a JSON object, after comments; "" where there is none in the first bytes.
std::string first_key(const std::string& path) {
  constexpr std::size_t kHead = 16'384;
  std::string head(kHead, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(kHead));
  head.resize(static_cast<std::size_t>(file.gcount()));
  std::string_view left = head;
  const auto skip_blanks = [&left] {
    left.remove_prefix(std::min(left.find_first_not_of(" \t\r\n"), left.size()));
  };
  for (skip_blanks(); left.starts_with("//"); skip_blanks())
    left.remove_prefix(std::min(left.find('\n'), left.size()));
  if (!left.starts_with("{")) return "";
  left.remove_prefix(1);
  for (skip_blanks(); left.starts_with("//"); skip_blanks())
    left.remove_prefix(std::min(left.find('\n'), left.size()));
  if (!left.starts_with("\"")) return "";
  left.remove_prefix(1);
  return std::string(left.substr(0, left.find('"')));
}

bool is_experiment(const std::string& name) {
  if (name.ends_with(".yaml") || name.ends_with(".yml")) return true;
  return name.ends_with(".json") && std::ranges::find(kFirstKeys, first_key(name)) != kFirstKeys.end();
}

bool is_table(const std::string& name) {
  std::error_code ignored;
  return name == "-" || name.ends_with(".csv") || !std::filesystem::exists(name, ignored);
}

[[noreturn]] void refuse_argument(const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", message}});
}

}  // namespace

FitArguments sort_fit_arguments(const std::vector<std::string>& names) {
  FitArguments out;
  for (const std::string& name : names) {
    if (is_experiment(name)) {
      out.runs.push_back({name, {}});
    } else if (is_table(name)) {
      out.tables.push_back(name);
    } else if (out.runs.empty()) {
      refuse_argument("found \"" + name +
                      "\", allowed a table (.csv), or measurements after the experiment that they are of");
    } else {
      out.runs.back().measured.push_back(name);
    }
  }
  for (const ExperimentFiles& run : out.runs)
    if (run.measured.empty())
      refuse_argument("found experiment \"" + run.experiment +
                      "\" without files that were measured of it, allowed after its name");
  return out;
}

}  // namespace orrery
