// How --help words an option: what follows it, then in brackets what is allowed, its default, and which other
// options it needs or excludes.
#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}

namespace orrery {

[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_format();

}  // namespace orrery
