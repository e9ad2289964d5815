// Computes the time that pipeline stages need for a micro-batch, given their layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/bounds/block_times.hpp"
#include "workloads/schedules/schedules.hpp"

namespace orrery {

/// Sums over the layers before each, so that any run of layers is a difference.
class StageTimes {
 public:
  /// Keeps a reference to `times`.
  StageTimes(const Plan& plan, const BlockTimes& times);

  [[nodiscard]] std::size_t stages() const { return static_cast<std::size_t>(map_.virtual_stages()); }
  /// Returns the time of virtual stage `stage` with the layers [from, to), on the slowest GPU of all copies
  /// of the model.
  [[nodiscard]] Picoseconds time(std::size_t stage, std::int64_t from, std::int64_t to) const;
  /// Returns the time of all chunks of a pipeline rank on a kind of GPU, with the layers that `layers` gives
  /// each virtual stage.
  [[nodiscard]] Picoseconds of_rank(std::int64_t rank, std::uint64_t kind,
                                    const std::vector<std::int64_t>& layers) const;

 private:
  /// Holds sums on a kind of GPU.
  struct Sums {
    std::uint64_t kind = 0;
    std::vector<Picoseconds> before;  ///< time of the layers before each, and of all
    Picoseconds embedding = 0;
    Picoseconds head = 0;  ///< with the prediction of further tokens before it
  };

  [[nodiscard]] Sums sums_of(const GpuBlockTimes& gpu) const;
  [[nodiscard]] Picoseconds time(const Sums& sums, std::size_t stage, std::int64_t from,
                                 std::int64_t to) const;

  const ModelBlocks& blocks_;
  ChunkMap map_;
  std::vector<std::vector<Sums>> sums_;  ///< [pipeline rank][kind of GPU]
};

}  // namespace orrery
