// Declares the arguments that commands on tables of measured runs share.
#pragma once

#include <string>
#include <vector>

#include "apps/commands.hpp"

namespace orrery {

/// Separates tables from overrides, which come in any order: an argument with a "=" that is no file is an
/// override.
[[nodiscard]] std::vector<std::string> tables_among(const std::vector<std::string>& arguments);
[[nodiscard]] std::vector<std::string> overrides_among(const std::vector<std::string>& arguments);

/// All threads of the machine unless --threads is given.
[[nodiscard]] unsigned threads_of(const CLI::App& app, const CommonOptions& common);

}  // namespace orrery
