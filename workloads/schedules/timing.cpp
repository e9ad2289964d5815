#include "workloads/schedules/timing.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "orrery/error.hpp"

namespace orrery {
namespace {

constexpr std::int64_t kNotYet = -1;

/// Starts each rank's next pass as soon as its inputs are there, until nothing moves.
class ScheduleTiming {
 public:
  ScheduleTiming(const PipelineSchedule& schedule, const ScheduleShape& shape, const PassUnits& units)
      : map_{schedule.placement, shape.stages, shape.chunks},
        units_(units),
        micro_batches_(shape.micro_batches),
        timed_(static_cast<std::size_t>(shape.stages)) {
    for (std::int64_t rank = 0; rank < shape.stages; ++rank) orders_.push_back(schedule.order(shape, rank));
    for (auto& results : finished_)
      results.assign(static_cast<std::size_t>(shape.stages * shape.chunks * micro_batches_), kNotYet);
  }

  std::vector<std::vector<TimedPass>> run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::int64_t rank = 0; rank < map_.ranks; ++rank) moved |= run_on(rank);
    }
    for (std::size_t rank = 0; rank < orders_.size(); ++rank) {
      if (timed_[rank].size() < orders_[rank].size())
        throw RunError("the passes of pipeline rank " + std::to_string(rank) + " wait for each other");
    }
    return std::move(timed_);
  }

 private:
  /// Names the results that a pass leaves for other passes: activations, or gradients of inputs.
  enum Result : std::uint8_t { activations, gradients };

  /// Runs all passes of a rank that are ready; returns true if there was any.
  bool run_on(std::int64_t rank) {
    const std::vector<Pass>& order = orders_[static_cast<std::size_t>(rank)];
    std::vector<TimedPass>& timed = timed_[static_cast<std::size_t>(rank)];
    const std::size_t before = timed.size();
    while (timed.size() < order.size()) {
      const Pass& pass = order[timed.size()];
      const std::optional<std::int64_t> ready = ready_at(pass, {rank, pass.chunk});
      if (!ready) break;
      const std::int64_t begin = std::max(*ready, timed.empty() ? 0 : timed.back().end);
      const std::int64_t end = begin + units_.of(pass.kind);
      timed.push_back({pass, map_.virtual_stage({rank, pass.chunk}), begin, end});
      if (hands_on(pass.kind)) finished(result_of(pass.kind), pass, {rank, pass.chunk}) = end;
    }
    return timed.size() > before;
  }

  /// When the inputs of a pass are there; none if one is not.
  std::optional<std::int64_t> ready_at(const Pass& pass, ChunkPlace at) {
    const bool ahead = pass.kind == PassKind::forward;
    std::int64_t ready = ahead ? 0 : finished(activations, pass, at);
    const std::optional<ChunkPlace> source = source_of(pass.kind, at);
    if (source) {
      const std::int64_t there = finished(result_of(pass.kind), pass, *source);
      ready = std::min(ready, there) == kNotYet ? kNotYet : std::max(ready, there);
    }
    return ready == kNotYet ? std::nullopt : std::optional(ready);
  }

  [[nodiscard]] std::optional<ChunkPlace> source_of(PassKind kind, ChunkPlace at) const {
    if (kind == PassKind::backward_weight) return at;
    return kind == PassKind::forward ? map_.before(at) : map_.after(at);
  }

  [[nodiscard]] static Result result_of(PassKind kind) {
    return kind == PassKind::forward ? activations : gradients;
  }

  std::int64_t& finished(Result result, const Pass& pass, ChunkPlace at) {
    const std::int64_t chunk = at.rank * map_.chunks + at.chunk;
    return finished_[result][static_cast<std::size_t>(chunk * micro_batches_ + pass.micro_batch)];
  }

  ChunkMap map_;
  PassUnits units_;
  std::int64_t micro_batches_;
  std::vector<std::vector<Pass>> orders_;                ///< by rank
  std::vector<std::vector<TimedPass>> timed_;            ///< by rank
  std::array<std::vector<std::int64_t>, 2> finished_{};  ///< by Result: [rank][chunk][micro-batch]
};

}  // namespace

std::int64_t PassUnits::of(PassKind kind) const {
  switch (kind) {
    case PassKind::forward:
      return forward;
    case PassKind::backward_input:
      return input;
    case PassKind::backward_weight:
      return weight;
    case PassKind::backward:
      break;
  }
  return input + weight;
}

std::vector<std::vector<TimedPass>> time_schedule(const PipelineSchedule& schedule,
                                                  const ScheduleShape& shape, const PassUnits& units) {
  return ScheduleTiming(schedule, shape, units).run();
}

}  // namespace orrery
