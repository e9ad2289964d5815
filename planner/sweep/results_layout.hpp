// Defines the marks and tables of a results file. Internal to sweep/.
#pragma once

#include <string>

#include "planner/sweep/database.hpp"

namespace orrery {

/// `path`, once the file's header was looked at without SQLite, which might go on with what a process has
/// left undone there. A file that is not there yet, or empty, is as good. @throws InputError for any other
/// file.
[[nodiscard]] const std::string& checked_results_file(const std::string& path);

/// Makes the tables where there are none.
void make_results_tables(Database& database);

/// @throws InputError for tables of another layout, and for a file that cannot be read as a whole.
void check_results_layout(const Database& database);

}  // namespace orrery
