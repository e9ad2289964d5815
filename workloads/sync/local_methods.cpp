// Methods whose workers train alone for a period: local SGD (McMahan et al. 2017) averages their models; in
// DiLoCo (Douillard et al. 2023) an outer optimizer takes the mean of what they changed, in fragments and
// with a delay where it streams (Douillard et al. 2025).
#include <array>
#include <string>

#include "workloads/sync/sync_method_rows.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 3> kLocalKeys{"level", "compression", "period"};
constexpr std::array<std::string_view, 5> kDiLoCoKeys{"level", "compression", "period", "fragments", "delay"};

/// Of the outer optimizer (Nesterov momentum in fp32), per value: the change is written; it, momentum and
/// the model of the last period are read, momentum and both models written.
constexpr Bytes kOuterBytes = 12 + 24;
/// The model of the last period and an outer momentum, in fp32.
constexpr Bytes kOuterStates = 8;

std::int64_t period_cycle(const DataParallelSync& sync, std::int64_t rounds) {
  return common_cycle(sync.period, rounds);
}

std::vector<Departure> local_departures(const DataParallelSync& sync, std::int64_t step) {
  if (!ends_period(sync.period, step)) return {};
  return {{.to = Departure::To::all}};
}

/// Fragment f of P leaves after step (f + 1) H / P - 1 - delay of every period, so that the last one has
/// come when the period ends.
std::vector<Departure> diloco_departures(const DataParallelSync& sync, std::int64_t step) {
  const std::int64_t apart = sync.period / sync.fragments;
  const std::int64_t needed = step + sync.delay;
  if (!ends_period(apart, needed)) return {};
  return {{.to = Departure::To::all,
           .fragment = needed / apart % sync.fragments,
           .fragments = sync.fragments,
           .delay = sync.delay}};
}

Bytes outer_update_bytes(const DataParallelSync& /*sync*/, Departure::To /*to*/, std::int64_t /*received*/,
                         Bytes /*width*/) {
  return kOuterBytes;
}

void check_diloco(const DataParallelSync& sync, const SyncComplain& complain) {
  const auto found = [](std::int64_t value) { return "found " + std::to_string(value) + ", allowed "; };
  if (sync.period % sync.fragments != 0) {
    complain("fragments", found(sync.fragments) + "a divisor of period " + std::to_string(sync.period));
  } else if (sync.delay >= sync.period / sync.fragments) {
    complain("delay", found(sync.delay) +
                          "less than period / fragments = " + std::to_string(sync.period / sync.fragments));
  }
}

}  // namespace

constinit const SyncMethodRow kLocalSgd{.method = SyncMethod::local_sgd,
                                        .travels = Travels::models,
                                        .keys = kLocalKeys,
                                        .cycle = period_cycle,
                                        .departures = local_departures,
                                        .merge_bytes = plain_merge_bytes};
constinit const SyncMethodRow kDiLoCo{.method = SyncMethod::diloco,
                                      .travels = Travels::models,
                                      .keys = kDiLoCoKeys,
                                      .cycle = period_cycle,
                                      .departures = diloco_departures,
                                      .merge_bytes = outer_update_bytes,
                                      .state_bytes = kOuterStates,
                                      .check = check_diloco};

}  // namespace orrery
