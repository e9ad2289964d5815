// Methods whose workers wait for nobody: AD-PSGD (Lian et al. 2018) averages with a neighbour beside
// computing; EASGD (Zhang, Choromanska and LeCun 2015) and asynchronous DiLoCo (Liu et al. 2024) exchange
// with a server every period. Simulated is a step of the slowest worker, in which all have an exchange of
// theirs at the same time.
#include <array>
#include <string>

#include "workloads/sync/sync_method_rows.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 8> kPairKeys{"topology", "weights",   "shape", "probability",
                                                    "peers",    "placement", "level", "overlap"};
constexpr std::array<std::string_view, 3> kCentreKeys{"level", "period", "servers"};

std::vector<Departure> with_one_neighbour(const DataParallelSync& /*sync*/, std::int64_t step) {
  return {{.to = Departure::To::neighbours, .round = step}};
}

std::vector<Departure> with_centre(const DataParallelSync& sync, std::int64_t step) {
  if (!ends_period(sync.period, step)) return {};
  return {{.to = Departure::To::all}};
}

std::int64_t centre_cycle(const DataParallelSync& sync, std::int64_t rounds) {
  return common_cycle(sync.period, rounds);
}

/// What the server has and the model are read, the model is written.
Bytes pull_bytes(const DataParallelSync& /*sync*/, Departure::To /*to*/, std::int64_t /*received*/,
                 Bytes /*width*/) {
  return 3 * kVector;
}

void check_pair_overlap(const DataParallelSync& sync, const SyncComplain& complain) {
  if (sync.overlap == SyncOverlap::none || sync.overlap == SyncOverlap::combine_while_computing) return;
  complain("overlap", "found \"" + std::string(kSyncOverlapNames[static_cast<std::size_t>(sync.overlap)]) +
                          "\" with the method \"ad-psgd\", allowed none | combine-while-computing");
}

}  // namespace

constinit const SyncMethodRow kAdPsgd{.method = SyncMethod::ad_psgd,
                                      .travels = Travels::models,
                                      .keys = kPairKeys,
                                      .departures = with_one_neighbour,
                                      .merge_bytes = plain_merge_bytes,
                                      .check = check_pair_overlap};
constinit const SyncMethodRow kEasgd{.method = SyncMethod::easgd,
                                     .travels = Travels::models,
                                     .keys = kCentreKeys,
                                     .cycle = centre_cycle,
                                     .departures = with_centre,
                                     .merge_bytes = pull_bytes,
                                     .by_servers = true};
/// The outer model that the period began with is kept; the momentum lies with the server.
constinit const SyncMethodRow kAsyncDiLoCo{.method = SyncMethod::async_diloco,
                                           .travels = Travels::models,
                                           .keys = kCentreKeys,
                                           .cycle = centre_cycle,
                                           .departures = with_centre,
                                           .prepare_bytes = 3 * kVector,
                                           .merge_bytes = pull_bytes,
                                           .state_bytes = kVector,
                                           .by_servers = true};

}  // namespace orrery
