// Finds how far jobs slow each other down on the links that their messages share.
//
// The messages of a job go round its nodes in the order of its ranks, from each of its GPUs to the one of the
// same place on the next node, as rings of NCCL do. While it sends, it sends at the rate that its links give
// it alone below as few switches as there can be; all of its messages move at one pace, that of the slowest.
// Jobs that send at the same moment share links max-min fairly, flow by flow (MaxMinSolver). A job sends in a
// share of its time, and jobs know nothing of each other, so that any of them may send at the same moment:
// the mean over all of these moments is the stretch of a job's messages, which lengthens its steps, and with
// them the share of time in which it sends. That is solved in rounds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "orrery/topology.hpp"
#include "sim/network/max_min_solver.hpp"
#include "studies/jobs/jobs_model.hpp"

namespace orrery {

/// Says how much a job asks of a link while it sends.
struct LinkLoad {
  std::uint32_t link = 0;
  std::int64_t bytes_per_s = 0;
};

/// A job whose time changes.
struct StretchChange {
  std::size_t job = 0;
  double slowdown = 1;  ///< of its steps
};

class LinkSharing {
 public:
  explicit LinkSharing(const JobsModel& model);

  void start(std::size_t job, const std::vector<GpuId>& gpus);
  void stop(std::size_t job);
  /// Returns the jobs whose slowdown differs since the last call, in order.
  [[nodiscard]] std::vector<StretchChange> changes();

 private:
  struct Sender {
    std::vector<LinkLoad> loads;  ///< empty: it sends nothing between nodes
    double stretch = 1;
    double slowdown = 1;
    bool in_group = false;
  };
  struct LinkState {
    std::int64_t capacity = 0;
    std::int64_t load = 0;  ///< of all of its jobs
    std::vector<std::size_t> jobs;
    std::uint32_t place = 0;  ///< in the group that is solved
    bool in_group = false;
    [[nodiscard]] bool is_overloaded() const { return load > capacity; }
  };

  [[nodiscard]] std::vector<LinkLoad> loads_of(const std::vector<GpuId>& gpus) const;
  [[nodiscard]] double excess(const std::vector<LinkLoad>& loads) const;
  /// How far the links of a job below the fewest switches are too narrow for all of its messages at once.
  double usual_excess(std::int64_t gpus);
  void add_group(std::size_t job);
  void drop_equal_links();
  void solve_group();
  bool solve_round();
  [[nodiscard]] double share_of_sending(std::size_t job) const;
  [[nodiscard]] double slowdown_at(std::size_t job, double stretch) const;
  void solve_moment(const std::vector<bool>& sends);
  [[nodiscard]] double stretch_now(std::size_t place) const;
  void all_moments(const std::vector<double>& shares);
  void drawn_moments(const std::vector<double>& shares, std::int64_t moments);
  void finish_group();

  const JobsModel& model_;
  std::vector<LinkState> links_;
  std::map<std::size_t, Sender> senders_;  ///< by job
  std::map<std::int64_t, double> usual_excess_;
  std::vector<std::size_t> touched_;  ///< jobs that may have another stretch
  // the group that is solved
  std::vector<std::size_t> group_;
  std::vector<std::uint32_t> group_links_;
  std::vector<double> weight_, stretched_;  ///< by place: probability of its moments, and sum of stretches
  std::vector<std::uint32_t> flow_of_;
  MaxMinSolver solver_;
};

}  // namespace orrery
