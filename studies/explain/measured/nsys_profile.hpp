// Reads an export of Nsight Systems (`nsys export --type sqlite`): kernels, copies, and the calls that
// launched them. A database of a stranger is opened read-only and asked for fixed tables alone.
#pragma once

#include <string>
#include <vector>

#include "studies/explain/measured/profile.hpp"

namespace orrery {

/// Returns a profile for each GPU. Ranks are those of the devices, in ascending order of their ids.
/// @throws InputError where it is no such export, or breaks off
[[nodiscard]] std::vector<Profile> read_nsys_profiles(const std::string& path);

}  // namespace orrery
