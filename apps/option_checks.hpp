// Checks option values; errors have the words of all others: the value found, and those allowed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace orrery {

/// This is also the limit of simulation.seed.
inline constexpr std::int64_t kLargestSeed = std::int64_t{1} << 53;

/// Names the type of an argument, in help and for completion (CLI::Option::type_name).
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kFolder = "FOLDER";
inline constexpr const char* kExperiments = "FILE KEY=VALUE";  ///< files, and values of keys
inline constexpr const char* kKeyValue = "KEY=VALUE";
inline constexpr const char* kKeys = "KEYS";   ///< of results or experiments
inline constexpr const char* kEntry = "NAME";  ///< of the catalog

/// An integer in this range.
[[nodiscard]] CLI::Validator integer_within(std::int64_t least, std::int64_t most);
/// A finite number in this range.
[[nodiscard]] CLI::Validator number_within(double least, double most);

/// Anything but an empty text, which a shell makes of a variable that is not set.
[[nodiscard]] CLI::Validator not_empty(std::string allowed);

/// One of these names.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> names);

/// Adds an option that names an output: a file, or "-" for standard output.
CLI::Option* add_output(CLI::App& app, const std::string& option, std::string& path, const std::string& help);

}  // namespace orrery
