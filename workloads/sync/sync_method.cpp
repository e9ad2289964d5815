#include "workloads/sync/sync_method.hpp"

#include <algorithm>
#include <numeric>

#include "workloads/sync/sync_method_rows.hpp"

namespace orrery {

static_assert(kSyncMethodRows.size() == kSyncMethodNames.size());

const SyncMethodRow& sync_method(SyncMethod method) {
  return *kSyncMethodRows[static_cast<std::size_t>(method)];
}

bool has_key(SyncMethod method, std::string_view key) {
  return std::ranges::find(sync_method(method).keys, key) != sync_method(method).keys.end();
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

Bytes plain_merge_bytes(const DataParallelSync& /*sync*/, Departure::To to, std::int64_t received,
                        Bytes width) {
  return width * (to == Departure::To::neighbours ? 2 + received : 2);
}

}  // namespace orrery
