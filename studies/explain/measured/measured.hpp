// Reads a file of measurements, whatever it is: its kind is recognised by its content.
#pragma once

#include <string>
#include <vector>

#include "studies/explain/measured/collective_log.hpp"
#include "studies/explain/measured/profile.hpp"
#include "studies/explain/measured/serving_log.hpp"
#include "studies/explain/measured/training_log.hpp"

namespace orrery {

/// Holds what files of measurements say, by kind.
struct Measurements {
  std::vector<TrainingLog> training;
  std::vector<CollectiveLog> collectives;
  std::vector<Profile> profiles;  ///< by rank, each once
  std::vector<ServingMeasurement> serving;
};

/// @throws InputError for a file that is none of these, breaks off, or contradicts another one
[[nodiscard]] Measurements read_measurements(const std::vector<std::string>& paths);

/// Adds what one file says.
void add_measurements(const std::string& path, Measurements& to);

}  // namespace orrery
