// Simulates one experiment: the library's front door.
#pragma once

#include <cstddef>
#include <memory>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"

namespace orrery {

/// The figures of one validated experiment. Deterministic to the bit, except Report::stats' wall
/// clock and memory figures. Safe to call from several threads.
/// @throws InputError if the cluster cannot be built or the graph would not fit into memory.
[[nodiscard]] Report simulate(const Experiment& experiment, const Figures& figures = {});

/// Simulates one experiment after another and caches results that later ones can use: topologies, graphs of
/// tasks and prices. Figures are those of simulate(), but for Report::stats' wall clock. Safe to use from
/// several threads, which share the cache.
class Simulator {
 public:
  static constexpr std::size_t kUsualBytes = 1'000'000'000;
  /// Caches up to about `most_bytes` of recently used results, beside a small cache of each thread.
  explicit Simulator(std::size_t most_bytes = kUsualBytes);
  ~Simulator();
  Simulator(Simulator&&) noexcept;
  Simulator& operator=(Simulator&&) noexcept;

  /// @throws as orrery::simulate().
  [[nodiscard]] Report simulate(const Experiment& experiment, const Figures& figures = {});

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

/// Reports memory and feasibility without simulating: the makespan is 0.
[[nodiscard]] Report account_memory(const Experiment& experiment, const Figures& figures = {});

}  // namespace orrery
