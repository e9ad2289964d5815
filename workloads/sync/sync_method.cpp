#include "workloads/sync/sync_method.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "workloads/sync/sync_method_rows.hpp"

namespace orrery {

static_assert(kSyncMethodRows.size() == kSyncMethodNames.size());

const SyncMethodRow& sync_method(SyncMethod method) {
  return *kSyncMethodRows[static_cast<std::size_t>(method)];
}

bool has_key(SyncMethod method, std::string_view key) {
  return std::ranges::find(sync_method(method).keys, key) != sync_method(method).keys.end();
}

std::int64_t rounds_in(const DataParallelSync& sync, std::int64_t steps) {
  if (sync_method(sync.method).meets == Meets::in_pairs) return steps;
  const auto departures = sync_method(sync.method).departures;
  std::int64_t rounds = 1;
  for (std::int64_t step = 0; departures != nullptr && step < steps; ++step) {
    for (const Departure& departure : departures(sync, step)) rounds = std::max(rounds, departure.round + 1);
  }
  return rounds;
}

std::int64_t sync_cycle(const DataParallelSync& sync, std::int64_t rounds) {
  const auto cycle = sync_method(sync.method).cycle;
  return cycle != nullptr ? cycle(sync, rounds) : rounds;
}

std::int64_t common_cycle(std::int64_t period, std::int64_t rounds) {
  constexpr std::int64_t kLongest = 1000;
  const std::int64_t both = std::lcm(period, rounds);
  return both <= kLongest ? both : std::max(period, rounds);
}

void check_feedback(const DataParallelSync& sync, const SyncComplain& complain) {
  if (sync.compression.feeds_back()) return;
  const auto name = [](const auto& names, auto value) {
    return std::string(names[static_cast<std::size_t>(value)]);
  };
  complain("compression",
           "found \"" + name(Compression::kNames, sync.compression.method) +
               "\" without error feedback, which is the momentum of \"" +
               name(kSyncMethodNames, sync.method) +
               "\", allowed top-k | dct-top-k | random-k | sign | low-rank with error_feedback");
}

Bytes plain_merge_bytes(const DataParallelSync& /*sync*/, Departure::To to, std::int64_t received,
                        Bytes width) {
  return width * (to == Departure::To::neighbours ? 2 + received : 2);
}

bool is_asynchronous(const Experiment& experiment) {
  return sync_method(experiment.data_parallel_sync.method).meets != Meets::in_step &&
         experiment.plan.data_parallel > 1;
}

}  // namespace orrery
