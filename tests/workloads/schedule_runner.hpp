// Runs the orders of a schedule by themselves, with given pass times: a second, simple way to the times that
// the simulator finds, for closed forms and for the bubble rates of papers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "workloads/schedules/schedules.hpp"

namespace orrery::test {

struct PassTimes {
  std::int64_t forward = 1;
  std::int64_t input = 1;
  std::int64_t weight = 1;
  std::int64_t message = 0;  ///< between two ranks
  std::optional<std::int64_t>
      pair{};  ///< of a forward and a backward pass side by side, run as one; none: apart

  [[nodiscard]] std::int64_t of(PassKind kind) const {
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
};

struct RankTimes {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t busy = 0;
  [[nodiscard]] std::int64_t idle() const { return end - begin - busy; }
};

inline bool is_backward(PassKind kind) {
  return kind == PassKind::backward || kind == PassKind::backward_input;
}

/// Passes that run as one, in order.
using PassGroups = std::vector<std::vector<Pass>>;

/// A forward and a whole backward pass of another chunk side by side are a group if `pairs`.
inline PassGroups groups_of(const std::vector<Pass>& order, bool pairs) {
  PassGroups groups;
  for (std::size_t i = 0; i < order.size(); ++i) {
    groups.push_back({order[i]});
    const bool pair = pairs && i + 1 < order.size() && order[i].kind == PassKind::forward &&
                      order[i + 1].kind == PassKind::backward;
    if (pair) groups.back().push_back(order[++i]);
  }
  return groups;
}

class ScheduleRunner {
 public:
  ScheduleRunner(const PipelineSchedule& schedule, const ScheduleShape& shape, const PassTimes& times = {})
      : map_{schedule.placement, shape.stages, shape.chunks}, times_(times), ranks_(shape.stages) {
    for (std::int64_t r = 0; r < shape.stages; ++r)
      orders_.push_back(groups_of(schedule.order(shape, r), times.pair.has_value()));
  }

  /// Each rank runs its passes in order, each once its inputs are there; false on a deadlock.
  bool run() {
    std::vector<std::size_t> at(orders_.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < orders_.size(); ++r) {
        while (at[r] < orders_[r].size() && run_group(static_cast<std::int64_t>(r), orders_[r][at[r]])) {
          moved = true;
          ++at[r];
        }
      }
    }
    for (std::size_t r = 0; r < orders_.size(); ++r) {
      if (at[r] < orders_[r].size()) return false;
    }
    return true;
  }

  [[nodiscard]] const std::vector<RankTimes>& ranks() const { return ranks_; }
  /// From the first pass of all to the last one.
  [[nodiscard]] std::int64_t step() const { return std::ranges::max(ranks_, {}, &RankTimes::end).end; }
  /// Returns the time of the rank that takes longest from its own first pass to its own last one.
  [[nodiscard]] std::int64_t longest() const {
    std::int64_t most = 0;
    for (const RankTimes& rank : ranks_) most = std::max(most, rank.end - rank.begin);
    return most;
  }
  /// Returns how often each kind of pass ran over a virtual stage of a copy, for each micro-batch.
  [[nodiscard]] const auto& done() const { return done_; }

 private:
  enum class Result { activations, gradients, weights };
  using Key = std::tuple<Result, int, std::int64_t, std::int64_t>;  ///< micro-batch, copy, virtual stage
  struct Finish {
    std::int64_t time;
    std::int64_t rank;
  };

  [[nodiscard]] Key key(Result result, const Pass& pass, ChunkPlace at) const {
    return {result, pass.micro_batch, map_.copy_of(at), map_.virtual_stage(at)};
  }
  [[nodiscard]] std::vector<Key> inputs(const Pass& pass, ChunkPlace at) const {
    if (pass.kind == PassKind::backward_weight) return {key(Result::gradients, pass, at)};
    const bool ahead = pass.kind == PassKind::forward;
    const Result result = ahead ? Result::activations : Result::gradients;
    std::vector<Key> all;
    const auto source = ahead ? map_.before(at) : map_.after(at);
    if (source) all.push_back(key(result, pass, *source));
    if (!ahead) all.push_back(key(Result::activations, pass, at));
    return all;
  }

  bool run_group(std::int64_t rank, const std::vector<Pass>& group) {
    RankTimes& times = ranks_[static_cast<std::size_t>(rank)];
    std::int64_t start = times.end;
    for (const Pass& pass : group) {
      for (const Key& input : inputs(pass, {rank, pass.chunk})) {
        const auto found = finished_.find(input);
        if (found == finished_.end()) return false;
        start = std::max(start, found->second.time + (found->second.rank == rank ? 0 : times_.message));
      }
    }
    const std::int64_t takes = group.size() == 2 ? *times_.pair : times_.of(group.front().kind);
    if (times.busy == 0) times.begin = start;
    times.busy += takes;
    times.end = start + takes;
    for (const Pass& pass : group) finish(pass, {rank, pass.chunk}, times.end);
    return true;
  }

  void finish(const Pass& pass, ChunkPlace at, std::int64_t time) {
    const Result result = pass.kind == PassKind::forward          ? Result::activations
                          : pass.kind == PassKind::backward       ? Result::gradients
                          : pass.kind == PassKind::backward_input ? Result::gradients
                                                                  : Result::weights;
    finished_[key(result, pass, at)] = {time, at.rank};
    ++done_[{pass.kind, pass.micro_batch, map_.copy_of(at), map_.virtual_stage(at)}];
  }

  ChunkMap map_;
  PassTimes times_;
  std::vector<PassGroups> orders_;
  std::vector<RankTimes> ranks_;
  std::map<Key, Finish> finished_;
  std::map<std::tuple<PassKind, int, std::int64_t, std::int64_t>, int> done_;
};

/// Most chunk passes whose activations a rank keeps at a time.
inline std::int64_t most_kept(const std::vector<Pass>& order) {
  std::int64_t kept = 0;
  std::int64_t most = 0;
  for (const Pass& pass : order) {
    if (pass.kind == PassKind::forward) ++kept;
    if (completes_gradients(pass.kind)) --kept;
    most = std::max(most, kept);
  }
  return most;
}

/// Returns the most micro-batches that any rank keeps.
inline std::int64_t most_kept(const PipelineSchedule& schedule, const ScheduleShape& shape) {
  std::int64_t most = 0;
  for (std::int64_t r = 0; r < shape.stages; ++r) most = std::max(most, most_kept(schedule.order(shape, r)));
  return most;
}

/// " F0 F1 I0.1 W0.1": a letter for the kind, the micro-batch, and the chunk unless it is the first.
inline std::string text(const std::vector<Pass>& order) {
  std::string out;
  for (const Pass& pass : order) {
    constexpr const char* kNames[] = {" F", " B", " I", " W"};
    out += kNames[static_cast<std::size_t>(pass.kind)] + std::to_string(pass.micro_batch);
    if (pass.chunk > 0) out += "." + std::to_string(pass.chunk);
  }
  return out;
}

}  // namespace orrery::test
