// How far a command is, on standard error.
#pragma once

#include <cstddef>
#include <functional>

#include "apps/commands.hpp"

namespace orrery {

/// A counter that disappears when all is done; nothing where standard error is no terminal or --quiet is
/// given.
[[nodiscard]] std::function<void(std::size_t done, std::size_t total)> progress_on_terminal(
    const CommonOptions& common);

}  // namespace orrery
