// Reads several jobs on one cluster: the cluster, the jobs or a file of them, and for each job with a model
// an experiment of its own, which the usual reader makes of its model and plan and its share of the cluster.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalog/catalog.hpp"
#include "config/schema/menus.hpp"
#include "orrery/error.hpp"
#include "orrery/experiment.hpp"
#include "orrery/jobs.hpp"

namespace orrery {

class JobsExperiment {
 public:
  /// @throws InputError with all errors found, as read_experiment_text() does
  JobsExperiment(std::string_view text, const std::string& source, const std::vector<std::string>& overrides,
                 const Catalog& catalog, Menus menus);

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const Cluster& cluster() const;
  [[nodiscard]] const JobsPolicy& policy() const;
  [[nodiscard]] const std::vector<JobSpec>& jobs() const;
  /// The experiments that jobs have, each on its share of the cluster.
  [[nodiscard]] const std::vector<Experiment>& experiments() const;
  /// Returns the kind of trace that the jobs come from; "": a list.
  [[nodiscard]] std::string_view trace_kind() const;
  /// Returns the jobs of the trace that have no GPUs or never ran.
  [[nodiscard]] std::int64_t left_out() const;
  /// `error` about the cluster or an experiment, with source, line and column.
  [[nodiscard]] InputError located(const InputError& error) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace orrery
