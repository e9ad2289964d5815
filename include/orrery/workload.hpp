// Describes a training step as programs: the operations of each class of ranks, their order on each stream,
// and the ranks they communicate with. Made by workloads/, priced by sim/cost/, expanded to a TaskGraph by
// sim/tasks/. All ranks of a pipeline stage share one program, so its size grows with stages, micro-batches
// and layers, not with GPUs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/communicator_set.hpp"
#include "orrery/ids.hpp"
#include "orrery/plan.hpp"
#include "orrery/shared_array.hpp"
#include "orrery/stage_memory.hpp"
#include "orrery/units.hpp"

namespace orrery {

/// Fixed-order resources of one GPU; each shows as one thread of the trace. Values from kStreamCount on are
/// streams to and from gossip neighbours, in pairs.
enum class Stream : std::uint16_t {
  compute,
  tensor,         ///< tensor-parallel collectives
  data,           ///< sums of gradients over data-parallel ranks and of embeddings over stages
  send_forward,   ///< activations to the next stage
  recv_forward,   ///< activations from the previous stage
  send_backward,  ///< activation gradients to the previous stage
  recv_backward,  ///< activation gradients from the next stage
  host,           ///< the CPU thread that issues the others' work
  context,        ///< collectives of ranks that share sequences
  send_context,   ///< keys and values, and their gradients, to the next rank of a ring
  recv_context,   ///< the same from the rank before
  // The next streams serve chunks placed against the order of the ranks, as in a V or in DualPipe:
  reverse_send_forward,   ///< activations to the previous rank
  reverse_recv_forward,   ///< activations from the next rank
  reverse_send_backward,  ///< activation gradients to the next rank
  reverse_recv_backward,  ///< activation gradients from the previous rank
  expert,                 ///< tokens to their experts and back
  expert_node,            ///< the same inside nodes, where they go over nodes first
  // Work beside that of the GPU, of compute operations without a group:
  copy_to_host,    ///< offloaded tensors
  host_optimizer,  ///< updates of tensors in host memory
  copy_from_host,  ///< offloaded tensors that return
  workers,         ///< models, and changes of them, among all workers
  // The next streams carry the messages of ZeRO beside the sums of gradients within the shards:
  gather,  ///< parameters
  copies,  ///< sums of each shard over its sharded copies
};
inline constexpr std::size_t kStreamCount = 23;
inline constexpr std::array<std::string_view, kStreamCount> kStreamNames{"compute",
                                                                         "tensor comm",
                                                                         "data comm",
                                                                         "send forward",
                                                                         "recv forward",
                                                                         "send backward",
                                                                         "recv backward",
                                                                         "host",
                                                                         "context comm",
                                                                         "send context",
                                                                         "recv context",
                                                                         "reverse send forward",
                                                                         "reverse recv forward",
                                                                         "reverse send backward",
                                                                         "reverse recv backward",
                                                                         "expert comm",
                                                                         "expert comm in node",
                                                                         "copy to host",
                                                                         "host optimizer",
                                                                         "copy from host",
                                                                         "worker comm",
                                                                         "gather comm",
                                                                         "copies comm"};

/// Returns true if operations of the stream are copies over the link to the host, or the host's updates.
[[nodiscard]] constexpr bool is_offload(Stream stream) {
  return stream == Stream::copy_to_host || stream == Stream::host_optimizer ||
         stream == Stream::copy_from_host;
}

/// Streams of the k-th gossip neighbour to send to and to receive from, k from 0.
[[nodiscard]] constexpr Stream send_stream(std::size_t k) {
  return static_cast<Stream>(kStreamCount + 2 * k);
}
[[nodiscard]] constexpr Stream recv_stream(std::size_t k) {
  return static_cast<Stream>(kStreamCount + 2 * k + 1);
}
[[nodiscard]] inline std::string stream_name(Stream stream) {
  const auto s = static_cast<std::size_t>(stream);
  if (s < kStreamCount) return std::string(kStreamNames[s]);
  const std::size_t neighbour = (s - kStreamCount) / 2 + 1;
  return (stream == send_stream(neighbour - 1) ? "send to neighbour " : "recv from neighbour ") +
         std::to_string(neighbour);
}

/// Names the parallel dimension a message serves; the key of traffic and exposure figures. No message serves
/// offload: waits for copies to and from the host belong to it.
enum class Dimension : std::uint8_t { tensor, pipeline, data, context, expert, offload };
inline constexpr std::size_t kDimensionCount = 6;
inline constexpr std::array<std::string_view, kDimensionCount> kDimensionNames{
    "tensor", "pipeline", "data", "context", "expert", "offload"};

enum class Phase : std::uint8_t { forward, recompute, backward, synchronize, optimize, weight_gradient };
inline constexpr std::array<std::string_view, 6> kPhaseNames{"forward",     "recompute", "backward",
                                                             "synchronize", "optimize",  "weight gradient"};

/// The part of the model an operation belongs to.
enum class Part : std::uint8_t {
  embedding,
  attention,
  mlp,
  layer,   ///< both in one (parallel block), or a matrix of an mlp chain
  head,    ///< final norm, output projection and loss
  stage,   ///< a boundary between pipeline stages
  bucket,  ///< gradients or parameters of several layers
  optimizer,
  experts,     ///< router, experts and the messages of their tokens
  recurrence,  ///< in place of attention: a state space, or linear attention
};
inline constexpr std::array<std::string_view, 10> kPartNames{"embedding", "attention", "mlp",    "layer",
                                                             "head",      "stage",     "bucket", "optimizer",
                                                             "experts",   "recurrence"};

/// Names what kernels compute, as a profile is read.
enum class KernelClass : std::uint8_t {
  other,
  dense_products,   ///< of weights that every token meets
  expert_products,  ///< grouped, of the experts of a rank
  logits,           ///< products with the output projection
  attention,        ///< its core: scores, softmax, weighted sum
  recurrence,       ///< its core: states and chunks of a layer that recurs
  convolution,
  permutation,  ///< rows of experts in their order, copies of tokens and their sums
  routing,      ///< scores of experts, top-k, counts
  norm,
  residual,  ///< sums with the residual stream, dropout
  activation,
  embedding,
  loss,
  casts,  ///< between precisions, of operands and messages
  biases,
  accumulation,   ///< of gradients over micro-batches
  averaging,      ///< of models or gradients, by methods other than an all-reduce
  recomputation,  ///< all kernels of a forward pass that runs again
};
inline constexpr std::size_t kKernelClassCount = 19;
inline constexpr std::array<std::string_view, kKernelClassCount> kKernelClassNames{
    "other",      "dense_products", "expert_products", "logits",       "attention",
    "recurrence", "convolution",    "permutation",     "routing",      "norm",
    "residual",   "activation",     "embedding",       "loss",         "casts",
    "biases",     "accumulation",   "averaging",       "recomputation"};

/// Describes one GPU kernel by the sizes that its price depends on.
struct Kernel {
  enum class Kind : std::uint8_t {
    gemm,          ///< batch products of an m x k by a k x n matrix
    attention,     ///< fused attention: `flops` of products, `bytes` of memory traffic
    memory,        ///< bound by memory: `bytes` read and written
    convolution,   ///< `batch` of them one after the other: `flops` of products, `bytes` of memory traffic
    small_filter,  ///< the part of them that Winograd's algorithm does in fp32: `flops` as counted directly
    host_copy,     ///< `bytes` over the link to the host
    host_memory,   ///< the host reads and writes `bytes` of its memory
    cached_attention,  ///< of few queries over many keys and values that lie in memory: `flops` of products,
                       ///< `bytes` of memory traffic, cut along the keys so that all SMs read
  };
  Kind kind = Kind::memory;
  std::int64_t batch = 1;
  std::int64_t m = 0, n = 0, k = 0;
  Bytes bytes = 0;        ///< memory traffic; of a gemm beside operands and result once
  Flops flops = 0;        ///< of products
  bool causal = false;    ///< attention: rows see the columns up to their own only, and `flops` counts those
  bool backward = false;  ///< attention: the gradients of the queries, keys and values
  double more_columns = 0;  ///< attention: that each block of rows is worked off over, beside its own
  bool in_16_bits = false;  ///< gemm: also where the plan's precision is fp8
  bool grouped = false;     ///< gemm: each of the batch is a product with a weight of its own
  bool at_once = false;  ///< gemm: one kernel computes all of a group, whatever the software does elsewhere
  /// gemm: the operand lies ready in the precision of the product, for this one and for its gradient.
  bool left_ready = false, right_ready = false;
  /// gemm: in memory, of a value of the right operand, which is ready for the product or widened on the way
  /// into it; 0: as the product takes it.
  double weight_bytes = 0;
  KernelClass use = KernelClass::other;  ///< what it is for, where its kind does not say it

  /// Returns the class that a profile counts it in.
  [[nodiscard]] KernelClass kernel_class() const {
    if (use != KernelClass::other) return use;
    if (kind == Kind::gemm) return grouped ? KernelClass::expert_products : KernelClass::dense_products;
    if (kind == Kind::attention || kind == Kind::cached_attention) return KernelClass::attention;
    const bool convolves = kind == Kind::convolution || kind == Kind::small_filter;
    return convolves ? KernelClass::convolution : KernelClass::other;
  }
  /// Calls of the host that it takes.
  [[nodiscard]] std::int64_t launches() const { return grouped && !at_once ? batch : 1; }
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

/// Lists the kernels of one compute operation on one GPU. Operations of equal work share an entry. Without
/// kernels it is work of the host alone, on Stream::host.
struct KernelSequence {
  std::vector<Kernel> kernels;
  Picoseconds host_ps = 0;  ///< CPU time to issue the kernels, or of the host's own work
  Flops flops = 0;          ///< matrix work, attention counted without its causal saving
  bool again = false;       ///< of a forward pass that is recomputed

  friend bool operator==(const KernelSequence&, const KernelSequence&) = default;
};

/// Describes the message of one communication operation. Bytes follow nccl-tests: per rank for all_reduce,
/// broadcast, all_to_all and send_recv; total over the group for all_gather and reduce_scatter.
struct Message {
  Collective collective{};
  Bytes bytes = 0;
  Dimension dimension{};
  Picoseconds host_ps = 0;    ///< CPU time to issue it
  double efficiency = 1;      ///< share of the links' pace it reaches: data take 1 / efficiency as long
  Picoseconds wait_ps = 0;    ///< until the last of its ranks has come
  std::uint32_t servers = 0;  ///< of an all_reduce: through that many servers among its ranks; 0: without
  std::uint32_t times = 1;    ///< so often, one right after the other; `host_ps` is for all of them

  /// Visits the members that its price depends on: all but those of the host.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(collective, bytes, dimension, efficiency, wait_ps, servers, times);
  }
  friend bool operator==(const Message&, const Message&) = default;
};

/// Part of a pass: work of one GPU or a collective of its tensor group.
struct PassStep {
  bool communicates = false;
  std::uint32_t work = 0;   ///< index into Workload::kernel_sequences or Workload::messages
  std::int32_t after = -1;  ///< the step it waits for, earlier in the list; -1: the start of the pass

  friend bool operator==(const PassStep&, const PassStep&) = default;
};

/// Describes the work of the ranks of a tensor group in a pass, simulated as one operation. Steps of a kind
/// run in order; the pass ends with the last of them.
using PassWork = std::vector<PassStep>;

/// One operation of a program. Communication operations with the same slot are matched in order
/// over the members of the group: the i-th of each member are one task. A program sends the messages of a
/// slot on one stream, and gathers of parameters on Stream::gather, so a group does one thing at a time, or
/// two where gathers run beside sums. A pass is one task per tensor group.
struct Op {
  enum class Kind : std::uint8_t { compute, communicate, pass };
  Kind kind = Kind::compute;
  Stream stream = Stream::compute;
  Phase phase = Phase::forward;
  Part part = Part::layer;
  std::uint16_t slot = 0;   ///< communicate, pass: which of the rank's groups
  std::uint32_t work = 0;   ///< index into Workload::kernel_sequences, Workload::messages or Workload::passes
  std::int32_t layer = -1;  ///< global layer number; -1 where none
  std::int32_t micro_batch = -1;  ///< -1 where none
  std::int32_t chunk = 0;         ///< virtual stage on this rank
  std::int32_t step = 0;          ///< training step
  Bytes memory_at_start = 0;      ///< change of the memory in use when it starts
  Bytes memory_at_finish = 0;     ///< and when it has finished
  std::uint32_t dep_begin = 0;    ///< Program::deps[dep_begin, dep_end): earlier ops of this program
  std::uint32_t dep_end = 0;

  [[nodiscard]] bool changes_memory() const { return memory_at_start != 0 || memory_at_finish != 0; }
};

/// Operations in issue order. On each stream they run in this order; across streams only `deps` order them.
/// In a program with operations on Stream::host, the host issues each operation after those before it,
/// and waits only at its own operations, for their `deps`.
struct Program {
  std::vector<Op> ops;
  std::vector<std::uint32_t> deps;

  [[nodiscard]] std::span<const std::uint32_t> dependencies(const Op& op) const {
    return {deps.data() + op.dep_begin, deps.data() + op.dep_end};
  }
};

/// Names the purposes of a rank's communicators; `communicator_kinds()` (workloads/parallel/) says which
/// ranks form them. An experiment has some of these, and their number in its programs is Op::slot.
enum class Slot : std::uint16_t {
  tensor,
  data,
  forward_out,
  forward_in,
  backward_out,
  backward_in,
  embedding,
  reverse_forward_out,  ///< neighbours of chunks that lie against the order of the ranks
  reverse_forward_in,
  reverse_backward_out,
  reverse_backward_in,
  context,      ///< ranks that share sequences
  context_out,  ///< the next one of them on a ring, and the one before
  context_in,
  expert,         ///< ranks that share the experts of a layer
  expert_peers,   ///< of those, one in each node
  expert_node,    ///< of those, the ones in a node
  expert_tensor,  ///< ranks that share the matrices of an expert
  expert_data,    ///< ranks that hold the same experts
  node,           ///< replicas of one worker
  workers,        ///< one replica of each worker
  sharding,       ///< replicas that share one sharded copy under ZeRO
  copies,         ///< replicas that hold the same shard of their copies
  neighbours      ///< the first pair of slots with gossip neighbours; the others follow it
};
inline constexpr std::size_t kSlotCount = 24;

struct Workload {
  SharedArray<Program> programs;
  SharedArray<std::uint32_t> program_of_rank;
  /// Ranks r with equal r / replica_stride % replicas make up a replica of the model. Replicas are built
  /// alike: rank r + d * replica_stride plays the part in replica d that rank r has in replica 0, though its
  /// program may be of another number of micro-batches.
  std::uint32_t replicas = 1;
  std::uint32_t replica_stride = 1;
  std::vector<KernelSequence> kernel_sequences;
  std::vector<Message> messages;
  std::vector<PassWork> passes;

  bool tied = false;                 ///< first and last stage share an embedding
  std::uint32_t slots = kSlotCount;  ///< of each rank
  std::uint32_t common_slots =
      kSlotCount;                          ///< the later ones have groups of some replicas, not of one or all
  std::uint32_t streams = kStreamCount;    ///< of each rank
  SharedArray<std::uint32_t> group_begin;  ///< per group + 1: range in group_members
  /// Ranks in the group's order; send_recv: sender, receiver, or one rank that has no partner.
  SharedArray<std::uint32_t> group_members;
  SharedArray<std::uint32_t> group_of;  ///< [rank * slots + slot]: group, or kNoGroup

  std::vector<StageMemory> stage_memory;  ///< per program
  TotalFlops model_flops = 0;             ///< of one step over all GPUs, recomputation left out
  TotalFlops hardware_flops = 0;          ///< of one step over all GPUs, recomputation counted
  std::int64_t parameters = 0;            ///< of the whole model
  std::int64_t active_parameters = 0;     ///< parameters that one token uses: without the other experts
  std::int64_t samples = 0;               ///< per step
  std::int64_t tokens = 0;                ///< per step
  std::int64_t steps = 1;                 ///< steps the programs hold

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(program_of_rank.size()); }
  [[nodiscard]] std::uint32_t groups() const { return static_cast<std::uint32_t>(group_begin.size() - 1); }
  [[nodiscard]] std::span<const std::uint32_t> members(std::uint32_t group) const {
    return {group_members.data() + group_begin[group], group_members.data() + group_begin[group + 1]};
  }
  [[nodiscard]] std::uint32_t group(std::uint32_t rank, std::size_t slot) const {
    return group_of[std::size_t{rank} * slots + slot];
  }
  template <class Visit>
  void for_each_rank_of_first_replica(Visit visit) const {
    for (std::uint32_t first = 0; first < ranks(); first += replica_stride * replicas) {
      for (std::uint32_t rank = first; rank < first + replica_stride; ++rank) visit(rank);
    }
  }
};

}  // namespace orrery
