// Implements methods whose workers train alone for a period: local SGD (McMahan et al. 2017) averages their
// models; in DiLoCo (Douillard et al. 2023) an outer optimizer takes their mean change, in fragments and with
// a delay where it streams (Douillard et al. 2025).
#include <array>
#include <optional>
#include <string>

#include "orrery/fragments.hpp"
#include "workloads/sync/sync_method_rows.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 4> kLocalKeys{"level", "compression", "period", "overlap"};
constexpr std::array<std::string_view, 8> kDiLoCoKeys{
    "level", "compression", "period", "overlap", "fragments", "delay", "fragment_pattern", "mixing"};

/// Per value in fp32: the model and that of the last period are read, the change is written.
constexpr Bytes kChangeBytes = 12;
/// Bytes per value of the outer optimizer (Nesterov momentum): it reads the mean change, momentum and the
/// model of the last period, and writes momentum and both models.
constexpr Bytes kOuterBytes = 24;
/// To mix the outer model with the worker's own, that is read too.
constexpr Bytes kMixingBytes = 4;
/// The model of the last period and an outer momentum, in fp32.
constexpr Bytes kOuterStates = 8;

std::int64_t period_cycle(const DataParallelSync& sync, std::int64_t rounds) {
  return common_cycle(sync.period, rounds);
}

std::vector<Departure> local_departures(const DataParallelSync& sync, std::int64_t step) {
  if (!ends_period(sync.period, step)) return {};
  return {{.to = Departure::To::all}};
}

/// A fragment leaves `delay` steps before the one after which it is needed, so that the last one has come
/// when the period ends.
std::vector<Departure> diloco_departures(const DataParallelSync& sync, std::int64_t step) {
  const std::optional<std::int64_t> fragment = fragment_due(sync, step + sync.delay);
  if (!fragment) return {};
  return {
      {.to = Departure::To::all, .fragment = *fragment, .fragments = sync.fragments, .delay = sync.delay}};
}

Bytes outer_update_bytes(const DataParallelSync& sync, Departure::To /*to*/, std::int64_t /*received*/,
                         Bytes /*width*/) {
  return kOuterBytes + (sync.mixing > 0 ? kMixingBytes : 0);
}

std::string found(std::int64_t value, const std::string& allowed) {
  return "found " + std::to_string(value) + ", allowed " + allowed;
}

/// Workers that train alone have nothing that could travel while the next step computes, but a delay.
void check_overlap(const DataParallelSync& sync, const SyncComplain& complain) {
  if (sync.overlap != SyncOverlap::none && sync.overlap != SyncOverlap::adapt_then_combine)
    complain("overlap", "found \"" + std::string(kSyncOverlapNames[static_cast<std::size_t>(sync.overlap)]) +
                            "\" with the method \"" +
                            std::string(kSyncMethodNames[static_cast<std::size_t>(sync.method)]) +
                            "\", allowed none | adapt-then-combine");
}

void check_diloco(const DataParallelSync& sync, const SyncComplain& complain) {
  check_overlap(sync, complain);
  if (sync.fragments > sync.period) {
    complain("fragments", found(sync.fragments, "at most period " + std::to_string(sync.period)));
  } else if (sync.delay >= fragment_interval(sync)) {
    complain("delay",
             found(sync.delay, "less than period / fragments = " + std::to_string(fragment_interval(sync))));
  }
  if (sync.overlap == SyncOverlap::adapt_then_combine && sync.fragments > 1 && !fragments_by_layer(sync))
    complain("overlap",
             "found \"adapt-then-combine\" with fragment_pattern \"even\", allowed with sequential | "
             "strided: fragments that leave layer by layer hold whole layers");
}

}  // namespace

constinit const SyncMethodRow kLocalSgd{.method = SyncMethod::local_sgd,
                                        .travels = Travels::models,
                                        .keys = kLocalKeys,
                                        .cycle = period_cycle,
                                        .departures = local_departures,
                                        .merge_bytes = plain_merge_bytes,
                                        .merges_by_layer = true,
                                        .check = check_overlap};
constinit const SyncMethodRow kDiLoCo{.method = SyncMethod::diloco,
                                      .travels = Travels::models,
                                      .keys = kDiLoCoKeys,
                                      .cycle = period_cycle,
                                      .departures = diloco_departures,
                                      .prepare_bytes = kChangeBytes,
                                      .merge_bytes = outer_update_bytes,
                                      .merges_by_layer = true,
                                      .state_bytes = kOuterStates,
                                      .check = check_diloco};

}  // namespace orrery
