// Shows the progress of a command on standard error.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "apps/commands.hpp"

namespace orrery {

/// "12 of 40, 3.1 per second, 9 s left"; without a total "12 done, 3.1 per second"; "9 s" where nothing was
/// counted.
[[nodiscard]] std::string progress_text(std::size_t done, std::size_t total, double seconds);

using ProgressReport = std::function<void(std::size_t done, std::size_t total)>;

/// Tells how far a command is once it has taken two seconds, for as long as the result lives; it may be
/// called by several threads, or never. Nothing where standard error is no terminal or --quiet is given.
[[nodiscard]] ProgressReport progress_on_terminal(const CommonOptions& common);

}  // namespace orrery
