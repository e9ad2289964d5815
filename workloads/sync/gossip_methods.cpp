// Methods whose workers exchange models with the neighbours of a graph: gossip (Lian et al. 2017), push-sum
// (Assran et al. 2019), and gossip with a global average in its place every period (Chen et al. 2021), where
// that of gossip-aga grows.
#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "workloads/sync/sync_method_rows.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 9> kGossipKeys{"topology",  "weights", "shape", "probability", "peers",
                                                      "placement", "overlap", "level", "compression"};
constexpr std::array<std::string_view, 10> kPgaKeys{"topology",  "weights", "shape", "probability", "peers",
                                                    "placement", "overlap", "level", "compression", "period"};
constexpr std::array<std::string_view, 11> kAgaKeys{"topology",    "weights",   "shape",       "probability",
                                                    "peers",       "placement", "overlap",     "level",
                                                    "compression", "period",    "final_period"};

/// Bytes of the weight that a push-sum message carries beside the model.
constexpr Bytes kPushSumWeight = 8;

std::vector<Departure> with_neighbours(const DataParallelSync& /*sync*/, std::int64_t step) {
  return {{.to = Departure::To::neighbours, .round = step}};
}

std::vector<Departure> all_at_the_end(bool ends, std::int64_t step) {
  return {{.to = ends ? Departure::To::all : Departure::To::neighbours, .round = step}};
}

std::vector<Departure> pga_departures(const DataParallelSync& sync, std::int64_t step) {
  return all_at_the_end(ends_period(sync.period, step), step);
}

std::int64_t pga_cycle(const DataParallelSync& sync, std::int64_t rounds) {
  return common_cycle(sync.period, rounds);
}

/// Doubled up to the final one.
std::vector<std::int64_t> growing_periods(const DataParallelSync& sync) {
  std::vector<std::int64_t> periods;
  for (std::int64_t h = sync.period; h < sync.final_period; h *= 2) periods.push_back(h);
  periods.push_back(std::max(sync.final_period, sync.period));
  return periods;
}

std::int64_t sum_of(const std::vector<std::int64_t>& periods) {
  return std::accumulate(periods.begin(), periods.end(), std::int64_t{0});
}

/// Returns true if `step` ends one of the periods, which follow each other in turn.
bool ends_growing_period(const std::vector<std::int64_t>& periods, std::int64_t step) {
  std::int64_t left = step % sum_of(periods);
  for (const std::int64_t period : periods) {
    if (left < period) return left == period - 1;
    left -= period;
  }
  return false;
}

std::vector<Departure> aga_departures(const DataParallelSync& sync, std::int64_t step) {
  return all_at_the_end(ends_growing_period(growing_periods(sync), step), step);
}

std::int64_t aga_cycle(const DataParallelSync& sync, std::int64_t rounds) {
  return common_cycle(sum_of(growing_periods(sync)), rounds);
}

void check_aga(const DataParallelSync& sync, const SyncComplain& complain) {
  if (sync.final_period < sync.period)
    complain("final_period", "found " + std::to_string(sync.final_period) + ", allowed period " +
                                 std::to_string(sync.period) + " or more");
}

}  // namespace

constinit const SyncMethodRow kGossip{.method = SyncMethod::gossip,
                                      .travels = Travels::models,
                                      .keys = kGossipKeys,
                                      .departures = with_neighbours,
                                      .merge_bytes = plain_merge_bytes};
constinit const SyncMethodRow kPushSum{.method = SyncMethod::push_sum,
                                       .travels = Travels::models,
                                       .keys = kGossipKeys,
                                       .departures = with_neighbours,
                                       .merge_bytes = plain_merge_bytes,
                                       .message_bytes = kPushSumWeight};
constinit const SyncMethodRow kGossipPga{.method = SyncMethod::gossip_pga,
                                         .travels = Travels::models,
                                         .keys = kPgaKeys,
                                         .cycle = pga_cycle,
                                         .departures = pga_departures,
                                         .merge_bytes = plain_merge_bytes};
constinit const SyncMethodRow kGossipAga{.method = SyncMethod::gossip_aga,
                                         .travels = Travels::models,
                                         .keys = kAgaKeys,
                                         .cycle = aga_cycle,
                                         .departures = aga_departures,
                                         .merge_bytes = plain_merge_bytes,
                                         .check = check_aga};

}  // namespace orrery
