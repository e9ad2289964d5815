// Writes the collectives that move weights and their gradients between the ranks that copy them: slots,
// widths and messages. Used by ParameterGather and DataParallel; it does not know when they are due.
//
// Gathers, sums within the shards and sums over their copies have a stream each (torch.distributed.fsdp:
// those of all-gathers, reduce-scatters and all-reduces), so that none stands behind another that it does not
// need.
//
// Experts have copies of their own, on ranks that differ from those of the other weights.
#pragma once

#include <array>
#include <cstdint>

#include "orrery/experiment.hpp"
#include "workloads/communicators/wire_width.hpp"
#include "workloads/programs/fsdp_units.hpp"
#include "workloads/programs/program_writer.hpp"
#include "workloads/programs/stages.hpp"

namespace orrery {

/// Weights whose gradients the same ranks add up.
enum class Weights : std::uint8_t { common, experts };
inline constexpr std::array kAllWeights{Weights::common, Weights::experts};

/// A member of a block, of the weights asked for.
[[nodiscard]] std::int64_t of_block(const PlacedBlock& block, Weights of, std::int64_t PlacedBlock::*all);

/// Returns true if the optimizer takes the mean gradient of all replicas.
[[nodiscard]] bool averages_gradients(const DataParallelSync& sync);

class WeightCollectives {
 public:
  WeightCollectives(const Experiment& experiment, const CommunicatorLayout& layout, const ModelBlocks& blocks,
                    const Stage& stage, Workload& workload, ProgramWriter& writer);

  void begin_step(std::int32_t step) { step_ = step; }

  /// Writes one after `dep`, in `pieces`; the last operation. `pass`: in which it is due, nullptr if in none.
  OpId add(Collective what, Weights of, std::int64_t parameters, Part part, Phase phase, const Pass* pass,
           OpId dep, std::int64_t pieces = 1);

  /// Casts gradients to the precision on the wire, after `dep`; returns `dep` if they need no cast. It runs
  /// beside the passes, as the copies into buckets do.
  OpId cast_gradients(std::int64_t parameters, const Pass* pass, OpId dep);
  [[nodiscard]] const WireWidth& gradient_width() const { return gradients_; }

  /// Returns how many messages of `pieces`, which directly follow each other, are one operation.
  [[nodiscard]] std::uint32_t together(std::int64_t pieces) const {
    return in_a_row_ ? static_cast<std::uint32_t>(pieces) : 1;
  }
  /// Returns the number of collectives in which ZeRO-3 moves a unit: the parameters, or the gradients of its
  /// `trained` ones.
  [[nodiscard]] std::int64_t pieces_of(Weights of, const Chunk& chunk, const FsdpUnit& unit,
                                       bool trained) const;
  /// Parameters of them that the stage trains.
  [[nodiscard]] std::int64_t trained(Weights of) const {
    return of == Weights::experts ? stage_.experts() : stage_.trained() - stage_.experts();
  }

  /// Returns true if gradients of these weights are summed over ranks.
  [[nodiscard]] bool reduces(Weights of) const { return reduces_[static_cast<std::size_t>(of)]; }
  [[nodiscard]] bool reduces_any() const { return reduces_[0] || reduces_[1]; }

 private:
  [[nodiscard]] Op label(Stream stream, const Pass* pass) const;
  OpId cast(const Kernel& kernel, Stream stream, const Pass* pass, OpId dep);

  const CommunicatorLayout& layout_;
  const ModelBlocks& blocks_;
  const Stage& stage_;
  Workload& workload_;
  ProgramWriter& writer_;
  std::array<bool, kAllWeights.size()> reduces_;
  bool by_tensor_;
  bool in_a_row_;  ///< collectives that follow each other right away are one operation
  Bytes element_;
  Bytes gradient_;
  WireWidth parameters_;
  WireWidth gradients_;
  Picoseconds message_host_;  ///< to issue a collective
  double gather_efficiency_;
  Picoseconds cast_host_;  ///< and a cast
  std::int32_t step_ = 0;
};

}  // namespace orrery
