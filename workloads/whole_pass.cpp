#include "workloads/whole_pass.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "orrery/rank_layout.hpp"
#include "workloads/step_builder.hpp"

namespace orrery {
namespace {

bool communicates(const Step& step) { return step.kind == Op::Kind::communicate; }
bool computes(const Step& step) { return !communicates(step); }

/// Whether collectives of the tensor groups may slow down other messages, or be slowed down. Not where a
/// group has the switch of a node for itself.
bool shares_links(const Experiment& experiment) {
  const Cluster& cluster = experiment.cluster;
  const std::int64_t ranks = experiment.plan.tensor_parallel;
  if (experiment.simulation.network == Network::alpha_beta || ranks == 1) return false;
  const bool fills_node =
      ranks == cluster.gpus_per_node && RankLayout(experiment.plan).tensor_span() == cluster.gpus_per_node;
  return cluster.node.kind != "nvswitch" || !fills_node;
}

/// Whether ranks of one tensor group get their messages over unlike ways, and so at different times.
bool differs_in_groups(const Experiment& experiment) {
  const Cluster& cluster = experiment.cluster;
  const std::int64_t span = RankLayout(experiment.plan).tensor_span();
  const bool divides = cluster.gpus_per_node % span == 0 || span % cluster.gpus_per_node == 0;
  return experiment.plan.tensor_parallel > 1 && (cluster.graph || !divides);
}

/// What a step waits for, counted from step `first`: those before it are the input.
std::int32_t counted_from(std::ptrdiff_t first, std::int32_t after) {
  return std::max(after - static_cast<std::int32_t>(first), kBlockInput);
}

/// The steps [first, last).
std::vector<Step> cut(const std::vector<Step>& steps, std::ptrdiff_t first, std::ptrdiff_t last) {
  std::vector<Step> part(steps.begin() + first, steps.begin() + last);
  for (Step& step : part) step.after = counted_from(first, step.after);
  return part;
}

PassWork body_of(const std::vector<Step>& steps, std::ptrdiff_t first, std::ptrdiff_t last) {
  PassWork body;
  body.reserve(static_cast<std::size_t>(last - first));
  for (const Step& step : std::span(steps).subspan(static_cast<std::size_t>(first), body.capacity()))
    body.push_back({communicates(step), step.work, counted_from(first, step.after)});
  return body;
}

}  // namespace

bool has_whole_passes(const Experiment& experiment) {
  const bool even = experiment.software.jitter == 0 && experiment.cluster.overrides.empty();
  return experiment.simulation.detail == Detail::stage && even && !shares_links(experiment) &&
         !differs_in_groups(experiment);
}

WholePass add_whole_pass(const std::vector<Step>& steps, std::int64_t tensor_ranks, Workload& workload) {
  const auto count = static_cast<std::ptrdiff_t>(steps.size());
  std::ptrdiff_t first = 0;
  std::ptrdiff_t last = count;
  if (tensor_ranks > 1) {
    // From the first step, once ranks meet after they computed, that all later ones follow, to before the
    // last collectives of all.
    const auto compute = std::ranges::find_if(steps, computes);
    const std::ptrdiff_t met = std::find_if(compute, steps.end(), communicates) - steps.begin();
    first = count;
    for (std::ptrdiff_t i = count - 1, earliest = count; i >= met && i >= 0; --i) {
      if (earliest >= i) first = i;
      earliest = std::min<std::ptrdiff_t>(earliest, steps[static_cast<std::size_t>(i)].after);
    }
    const auto latest = std::find_if(steps.rbegin(), steps.rend(), communicates);
    const auto others = std::find_if(latest, steps.rend(), computes);
    last = std::max(first, steps.rend() - others);
  }
  WholePass pass;
  if (first == last) {
    pass.head = steps;
    return pass;
  }
  pass.head = cut(steps, 0, first);
  pass.body = add_pass(workload, body_of(steps, first, last));
  pass.tail = cut(steps, last, count);
  return pass;
}

}  // namespace orrery
