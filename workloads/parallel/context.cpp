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
// attention over whole sequences for 1/c of its heads, and the other way after it. Where a tensor rank has
// fewer key and value heads than ranks share them, each is copied for the ranks that need it (Gu et al. 2024,
// "LoongTrain", section 4.1).
//
// `hierarchical` (the same; Fang, Zhao 2024, "USP"; a2a+p2p in Megatron-Core): ranks next to each other
// exchange tokens for heads in groups of u, and keys and values of those heads go around rings of one rank of
// each group.
//
// `all-gather` (Dubey et al. 2024, section 3.3.2): each rank gathers all keys and values, and runs attention
// over its own queries. Backward it gathers them again, and their gradients are reduced and scattered.
#include <algorithm>
#include <string>

#include "workloads/models/attention_work.hpp"
#include "workloads/parallel/kinds.hpp"

namespace orrery {
namespace {

constexpr std::array kContextStreams{Stream::context, Stream::send_context, Stream::recv_context};

std::uint32_t context_slots(const CommunicatorSpec& spec) {
  return spec.grid.size(Axis::context) > 1 ? std::uint32_t{kContextStreams.size()} : 0;
}

/// Groups of `inner` ranks next to each other.
void form_inner_groups(const RankGrid& grid, std::int64_t inner, std::uint32_t slot, GroupWriter& to) {
  grid.for_each_group({Axis::context}, [&](RankCoordinates at) {
    for (std::int64_t first = 0; first < grid.size(Axis::context); first += inner) {
      for (at[Axis::context] = first; at[Axis::context] < first + inner; ++at[Axis::context])
        to.join(grid.rank(at), slot);
      to.close();
    }
  });
}

/// The groups, and the pairs of neighbours on rings of every `inner`-th rank.
void form_context_groups(const CommunicatorSpec& spec, std::uint32_t first, GroupWriter& to) {
  const RankGrid& grid = spec.grid;
  const std::int64_t ranks = grid.size(Axis::context);
  const std::int64_t inner = std::max<std::int64_t>(spec.context_inner, 1);
  form_inner_groups(grid, spec.context_inner > 0 ? inner : ranks, first, to);
  if (inner == ranks) {
    to.add_loners(first + 1);
    return to.add_loners(first + 2);
  }
  for (std::int64_t c = 0; c < ranks; ++c) {
    grid.for_each_group({Axis::context}, [&](RankCoordinates at) {
      at[Axis::context] = c;
      const std::uint32_t here = grid.rank(at);
      at[Axis::context] = (c + inner) % ranks;
      to.add_pair(here, grid.rank(at), first + 1, first + 2);
    });
  }
}

/// Returns how many of the ranks that share sequences exchange tokens for heads.
std::int64_t exchanging_ranks(const Plan& plan) {
  if (plan.context_parallel_type == ContextParallelType::all_to_all) return plan.context_parallel;
  return std::max<std::int64_t>(plan.hierarchical_context_parallel_size, 1);
}

/// Key and value heads of a tensor rank, one at least for each of `ranks`.
std::int64_t copied_heads(const Heads& heads, std::int64_t ranks) { return std::max(heads.key_value, ranks); }

/// Writes the attention of one rank as steps.
class ContextAttention {
 public:
  ContextAttention(StepBuilder& to, const AttentionWork& work)
      : to_(to),
        work_(work),
        inner_(exchanging_ranks(work.experiment.plan)),
        ring_(work.experiment.plan.context_parallel / inner_) {}

  std::int32_t forward(std::int32_t inputs) {
    if (gathers()) return compute(own_queries(), gather(inputs));
    const std::int32_t heads = exchange(queries() + block(), copy_heads(inputs));
    const std::int32_t done = ring_ > 1 ? ring_forward(heads) : compute(own_heads(), heads);
    return exchange(outputs(), done);
  }

  std::int32_t backward(std::int32_t inputs) {
    if (gathers()) {
      const std::int32_t done = compute(own_queries(), gather(inputs));
      return to_.collective(work_.part, Collective::reduce_scatter, all_blocks(), done, Slot::context);
    }
    const std::int32_t heads = exchange(outputs(), inputs);
    const std::int32_t done = ring_ > 1 ? ring_backward(heads) : compute(own_heads(), heads);
    return copy_heads(exchange(queries() + block(), done));
  }

 private:
  [[nodiscard]] bool gathers() const {
    return work_.experiment.plan.context_parallel_type == ContextParallelType::all_gather;
  }
  std::int32_t gather(std::int32_t after) {
    return to_.collective(work_.part, Collective::all_gather, all_blocks(), after, Slot::context);
  }
  std::int32_t exchange(Bytes bytes, std::int32_t after) {
    if (inner_ == 1) return after;
    return to_.collective(work_.part, Collective::all_to_all, bytes, after, Slot::context);
  }
  std::int32_t compute(std::vector<Kernel> kernels, std::int32_t after) {
    return to_.compute(work_.part, std::move(kernels), after);
  }

  /// Keys and values for every rank that exchanges heads; backward the gradients of the copies are added up.
  std::int32_t copy_heads(std::int32_t after) {
    const Heads heads = work_.shape.own_heads();
    if (copied_heads(heads, inner_) == heads.key_value) return after;
    return compute({moved(bytes(key_value_width(model(), heads)) + block())}, after);
  }

  std::int32_t ring_forward(std::int32_t inputs) {
    std::int32_t there = inputs;  // the step after which this rank has its inputs
    std::int32_t done = inputs;
    for (std::int64_t step = 0; step < ring_; ++step) {
      const std::int32_t next = step + 1 < ring_ ? hop(there, inputs) : there;
      std::vector<Kernel> kernels{square_or_half(step)};
      if (step > 0) kernels.push_back(moved(3 * outputs()));
      done = compute(std::move(kernels), there);
      there = next;
    }
    return done;
  }

  std::int32_t ring_backward(std::int32_t inputs) {
    std::int32_t there = inputs;
    std::int32_t done = inputs;
    std::int32_t gradients = kBlockInput;  // of keys and values, as they came from the rank before
    for (std::int64_t step = 0; step < ring_; ++step) {
      const std::int32_t next = step + 1 < ring_ ? hop(there, inputs) : there;
      done = compute({square_or_half(step)}, there);
      if (step > 1) done = compute({moved(3 * block())}, gradients);
      if (step > 0) gradients = hop(done, inputs);
      there = next;
    }
    return compute({moved(3 * block())}, gradients);  // with those of the own square
  }

  /// Bytes of the tokens of this rank: of its queries, and of the keys and values that it sends.
  [[nodiscard]] Bytes queries() const { return bytes(query_width(model(), work_.shape.own_heads())); }
  [[nodiscard]] Bytes outputs() const { return bytes(output_width(model(), work_.shape.own_heads())); }
  [[nodiscard]] Bytes block() const {
    const Heads heads = work_.shape.own_heads();
    return bytes(key_value_width(model(), {heads.query, copied_heads(heads, inner_)}));
  }
  [[nodiscard]] Bytes all_blocks() const { return work_.experiment.plan.context_parallel * block(); }

  [[nodiscard]] const Model& model() const { return work_.experiment.model; }
  [[nodiscard]] Bytes bytes(std::int64_t width) const {
    return work_.shape.tokens * width * work_.shape.element;
  }
  /// Sends the result of `after` to the next rank, and receives as much from the previous one, after `from`.
  std::int32_t hop(std::int32_t after, std::int32_t from) {
    to_.collective(work_.part, Collective::send_recv, block(), after, Slot::context_out);
    return to_.collective(work_.part, Collective::send_recv, block(), from, Slot::context_in);
  }
  /// Returns a kernel that reads and writes `all` bytes; the sum of two partial results takes three times the
  /// size of one.
  [[nodiscard]] Kernel moved(Bytes all) const {
    const double traffic = static_cast<double>(all) * work_.experiment.software.elementwise_traffic;
    return as(KernelClass::attention, memory(static_cast<Bytes>(traffic + 0.5)));
  }

  /// Whole sequences for the heads of this rank, where all ranks exchange them.
  [[nodiscard]] std::vector<Kernel> own_heads() const {
    std::vector<Kernel> kernels(work_.kernels.begin(), work_.kernels.end());
    for (Kernel& kernel : kernels) {
      kernel.bytes /= inner_;
      if (kernel.kind != Kernel::Kind::attention) kernel.flops /= inner_;
      if (kernel.batch > 1) kernel.batch = divide_up(kernel.batch, inner_);
    }
    return kernels;
  }
  /// Returns the kernel of one square of scores: under a causal mask a part of the own square, or of own
  /// queries and keys of another rank; otherwise all of it.
  [[nodiscard]] Kernel square_or_half(std::int64_t step) const {
    Kernel kernel = work_.kernels.front();
    const bool own = step == 0;
    kernel.m /= ring_;
    kernel.n /= own || !kernel.causal ? ring_ : 2 * ring_;
    kernel.causal = own && kernel.causal;
    kernel.flops /= ring_;
    kernel.bytes /= ring_ * inner_;
    if (inner_ > 1) kernel.batch = divide_up(kernel.batch, inner_);
    return kernel;
  }
  /// The own queries against all keys before them: of a window those in it, else half of them in the mean.
  [[nodiscard]] std::vector<Kernel> own_queries() const {
    const std::int64_t ranks = work_.experiment.plan.context_parallel;
    Kernel kernel = work_.kernels.front();
    if (kernel.causal) {
      kernel.m /= ranks;
      kernel.bytes = (queries() + outputs() + all_blocks()) * (kernel.backward ? 2 : 1);
    } else {
      kernel.batch = divide_up(kernel.batch, ranks);
      kernel.bytes /= ranks;
    }
    return {kernel};
  }

  StepBuilder& to_;
  const AttentionWork& work_;
  std::int64_t inner_;  ///< ranks that exchange tokens for heads
  std::int64_t ring_;   ///< that keys and values go around
};

std::int32_t share_forward(StepBuilder& to, const AttentionWork& work, std::int32_t after) {
  return ContextAttention(to, work).forward(after);
}

std::int32_t share_backward(StepBuilder& to, const AttentionWork& work, std::int32_t after) {
  return ContextAttention(to, work).backward(after);
}

constexpr SharedAttention kContextAttention{share_forward, share_backward};

void check_divisor(std::string_view what, std::int64_t value, std::int64_t divisor, std::string_view divisors,
                   const ReportProblem& complain) {
  if (value % divisor == 0) return;
  complain({"context_parallel"}, "found " + std::string(divisors) + " = " + std::to_string(divisor) +
                                     ", allowed a divisor of " + std::string(what) + " " +
                                     std::to_string(value));
}

/// Heads of a layer that ranks exchange for tokens: each gets as many queries, and keys and values of its own
/// or a copy.
void check_heads(const Plan& plan, std::int64_t heads, std::int64_t kv_heads, const ReportProblem& complain) {
  const std::int64_t ranks = exchanging_ranks(plan);
  const bool all = ranks == plan.context_parallel;
  check_divisor(
      "heads", heads, plan.tensor_parallel * ranks,
      all ? "tensor_parallel x context_parallel" : "tensor_parallel x hierarchical_context_parallel_size",
      complain);
  const std::int64_t own = divide_up(kv_heads, plan.tensor_parallel);
  if (own % ranks == 0 || ranks % own == 0) return;
  complain({"context_parallel"}, "found " + std::to_string(ranks) + " ranks that share " +
                                     std::to_string(own) +
                                     " key and value heads of a tensor rank, allowed a divisor or a multiple "
                                     "of them");
}

void check_exchange(const Experiment& e, const ReportProblem& complain) {
  if (exchanging_ranks(e.plan) == 1) return;
  if (e.model.layer_pattern.empty()) check_heads(e.plan, e.model.heads, e.model.kv_heads, complain);
  for (const LayerRun& run : e.model.layer_pattern) check_heads(e.plan, run.heads, run.kv_heads, complain);
  if (e.plan.recompute == Recompute::selective && e.model.attention == Attention::core)
    complain({"recompute"},
             "found \"selective\" with context_parallel and attention \"core\", allowed none | full");
}

/// Checks recurrent layers, which exchange tokens for heads whatever attention layers do.
void check_recurrences(const Experiment& e, const ReportProblem& complain) {
  const std::int64_t ranks = e.plan.tensor_parallel * e.plan.context_parallel;
  const auto check = [&](std::string_view what, std::int64_t heads) {
    if (heads > 0) check_divisor(what, heads, ranks, "tensor_parallel x context_parallel", complain);
  };
  check("mamba2.heads", e.model.mamba2.heads);
  check("gated_delta_net.key_heads", e.model.gated_delta_net.key_heads);
  const bool recurs = e.model.mamba2.heads > 0 || e.model.gated_delta_net.key_heads > 0;
  if (recurs && e.plan.context_parallel_type == ContextParallelType::hierarchical)
    complain({"context_parallel_type"},
             "found \"hierarchical\" with layers that recur, allowed ring, all-to-all, all-gather");
}

/// Masks are balanced by two chunks per rank, of one sequence, in fused attention.
void check_chunks(const Experiment& e, const ReportProblem& complain) {
  check_divisor("seq_length", e.model.seq_length, 2 * e.plan.context_parallel, "2 x context_parallel",
                complain);
  const std::string type(kContextParallelTypeNames[static_cast<std::size_t>(e.plan.context_parallel_type)]);
  const auto refuse = [&](const std::string& what, const std::string& allowed, const std::string& others) {
    complain({"context_parallel_type", "context_parallel"}, "found \"" + type + "\" with " + what +
                                                                ", allowed " + allowed +
                                                                ", or context_parallel_type " + others);
  };
  if (e.model.attention == Attention::core)
    refuse("attention \"core\"", "attention \"flash\"", "\"all-to-all\"");
  if (e.model.packed_sample_length > 0) refuse("packed_sample_length", "none", "\"all-to-all\"");
  // Transformer Engine does the same (attn_forward_func_with_cp): keys and values that go around are not cut
  // to a window.
  if (e.model.windowed_layers() > 0 && e.plan.context_parallel_type != ContextParallelType::all_gather)
    refuse("window", "none", "\"all-to-all\" or \"all-gather\"");
}

void check_inner(const Experiment& e, const ReportProblem& complain) {
  const std::int64_t inner = e.plan.hierarchical_context_parallel_size;
  if (inner == 0 || e.plan.context_parallel % inner == 0) return;
  complain({"hierarchical_context_parallel_size"}, "found " + std::to_string(inner) +
                                                       ", allowed a divisor of context_parallel " +
                                                       std::to_string(e.plan.context_parallel));
}

void check_context(const Experiment& e, const ReportProblem& complain) {
  if (e.plan.context_parallel == 1) return;
  if (!e.model.attends())
    return complain({"context_parallel"}, "found " + std::to_string(e.plan.context_parallel) +
                                              ", allowed 1 for models that are no transformer");
  if (e.model.encoder_layers > 0)
    return complain({"context_parallel"}, "found " + std::to_string(e.plan.context_parallel) +
                                              ", allowed 1 with model.encoder_layers");
  const DataParallelSync& sync = e.data_parallel_sync;
  if (sync.method != SyncMethod::all_reduce || sync.joins_replicas())
    complain({"context_parallel"},
             "found " + std::to_string(e.plan.context_parallel) +
                 ", allowed 1 where data_parallel_sync is not an all-reduce of all GPUs");
  if (e.inference) return;  // prompts gather keys and values, with any attention
  if (e.model.indexer.top_k > 0)
    return complain({"context_parallel"},
                    "found " + std::to_string(e.plan.context_parallel) + ", allowed 1 with model.indexer");
  check_recurrences(e, complain);
  const std::int64_t parts =
      e.plan.context_parallel * (e.plan.sequence_parallel ? e.plan.tensor_parallel : 1);
  check_inner(e, complain);
  if (e.plan.context_parallel_type != ContextParallelType::all_to_all) check_chunks(e, complain);
  check_exchange(e, complain);
  check_divisor("seq_length", e.model.seq_length, parts,
                e.plan.sequence_parallel ? "tensor_parallel x context_parallel" : "context_parallel",
                complain);
}

}  // namespace

constinit const CommunicatorKind kContextGroups{
    "context",     Dimension::context,  Slot::context,      kContextStreams, false,
    context_slots, form_context_groups, &kContextAttention, check_context};

}  // namespace orrery
