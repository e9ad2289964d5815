// Methods whose outer optimizer ends each period: SlowMo (Wang et al. 2020) after a global average, NoLoCo
// (Kolehmainen et al. 2025) with the partners of a round alone, SparseLoCo (Sarfi et al. 2025) after an
// average of sparse changes. Vectors as long as the model are in fp32.
#include <array>

#include "workloads/sync/sync_method_rows.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 9> kSlowMomentumKeys{
    "topology", "weights", "shape", "probability", "peers", "placement", "level", "period", "base"};
constexpr std::array<std::string_view, 8> kNoLoCoKeys{"topology", "weights",   "shape", "probability",
                                                      "peers",    "placement", "level", "period"};
constexpr std::array<std::string_view, 3> kSparseLoCoKeys{"level", "compression", "period"};
/// The model and that of the last period are read, the change is written.
constexpr Bytes kOuterChangeBytes = 3 * kVector;

std::vector<Departure> slow_momentum_departures(const DataParallelSync& sync, std::int64_t step) {
  if (ends_period(sync.period, step)) return {{.to = Departure::To::all}};
  if (sync.base == SlowBase::local_sgd) return {};
  return {{.to = Departure::To::neighbours, .round = step}};
}

/// Mean, momentum and the model of the last period are read, the latter two and the model written.
Bytes slow_momentum_bytes(const DataParallelSync& sync, Departure::To to, std::int64_t received,
                          Bytes width) {
  return to == Departure::To::all ? 6 * kVector : plain_merge_bytes(sync, to, received, width);
}

std::vector<Departure> with_partners(const DataParallelSync& sync, std::int64_t step) {
  if (!ends_period(sync.period, step)) return {};
  return {{.to = Departure::To::neighbours, .round = step / sync.period}};
}

/// Each exchange is a round.
std::int64_t exchange_cycle(const DataParallelSync& sync, std::int64_t rounds) {
  constexpr std::int64_t kLongest = 1000;
  return sync.period * rounds <= kLongest ? sync.period * rounds : sync.period;
}

/// Returns the bytes of an outer update: the change and model of every partner and of the worker are read,
/// momentum is read, momentum and both models are written.
Bytes partner_bytes(const DataParallelSync& /*sync*/, Departure::To /*to*/, std::int64_t received,
                    Bytes /*width*/) {
  return (2 * received + 6) * kVector;
}

std::vector<Departure> with_all(const DataParallelSync& sync, std::int64_t step) {
  if (!ends_period(sync.period, step)) return {};
  return {{.to = Departure::To::all}};
}

/// The mean and the model of the last period are read, the latter and the model written.
Bytes plain_outer_bytes(const DataParallelSync& /*sync*/, Departure::To /*to*/, std::int64_t /*received*/,
                        Bytes /*width*/) {
  return 4 * kVector;
}

std::int64_t with_period(const DataParallelSync& sync, std::int64_t rounds) {
  return common_cycle(sync.period, rounds);
}

}  // namespace

constinit const SyncMethodRow kSlowMomentum{.method = SyncMethod::slowmo,
                                            .travels = Travels::models,
                                            .keys = kSlowMomentumKeys,
                                            .cycle = with_period,
                                            .departures = slow_momentum_departures,
                                            .merge_bytes = slow_momentum_bytes,
                                            .state_bytes = 2 * kVector};
/// Change and model travel; only the latter matters to the other replicas of a worker.
constinit const SyncMethodRow kNoLoCo{.method = SyncMethod::noloco,
                                      .travels = Travels::models,
                                      .keys = kNoLoCoKeys,
                                      .cycle = exchange_cycle,
                                      .departures = with_partners,
                                      .prepare_bytes = kOuterChangeBytes,
                                      .merge_bytes = partner_bytes,
                                      .vectors = 2,
                                      .state_bytes = 2 * kVector};
constinit const SyncMethodRow kSparseLoCo{.method = SyncMethod::sparse_loco,
                                          .travels = Travels::models,
                                          .keys = kSparseLoCoKeys,
                                          .cycle = with_period,
                                          .departures = with_all,
                                          .prepare_bytes = kOuterChangeBytes,
                                          .merge_bytes = plain_outer_bytes,
                                          .state_bytes = kVector,
                                          .check = check_feedback};

}  // namespace orrery
