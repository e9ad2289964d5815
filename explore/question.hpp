// A question of the page: an experiment as text, changes of keys, and what is asked about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/experiment/read_experiment.hpp"
#include "config/text/json.hpp"
#include "planner/space/space.hpp"

namespace orrery::explore {

/// An experiment as the page has it.
struct Setup {
  std::string text;                  ///< JSON or YAML
  std::vector<std::string> changes;  ///< KEY=VALUE, applied in order

  [[nodiscard]] BaseExperiment base() const;
};

struct Question {
  Setup setup;
  Setup pinned;      ///< the run that differences are set against; its text is "" where there is none
  std::string key;   ///< of variants: a key of the experiment
  std::string form;  ///< of a file to take away
};

/// @throws InputError for a text that is no question
[[nodiscard]] Question read_question(std::string_view json);

/// Reads the experiment, with the catalog and all menus. @throws InputError with all that is wrong in it
[[nodiscard]] LocatedExperiment read_setup(const Setup& setup);

}  // namespace orrery::explore
