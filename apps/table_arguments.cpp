#include "apps/table_arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <thread>

namespace orrery {
namespace {

bool is_override(const std::string& argument) {
  std::error_code ignored;
  return argument.find('=') != std::string::npos && !std::filesystem::exists(argument, ignored);
}

}  // namespace

std::vector<std::string> tables_among(const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  std::ranges::copy_if(arguments, std::back_inserter(names), std::not_fn(is_override));
  return names;
}

std::vector<std::string> overrides_among(const std::vector<std::string>& arguments) {
  std::vector<std::string> overrides;
  std::ranges::copy_if(arguments, std::back_inserter(overrides), is_override);
  return overrides;
}

unsigned threads_of(const CLI::App& app, const CommonOptions& common) {
  const unsigned all = std::max(1U, std::thread::hardware_concurrency());
  return app.get_option("--threads")->count() > 0 ? common.threads : all;
}

}  // namespace orrery
