// Simulates a run whose sites come and go: phases with the same sites, each simulated as the experiment
// without absent ones, and the transfer that a joining site needs first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalog/catalog.hpp"
#include "config/schema/menus.hpp"
#include "orrery/report.hpp"
#include "reports/chart/scene.hpp"

namespace orrery {

/// Says that a site takes part from the beginning of `step` on, or does so no more.
struct SiteChange {
  std::int64_t step = 0;
  bool joins = false;
  std::string site;
};

/// Reads STEP:+SITE or STEP:-SITE. @throws InputError if it is neither.
[[nodiscard]] SiteChange parse_change(std::string_view text);

struct ElasticRequest {
  std::string source;  ///< the experiment's file, as it stands in error messages
  std::string text;
  std::vector<std::string> overrides;  ///< KEY=VALUE
  std::vector<SiteChange> changes;     ///< in any order; a site that joins first is away at the beginning
  std::int64_t steps = 0;              ///< of the whole run
  std::int64_t quorum = 1;             ///< fewest workers that may go on
  Catalog catalog;
  Menus menus;
};

/// Describes the transfer that a site needs before it joins: weights and optimizer states, from the present
/// site that delivers them soonest. The others go on meanwhile.
struct Fetch {
  std::string site;
  std::string from;
  Bytes bytes = 0;
  Picoseconds duration_ps = 0;
};

struct ElasticPhase {
  std::int64_t first_step = 0;
  std::int64_t steps = 0;
  std::vector<std::string> away;  ///< sites, in order
  std::vector<Fetch> fetches;     ///< of sites that join with it
  Report report;                  ///< of a step

  [[nodiscard]] double seconds() const { return static_cast<double>(steps) * report.step_time_s(); }
  [[nodiscard]] double tokens() const {
    return static_cast<double>(steps) * static_cast<double>(report.tokens_per_step);
  }
};

struct ElasticRun {
  std::vector<ElasticPhase> phases;

  [[nodiscard]] double seconds() const;
  [[nodiscard]] double tokens() const;
};

/// Simulates the run. Every replica keeps its batch, so the global batch shrinks and grows with the workers.
/// @throws InputError with the errors in the experiment or in a change, or for fewer workers than the quorum.
[[nodiscard]] ElasticRun simulate_elastic(const ElasticRequest& request);

/// The table of phases and the sums below it.
[[nodiscard]] std::string elastic_text(const ElasticRun& run);
[[nodiscard]] std::string elastic_json(const ElasticRun& run);
/// A header line and a line per phase.
[[nodiscard]] std::string elastic_csv(const ElasticRun& run);
/// Returns the chart of step times over the steps of the run, with the changes.
[[nodiscard]] ChartScene elastic_scene(const ElasticRun& run);

}  // namespace orrery
