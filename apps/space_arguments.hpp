// Declares the arguments that commands on a space of experiments share, which describe the space.
#pragma once

#include <string>
#include <vector>

#include "planner/space/space.hpp"

namespace CLI {
class App;
}

namespace orrery {

struct SpaceArguments {
  std::vector<std::string> files;  ///< and key=value, for every point
  std::string space;               ///< a file that describes one; "" for none
  std::vector<std::string> vary;   ///< KEY=VALUES, in place of those of the file
  std::vector<std::string> where;  ///< conditions beside those of the file
  std::vector<std::string> calibrations;
};

/// Adds --vary, --where and --calibration.
void add_space_options(CLI::App& app, SpaceArguments& arguments);

/// Returns the description in the file with the additions of the options. @throws InputError as read_space().
[[nodiscard]] SpaceDescription description_of(const SpaceArguments& arguments);

/// The space around the experiment in `file`, or where that is "" around that of the description.
/// @throws InputError where there is none, as Space() and where the file cannot be read.
[[nodiscard]] Space space_around(const std::string& file, SpaceDescription description,
                                 const SpaceArguments& arguments, Intervals intervals = Intervals::refused);

}  // namespace orrery
