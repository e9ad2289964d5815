// Whole numbers as $((...)) of the shell computes them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace orrery::importers {

/// Returns the value of a variable; nothing where it has none that is a whole number.
using ShellNumber = std::function<std::optional<std::int64_t>(const std::string& name)>;

/// Returns the value of an expression with + - * / % ** comparisons && || ! ?: and brackets. Nothing where it
/// is none, overflows, divides by zero, or has a variable without a value.
[[nodiscard]] std::optional<std::int64_t> shell_arithmetic(std::string_view expression,
                                                           const ShellNumber& variable);

}  // namespace orrery::importers
