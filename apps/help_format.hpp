// Formats an option in --help: its argument, then in brackets the allowed values, the default, and the
// options that it needs or excludes.
#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}

namespace orrery {

[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_format();

}  // namespace orrery
