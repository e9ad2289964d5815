#include "sim/run/repeats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ranges>
#include <type_traits>
#include <vector>

#include "sim/run/run.hpp"
#include "workloads/schedules/schedules.hpp"

namespace orrery {
namespace {

/// How a schedule repeats, in micro-batches.
struct Rhythm {
  std::int64_t period = 1;
  std::int64_t warm_up = 0;  ///< before the first pair of passes of the first stage
  std::int64_t alike = 2;    ///< periods that must shift alike; an operation waits for none two periods ago
};

Rhythm rhythm_of(const Plan& plan) {
  if (plan.virtual_stages > 1) return {plan.pipeline_parallel, 2 * plan.pipeline_parallel, 1};
  return {1, plan.pipeline_parallel, 2};
}

Experiment with_micro_batches(const Experiment& experiment, std::int64_t micro_batches) {
  Experiment shorter = experiment;
  shorter.plan.global_batch_size =
      micro_batches * experiment.plan.micro_batch_size * experiment.plan.data_parallel;
  return shorter;
}

/// The operations of a program by pass: those of the k-th pass in one direction.
class PassOps {
 public:
  PassOps(const Program& program, bool forward, std::int64_t micro_batches, std::int64_t chunks) {
    std::vector<std::uint32_t> number(static_cast<std::size_t>(micro_batches * chunks), kNone);
    for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      if (op.micro_batch < 0 || (op.phase == Phase::forward) != forward) continue;
      std::uint32_t& pass = number[static_cast<std::size_t>(op.micro_batch * chunks + op.chunk)];
      if (pass == kNone) {
        pass = static_cast<std::uint32_t>(ops_.size());
        ops_.emplace_back();
        first_.push_back(i);
      }
      ops_[pass].push_back(i);
    }
  }

  [[nodiscard]] std::int64_t passes() const { return static_cast<std::int64_t>(ops_.size()); }
  [[nodiscard]] const std::vector<std::uint32_t>& of(std::int64_t pass) const {
    return ops_[static_cast<std::size_t>(pass)];
  }
  /// Passes that begin before operation `op`.
  [[nodiscard]] std::int64_t before(std::uint32_t op) const {
    return std::ranges::lower_bound(first_, op) - first_.begin();
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::vector<std::uint32_t>> ops_;
  std::vector<std::uint32_t> first_;  ///< per pass
};

/// Whether the last periods that all stages have in common shift all times by the same amount.
class SteadyState {
 public:
  SteadyState(const Run& run, const Plan& plan)
      : run_(run),
        plan_(plan),
        period_(rhythm_of(plan).period * plan.virtual_stages),
        alike_(rhythm_of(plan).alike * period_) {}

  /// How much later everything is a period later; nothing if that differs.
  [[nodiscard]] std::optional<Picoseconds> shift() {
    for (const Program& program : run_.workload.programs) {
      forward_.emplace_back(program, true, plan_.micro_batches(), plan_.virtual_stages);
      backward_.emplace_back(program, false, plan_.micro_batches(), plan_.virtual_stages);
      if (backward_.back().passes() == 0) return {};
      // The first backward pass follows the last one of the warm-up and the forward pass of its pair.
      const std::int64_t ahead = forward_.back().before(backward_.back().of(0).front());
      warm_up_.push_back(std::max<std::int64_t>(ahead - 1, 0));
      pairs_ = std::min(pairs_, forward_.back().passes() - warm_up_.back());
    }
    if (pairs_ < alike_ + period_) return {};
    shift_ = finish_of_pair(pairs_ - 1) - finish_of_pair(pairs_ - 1 - period_);
    for (std::size_t p = 0; p < warm_up_.size(); ++p) {
      for (std::int64_t pair = pairs_ - alike_; pair < pairs_; ++pair) {
        if (!alike(p, forward_[p], warm_up_[p] + pair) || !alike(p, backward_[p], pair)) return {};
      }
    }
    return shift_;
  }

 private:
  /// On the first rank; a pair ends with compute or a collective of its backward pass, or a send after it.
  [[nodiscard]] Picoseconds finish_of_pair(std::int64_t pair) const {
    const std::uint32_t program = run_.expanded.program.front();
    const std::uint32_t op = backward_[program].of(pair).back();
    return run_.timeline.finish_ps[run_.expanded.task(run_.workload, 0, op)];
  }

  /// Whether the pass is the one a period before it, later by the shift.
  bool alike(std::size_t program, const PassOps& passes, std::int64_t pass) {
    const auto& now = passes.of(pass);
    const auto& before = passes.of(pass - period_);
    if (now.size() != before.size()) return false;
    const auto& ops = run_.workload.programs[program].ops;
    for (std::size_t i = 0; i < now.size(); ++i) {
      const Op& a = ops[before[i]];
      const Op& b = ops[now[i]];
      if (a.kind != b.kind || a.stream != b.stream || a.work != b.work || a.slot != b.slot) return false;
      for (std::uint32_t c = 0; c < run_.expanded.classes(); ++c) {
        if (run_.expanded.program[c] == program && !shifted(c, before[i], now[i])) return false;
      }
    }
    return true;
  }

  /// A host that waits for nobody may need less: it falls behind for no operation that it did not hold up
  /// until now.
  bool shifted(std::uint32_t cls, std::uint32_t from, std::uint32_t to) {
    const std::uint32_t before = run_.expanded.task(run_.workload, cls, from);
    const std::uint32_t now = run_.expanded.task(run_.workload, cls, to);
    const Timeline& timeline = run_.timeline;
    const Picoseconds shift = timeline.finish_ps[now] - timeline.finish_ps[before];
    const Op& op = run_.workload.programs[run_.expanded.program[cls]].ops[to];
    const bool runs_ahead = op.stream == Stream::host && op.dep_begin == op.dep_end;
    if (runs_ahead) return shift <= shift_;
    return shift == shift_ && timeline.start_ps[now] - timeline.start_ps[before] == shift_;
  }

  const Run& run_;
  const Plan& plan_;
  std::int64_t period_;           ///< in pairs of passes
  std::int64_t alike_;            ///< pairs to compare
  std::vector<PassOps> forward_;  ///< per program
  std::vector<PassOps> backward_;
  std::vector<std::int64_t> warm_up_;  ///< per program: forward passes before the first pair
  std::int64_t pairs_ = std::numeric_limits<std::int64_t>::max();  ///< of a forward and a backward pass
  Picoseconds shift_ = 0;
};

/// `longer` with `periods` more of what it has in excess of `shorter`.
class Extrapolation {
 public:
  explicit Extrapolation(std::int64_t periods) : periods_(periods) {}

  [[nodiscard]] Totals of(const Totals& shorter, Totals longer) const {
    extend(shorter.makespan_ps, longer.makespan_ps);
    extend(shorter.samples, longer.samples);
    extend(shorter.tokens, longer.tokens);
    extend(shorter.model_flops, longer.model_flops);
    extend(shorter.hardware_flops, longer.hardware_flops);
    for (std::size_t c = 0; c < longer.classes.size(); ++c) extend(shorter.classes[c], longer.classes[c]);
    extend(shorter.link_bytes, longer.link_bytes);
    extend(shorter.bytes_per_gpu, longer.bytes_per_gpu);
    extend(shorter.critical_path.compute_ps, longer.critical_path.compute_ps);
    extend(shorter.critical_path.communication_ps, longer.critical_path.communication_ps);
    extend(shorter.critical_path.host_ps, longer.critical_path.host_ps);
    extend(shorter.critical_path.wait_ps, longer.critical_path.wait_ps);
    return longer;
  }

 private:
  template <class T>
  void extend(T shorter, T& longer) const requires std::is_arithmetic_v<T> || std::is_same_v<T, Int128> {
    longer += (longer - shorter) * static_cast<T>(periods_);
  }
  template <std::ranges::range Values>
  void extend(const Values& shorter, Values& longer) const {
    for (std::size_t i = 0; i < longer.size(); ++i) extend(shorter[i], longer[i]);
  }
  void extend(const ClassTimes& shorter, ClassTimes& longer) const {
    extend(shorter.compute, longer.compute);
    extend(shorter.optimizer, longer.optimizer);
    extend(shorter.host, longer.host);
    extend(shorter.launch, longer.launch);
    extend(shorter.optimizer_host, longer.optimizer_host);
    extend(shorter.bubble, longer.bubble);
    extend(shorter.exposed, longer.exposed);
  }

  std::int64_t periods_;
};

}  // namespace

std::optional<Report> simulate_repeats(const Experiment& experiment) {
  const Plan& plan = experiment.plan;
  const std::int64_t all = plan.micro_batches();
  const auto [period, warm_up, alike] = rhythm_of(plan);
  if (experiment.simulation.steps > 1) return {};
  for (const std::int64_t settling : {alike + 1, 4 * (alike + 1)}) {
    const std::int64_t longer = warm_up + settling * period;
    if (5 * (2 * longer - period) > 4 * all) return {};  // both runs are to be shorter by a fifth at least
    const Experiment longer_one = with_micro_batches(experiment, longer);
    Run run = run_to_timeline(longer_one);
    const auto shift = SteadyState(run, longer_one.plan).shift();
    if (!shift) continue;
    const Run before = run_to_timeline(with_micro_batches(experiment, longer - period));
    const bool alike_ranks = run.expanded.class_of_rank == before.expanded.class_of_rank;
    if (!alike_ranks || run.timeline.makespan_ps - before.timeline.makespan_ps != *shift) continue;
    const Extrapolation extrapolation((all - longer) / period);
    report_on(experiment, extrapolation.of(measure(before.view()), measure(run.view())), run);
    run.report.stats.tasks += before.expanded.graph.tasks();
    run.report.stats.events += before.timeline.events;
    run.report.assumptions.push_back(fmt::format(
        "the {} micro-batches of a replica are simulated up to the {}th; the others repeat the last {}", all,
        longer, period));
    return std::move(run.report);
  }
  return {};
}

}  // namespace orrery
