#include "workloads/lowering/stage_program.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "workloads/programs/activation_offload.hpp"
#include "workloads/programs/pass_pairs.hpp"
#include "workloads/programs/program_writer.hpp"
#include "workloads/programs/stage_messages.hpp"
#include "workloads/programs/written_pass.hpp"
#include "workloads/weights/data_parallel.hpp"

namespace orrery {
namespace {

constexpr std::size_t kUsualOps = 256;  // of a program with few micro-batches

class StageProgram {
 public:
  StageProgram(const Experiment& experiment, const CommunicatorLayout& layout, const ModelBlocks& blocks,
               const Stage& stage, Workload& workload, ProgramParts& parts)
      : plan_(experiment.plan),
        layout_(layout),
        steps_(static_cast<std::int32_t>(experiment.simulation.steps)),
        blocks_(blocks),
        stage_(stage),
        passes_(passes_of(plan_, stage)),
        workload_(workload),
        data_(experiment, layout, blocks, stage, workload, writer_),
        offload_(plan_, blocks, stage, workload, writer_),
        messages_(experiment, layout, workload, writer_),
        synchronizes_(experiment.software.synchronize_passes),
        results_(static_cast<std::size_t>(plan_.micro_batches()) * ways(), kNoOp),
        parts_(parts),
        fused_passes_of_(ways(), nullptr) {
    const bool first = workload.programs.empty();
    writer_.expect(first ? kUsualOps : workload.programs.back().ops.size(),
                   first ? kUsualOps : workload.programs.back().deps.size());
  }

  Program write() {
    for (step_ = 0; step_ < steps_; ++step_) write_step();
    Program program = std::move(writer_).finish();
    run_side_by_side(pairs_, program);
    return program;
  }

 private:
  void write_step();
  void write_pass(const Pass& pass);
  void write_out(const Pass& pass, bool whole);
  void end_pass(const Pass& pass, OpId end) { last_ = result(pass, pass.kind, pass.chunk) = end; }
  [[nodiscard]] PassStart start_of(const Pass& pass);
  [[nodiscard]] bool repeat(const Pass& pass, const PassStart& start, const WrittenPass& like);
  void hold(Bytes at_start, Bytes change);
  void hold(const Pass& pass, const PlacedBlock& placed);
  OpId run_forward(const Pass& pass, OpId input);
  OpId run_backward(const Pass& pass, OpId input);
  OpId run_whole(const Pass& pass, OpId input);
  const FusedPass& fused_pass(const Pass& pass);
  [[nodiscard]] Op step_of(const Pass& pass, std::int32_t layer) const;
  OpId add_step(const Step& step, Op& op, std::initializer_list<OpId> deps);
  /// The host waits for `deps`, then works for `work`; later operations are issued after that.
  OpId wait_on_host(std::uint32_t work, std::initializer_list<OpId> deps);
  void begin_pass(const Pass& pass, OpId input);
  OpId run_steps(std::span<const Step> steps, std::int32_t layer, const Pass& pass, OpId input, OpId gate);
  OpId run(const Steps& steps, const PlacedBlock& block, const Pass& pass, OpId input, OpId gate);
  OpId receive(const Pass& pass, const Boundary& boundary, bool ahead);
  [[nodiscard]] OpId& sent(bool ahead) { return ahead ? sent_forward_ : sent_backward_; }
  /// End of the pass of one kind of that micro-batch through a chunk.
  [[nodiscard]] OpId& result(Pass pass, Pass::Kind kind, std::int32_t chunk) {
    pass.kind = kind;
    pass.chunk = chunk;
    return results_[static_cast<std::size_t>(pass.micro_batch) * ways() + way(pass)];
  }
  [[nodiscard]] std::size_t ways() const { return kPassKindCount * stage_.chunks.size(); }
  /// Returns the index of the state of passes of one kind over a chunk.
  [[nodiscard]] static std::size_t way(const Pass& pass) {
    return kPassKindCount * static_cast<std::size_t>(pass.chunk) + static_cast<std::size_t>(pass.kind);
  }
  [[nodiscard]] const Chunk& chunk(const Pass& pass) const {
    return stage_.chunks[static_cast<std::size_t>(pass.chunk)];
  }
  [[nodiscard]] bool receives(const Pass& pass) const {
    return hands_on(pass.kind) && elsewhere(stage_.source(pass.chunk, pass.kind == Pass::Kind::forward));
  }
  [[nodiscard]] bool sends(const Pass& pass) const {
    return hands_on(pass.kind) && elsewhere(stage_.source(pass.chunk, pass.kind != Pass::Kind::forward));
  }
  [[nodiscard]] bool elsewhere(const std::optional<ChunkPlace>& place) const {
    return place && place->rank != stage_.index;
  }
  /// The operation of this rank that a pass takes its input from, if any.
  [[nodiscard]] OpId own_input(const Pass& pass);
  [[nodiscard]] OpId handed_on(const Pass& pass, std::int32_t chunk);

  const Plan& plan_;
  const CommunicatorLayout& layout_;
  std::int32_t steps_;
  const ModelBlocks& blocks_;
  const Stage& stage_;
  std::vector<Pass> passes_;  ///< of a step
  Workload& workload_;
  ProgramWriter writer_;
  DataParallel data_;
  ActivationOffload offload_;
  StageMessages messages_;
  bool synchronizes_;          ///< its host waits before every pass
  OpId sent_forward_ = kNoOp;  ///< the latest sends
  OpId sent_backward_ = kNoOp;
  std::int32_t step_ = 0;
  OpId gate_ = kNoOp;           ///< the next compute operation waits for it
  OpId copied_ = kNoOp;         ///< and for this copy
  OpId last_ = kNoOp;           ///< output of the latest pass
  OpId ended_ = kNoOp;          ///< last operation of the step before
  OpId first_compute_ = kNoOp;  ///< of the block or pass being written
  OpId last_compute_ = kNoOp;
  std::vector<OpId> results_;  ///< [micro-batch][chunk][kind]: end of its pass
  ProgramParts& parts_;
  std::vector<const FusedPass*> fused_passes_of_;  ///< [chunk][kind], filled in when first met
  std::vector<PassPair> pairs_;                    ///< that run side by side
  std::vector<WrittenPass> written_;               ///< [chunk][kind]: the latest of this step
  OpId collective_ = kNoOp;                        ///< latest on the tensor stream
};

void StageProgram::write_step() {
  gate_ = data_.begin_step(step_);
  offload_.begin_step(step_);
  wait_on_host(parts_.step_work, {ended_});
  written_.assign(ways(), {});
  OpId before = kNoOp;  // first operation of the pass before, if that was a forward pass
  for (const Pass& pass : passes_) {
    const OpId first = writer_.size();
    write_pass(pass);
    if (plan_.overlap_expert_parallel && pass.beside_forward && before != kNoOp)
      pairs_.push_back({before, first, writer_.size()});
    before = pass.kind == Pass::Kind::forward ? first : kNoOp;
  }
  const OpId reduced = data_.reduce_rest(last_);
  wait_on_host(parts_.wait_work, {last_, reduced, sent_forward_, sent_backward_});
  ended_ = data_.optimize(last_);
}

OpId StageProgram::wait_on_host(std::uint32_t work, std::initializer_list<OpId> deps) {
  if (!parts_.hosted) return kNoOp;
  Op op;
  op.kind = parts_.fused_passes ? Op::Kind::pass : Op::Kind::compute;
  op.slot = parts_.fused_passes ? layout_.slot(Slot::tensor) : 0;
  op.stream = Stream::host;
  op.phase = Phase::synchronize;
  op.part = Part::stage;
  op.work = work;
  op.step = step_;
  return writer_.add(op, deps);
}

/// Where messages are synchronous, the host has waited for all of the pass before and for the input.
void StageProgram::begin_pass(const Pass& pass, OpId input) {
  if (!parts_.hosted) return;
  const OpId op = synchronizes_
                      ? wait_on_host(parts_.pass_work, {last_, input, sent_forward_, sent_backward_})
                      : wait_on_host(parts_.pass_work, {});
  writer_.at(op).phase = phase_of(pass.kind);
  writer_.at(op).micro_batch = pass.micro_batch;
  writer_.at(op).chunk = pass.chunk;
}

OpId StageProgram::receive(const Pass& pass, const Boundary& boundary, bool ahead) {
  const OpId input = messages_.receive(step_of(pass, -1), boundary, ahead, stage_.map.reversed(pass.chunk));
  if (messages_.gathers(boundary, ahead)) collective_ = input;
  return input;
}

OpId StageProgram::own_input(const Pass& pass) {
  if (receives(pass)) return kNoOp;
  if (pass.kind == Pass::Kind::backward_weight) return result(pass, Pass::Kind::backward_input, pass.chunk);
  const bool ahead = pass.kind == Pass::Kind::forward;
  const std::optional<ChunkPlace> source = stage_.source(pass.chunk, ahead);
  if (source) return handed_on(pass, static_cast<std::int32_t>(source->chunk));
  return ahead ? kNoOp : result(pass, Pass::Kind::forward, pass.chunk);
}

/// The end of the pass of this rank over that chunk whose result the pass takes. A schedule that splits some
/// backward passes runs each in one way.
OpId StageProgram::handed_on(const Pass& pass, std::int32_t chunk) {
  if (pass.kind == Pass::Kind::forward) return result(pass, Pass::Kind::forward, chunk);
  const OpId whole = result(pass, Pass::Kind::backward, chunk);
  return whole == kNoOp ? result(pass, Pass::Kind::backward_input, chunk) : whole;
}

/// Returns an operation with the fields that all steps of a pass through a layer share.
Op StageProgram::step_of(const Pass& pass, std::int32_t layer) const {
  Op op;
  op.layer = layer;
  op.micro_batch = pass.micro_batch;
  op.chunk = pass.chunk;
  op.step = step_;
  return op;
}

/// Adds the operation of a step; `op` is completed to the operation that is written.
OpId StageProgram::add_step(const Step& step, Op& op, std::initializer_list<OpId> deps) {
  const bool computes = step.kind == Op::Kind::compute;
  op.kind = step.kind;
  op.stream = step.kind == Op::Kind::communicate ? stream_of(step.communicator)
              : step.on_host                     ? Stream::host
                                                 : Stream::compute;
  op.slot = computes ? 0 : layout_.slot(step.communicator);
  op.phase = step.phase;
  op.part = step.part;
  op.work = step.work;
  const OpId at = writer_.add(op, deps);
  if (op.stream == Stream::tensor) collective_ = at;
  return at;
}

/// Writes steps that follow `input`, their first one `gate` too; the last operation of them.
OpId StageProgram::run_steps(std::span<const Step> steps, std::int32_t layer, const Pass& pass, OpId input,
                             OpId gate) {
  const OpId first = writer_.size();
  Op op = step_of(pass, layer);
  for (const Step& step : steps) {
    const OpId after = step.after == kBlockInput ? input : first + step.after;
    const bool computes = step.kind != Op::Kind::communicate && !step.on_host;
    const OpId held = computes ? std::exchange(gate_, kNoOp) : kNoOp;
    const OpId copied = computes ? std::exchange(copied_, kNoOp) : kNoOp;
    const OpId at = add_step(step, op, {after, gate, held, copied});
    gate = kNoOp;
    if (!computes) continue;
    last_compute_ = at;
    if (first_compute_ == kNoOp) first_compute_ = at;
  }
  return steps.empty() ? input : writer_.size() - 1;
}

/// Writes the steps of one block; the operation that produces its result.
OpId StageProgram::run(const Steps& steps, const PlacedBlock& block, const Pass& pass, OpId input,
                       OpId gate) {
  const OpId first = writer_.size();
  run_steps(steps.list, block.layer, pass, input, gate);
  return steps.output == kBlockInput ? input : first + steps.output;
}

/// Micro-batches go through a chunk alike, so most passes repeat the one before them.
void StageProgram::write_pass(const Pass& pass) {
  const bool whole = parts_.fused_passes && !data_.meets(pass) && !offload_.meets(pass);
  // Numbered here, where only the first micro-batch is met: in the same order whatever the schedule is.
  if (parts_.fused_passes && data_.meets_first(pass) && plan_.micro_batches() > 1) fused_pass(pass);
  const bool repeats = whole && gate_ == kNoOp;
  const PassStart start = start_of(pass);
  if (repeats && repeat(pass, start, written_[way(pass)])) return;
  const OpId first = writer_.size();
  write_out(pass, whole);
  if (repeats) written_[way(pass)] = {first, writer_.size(), start, last_, collective_};
}

PassStart StageProgram::start_of(const Pass& pass) {
  PassStart start{own_input(pass), collective_, kNoOp, kNoOp, kNoOp};
  if (synchronizes_) {
    start[2] = last_;
    start[3] = sent_forward_;
    start[4] = sent_backward_;
  }
  return start;
}

/// Returns true if the pass, from `start` on, repeats that of another micro-batch; if so, the repetition is
/// written.
bool StageProgram::repeat(const Pass& pass, const PassStart& start, const WrittenPass& like) {
  if (like.first == kNoOp) return false;
  const OpId by = writer_.size() - like.first;
  const auto follows = [by](OpId then, OpId now) { return shifted(then, by) == now; };
  if (!std::ranges::equal(like.start, start, follows)) return false;
  writer_.repeat(like.first, like.end, pass.micro_batch);
  const OpId result = shifted(like.result, by);
  collective_ = shifted(like.collective, by);
  if (completes_gradients(pass.kind)) {
    data_.after_blocks(pass, result);
    data_.after_backward_pass(pass, result);
  }
  end_pass(pass, result);
  if (sends(pass)) sent(pass.kind == Pass::Kind::forward) = writer_.size() - 1;
  return true;
}

void StageProgram::write_out(const Pass& pass, bool whole) {
  const bool ahead = pass.kind == Pass::Kind::forward;
  const Boundary& entry = ahead ? chunk(pass).input : chunk(pass).output;
  const Boundary& exit = ahead ? chunk(pass).output : chunk(pass).input;
  const OpId input = receives(pass) ? receive(pass, entry, ahead) : own_input(pass);
  begin_pass(pass, input);
  if (whole) {
    end_pass(pass, run_whole(pass, input));
  } else {
    end_pass(pass, ahead ? run_forward(pass, input) : run_backward(pass, input));
  }
  if (completes_gradients(pass.kind)) gate_ = std::max(gate_, data_.after_backward_pass(pass, last_));
  if (sends(pass))
    sent(ahead) = messages_.send(step_of(pass, -1), exit, ahead, stage_.map.reversed(pass.chunk), last_);
}

OpId StageProgram::run_forward(const Pass& pass, OpId input) {
  OpId at = input;
  const auto& placed = chunk(pass).blocks;
  for (std::size_t b = 0; b < placed.size(); ++b) {
    const Block& block = blocks_.kinds[placed[b].kind];
    const OpId gathered = data_.before_block(pass, b);
    copied_ = offload_.before_block(pass, b);
    first_compute_ = kNoOp;
    at = run(block.of(pass.kind), placed[b], pass, at, gathered);
    hold(pass, placed[b]);
    data_.after_block(pass, b, at);
    offload_.after_block(pass, b, at);
  }
  return at;
}

/// Says that the block or pass just written adds `change` to the kept memory, and holds `at_start` more than
/// before while it runs. A block without compute counts with the computation before it.
void StageProgram::hold(Bytes at_start, Bytes change) {
  if (last_compute_ == kNoOp) return;
  const Bytes first = first_compute_ == kNoOp ? 0 : at_start;
  if (first != 0) writer_.at(first_compute_).memory_at_start += first;
  writer_.at(last_compute_).memory_at_finish += change - first;
}

void StageProgram::hold(const Pass& pass, const PlacedBlock& placed) {
  const BlockMoment moment = fullest_moment(placed, blocks_, pass.kind);
  hold(moment.at_start, moment.change);
}

OpId StageProgram::run_backward(const Pass& pass, OpId input) {
  OpId at = input;
  const auto& placed = chunk(pass).blocks;
  for (std::size_t b = placed.size(); b-- > 0;) {
    const Block& block = blocks_.kinds[placed[b].kind];
    OpId gathered = data_.before_block(pass, b);
    copied_ = offload_.before_block(pass, b);
    first_compute_ = kNoOp;
    if (block.recomputes(pass.kind)) {
      at = run(block.recompute, placed[b], pass, at, gathered);
      gathered = kNoOp;
    }
    // When the first block of a pass begins depends on another stage.
    const OpId begin = b + 1 == placed.size() && receives(pass) ? kNoOp : std::max(at, last_compute_);
    at = run(block.of(pass.kind), placed[b], pass, at, gathered);
    hold(pass, placed[b]);
    gate_ = std::max(gate_, data_.after_block(pass, b, at, begin));
    offload_.after_block(pass, b, at);
  }
  return at;
}

OpId StageProgram::run_whole(const Pass& pass, OpId input) {
  const bool ahead = pass.kind == Pass::Kind::forward;
  const FusedPass& whole = fused_pass(pass);
  const auto& blocks = chunk(pass).blocks;
  const std::int32_t layer = blocks.empty() ? -1 : (ahead ? blocks.front() : blocks.back()).layer;
  first_compute_ = kNoOp;
  const OpId ready = run_steps(whole.head, layer, pass, input, kNoOp);
  OpId at = ready;
  if (whole.body != FusedPass::kNone) {
    const Step body{Op::Kind::pass, whole.body, Part::stage, phase_of(pass.kind)};
    Op op = step_of(pass, -1);
    at = last_compute_ = add_step(body, op, {ready, std::exchange(gate_, kNoOp), collective_});
    if (first_compute_ == kNoOp) first_compute_ = at;
  }
  at = run_steps(whole.tail, layer, pass, at, kNoOp);
  hold(chunk(pass).peak(pass.kind).above, chunk(pass).change(pass.kind));
  if (completes_gradients(pass.kind)) data_.after_blocks(pass, at);
  return at;
}

const FusedPass& StageProgram::fused_pass(const Pass& pass) {
  const FusedPass*& known = fused_passes_of_[way(pass)];
  if (known != nullptr) return *known;
  const auto [at, anew] = parts_.passes.try_emplace(steps_of(pass.kind, chunk(pass), blocks_));
  if (anew) at->second = add_fused_pass(at->first, plan_.tensor_parallel, workload_);
  known = &at->second;
  return *known;
}

}  // namespace

Program write_stage_program(const Experiment& experiment, const CommunicatorLayout& layout,
                            const ModelBlocks& blocks, const Stage& stage, Workload& workload,
                            ProgramParts& parts) {
  return StageProgram(experiment, layout, blocks, stage, workload, parts).write();
}

}  // namespace orrery
