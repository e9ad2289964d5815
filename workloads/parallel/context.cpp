// Context parallelism: ranks that share sequences, each with 1/c of their tokens, and all weights. Only
// attention needs the tokens of the others.
//
// `ring` (Liu et al. 2023, "Ring Attention"): keys and values go around the ring of the c ranks while
// attention runs over those that are there, so each rank sends c - 1 times its own; backward their gradients
// follow them, and are at home after c - 1 hops more. Rank r has the chunks r and 2c - 1 - r of 2c, so a
// causal mask leaves all ranks as much in each step: the whole own square but for the mask, then half of each
// rectangle (Brandon et al. 2023, "Striped Attention"; Dubey et al. 2024, section 3.3.2).
//
// `all-to-all` (Jacobs et al. 2023, "DeepSpeed Ulysses"): tokens are exchanged for heads, so each rank runs
// attention over whole sequences for 1/c of its heads, and the other way after it.
#include "workloads/models/attention_work.hpp"
#include "workloads/parallel/kinds.hpp"

namespace orrery {
namespace {

constexpr std::array kContextStreams{Stream::context, Stream::send_context, Stream::recv_context};

std::uint32_t context_slots(const CommunicatorSpec& spec) {
  return spec.grid.size(Axis::context) > 1 ? std::uint32_t{kContextStreams.size()} : 0;
}

/// The groups, and the pairs of neighbours on their rings.
void form_context_groups(const CommunicatorSpec& spec, std::uint32_t first, GroupWriter& to) {
  const RankGrid& grid = spec.grid;
  to.add_along(grid, {Axis::context}, first);
  for (std::int64_t c = 0; c < grid.size(Axis::context); ++c) {
    grid.for_each_group({Axis::context}, [&](RankCoordinates at) {
      at[Axis::context] = c;
      const std::uint32_t here = grid.rank(at);
      at[Axis::context] = (c + 1) % grid.size(Axis::context);
      to.add_pair(here, grid.rank(at), first + 1, first + 2);
    });
  }
}

/// Writes the attention of one rank as steps.
class ContextAttention {
 public:
  ContextAttention(StepBuilder& to, const AttentionWork& work)
      : to_(to), work_(work), ranks_(work.experiment.plan.context_parallel) {}

  [[nodiscard]] bool ring() const {
    return work_.experiment.plan.context_parallel_type == ContextParallelType::ring;
  }

  std::int32_t exchange_heads(Bytes before, Bytes after, std::int32_t inputs) {
    const std::int32_t heads =
        to_.collective(work_.part, Collective::all_to_all, before, inputs, Slot::context);
    std::vector<Kernel> kernels(work_.kernels.begin(), work_.kernels.end());
    for (Kernel& kernel : kernels) share_heads(kernel);
    const std::int32_t done = to_.compute(work_.part, std::move(kernels), heads);
    return to_.collective(work_.part, Collective::all_to_all, after, done, Slot::context);
  }

  std::int32_t ring_forward(std::int32_t inputs) {
    std::int32_t there = inputs;  // the step after which this rank has what it works on
    std::int32_t done = inputs;
    for (std::int64_t step = 0; step < ranks_; ++step) {
      const std::int32_t next = step + 1 < ranks_ ? hop(there, inputs) : there;
      std::vector<Kernel> kernels{square_or_half(step)};
      if (step > 0) kernels.push_back(sum(outputs()));
      done = to_.compute(work_.part, std::move(kernels), there);
      there = next;
    }
    return done;
  }

  std::int32_t ring_backward(std::int32_t inputs) {
    std::int32_t there = inputs;
    std::int32_t done = inputs;
    std::int32_t gradients = kBlockInput;  // of keys and values, as they came from the rank before
    for (std::int64_t step = 0; step < ranks_; ++step) {
      const std::int32_t next = step + 1 < ranks_ ? hop(there, inputs) : there;
      done = to_.compute(work_.part, {square_or_half(step)}, there);
      if (step > 1) done = to_.compute(work_.part, {sum(block())}, gradients);
      if (step > 0) gradients = hop(done, inputs);
      there = next;
    }
    return to_.compute(work_.part, {sum(block())}, gradients);  // with those of the own square
  }

  /// Bytes of all heads of the tokens of this rank: of the queries, and of the keys and values.
  [[nodiscard]] Bytes queries() const { return bytes(query_width(model(), work_.shape.own_heads())); }
  [[nodiscard]] Bytes outputs() const { return bytes(output_width(model(), work_.shape.own_heads())); }
  [[nodiscard]] Bytes block() const { return bytes(key_value_width(model(), work_.shape.own_heads())); }

 private:
  [[nodiscard]] const Model& model() const { return work_.experiment.model; }
  [[nodiscard]] Bytes bytes(std::int64_t width) const {
    return work_.shape.tokens * width * work_.shape.element;
  }
  /// Sends what `after` left to the next rank, and gets as much from the one before, after `from`.
  std::int32_t hop(std::int32_t after, std::int32_t from) {
    to_.collective(work_.part, Collective::send_recv, block(), after, Slot::context_out);
    return to_.collective(work_.part, Collective::send_recv, block(), from, Slot::context_in);
  }
  /// Adds two partial results of that size.
  [[nodiscard]] Kernel sum(Bytes each) const {
    const double traffic = 3 * static_cast<double>(each) * work_.experiment.software.elementwise_traffic;
    return memory(static_cast<Bytes>(traffic + 0.5));
  }
  void share_heads(Kernel& kernel) const {
    kernel.bytes /= ranks_;
    kernel.flops /= ranks_;
    if (kernel.batch > 1) kernel.batch = divide_up(kernel.batch, ranks_);
  }
  /// What the mask leaves of the own square, or of the rectangle of own queries and keys of another rank.
  [[nodiscard]] Kernel square_or_half(std::int64_t step) const {
    Kernel kernel = work_.kernels.front();
    const bool own = step == 0;
    kernel.m /= ranks_;
    kernel.n /= own ? ranks_ : 2 * ranks_;
    kernel.causal = own;
    kernel.flops /= ranks_ * ranks_;
    kernel.bytes /= ranks_;
    return kernel;
  }

  StepBuilder& to_;
  const AttentionWork& work_;
  std::int64_t ranks_;
};

std::int32_t share_forward(StepBuilder& to, const AttentionWork& work, std::int32_t after) {
  ContextAttention attention(to, work);
  return attention.ring()
             ? attention.ring_forward(after)
             : attention.exchange_heads(attention.queries() + attention.block(), attention.outputs(), after);
}

std::int32_t share_backward(StepBuilder& to, const AttentionWork& work, std::int32_t after) {
  ContextAttention attention(to, work);
  return attention.ring()
             ? attention.ring_backward(after)
             : attention.exchange_heads(attention.outputs(), attention.queries() + attention.block(), after);
}

constexpr SharedAttention kContextAttention{share_forward, share_backward};

void check_divisor(std::string_view what, std::int64_t value, std::int64_t divisor, std::string_view divisors,
                   const Complain& complain) {
  if (value % divisor == 0) return;
  complain({"context_parallel"}, "found " + std::string(divisors) + " = " + std::to_string(divisor) +
                                     ", allowed a divisor of " + std::string(what) + " " +
                                     std::to_string(value));
}

void check_heads(const Experiment& e, const Complain& complain) {
  const std::int64_t ranks = e.plan.tensor_parallel * e.plan.context_parallel;
  const auto check = [&](std::int64_t heads, std::int64_t kv_heads) {
    check_divisor("heads", heads, ranks, "tensor_parallel x context_parallel", complain);
    if (kv_heads != heads)
      check_divisor("kv_heads", kv_heads, ranks, "tensor_parallel x context_parallel", complain);
  };
  if (e.model.layer_pattern.empty()) check(e.model.heads, e.model.kv_heads);
  for (const LayerRun& run : e.model.layer_pattern) check(run.heads, run.kv_heads);
  if (e.plan.recompute == Recompute::selective && e.model.attention == Attention::core)
    complain({"recompute"},
             "found \"selective\" with context_parallel and attention \"core\", allowed none | full");
}

void check_ring(const Experiment& e, const Complain& complain) {
  check_divisor("seq_length", e.model.seq_length, 2 * e.plan.context_parallel, "2 x context_parallel",
                complain);
  const auto refuse = [&](const std::string& what, const std::string& allowed) {
    complain(
        {"context_parallel_type", "context_parallel"},
        "found \"ring\" with " + what + ", allowed " + allowed + ", or context_parallel_type \"all-to-all\"");
  };
  if (e.model.attention == Attention::core) refuse("attention \"core\"", "attention \"flash\"");
  if (e.model.packed_sample_length > 0) refuse("packed_sample_length", "none");
  if (e.model.windowed_layers() > 0) refuse("window", "none");
}

void check_context(const Experiment& e, const Complain& complain) {
  if (e.plan.context_parallel == 1) return;
  if (!e.model.attends())
    return complain({"context_parallel"}, "found " + std::to_string(e.plan.context_parallel) +
                                              ", allowed 1 for models that are no transformer");
  const DataParallelSync& sync = e.data_parallel_sync;
  if (sync.method != SyncMethod::all_reduce || sync.by_node())
    complain({"context_parallel"},
             "found " + std::to_string(e.plan.context_parallel) +
                 ", allowed 1 where data_parallel_sync is not an all-reduce of all GPUs");
  const std::int64_t parts =
      e.plan.context_parallel * (e.plan.sequence_parallel ? e.plan.tensor_parallel : 1);
  if (e.plan.context_parallel_type == ContextParallelType::ring) {
    check_ring(e, complain);
  } else {
    check_heads(e, complain);
  }
  check_divisor("seq_length", e.model.seq_length, parts,
                e.plan.sequence_parallel ? "tensor_parallel x context_parallel" : "context_parallel",
                complain);
}

}  // namespace

constinit const CommunicatorKind kContextGroups{
    "context",     Dimension::context,  Slot::context,      kContextStreams, false,
    context_slots, form_context_groups, &kContextAttention, check_context};

}  // namespace orrery
