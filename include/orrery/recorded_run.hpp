// Holds a finished run with all its times: for training, the operations that each GPU executed on each
// stream; for serving, iterations, requests and KV cache usage. For programs that look into a run or draw it;
// callers that need figures only take simulate(), which keeps less. Knows nothing of formats: write.hpp has
// those.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"
#include "orrery/serving_record.hpp"
#include "orrery/units.hpp"
#include "orrery/workload.hpp"

namespace orrery {

/// Holds one operation of one rank. Operations of a stream do not overlap.
struct OperationSpan {
  Picoseconds start_ps = 0;  ///< from the beginning of the run
  Picoseconds finish_ps = 0;
  std::string_view
      name;  ///< such as "forward attention" or "all-gather", as in a trace; lives as long as the run
  Phase phase{};
  std::int32_t layer = -1;        ///< of the model, from 0; -1: of no single layer
  std::int32_t micro_batch = -1;  ///< of the step, from 0; -1: of no single one
  std::int32_t chunk = 0;         ///< virtual stage on this rank
  std::int32_t step = 0;          ///< training step, from 0
  Bytes bytes = 0;                ///< of a communication, as Message::bytes; 0 of compute
  std::span<const std::uint32_t>
      ranks{};  ///< members of its communicator; empty of compute; lives as long as the run
};

class RecordedRun {
 public:
  RecordedRun(RecordedRun&&) noexcept;
  RecordedRun& operator=(RecordedRun&&) noexcept;
  ~RecordedRun();

  [[nodiscard]] const Experiment& experiment() const;
  /// The figures, equal to those of simulate().
  [[nodiscard]] const Report& report() const;
  /// Iterations, requests and the cache, where the experiment serves requests; else nullptr.
  [[nodiscard]] const ServingRecord* requests() const;
  /// Returns the number of ranks (GPUs) of the run; rank r runs on GPU r of the cluster. 0 if requests were
  /// served.
  [[nodiscard]] std::uint32_t ranks() const;
  /// The streams on which `rank` < ranks() executes anything, in ascending order.
  [[nodiscard]] std::vector<Stream> streams(std::uint32_t rank) const;
  /// Returns the operations that `rank` < ranks() executes on `stream`, in order of time. Ranks that one
  /// simulated rank represents have the times of their class and communicators of their own.
  [[nodiscard]] std::vector<OperationSpan> spans(std::uint32_t rank, Stream stream) const;

  /// Internal to the library.
  struct State;
  [[nodiscard]] const State& state() const { return *state_; }
  explicit RecordedRun(std::unique_ptr<const State> state);

 private:
  std::unique_ptr<const State> state_;
};

/// Simulates `experiment` and keeps the times of all operations: about 20 bytes for each simulated one, or of
/// all iterations and requests (ServingRecord). Deterministic to the bit, except RunStats. Safe to call from
/// several threads.
/// @throws InputError as simulate(), and of workers that keep no step with each other, which have no timeline
/// in common.
[[nodiscard]] RecordedRun record(const Experiment& experiment);

}  // namespace orrery
