// Defines the marks and tables of a results file. Internal to sweep/.
#pragma once

#include <string>

#include "planner/sweep/database.hpp"

namespace orrery {

/// Returns `path` after a look at the file's header without SQLite, which might complete the unfinished work
/// of another process there. A file that does not exist yet, or is empty, is accepted. @throws InputError for
/// any other file.
[[nodiscard]] const std::string& checked_results_file(const std::string& path);

/// Makes the tables if there are none.
void make_results_tables(Database& database);

/// @throws InputError for tables of another layout, and for a file that cannot be read as a whole.
void check_results_layout(const Database& database);

}  // namespace orrery
