#include "sim/run/skipped_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "workloads/sync/sync_layout.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

/// The first step from `begin` up to `end` after which something leaves there.
std::optional<std::int64_t> first_departure(const DataParallelSync& sync, Departure::To to,
                                            std::int64_t begin, std::int64_t end) {
  const auto departures = sync_method(sync.method).departures;
  for (std::int64_t step = begin; step < end; ++step) {
    const auto leaves = departures(sync, step);
    if (std::ranges::any_of(leaves, [to](const Departure& one) { return one.to == to; })) return step;
  }
  return std::nullopt;
}

}  // namespace

std::string skipped_exchange(const Experiment& experiment) {
  const DataParallelSync& sync = experiment.data_parallel_sync;
  const std::int64_t steps = experiment.simulation.steps;
  if (sync_method(sync.method).departures == nullptr || sync_workers(experiment).workers < 2) return "";
  const std::int64_t cycle = sync_cycle(sync, 1);
  for (const Departure::To to : {Departure::To::all, Departure::To::neighbours}) {
    if (first_departure(sync, to, 0, steps)) continue;
    const auto first = first_departure(sync, to, steps, cycle);
    if (!first) continue;
    return fmt::format(
        "the first exchange with {} comes after step {} (data_parallel_sync.period {}) and {} simulated: no "
        "figure has its cost, with simulation.steps={} figures have its share",
        to == Departure::To::all ? "all workers" : "neighbours", *first + 1, sync.period,
        steps == 1 ? "1 step is" : fmt::format("{} steps are", steps), cycle);
  }
  return "";
}

}  // namespace orrery
