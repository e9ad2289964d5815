// Says in the head of a page which version and which command line wrote it. The scripts of pages show both.
#pragma once

#include <string>
#include <vector>

#include "apps/commands.hpp"
#include "apps/outputs.hpp"

namespace orrery {

/// The command line as a shell takes it, without what changes no figure: where the page goes, --quiet and
/// --threads. Of absolute paths, which are of one machine, it has the names alone.
[[nodiscard]] std::string command_line_of(const std::vector<std::string>& arguments);

/// Writes a page to the file, with its origin behind the first <meta charset>.
[[nodiscard]] Sink page_to(OutputFile& file, const CommonOptions& common);

}  // namespace orrery
