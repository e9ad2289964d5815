// Cuts a model into blocks (embedding, layers, head): the work of each on one rank in each phase, its
// activations and its parameters. The hinge between model families, which make blocks, and programs, which
// string blocks together without knowing their contents.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/menu.hpp"
#include "orrery/stage_memory.hpp"
#include "orrery/workload.hpp"
#include "workloads/schedules/schedules.hpp"

namespace orrery {

/// Describes one operation of a block. `after` is the step it waits for: an earlier one of the same list, or
/// kBlockInput for the operation that produced the block's input.
struct Step {
  Op::Kind kind = Op::Kind::compute;
  std::uint32_t work = 0;  ///< index into Workload::kernel_sequences or Workload::messages
  Part part = Part::layer;
  Phase phase = Phase::forward;
  std::int32_t after = -1;
  Slot communicator = Slot::tensor;  ///< of communication steps
  bool on_host = false;              ///< the host waits for `after`, then goes on
};
inline constexpr std::int32_t kBlockInput = -1;

/// Lists the steps of one phase in issue order; step `output` produces the input of the next block.
struct Steps {
  std::vector<Step> list;
  std::int32_t output = kBlockInput;
};

/// Matrices of weights that are alike, on one rank.
struct WeightMatrices {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t count = 1;
  bool of_experts = false;

  [[nodiscard]] std::int64_t parameters() const { return rows * columns * count; }
};

struct Block {
  /// Steps by PassKind; those of kinds that the plan's schedule lacks are empty.
  std::array<Steps, kPassKindCount> steps;
  Steps recompute;              ///< runs before backward and backward_input; empty when activations are kept
  ActivationBytes activations;  ///< kept per micro-batch from forward to backward
  Bytes for_weights = 0;        ///< kept per micro-batch from backward_input to backward_weight
  Bytes offloaded = 0;          ///< kept in the memory of the host in place of activations
  /// Times that a forward or a backward pass sends tokens to experts or back, and the recomputation before
  /// the latter.
  std::int32_t exchanges = 0;
  std::int32_t exchanges_again = 0;
  std::int32_t same_steps = -1;  ///< kind of block whose steps it has; -1: its own
  /// Workspace by PassKind, held in addition while the block runs.
  std::array<WorkspaceBytes, kPassKindCount> workspace;
  Bytes input_gradient = 0;  ///< which is left when the block has run backward
  /// Bytes of weight gradients of its products. A framework may keep one buffer for each shape (attention,
  /// MLP, experts, recurrence).
  std::array<Bytes, 4> weight_gradients{};
  std::int64_t parameters = 0;         ///< on this rank, before sharding over data-parallel ranks
  std::int64_t tensors = 0;            ///< that hold the parameters
  std::int64_t expert_parameters = 0;  ///< of those, shared by the ranks with the same experts
  std::int64_t expert_tensors = 0;
  std::vector<WeightMatrices> matrices;  ///< of its parameters, where the optimizer asks for them
  std::int64_t frozen = 0;  ///< parameters that are not trained: no gradients, no optimizer states
  std::int64_t frozen_tensors = 0;
  std::int64_t narrow = 0;  ///< of the frozen ones, those in Plan::frozen_precision

  [[nodiscard]] WorkspaceBytes& in(PassKind kind) { return workspace[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] const WorkspaceBytes& in(PassKind kind) const {
    return workspace[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] Steps& of(PassKind kind) { return steps[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] const Steps& of(PassKind kind) const { return steps[static_cast<std::size_t>(kind)]; }
  /// Returns true if activations are recomputed before the steps of a pass.
  [[nodiscard]] bool recomputes(PassKind kind) const {
    return !recompute.list.empty() && (kind == PassKind::backward || kind == PassKind::backward_input);
  }
  /// Returns the number of exchanges in a whole pass.
  [[nodiscard]] std::int32_t exchanges_in(PassKind kind) const {
    return exchanges + (kind == PassKind::forward ? 0 : exchanges_again);
  }
  [[nodiscard]] std::int64_t trained_tensors() const { return tensors - frozen_tensors; }
};

/// Returns the phase that the steps of a pass count as.
[[nodiscard]] constexpr Phase phase_of(PassKind kind) {
  if (kind == PassKind::forward) return Phase::forward;
  return kind == PassKind::backward_weight ? Phase::weight_gradient : Phase::backward;
}

/// The activation between two layers and its gradient, per micro-batch. Where they are sliced, every
/// tensor rank holds its own part (as with sequence parallelism), else a copy.
struct Boundary {
  Bytes bytes = 0;  ///< of the whole tensor
  bool activation_sliced = false;
  bool gradient_sliced = false;

  [[nodiscard]] bool sliced(bool ahead) const { return ahead ? activation_sliced : gradient_sliced; }
  friend bool operator==(const Boundary&, const Boundary&) = default;
};

struct ModelBlocks {
  std::vector<Block> kinds;
  std::vector<std::uint32_t> layers;  ///< per layer: its kind
  std::int32_t embedding = -1;        ///< kind of the block before the first layer, or -1
  std::int32_t head = -1;             ///< kind of the block after the last layer, or -1
  std::int32_t depth = -1;            ///< kind of the blocks between the last layer and the head, or -1
  std::int64_t depths = 0;            ///< number of those: of multi-token prediction
  std::int32_t bridge = -1;           ///< kind of the block between encoder and decoder, or -1
  std::int64_t bridged_layer = -1;    ///< the layer that it stands before
  std::int64_t tied_parameters = 0;   ///< per rank, of an embedding that several blocks compute with
  bool tied_head = true;              ///< the head is one of them; the bridge always is
  bool tied_are_trained = true;       ///< so that both ends add up their gradients
  std::vector<Boundary> boundaries;   ///< per layer, its input; at the end, the output of the last one
  TotalFlops model_flops = 0;         ///< of one step over all GPUs, recomputation left out
  TotalFlops recompute_flops = 0;     ///< of one step over all GPUs
};

/// A family of models: everything a `model.kind` needs. One file and one row each.
struct ModelFamily : MenuEntry {
  ModelKind kind;
  /// Blocks of one rank, without their steps.
  ModelBlocks (*describe)(const Experiment& experiment);
  /// Writes the steps of those blocks; adds their work and messages to `workload`.
  void (*write_steps)(const Experiment& experiment, ModelBlocks& blocks, Workload& workload);
  /// Parameters of the whole model.
  std::int64_t (*parameters)(const Model& model);
};

[[nodiscard]] const ModelFamily& model_family(ModelKind kind);

ModelBlocks describe_transformer(const Experiment& experiment);
void write_transformer_steps(const Experiment& experiment, ModelBlocks& blocks, Workload& workload);
std::int64_t transformer_parameters(const Model& model);
ModelBlocks describe_mlp(const Experiment& experiment);
void write_mlp_steps(const Experiment& experiment, ModelBlocks& blocks, Workload& workload);
std::int64_t mlp_parameters(const Model& model);
ModelBlocks describe_convnet(const Experiment& experiment);
void write_convnet_steps(const Experiment& experiment, ModelBlocks& blocks, Workload& workload);
std::int64_t convnet_parameters(const Model& model);

/// Bytes of one activation or parameter element in the plan's precision. FP8 products keep 16-bit
/// activations, parameters and messages.
[[nodiscard]] constexpr Bytes element_bytes(Precision precision) {
  return precision == Precision::fp32 || precision == Precision::tf32 ? 4 : 2;
}

[[nodiscard]] constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace orrery
