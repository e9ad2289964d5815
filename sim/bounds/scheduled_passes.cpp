#include "sim/bounds/scheduled_passes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/cost/issue_time.hpp"
#include "workloads/schedules/schedules.hpp"

namespace orrery {
namespace {

constexpr std::int64_t kMostPasses = 1'000'000;
constexpr auto kCompute = static_cast<std::size_t>(Stream::compute);
constexpr auto kExpert = static_cast<std::size_t>(Stream::expert);

/// The least that a pass takes on the fastest GPU of its rank, from when its input is there and the kernels
/// before it are done.
struct LeastPass {
  Picoseconds to_output = 0;
  Picoseconds computing = 0;  ///< until its last kernel
};

LeastPass least_pass(const GpuBlockTimes& gpu, const Chunk& chunk, PassKind kind) {
  LeastPass pass;
  if (chunk.blocks.empty()) return pass;
  const PlacedBlock& last = kind == PassKind::forward ? chunk.blocks.back() : chunk.blocks.front();
  Picoseconds before = 0;
  for (const PlacedBlock& block : chunk.blocks)
    if (&block != &last)
      before = capped_sum(before, gpu.least[block.kind][static_cast<std::size_t>(kind)].to_next());
  const LeastBlockTime& time = gpu.least[last.kind][static_cast<std::size_t>(kind)];
  pass.to_output = capped_sum(before, time.to_output);
  pass.computing = capped_sum(before, time.computing);
  return pass;
}

/// No GPU of the rank takes less.
LeastPass least_pass(const std::vector<GpuBlockTimes>& gpus, const Chunk& chunk, PassKind kind) {
  LeastPass least = least_pass(gpus.front(), chunk, kind);
  for (const GpuBlockTimes& gpu : gpus) {
    const LeastPass other = least_pass(gpu, chunk, kind);
    least = {std::min(least.to_output, other.to_output), std::min(least.computing, other.computing)};
  }
  return least;
}

/// The steps of a pass through all blocks of a chunk, each after one of those before it or kBlockInput.
std::vector<TimedStep> steps_of(const GpuBlockTimes& gpu, const Chunk& chunk, PassKind kind,
                                std::int32_t& output) {
  constexpr std::size_t kAgain = kPassKindCount;
  std::vector<TimedStep> all;
  output = kBlockInput;
  const auto append = [&](const TimedSteps& steps) {
    const auto first = static_cast<std::int32_t>(all.size());
    const std::int32_t input = output;
    for (TimedStep step : steps.list) {
      step.after = step.after == kBlockInput ? input : first + step.after;
      all.push_back(step);
    }
    if (steps.output != kBlockInput) output = first + steps.output;
  };
  const auto append_block = [&](const PlacedBlock& block) {
    const TimedBlock& timed = gpu.steps[block.kind];
    if (kind == PassKind::backward || kind == PassKind::backward_input) append(timed[kAgain]);
    append(timed[static_cast<std::size_t>(kind)]);
  };
  if (kind == PassKind::forward)
    std::ranges::for_each(chunk.blocks, append_block);
  else
    std::for_each(chunk.blocks.rbegin(), chunk.blocks.rend(), append_block);
  // Operations before the first kernel may overlap the previous pass.
  for (std::size_t i = 0; i < all.size() && !all[i].computes(); ++i) all[i].duration = 0;
  return all;
}

/// When two passes side by side are done that begin at 0.
struct PairTimes {
  std::array<Picoseconds, 2> outputs{};
  Picoseconds computed = 0;
  Picoseconds dispatched = 0;

  void keep_least(const PairTimes& other) {
    for (std::size_t i = 0; i < 2; ++i) outputs[i] = std::min(outputs[i], other.outputs[i]);
    computed = std::min(computed, other.computed);
    dispatched = std::min(dispatched, other.dispatched);
  }
};

/// Two passes whose steps come in turns: one goes on when the other has sent tokens off
/// (workloads/programs/pass_pairs.hpp).
class PassesInTurns {
 public:
  PassesInTurns(const GpuBlockTimes& gpu, const Chunk& forward, const Chunk& back, PassKind kind)
      : steps_{steps_of(gpu, forward, PassKind::forward, outputs_[0]),
               steps_of(gpu, back, kind, outputs_[1])} {}

  /// @param ahead  the first pass's work before the second begins takes no time, as it was done earlier
  [[nodiscard]] PairTimes run(bool ahead) const {
    std::array<std::vector<Picoseconds>, 2> done{std::vector<Picoseconds>(steps_[0].size()),
                                                 std::vector<Picoseconds>(steps_[1].size())};
    std::array<std::size_t, 2> next{};
    std::array<Picoseconds, kStreamCount> free{};
    std::size_t turn = 0;
    bool first_turn = true;
    while (next[0] < steps_[0].size() || next[1] < steps_[1].size()) {
      if (next[turn] == steps_[turn].size()) turn = 1 - turn;
      const TimedStep& step = steps_[turn][next[turn]];
      Picoseconds& stream = free[step.stream];
      if (step.after >= 0) stream = std::max(stream, done[turn][static_cast<std::size_t>(step.after)]);
      stream = capped_sum(stream, ahead && first_turn ? 0 : step.duration);
      done[turn][next[turn]++] = stream;
      const bool more = next[turn] < steps_[turn].size() && steps_[turn][next[turn]].sends_tokens();
      if (step.sends_tokens() && !more) {
        turn = 1 - turn;
        first_turn = false;
      }
    }
    PairTimes times;
    for (std::size_t i = 0; i < 2; ++i)
      times.outputs[i] = outputs_[i] == kBlockInput ? 0 : done[i][static_cast<std::size_t>(outputs_[i])];
    times.computed = free[kCompute];
    times.dispatched = free[kExpert];
    return times;
  }

 private:
  std::array<std::int32_t, 2> outputs_{};
  std::array<std::vector<TimedStep>, 2> steps_;
};

/// A pair that begins when its first pass can, and one whose first pass has sent tokens off by then.
struct LeastPair {
  PairTimes whole;
  PairTimes ahead;
};

class PassTimetable {
 public:
  PassTimetable(const Experiment& experiment, const LeastTimes& times)
      : shape_(schedule_shape(experiment.plan)),
        map_(chunk_map(experiment.plan)),
        side_by_side_(experiment.plan.overlap_expert_parallel),
        times_(times) {
    for (const Stage& stage : times.stages.list()) {
      Rank& rank = ranks_.emplace_back();
      rank.order = schedule_of(experiment.plan).order(shape_, stage.index);
      for (const Chunk& chunk : stage.chunks) {
        auto& least = rank.least.emplace_back();
        for (std::size_t kind = 0; kind < kPassKindCount; ++kind)
          least[kind] = least_pass(times.blocks.of_rank[static_cast<std::size_t>(stage.index)], chunk,
                                   static_cast<PassKind>(kind));
      }
    }
    for (std::vector<Picoseconds>& results : finished_)
      results.assign(static_cast<std::size_t>(shape_.stages * shape_.chunks * shape_.micro_batches), kNotYet);
  }

  /// When the last pass of all ranks ends.
  Picoseconds end() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) moved = run_on(rank) || moved;
    }
    Picoseconds latest = 0;
    for (const Rank& rank : ranks_) latest = std::max({latest, rank.computed, rank.dispatched});
    return latest;
  }

 private:
  static constexpr Picoseconds kNotYet = -1;
  enum Result : std::uint8_t { activations, gradients };

  struct Rank {
    std::vector<Pass> order;
    std::vector<std::array<LeastPass, kPassKindCount>> least;  ///< [chunk][kind]
    /// By both chunks and the kind of the second pass, once they have met.
    std::map<std::tuple<std::int32_t, std::int32_t, PassKind>, LeastPair> pairs;
    std::size_t next = 0;        ///< in the order
    Picoseconds computed = 0;    ///< when the kernels of the passes so far are done,
    Picoseconds dispatched = 0;  ///< and their traffic of experts
  };

  /// Runs all operations of a rank that are ready; returns true if there was any.
  bool run_on(std::size_t number) {
    Rank& rank = ranks_[number];
    const std::size_t before = rank.next;
    while (rank.next < rank.order.size()) {
      const std::size_t passes = run_next(static_cast<std::int64_t>(number), rank);
      if (passes == 0) break;
      rank.next += passes;
    }
    return rank.next > before;
  }

  /// Runs the next passes of a rank; returns how many ran: none, one, or two side by side.
  std::size_t run_next(std::int64_t number, Rank& rank) {
    const Pass& pass = rank.order[rank.next];
    const ChunkPlace at{number, pass.chunk};
    const Picoseconds ready = ready_at(pass, at);
    if (ready == kNotYet) return 0;
    const Picoseconds begin = std::max(ready, rank.computed);
    if (const Pass* other = partner(rank)) {
      const ChunkPlace other_at{number, other->chunk};
      const Picoseconds other_ready = ready_at(*other, other_at);
      if (other_ready == kNotYet) return 0;
      const Picoseconds other_begin = std::max(other_ready, rank.computed);
      const LeastPair& pair = pair_of(number, pass, *other);
      const auto latest = [&](Picoseconds whole, Picoseconds ahead) {
        return std::max(capped_sum(begin, whole), capped_sum(other_begin, ahead));
      };
      finished(activations, pass, at) = latest(pair.whole.outputs[0], pair.ahead.outputs[0]);
      finished(gradients, *other, other_at) = latest(pair.whole.outputs[1], pair.ahead.outputs[1]);
      rank.computed = latest(pair.whole.computed, pair.ahead.computed);
      if (pair.whole.dispatched > 0) rank.dispatched = latest(pair.whole.dispatched, pair.ahead.dispatched);
      return 2;
    }
    const LeastPass& least =
        rank.least[static_cast<std::size_t>(pass.chunk)][static_cast<std::size_t>(pass.kind)];
    if (hands_on(pass.kind)) finished(result_of(pass.kind), pass, at) = capped_sum(begin, least.to_output);
    rank.computed = capped_sum(begin, least.computing);
    return 1;
  }

  /// The pass that the next one runs beside, if any.
  [[nodiscard]] const Pass* partner(const Rank& rank) const {
    if (!side_by_side_ || rank.order[rank.next].kind != PassKind::forward) return nullptr;
    if (rank.next + 1 == rank.order.size() || !rank.order[rank.next + 1].beside_forward) return nullptr;
    return &rank.order[rank.next + 1];
  }

  const LeastPair& pair_of(std::int64_t number, const Pass& pass, const Pass& other) {
    const auto [at, is_new] =
        ranks_[static_cast<std::size_t>(number)].pairs.try_emplace({pass.chunk, other.chunk, other.kind});
    if (!is_new) return at->second;
    const std::span<const Chunk> chunks = times_.stages.list()[static_cast<std::size_t>(number)].chunks;
    bool first = true;
    for (const GpuBlockTimes& gpu : times_.blocks.of_rank[static_cast<std::size_t>(number)]) {
      const PassesInTurns passes(gpu, chunks[static_cast<std::size_t>(pass.chunk)],
                                 chunks[static_cast<std::size_t>(other.chunk)], other.kind);
      const LeastPair pair{passes.run(false), passes.run(true)};
      if (std::exchange(first, false)) {
        at->second = pair;
      } else {
        at->second.whole.keep_least(pair.whole);
        at->second.ahead.keep_least(pair.ahead);
      }
    }
    return at->second;
  }

  /// When the inputs of a pass are there.
  [[nodiscard]] Picoseconds ready_at(const Pass& pass, ChunkPlace at) {
    const bool ahead = pass.kind == PassKind::forward;
    const Picoseconds own = ahead ? 0 : finished(activations, pass, at);
    const std::optional<ChunkPlace> source = pass.kind == PassKind::backward_weight ? at
                                             : ahead                                ? map_.before(at)
                                                                                    : map_.after(at);
    if (!source) return own;
    const Picoseconds there = finished(result_of(pass.kind), pass, *source);
    return std::min(own, there) == kNotYet ? kNotYet : std::max(own, there);
  }

  static Result result_of(PassKind kind) { return kind == PassKind::forward ? activations : gradients; }

  Picoseconds& finished(Result result, const Pass& pass, ChunkPlace at) {
    const std::int64_t chunk = at.rank * map_.chunks + at.chunk;
    return finished_[result][static_cast<std::size_t>(chunk * shape_.micro_batches + pass.micro_batch)];
  }

  ScheduleShape shape_;
  ChunkMap map_;
  bool side_by_side_;
  const LeastTimes& times_;
  std::vector<Rank> ranks_;
  std::array<std::vector<Picoseconds>, 2> finished_{};  ///< by Result: [rank][chunk][micro-batch]
};

}  // namespace

Picoseconds scheduled_passes(const Experiment& experiment, const LeastTimes& times) {
  const ScheduleShape shape = schedule_shape(experiment.plan);
  if (Int128{shape.stages} * shape.chunks * shape.micro_batches > kMostPasses) return 0;
  return PassTimetable(experiment, times).end();
}

}  // namespace orrery
