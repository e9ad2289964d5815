// Describes a method of data_parallel_sync as a row of data: its payload, its times, its partners, the cost
// of merging, its memory, and its keys. `sync_method()` finds the row; rows lie in the file of their family.
// ModelSync writes programs from rows and knows no method by name.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/data_parallel_sync.hpp"
#include "orrery/experiment.hpp"
#include "orrery/units.hpp"

namespace orrery {

/// Names the payload that workers send each other.
enum class Travels : std::uint8_t { nothing, gradients, models };

/// Says whether workers keep step with each other, and how asynchronous ones exchange models
/// (sim/asynchronous/).
enum class Meets : std::uint8_t { in_step, in_pairs, at_centre };

/// A model, or a fragment of it, that leaves once a step has updated it.
struct Departure {
  enum class To : std::uint8_t { neighbours, all };
  To to = To::all;
  std::int64_t round = 0;     ///< neighbours: of the graph, counted on beyond its last one
  std::int64_t fragment = 0;  ///< the index of the part, below `fragments`
  std::int64_t fragments = 1;
  std::int64_t delay = 0;  ///< steps that go on before it is needed
};

/// Reports an error at one of the keys of data_parallel_sync.
using SyncComplain = std::function<void(std::string_view key, std::string message)>;

struct SyncMethodRow {
  SyncMethod method{};
  Travels travels = Travels::nothing;
  Meets meets = Meets::in_step;                 ///< otherwise programs hold local steps alone
  std::span<const std::string_view> keys = {};  ///< of data_parallel_sync that it has, beside `method`
  /// Returns the steps after which its departures repeat, if its graph has `rounds` rounds (1 without a
  /// graph).
  std::int64_t (*cycle)(const DataParallelSync& sync, std::int64_t rounds) = nullptr;
  /// Returns the messages sent after the update of `step`, counted from 0. nullptr: no models travel.
  std::vector<Departure> (*departures)(const DataParallelSync& sync, std::int64_t step) = nullptr;
  /// Memory traffic, per value, to prepare the payload from the model, before it is compressed.
  Bytes prepare_bytes = 0;
  /// Returns the memory traffic, per value of `width` bytes, to merge models from `received` neighbours, or
  /// one mean from all, into the model.
  Bytes (*merge_bytes)(const DataParallelSync& sync, Departure::To to, std::int64_t received,
                       Bytes width) = nullptr;
  /// True if the overlap adapt-then-combine merges the mean of all into a layer before its next forward pass;
  /// otherwise it is merged into all layers before the next step.
  bool merges_by_layer = false;
  /// Memory traffic, per value of a server's part, to merge one worker's model into the centre.
  Bytes centre_bytes = 0;
  std::int64_t vectors = 1;  ///< as long as the model that travel to a neighbour
  std::int64_t shared = 1;   ///< of them, that all replicas of a worker need afterwards
  Bytes state_bytes = 0;     ///< that a replica keeps between steps, per value of its model
  Bytes message_bytes = 0;   ///< that the first message to neighbours in a step carries besides
  bool by_servers = false;   ///< gradients are summed by servers
  /// Checks its keys together. nullptr: nothing to check.
  void (*check)(const DataParallelSync& sync, const SyncComplain& complain) = nullptr;
};

[[nodiscard]] const SyncMethodRow& sync_method(SyncMethod method);
/// Returns true if the method has the key.
[[nodiscard]] bool has_key(SyncMethod method, std::string_view key);

/// Returns the rounds of its graph that a method goes through in `steps` steps, at least 1.
[[nodiscard]] std::int64_t rounds_in(const DataParallelSync& sync, std::int64_t steps);

/// Returns the steps after which the method's actions repeat; `rounds` of its graph, 1 if it has none.
[[nodiscard]] std::int64_t sync_cycle(const DataParallelSync& sync, std::int64_t rounds);

// The next functions serve the rows:

/// Bytes per value of a vector as long as the model, which is in fp32.
inline constexpr Bytes kVector = 4;
/// Steps after which both repeat; the longer one where that takes more than 1000.
[[nodiscard]] std::int64_t common_cycle(std::int64_t period, std::int64_t rounds);
/// Returns true if `step` ends a period.
[[nodiscard]] inline bool ends_period(std::int64_t period, std::int64_t step) {
  return (step + 1) % period == 0;
}
/// Checks that error feedback is on if the method's momentum relies on what a compressor loses.
void check_feedback(const DataParallelSync& sync, const SyncComplain& complain);
/// The models of neighbours are added to one's own; a mean is copied out of its bucket.
[[nodiscard]] Bytes plain_merge_bytes(const DataParallelSync& sync, Departure::To to, std::int64_t received,
                                      Bytes width);

/// Returns true if events decide when the replicas exchange models.
[[nodiscard]] bool is_asynchronous(const Experiment& experiment);

}  // namespace orrery
