// Describes the device memory of one pipeline stage by its contents. Read by reports; it knows no model and
// no plan.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "orrery/units.hpp"

namespace orrery {

/// Names the parts of a layer that activations belong to.
enum class ActivationKind : std::uint8_t {
  residual,  ///< the stream between layers, norms and dropout
  attention,
  mlp,
  experts,      ///< router, rows that experts work on, shared experts
  vocabulary,   ///< embedding, logits and loss
  for_weights,  ///< of any of these, once only the gradients of the weights are left
};
inline constexpr std::size_t kActivationKindCount = 6;

/// Bytes of activations by ActivationKind.
struct ActivationBytes {
  std::array<Bytes, kActivationKindCount> of{};

  [[nodiscard]] Bytes& operator[](ActivationKind kind) { return of[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Bytes operator[](ActivationKind kind) const { return of[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Bytes total() const { return std::accumulate(of.begin(), of.end(), Bytes{0}); }
  ActivationBytes& operator+=(const ActivationBytes& other) {
    for (std::size_t i = 0; i < of.size(); ++i) of[i] += other.of[i];
    return *this;
  }
  ActivationBytes& operator-=(const ActivationBytes& other) {
    for (std::size_t i = 0; i < of.size(); ++i) of[i] -= other.of[i];
    return *this;
  }
  friend ActivationBytes operator*(std::int64_t times, ActivationBytes bytes) {
    for (Bytes& one : bytes.of) one *= times;
    return bytes;
  }
  friend bool operator==(const ActivationBytes&, const ActivationBytes&) = default;
};

/// Held in addition while one block runs, or for the data-parallel dimension.
struct WorkspaceBytes {
  Bytes recomputed = 0;  ///< activations computed again
  Bytes activation_gradients = 0;
  Bytes loss = 0;                 ///< logits in the further widths that the loss needs
  Bytes weight_gradients = 0;     ///< of one weight at a time, or those a framework never gives back
  Bytes communication = 0;        ///< gathered inputs, rows on their way to and from experts
  Bytes gathered_parameters = 0;  ///< ZeRO-3
  Bytes gradient_buckets = 0;     ///< whole gradients before they are reduced (ZeRO-2 and 3)
  Bytes update = 0;               ///< copies of gradients while the optimizer runs
  Bytes offload_buffers = 0;      ///< activations on their way to the memory of the host, and back
  Bytes neighbours = 0;           ///< models received from gossip neighbours
  Bytes framework = 0;            ///< of libraries, beside the model's tensors

  WorkspaceBytes& operator+=(const WorkspaceBytes& other) {
    recomputed += other.recomputed;
    activation_gradients += other.activation_gradients;
    loss += other.loss;
    weight_gradients += other.weight_gradients;
    communication += other.communication;
    gathered_parameters += other.gathered_parameters;
    gradient_buckets += other.gradient_buckets;
    update += other.update;
    offload_buffers += other.offload_buffers;
    neighbours += other.neighbours;
    framework += other.framework;
    return *this;
  }
  [[nodiscard]] Bytes total() const {
    return recomputed + activation_gradients + loss + weight_gradients + communication + gathered_parameters +
           gradient_buckets + update + offload_buffers + neighbours + framework;
  }
  friend bool operator==(const WorkspaceBytes&, const WorkspaceBytes&) = default;
};

/// Identifies the work that runs when a stage holds most memory: part of a pass of a micro-batch through a
/// chunk, or the update.
struct PeakMoment {
  enum class Pass : std::uint8_t { none, forward, backward, weight_gradient, update };
  Pass pass = Pass::none;
  std::int32_t micro_batch = 0;
  std::int32_t chunk = 0;
  std::int32_t layer = -1;  ///< of the chunk, from 0; -1: before its layers or after them
  bool at_end = false;      ///< of the chunk: its last block

  friend bool operator==(const PeakMoment&, const PeakMoment&) = default;
};

/// Holds the memory of a GPU of the stage at its peak in a step, in bytes of tensors.
struct StageMemory {
  std::int64_t parameters_count = 0;  ///< parameters this GPU computes with, before sharding over data
  Bytes parameters = 0;
  Bytes gradients = 0;          ///< at the peak: FSDP's come in the backward pass and go with the update
  Bytes main_weights = 0;       ///< 32-bit copies of 16-bit parameters
  Bytes optimizer_states = 0;   ///< moments, and states of the synchronisation of replicas
  ActivationBytes activations;  ///< kept for the backward pass
  WorkspaceBytes workspace;
  Bytes standing = 0;       ///< the part of all of these that is held at any time
  Bytes fragmentation = 0;  ///< reserved by the allocator beyond them
  Bytes outside = 0;        ///< of the process beside the allocator: CUDA context, buffers of communicators
  PeakMoment moment;

  [[nodiscard]] Bytes optimizer() const { return main_weights + optimizer_states; }
  /// Held from step to step.
  [[nodiscard]] Bytes states() const { return parameters + gradients + optimizer(); }
  [[nodiscard]] Bytes total() const { return states() + activations.total() + workspace.total(); }
  [[nodiscard]] Bytes reserved() const { return total() + fragmentation; }
  /// Returns the memory that the device reports as used.
  [[nodiscard]] Bytes device() const { return reserved() + outside; }
};

/// Part of StageMemory::total().
struct MemoryCategory {
  std::string_view name;
  Bytes (*bytes)(const StageMemory&);
};

template <ActivationKind kind>
constexpr Bytes activations_of(const StageMemory& memory) {
  return memory.activations[kind];
}

/// Lists categories of all memory, each byte once.
inline constexpr MemoryCategory kMemoryCategories[] = {
    {"parameters", [](const StageMemory& m) { return m.parameters; }},
    {"gradients", [](const StageMemory& m) { return m.gradients; }},
    {"main_weights", [](const StageMemory& m) { return m.main_weights; }},
    {"optimizer_states", [](const StageMemory& m) { return m.optimizer_states; }},
    {"residual", activations_of<ActivationKind::residual>},
    {"attention", activations_of<ActivationKind::attention>},
    {"mlp", activations_of<ActivationKind::mlp>},
    {"experts", activations_of<ActivationKind::experts>},
    {"vocabulary", activations_of<ActivationKind::vocabulary>},
    {"for_weight_gradients", activations_of<ActivationKind::for_weights>},
    {"recomputed", [](const StageMemory& m) { return m.workspace.recomputed; }},
    {"activation_gradients", [](const StageMemory& m) { return m.workspace.activation_gradients; }},
    {"loss", [](const StageMemory& m) { return m.workspace.loss; }},
    {"weight_gradients", [](const StageMemory& m) { return m.workspace.weight_gradients; }},
    {"communication", [](const StageMemory& m) { return m.workspace.communication; }},
    {"gathered_parameters", [](const StageMemory& m) { return m.workspace.gathered_parameters; }},
    {"gradient_buckets", [](const StageMemory& m) { return m.workspace.gradient_buckets; }},
    {"update", [](const StageMemory& m) { return m.workspace.update; }},
    {"offload_buffers", [](const StageMemory& m) { return m.workspace.offload_buffers; }},
    {"neighbours", [](const StageMemory& m) { return m.workspace.neighbours; }},
    {"framework", [](const StageMemory& m) { return m.workspace.framework; }},
};

}  // namespace orrery
