#include "studies/jobs/make_jobs_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "orrery/simulate.hpp"
#include "topologies/common/topologies.hpp"

namespace orrery {
namespace {

constexpr std::int64_t kUsualNodesOfLeaf = 32;  // where the fabric does not say

/// Stretches at which a step is simulated; between them, and beyond, its time goes on straight.
constexpr std::array kStretches{1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0};

/// The time of an experiment's step over that alone, by simulations with as many times slower NICs, which are
/// made when they are asked for.
class SimulatedSlowdown {
 public:
  SimulatedSlowdown(const Experiment& experiment, const Report& alone, std::shared_ptr<Simulator> simulator)
      : experiment_(experiment), alone_(alone.step_time_s()), simulator_(std::move(simulator)) {
    known_[0] = 1;
  }

  double operator()(double stretch) {
    std::size_t above = 1;
    while (above + 1 < kStretches.size() && kStretches[above] < stretch) ++above;
    const double low = at(above - 1);
    const double high = at(above);
    const double width = kStretches[above] - kStretches[above - 1];
    return std::max(1.0, low + (high - low) * (stretch - kStretches[above - 1]) / width);
  }

 private:
  double at(std::size_t point) {
    if (known_[point] > 0) return known_[point];
    Experiment slower = experiment_;
    slower.cluster.fabric.nic_gbps /= kStretches[point];
    slower.cluster.fabric.flow_gbps /= kStretches[point];
    const Figures figures{false, false, false, false, false, false, true, false, false};
    return known_[point] = simulator_->simulate(slower, figures).step_time_s() / alone_;
  }

  Experiment experiment_;
  double alone_;
  std::shared_ptr<Simulator> simulator_;
  std::array<double, kStretches.size()> known_{};
};

LongPicoseconds long_ps(double seconds) { return static_cast<LongPicoseconds>(seconds * 1e12 + 0.5); }

class JobsModelMaker {
 public:
  explicit JobsModelMaker(const JobsExperiment& experiment)
      : experiment_(experiment), simulator_(std::make_shared<Simulator>()) {}

  PreparedJobs make() {
    add_cluster();
    add_policy();
    for (std::size_t e = 0; e < experiment_.experiments().size(); ++e) add_experiment(e);
    for (const JobSpec& job : experiment_.jobs()) add_job(job);
    return std::move(prepared_);
  }

 private:
  void add_cluster() {
    const Cluster& cluster = experiment_.cluster();
    JobsModel& model = prepared_.model;
    model.topology = build_topology(cluster);
    model.nodes = cluster.nodes;
    model.gpus_per_node = cluster.gpus_per_node;
    const Fabric& fabric = cluster.fabric;
    const bool says = (fabric.kind == "fat-tree" || fabric.kind == "rail-optimized") && !fabric.shape.empty();
    model.nodes_per_leaf = std::min(cluster.nodes, says ? fabric.shape.front() : kUsualNodesOfLeaf);
  }

  void add_policy() {
    const JobsPolicy& policy = experiment_.policy();
    JobsModel& model = prepared_.model;
    model.placement = policy.placement;
    model.queueing = policy.queueing;
    model.checkpoint_ps = long_ps(policy.checkpoint_s);
    model.restart_ps = long_ps(policy.restart_s);
    model.slice_ps = long_ps(policy.slice_s);
  }

  void add_experiment(std::size_t number) {
    const Experiment& experiment = experiment_.experiments()[number];
    Report alone = simulator_->simulate(experiment);
    for (const std::string& reason : alone.reasons)
      prepared_.reasons.push_back(fmt::format("{}: {}", alone.name, reason));
    double sending = 0;
    for (const LinkUtilization& links : alone.links)
      if (links.kind != LinkKind::nvlink && links.kind != LinkKind::pcie)
        sending = std::max(sending, links.peak);
    sending_.push_back(std::min(1.0, sending));
    slowdowns_.push_back(std::make_shared<const StepSlowdown>(
        [slowdown = std::make_shared<SimulatedSlowdown>(experiment, alone, simulator_)](double stretch) {
          return (*slowdown)(stretch);
        }));
    prepared_.steps.push_back(std::move(alone));
  }

  void add_job(const JobSpec& spec) {
    ModelJob job;
    job.arrival_ps = long_ps(spec.arrival_s);
    job.gpus = spec.gpus;
    job.priority = spec.priority;
    job.sending = spec.fabric_share;
    LongPicoseconds step = long_ps(spec.step_s);
    if (spec.experiment != JobSpec::kNoExperiment) {
      const Report& alone = prepared_.steps[spec.experiment];
      step = divide_rounded(alone.makespan_ps, std::max<std::int64_t>(1, alone.steps));
      job.sending = sending_[spec.experiment];
      job.slowdown = slowdowns_[spec.experiment];
      if (static_cast<double>(step) * static_cast<double>(spec.steps) > 1e21)
        throw InputError("/jobs", fmt::format("found job {} of {} steps of {:.4g} s, allowed up to 1e9 s",
                                              spec.name, spec.steps, alone.step_time_s()));
    }
    job.work_ps = std::max<LongPicoseconds>(1, step * spec.steps);
    prepared_.model.jobs.push_back(std::move(job));
  }

  const JobsExperiment& experiment_;
  std::shared_ptr<Simulator> simulator_;
  PreparedJobs prepared_;
  std::vector<double> sending_;
  std::vector<std::shared_ptr<const StepSlowdown>> slowdowns_;
};

}  // namespace

PreparedJobs prepare_jobs(const JobsExperiment& experiment) { return JobsModelMaker(experiment).make(); }

}  // namespace orrery
