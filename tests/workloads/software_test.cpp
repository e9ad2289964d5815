// Checks how a software stack executes a model: its kernels, its collectives and the time of the host for
// them.
#include <doctest/doctest.h>

#include <limits>
#include <numeric>
#include <vector>

#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;

namespace {

constexpr std::int64_t kLayers = 4, kWidth = 512, kHeads = 8, kSequence = 256, kVocab = 4096;

Experiment small(std::int64_t t = 1, std::int64_t p = 1, std::int64_t d = 1, std::int64_t micro_batches = 1) {
  return experiment(gpt(kLayers, kWidth, kHeads, kSequence, kVocab), t, p, d, micro_batches);
}

struct KernelCount {
  int operations = 0;
  Bytes bytes = 0;
  bool operator==(const KernelCount&) const = default;
};

/// Collectives or messages of a dimension in the first program.
KernelCount moved(const Workload& w, Dimension dimension, Collective what) {
  KernelCount count;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != Op::Kind::communicate) continue;
    const Message& m = w.messages[op.work];
    if (m.dimension != dimension || m.collective != what) continue;
    ++count.operations;
    count.bytes += m.bytes;
  }
  return count;
}

/// Kernels of the operations of a part and phase in layer `layer`, in order.
std::vector<Kernel> kernels(const Workload& w, Part part, Phase phase, std::int32_t layer) {
  std::vector<Kernel> list;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != Op::Kind::compute || op.part != part || op.phase != phase || op.layer != layer) continue;
    const auto& more = w.kernel_sequences[op.work].kernels;
    list.insert(list.end(), more.begin(), more.end());
  }
  return list;
}

/// Bytes of the memory-bound kernels among them.
std::vector<Bytes> traffic(const std::vector<Kernel>& list) {
  std::vector<Bytes> bytes;
  for (const Kernel& kernel : list) {
    if (kernel.kind == Kernel::Kind::memory) bytes.push_back(kernel.bytes);
  }
  return bytes;
}

/// Bytes of all memory-bound kernels of a phase.
Bytes phase_traffic(const Workload& w, Phase phase) {
  Bytes sum = 0;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != Op::Kind::compute || op.phase != phase) continue;
    for (const Bytes bytes : traffic(w.kernel_sequences[op.work].kernels)) sum += bytes;
  }
  return sum;
}

}  // namespace

TEST_CASE("softmax is one kernel where micro-batch x heads is a multiple, five elsewhere") {
  Experiment e = small();
  const Bytes sbh = kSequence * kWidth * 2;             // in 16 bits
  const Bytes mask = kSequence * kWidth;                // of dropout, a byte each
  const Bytes scores = kHeads * kSequence * kSequence;  // elements
  const Bytes dropout = 2 * 2 * scores + scores;        // read, written, and the mask
  const auto forward = [&] { return traffic(kernels(lower(e), Part::attention, Phase::forward, 0)); };
  const auto backward = [&] { return traffic(kernels(lower(e), Part::attention, Phase::backward, 0)); };
  // Norm; softmax in 16 bits, read and written (backward: two read, one written); dropout; residual.
  const std::vector<Bytes> fused{2 * sbh, 4 * scores, dropout, 3 * sbh + mask};
  const std::vector<Bytes> fused_back{3 * sbh + mask, dropout, 6 * scores, 3 * sbh};
  for (const std::int64_t multiple : {1, 2, 4, 8}) {  // 1 x 8 heads
    e.software.fused_softmax_multiple = multiple;
    CHECK(forward() == fused);
    CHECK(backward() == fused_back);
  }
  // Cast 2 + 4; scale 4 + 4; mask 4 + 1; softmax 4 + 4; cast 4 + 2. Backward: cast 2 + 4; softmax 3 x 4;
  // mask 4 + 1 + 4; scale 4 + 4; cast 4 + 2.
  const std::vector<Bytes> pieces{2 * sbh,    6 * scores, 8 * scores, 5 * scores,
                                  8 * scores, 6 * scores, dropout,    3 * sbh + mask};
  const std::vector<Bytes> pieces_back{3 * sbh + mask, dropout,    6 * scores, 12 * scores,
                                       9 * scores,     8 * scores, 6 * scores, 3 * sbh};
  for (const std::int64_t multiple : {3, 16}) {
    e.software.fused_softmax_multiple = multiple;
    CHECK(forward() == pieces);
    CHECK(backward() == pieces_back);
  }
  CHECK(kernels(lower(e), Part::attention, Phase::forward, 0).size() == 4 + pieces.size());  // four products

  // Two samples a micro-batch make 16, cut over two tensor ranks 8 again.
  e.plan.micro_batch_size = e.plan.global_batch_size = 2;
  CHECK(forward().size() == fused.size());
  e.plan.tensor_parallel = 2;
  CHECK(forward().size() == pieces.size());
  // Fused attention has no softmax kernels.
  e.model.attention = Attention::flash;
  CHECK(forward().size() == 2);
}

// Width 512, 256 tokens of 2 bytes: queries, keys and values of 1536, out 512; MLP 2048 and 512.
TEST_CASE("gradients of biases are kernels that read those of the outputs, or cost nothing") {
  Experiment e = small();
  const auto of = [&](Part part) { return traffic(kernels(lower(e), part, Phase::backward, 0)); };
  const auto sum = [](const std::vector<Bytes>& list) {
    return std::accumulate(list.begin(), list.end(), Bytes{});
  };
  const std::vector<Bytes> attention = of(Part::attention), mlp = of(Part::mlp);
  const Bytes forward = phase_traffic(lower(e), Phase::forward);
  e.software.bias_gradient_kernels = true;
  CHECK(of(Part::attention).size() == attention.size() + 2);
  CHECK(sum(of(Part::attention)) == sum(attention) + 2 * kSequence * (1536 + 512));
  CHECK(sum(of(Part::mlp)) == sum(mlp) + 2 * kSequence * (2048 + 512));
  CHECK(phase_traffic(lower(e), Phase::forward) == forward);  // added by products and fused kernels
  // A tensor rank of two has half of the outputs cut by columns, and half of the sequence behind the others.
  e.plan.tensor_parallel = 2;
  e.plan.sequence_parallel = true;
  const Bytes cut = phase_traffic(lower(e), Phase::backward);
  e.software.bias_gradient_kernels = false;
  CHECK(cut == phase_traffic(lower(e), Phase::backward) + kLayers * kSequence * (1536 + 512 + 2048 + 512));
  e = small();
  e.software.bias_gradient_kernels = true;
  e.model.biases = false;  // queries, keys and values keep theirs
  CHECK(sum(of(Part::attention)) == sum(attention) + 2 * kSequence * 1536);
  CHECK(of(Part::mlp) == mlp);
  e.model.qkv_biases = false;
  CHECK(of(Part::attention) == attention);
}

TEST_CASE("ZeRO-3 by tensor: as many collectives as a block has tensors, and no byte less") {
  Experiment e = small(1, 1, 4, 3);
  e.plan.zero_stage = 3;
  const Workload whole = lower(e);
  e.software.gathers_tensors = true;
  const Workload cut = lower(e);
  // Six blocks: gathered forward and backward, reduced once, in each of three micro-batches.
  const KernelCount gathered = moved(whole, Dimension::data, Collective::all_gather);
  const KernelCount reduced = moved(whole, Dimension::data, Collective::reduce_scatter);
  CHECK(gathered.operations == 3 * 2 * 6);
  CHECK(reduced.operations == 3 * 6);
  // A layer: four products and two norms, each with a weight and a bias, 12. Embedding: tokens, positions.
  // Head, whose table is the embedding's: weight and bias of the last norm.
  const int tensors = 4 * 12 + 2 + 2;
  const KernelCount gathers = moved(cut, Dimension::data, Collective::all_gather);
  const KernelCount reductions = moved(cut, Dimension::data, Collective::reduce_scatter);
  CHECK(gathers.operations == 3 * 2 * tensors);
  CHECK(reductions.operations == 3 * tensors);
  // Each is rounded up to a parameter of two bytes.
  CHECK(gathers.bytes >= gathered.bytes);
  CHECK(gathers.bytes < gathered.bytes + 2 * gathers.operations);
  CHECK(reductions.bytes >= reduced.bytes);
  CHECK(reductions.bytes < reduced.bytes + 2 * reductions.operations);

  // RMS norm without biases: 4 + 2 tensors; no positions; an output table of its own beside one norm.
  e.model.normalization = Normalization::rms_norm;
  e.model.positions = Positions::rotary;
  e.model.biases = e.model.qkv_biases = e.model.tied_embeddings = false;
  CHECK(moved(lower(e), Dimension::data, Collective::reduce_scatter).operations == 3 * (4 * 6 + 1 + 2));
  // Other stages of ZeRO do not care.
  e.plan.zero_stage = 2;
  const Workload other = lower(e);
  e.software.gathers_tensors = false;
  CHECK(moved(lower(e), Dimension::data, Collective::reduce_scatter) ==
        moved(other, Dimension::data, Collective::reduce_scatter));
}

TEST_CASE("gradients of four bytes: twice the reduction and twice the memory, parameters as before") {
  Experiment e = small(1, 2, 4, 2);
  for (const int zero : {0, 1, 2, 3}) {
    CAPTURE(zero);
    e.plan.zero_stage = zero;
    e.software.gradient_bytes = 2;
    const Workload two = lower(e);
    const StageMemory memory = stage_memory(e)[0];
    e.software.gradient_bytes = 4;
    const Workload four = lower(e);
    for (const Collective what : {Collective::all_reduce, Collective::reduce_scatter}) {
      const KernelCount narrow = moved(two, Dimension::data, what);
      CHECK(moved(four, Dimension::data, what) == KernelCount{narrow.operations, 2 * narrow.bytes});
    }
    CHECK(moved(four, Dimension::data, Collective::all_gather) ==
          moved(two, Dimension::data, Collective::all_gather));
    // The sum over both ends of the tied embedding.
    const KernelCount tied = moved(two, Dimension::pipeline, Collective::all_reduce);
    CHECK(tied.operations == 1);
    CHECK(moved(four, Dimension::pipeline, Collective::all_reduce) == KernelCount{1, 2 * tied.bytes});
    CHECK(stage_memory(e)[0].gradients == 2 * memory.gradients);
    CHECK(stage_memory(e)[0].parameters == memory.parameters);
    CHECK(stage_memory(e)[0].optimizer() == memory.optimizer());
  }
  // 32-bit training has gradients of four bytes anyway.
  e.plan.precision = Precision::fp32;
  const Bytes wide = stage_memory(e)[0].gradients;
  e.software.gradient_bytes = 2;
  CHECK(stage_memory(e)[0].gradients == wide);
}

TEST_CASE("copies of gradients in several widths are held by the precision that has them, and not sent") {
  Experiment e = small(1, 1, 2);
  const Bytes parameters = stage_memory(e)[0].parameters_count;
  for (const bool half : {true, false}) {
    e.plan.precision = half ? Precision::fp16 : Precision::bf16;
    e.software.fp16_gradient_memory_bytes = half ? 6 : 0;
    e.software.bf16_gradient_memory_bytes = half ? 0 : 6;
    CHECK(stage_memory(e)[0].gradients == 6 * parameters);
    CHECK(moved(lower(e), Dimension::data, Collective::all_reduce).bytes == 2 * parameters);
    e.plan.precision = half ? Precision::bf16 : Precision::fp16;
    CHECK(stage_memory(e)[0].gradients == 2 * parameters);
  }
}

TEST_CASE("what products hide and what they do not add up to the whole") {
  Experiment e = small(2);
  e.plan.sequence_parallel = true;
  e.plan.overlap_tensor_parallel = e.plan.overlap_tensor_chunks = true;
  const Bytes sbh = kSequence * kWidth * 2;
  const auto gathers = [&] { return moved(lower(e), Dimension::tensor, Collective::all_gather); };
  const auto scatters = [&] { return moved(lower(e), Dimension::tensor, Collective::reduce_scatter); };
  // Attention and MLP each gather once forward, twice backward and scatter once in both. Embedding: scatters
  // forward, gathers backward. Head: gathers forward and again backward, scatters backward.
  const int gathered = kLayers * 2 * 3 + 3;
  const int scattered = kLayers * 2 * 2 + 2;
  CHECK(gathers() == KernelCount{gathered, gathered * sbh});
  CHECK(scatters() == KernelCount{scattered, scattered * sbh});
  for (const double share : {0.25, 0.7, 1.0}) {
    CAPTURE(share);
    e.software.tensor_overlap = share;
    // Each of a layer is two then, unless all of it is hidden.
    const int more = share < 1 ? static_cast<int>(kLayers) * 2 : 0;
    CHECK(gathers() == KernelCount{gathered + more * 3, gathered * sbh});
    CHECK(scatters() == KernelCount{scattered + more * 2, scattered * sbh});
  }
  // It takes the plan's overlap, and sequence parallelism.
  e.plan.overlap_tensor_chunks = false;
  CHECK(gathers() == KernelCount{gathered, gathered * sbh});
  e.plan.overlap_tensor_chunks = true;
  e.plan.sequence_parallel = false;
  CHECK(gathers() == KernelCount{});
  const KernelCount sums = moved(lower(e), Dimension::tensor, Collective::all_reduce);
  e.software.tensor_overlap = 0;
  CHECK(moved(lower(e), Dimension::tensor, Collective::all_reduce) == sums);
}

TEST_CASE("nothing computes after a hidden collective") {
  Experiment e = small(2);
  e.plan.sequence_parallel = true;
  e.plan.overlap_tensor_parallel = e.plan.overlap_tensor_chunks = true;
  e.software.tensor_overlap = 0.25;
  const Bytes hidden = kSequence * kWidth * 2 / 4;
  const Workload w = lower(e);
  const Program& program = w.programs[0];
  int seen = 0;
  for (const Op& op : program.ops) {
    if (op.kind == Op::Kind::communicate) {
      seen += w.messages[op.work].bytes == hidden ? 1 : 0;
      continue;
    }
    for (const std::uint32_t dep : program.dependencies(op)) {
      const Op& before = program.ops[dep];
      if (before.kind == Op::Kind::communicate) CHECK(w.messages[before.work].bytes != hidden);
    }
  }
  CHECK(seen == kLayers * 2 * (2 + 3));
}

TEST_CASE("memory traffic of loss, accumulation, optimizer and elementwise kernels") {
  Experiment e = small(1, 1, 4, 3);
  const Workload base = lower(e);
  const auto more = [&](Phase phase) { return phase_traffic(lower(e), phase) - phase_traffic(base, phase); };
  const std::int64_t logits = kSequence * kVocab;
  e.software.forward_bytes_per_logit = 4 + 3.5;
  CHECK(more(Phase::forward) == 3 * logits * 7 / 2);  // three micro-batches
  CHECK(more(Phase::backward) == 0);
  e.software.forward_bytes_per_logit = 4;
  e.software.backward_bytes_per_logit = 4 + 6;
  CHECK(more(Phase::forward) == 0);
  CHECK(more(Phase::backward) == 3 * logits * 6);
  e.software.backward_bytes_per_logit = 4;

  // Weights only: 12 h^2 a layer, the tables of tokens and positions, and the head's product.
  e.software.accumulation_bytes_per_parameter = 6;
  const std::int64_t weights = kLayers * 12 * kWidth * kWidth + (2 * kVocab + kSequence) * kWidth;
  CHECK(more(Phase::forward) == 0);
  CHECK(more(Phase::backward) == 3 * weights * 6);
  e.software.accumulation_bytes_per_parameter = 0;

  const std::int64_t parameters = stage_memory(e)[0].parameters_count;
  CHECK(phase_traffic(base, Phase::optimize) == 28 * parameters);
  e.software.optimizer_bytes_per_parameter = 34.5;
  CHECK(phase_traffic(lower(e), Phase::optimize) == parameters * 69 / 2);
  e.plan.zero_stage = 1;
  CHECK(parameters % 4 == 0);
  CHECK(phase_traffic(lower(e), Phase::optimize) == parameters / 4 * 69 / 2);

  // Norms and softmax, but neither tables nor loss: sbh 2 + 3 and the mask, softmax and dropout 4 + 5 a
  // score.
  e = small();
  e.software.elementwise_traffic = 2;
  const Bytes sbh = kSequence * kWidth * 2;
  const Bytes block = 2 * sbh + 3 * sbh + sbh / 2;
  const Bytes attention = block + 9 * kHeads * kSequence * kSequence;
  const Bytes mlp = block + 2 * 4 * sbh;  // the inner activation, four times as wide, read and written
  Experiment plain = small();
  CHECK(phase_traffic(lower(e), Phase::forward) - phase_traffic(lower(plain), Phase::forward) ==
        kLayers * (attention + mlp) + 2 * sbh);  // and the last norm
}

TEST_CASE("the host pays by kernel, by message and by the square of the tensor ranks") {
  Experiment e = small(4, 2, 2, 2);
  e.plan.recompute = Recompute::full;
  e.software.forward_issue_us = 3;
  e.software.backward_issue_us = 5;
  e.software.collective_issue_us = 2;
  e.software.tensor_skew_us = 0.5;
  e.software.parameter_issue_us = 7;
  const Workload w = lower(e);
  const Program& program = w.programs[0];
  for (const Op& op : program.ops) {
    if (op.stream == Stream::host) continue;
    if (op.kind == Op::Kind::communicate) {
      if (op.stream == Stream::tensor && op.part == Part::stage) continue;  // puts a message together
      // 2 + 0.5 * 4^2 = 10 us for collectives of four tensor ranks, 2 us for all others.
      CHECK(w.messages[op.work].host_ps == (op.stream == Stream::tensor ? 10'000'000 : 2'000'000));
    } else if (op.phase != Phase::optimize) {
      const Picoseconds each = op.phase == Phase::backward ? 5'000'000 : 3'000'000;
      CHECK(w.kernel_sequences[op.work].host_ps ==
            static_cast<Picoseconds>(w.kernel_sequences[op.work].kernels.size()) * each);
    } else {
      // Two layers of 12 tensors, and the tables of tokens and positions.
      CHECK(w.kernel_sequences[op.work].host_ps == (2 * 12 + 2) * 7'000'000);
    }
  }
}

TEST_CASE(
    "the host kernel_sequences before a step, before each pass and before the optimizer, where it costs") {
  Experiment e = small(1, 2, 1, 3);
  const auto host = [&] {
    std::vector<Picoseconds> costs;
    const Workload w = lower(e);
    for (const Op& op : w.programs[0].ops) {
      if (op.stream == Stream::host) costs.push_back(w.kernel_sequences[op.work].host_ps);
    }
    return costs;
  };
  CHECK(host().empty());
  e.software.pass_overhead_us = 2;
  e.software.step_overhead_ms = 3;
  // Three forward and three backward passes.
  const Picoseconds step = 3'000'000'000;
  const Picoseconds pass = 2'000'000;
  CHECK(host() == std::vector<Picoseconds>{step, pass, pass, pass, pass, pass, pass, 0});
  e.simulation.steps = 2;
  CHECK(host().size() == 16);
}

TEST_CASE("the costs of the host end where 64 bits do") {
  Experiment e = small(8, 1, 1, 1);
  e.software.tensor_skew_us = 1e12;  // 64e12 us are 6.4e19 ps
  for (const Message& m : lower(e).messages) CHECK(m.host_ps == 9'000'000'000'000'000'000);
  e = small();
  e.software.parameter_issue_us = 1e12;  // 52 tensors of 1e18 ps
  const Workload w = lower(e);
  for (const Op& op : w.programs[0].ops) {
    if (op.phase == Phase::optimize && op.stream == Stream::compute)
      CHECK(w.kernel_sequences[op.work].host_ps == std::numeric_limits<Picoseconds>::max());
  }
}
