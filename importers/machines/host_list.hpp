// Lists of hosts as Slurm writes them: srv[01-08,12],login1.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery::importers::machines {

/// Returns the names. @throws std::invalid_argument that says what is wrong, more than 200,000 names too
[[nodiscard]] std::vector<std::string> expanded_hosts(std::string_view list);

}  // namespace orrery::importers::machines
