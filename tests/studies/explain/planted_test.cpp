// Measured runs that were made by our own writer of traces, with changes planted: explain() names them and
// their sizes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "orrery/simulate.hpp"
#include "sim/engine/engine.hpp"
#include "sim/run/prepare.hpp"
#include "studies/explain/explain.hpp"
#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;

namespace {

/// Two nodes of two GPUs: tensor ranks in a node, stages and replicas beside them; every rank by itself.
Experiment base(const std::vector<std::string>& overrides = {}) {
  std::vector<std::string> all{"simulation.folding=off"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  return test::read(
      "model: gpt3-1.3b\n"
      "cluster: {base: dgx-a100-80gb, gpus_per_node: 4, nodes: 2}\n"
      "plan: {tensor_parallel: 2, pipeline_parallel: 2, data_parallel: 2, micro_batch_size: 1,\n"
      "       global_batch_size: 16, precision: bf16}\n",
      all);
}

/// Changes of a run that an experiment cannot say.
struct Planted {
  KernelClass slow_class = KernelClass::other;
  double factor = 1;
  std::int64_t late_rank = -1;
  Picoseconds late_ps = 0;
  Picoseconds loading_ps = 0;  ///< of all ranks
};

/// The run without what kernels lose to messages beside them: that does not grow with their own time.
Run undisturbed(Experiment experiment) {
  experiment.software.communication_interference = 0;
  Memo memo;
  return run_in_layers(prepare(experiment, memo), memo);
}

void slow_kernels(Run& run, const Experiment& experiment, const Planted& planted, std::vector<Cost>& costs) {
  if (planted.factor == 1) return;
  const Run alone = undisturbed(experiment);
  const auto slow = static_cast<std::size_t>(planted.slow_class);
  run.kernels.kernel_sequences.clear();
  for (std::uint32_t w = 0; w < run.workload.kernel_sequences.size(); ++w) {
    KernelWeights weights =
        kernel_weights(run.workload.kernel_sequences[w], experiment.cluster.gpu_of_class(0),
                       experiment.software, experiment.plan.precision);
    weights[slow] = static_cast<Picoseconds>(static_cast<double>(weights[slow]) * planted.factor);
    run.kernels.kernel_sequences.emplace_back(weights);
  }
  for (std::uint32_t cls = 0; cls < run.expanded.classes(); ++cls) {
    const Program& program = run.workload.programs[run.expanded.program[cls]];
    for (std::uint32_t op = 0; op < program.ops.size(); ++op) {
      if (program.ops[op].kind != Op::Kind::compute || program.ops[op].stream != Stream::compute) continue;
      const std::uint32_t work = program.ops[op].work;
      const KernelWeights weights =
          kernel_weights(run.workload.kernel_sequences[work], experiment.cluster.gpu_of_class(0),
                         experiment.software, experiment.plan.precision);
      Picoseconds sum = 0;
      for (const Picoseconds weight : weights) sum += weight;
      if (sum == 0) continue;
      const std::uint32_t task = run.expanded.task(cls, op);
      const double share = static_cast<double>(weights[slow]) / static_cast<double>(sum);
      const Picoseconds kernels = alone.timeline.finish_ps[task] - alone.timeline.start_ps[task] -
                                  run.prices.kernel_sequences[work].launch_ps;
      costs[task].duration_ps +=
          static_cast<Picoseconds>(static_cast<double>(kernels) * share * (planted.factor - 1));
    }
  }
}

/// The first compute operation of each rank, as its task.
std::vector<std::uint32_t> first_tasks(const Run& run) {
  std::vector<std::uint32_t> tasks;
  for (std::uint32_t rank = 0; rank < run.workload.ranks(); ++rank) {
    const std::uint32_t cls = run.expanded.representatives.class_of_rank[rank];
    const Program& program = run.workload.programs[run.expanded.program[cls]];
    const auto first = std::ranges::find(program.ops, Stream::compute, &Op::stream);
    tasks.push_back(run.expanded.task(cls, static_cast<std::uint32_t>(first - program.ops.begin())));
  }
  return tasks;
}

std::vector<std::uint32_t> all_ranks(const Experiment& experiment) {
  std::vector<std::uint32_t> ranks(static_cast<std::size_t>(experiment.plan.gpus()));
  for (std::uint32_t r = 0; r < ranks.size(); ++r) ranks[r] = r;
  return ranks;
}

/// The profiles of all ranks of a run with changes.
std::vector<Profile> measured_of(const Experiment& experiment, const Planted& planted = {}) {
  Memo memo;
  const PreparedExperiment prepared = prepare(experiment, memo);
  Run run = run_in_layers(prepared, memo);
  TaskGraph graph = run.expanded.graph;
  std::vector<Cost> costs;
  for (std::uint32_t task = 0; task < graph.tasks(); ++task) {
    costs.push_back({run.timeline.finish_ps[task] - run.timeline.start_ps[task], 0, 0});
    graph.cost.edit()[task] = task;
  }
  slow_kernels(run, experiment, planted, costs);
  const std::vector<std::uint32_t> first = first_tasks(run);
  std::vector<Picoseconds> delays;
  for (std::uint32_t rank = 0; rank < first.size(); ++rank) {
    delays.push_back(planted.loading_ps + (rank == planted.late_rank ? planted.late_ps : 0));
    costs[first[rank]].duration_ps += delays.back();
  }
  graph.costs = costs;
  graph.legs.clear();
  run.timeline = run_contention_free(graph);
  for (std::uint32_t rank = 0; rank < first.size(); ++rank)
    run.timeline.start_ps[first[rank]] += delays[rank];
  std::vector<Profile> profiles = profiles_of(run, prepared.experiment.plan, all_ranks(experiment));
  for (std::uint32_t rank = 0; rank < profiles.size(); ++rank) {
    Profile& profile = profiles[rank];
    const auto begin =
        std::ranges::find_if(profile.spans, [](const GpuSpan& span) { return computes(span.use); });
    if (delays[rank] > 0) begin->launched_ns = begin->start_ns;
    if (planted.loading_ps > 0)
      profile.loading.push_back({begin->start_ns - planted.loading_ps / 1000, begin->start_ns});
  }
  return profiles;
}

Explanation explanation_of(const Experiment& measured, const Planted& planted = {}) {
  Measurements all;
  all.profiles = measured_of(measured, planted);
  return explain(base(), all);
}

const ExplainedCause& finding(const Explanation& explanation, std::string_view cause) {
  const auto found = std::ranges::find(explanation.findings, cause, &ExplainedCause::cause);
  REQUIRE_MESSAGE(found != explanation.findings.end(), cause);
  return *found;
}

const ExplainedTerm& term(const Explanation& explanation, std::string_view name) {
  const auto found = std::ranges::find(explanation.terms, name, &ExplainedTerm::name);
  REQUIRE_MESSAGE(found != explanation.terms.end(), name);
  return *found;
}

Picoseconds sum_of_terms(const Explanation& explanation) {
  Picoseconds sum = 0;
  for (const ExplainedTerm& one : explanation.terms) sum += one.more_ps();
  return sum;
}

/// Returns a share of the simulated step.
Picoseconds two_percent(const Explanation& explanation) { return explanation.simulated_ps / 50; }

/// The causes that are named, largest first, are these.
void check_causes(const Explanation& explanation, std::vector<std::string> causes) {
  std::vector<std::string> found;
  for (const ExplainedCause& one : explanation.findings) found.push_back(one.cause);
  std::ranges::sort(found);
  std::ranges::sort(causes);
  CHECK(fmt::format("{}", fmt::join(found, ", ")) == fmt::format("{}", fmt::join(causes, ", ")));
}

const std::vector<std::string> kSlowGpu{R"(cluster.overrides=[{"gpu": 3, "speed": 0.8}])"};
const std::vector<std::string> kHalfNic{"cluster.fabric.nic_gbps=100"};

}  // namespace

TEST_CASE("a run that is as simulated has no difference") {
  const Explanation same = explanation_of(base());
  CHECK(same.more_ps() == 0);
  for (const ExplainedTerm& one : same.terms) CHECK(one.more_ps() == 0);
  CHECK(same.findings.empty());
  // Terms are whole nanoseconds of the trace, so the step is that of the simulation to the nanosecond.
  const Report report = simulate(base());
  CHECK(std::abs(same.simulated_ps - report.makespan_ps) < 1000);
}

TEST_CASE("a class of kernels at 0.8 of its speed") {
  Planted planted;
  planted.slow_class = KernelClass::dense_products;
  planted.factor = 1.25;
  const Explanation slow = explanation_of(base(), planted);
  check_causes(slow, {"dense_products"});
  CHECK(finding(slow, "dense_products").factor == doctest::Approx(1.25).epsilon(0.02));
  CHECK(std::abs(*finding(slow, "dense_products").gain_ps - slow.more_ps()) < two_percent(slow));
  CHECK(slow.terms.front().name == "dense_products");
  CHECK(sum_of_terms(slow) == slow.more_ps());
}

TEST_CASE("a slow GPU") {
  const Explanation slow = explanation_of(base(kSlowGpu));
  check_causes(slow, {"rank 3"});
  CHECK(finding(slow, "rank 3").factor == doctest::Approx(1.25).epsilon(0.02));
  CHECK(std::abs(*finding(slow, "rank 3").gain_ps - slow.more_ps()) < two_percent(slow));
  CHECK(term(slow, "dense_products").places.front().rank == 3);
  CHECK(term(slow, "stragglers").more_ps() > 0);  // its tensor rank waits for it
  CHECK(sum_of_terms(slow) == slow.more_ps());
}

TEST_CASE("a link at half its speed") {
  const Explanation slow = explanation_of(base(kHalfNic));
  CHECK(sum_of_terms(slow) == slow.more_ps());
  // Only sums of gradients and messages between stages may cross nodes; which of them do says the layout.
  const Report before = simulate(base());
  const Report after = simulate(base(kHalfNic));
  CHECK(std::abs(slow.more_ps() - (after.makespan_ps - before.makespan_ps)) < 2000);
  REQUIRE_FALSE(slow.findings.empty());
  for (const ExplainedCause& one : slow.findings) CHECK(one.cause.ends_with("messages"));
  Picoseconds gain = 0;
  for (const ExplainedCause& one : slow.findings) gain += *one.gain_ps;
  CHECK(std::abs(gain - slow.more_ps()) < two_percent(slow));
}

TEST_CASE("a late rank") {
  Planted planted;
  planted.late_rank = 2;
  planted.late_ps = 40'000'000'000;  // 40 ms
  const Explanation late = explanation_of(base(), planted);
  check_causes(late, {"host of rank 2"});
  CHECK(static_cast<double>(finding(late, "host of rank 2").delay_ps) == doctest::Approx(40e9).epsilon(0.02));
  CHECK(term(late, "host").places.front().rank == 2);
  CHECK(sum_of_terms(late) == late.more_ps());
}

TEST_CASE("a slow loader of data") {
  Planted planted;
  planted.loading_ps = 30'000'000'000;
  const Explanation slow = explanation_of(base(), planted);
  check_causes(slow, {"data loading"});
  CHECK(static_cast<double>(finding(slow, "data loading").delay_ps) == doctest::Approx(30e9).epsilon(0.02));
  CHECK(sum_of_terms(slow) == slow.more_ps());
}

namespace {

/// One change with the cause that explain() must name, and its size.
struct Change {
  std::string_view cause;
  double factor = 0;  ///< of times; 0 where it is a delay
  Picoseconds delay_ps = 0;
  std::vector<std::string> overrides;  ///< of the measured experiment
  Planted planted;
};

/// The five of which all pairs are told apart.
std::vector<Change> changes() {
  Planted slow_class;
  slow_class.slow_class = KernelClass::dense_products;
  slow_class.factor = 1.25;
  Planted late;
  late.late_rank = 1;
  late.late_ps = 40'000'000'000;
  Planted loader;
  loader.loading_ps = 30'000'000'000;
  return {{"data messages", 0, 0, kHalfNic, {}},
          {"rank 3", 1.25, 0, kSlowGpu, {}},
          {"dense_products", 1.25, 0, {}, slow_class},
          {"host of rank 1", 0, late.late_ps, {}, late},
          {"data loading", 0, loader.loading_ps, {}, loader}};
}

Explanation explanation_of_both(const Change& one, const Change& other) {
  std::vector<std::string> overrides = one.overrides;
  overrides.insert(overrides.end(), other.overrides.begin(), other.overrides.end());
  Planted both = one.planted.factor != 1 || one.planted.late_ps != 0 || one.planted.loading_ps != 0
                     ? one.planted
                     : other.planted;
  const Planted& second = other.planted;
  if (second.factor != 1) both.slow_class = second.slow_class, both.factor = second.factor;
  if (second.late_ps != 0) both.late_rank = second.late_rank, both.late_ps = second.late_ps;
  if (second.loading_ps != 0) both.loading_ps = second.loading_ps;
  return explanation_of(base(overrides), both);
}

/// Messages that take longer because of the link: each cause with its factor, from the run with this change
/// alone, whose gain is that of the simulations.
std::vector<ExplainedCause> causes_of_the_link() {
  std::vector<ExplainedCause> causes = explanation_of(base(kHalfNic)).findings;
  REQUIRE_FALSE(causes.empty());
  return causes;
}

void check_change(const Explanation& explanation, const Change& change,
                  const std::vector<ExplainedCause>& of_link) {
  if (change.overrides == kHalfNic) {
    for (const ExplainedCause& expected : of_link)
      CHECK(finding(explanation, expected.cause).factor == doctest::Approx(expected.factor).epsilon(0.02));
  } else if (change.factor > 0) {
    CHECK(finding(explanation, change.cause).factor == doctest::Approx(change.factor).epsilon(0.02));
  } else {
    CHECK(static_cast<double>(finding(explanation, change.cause).delay_ps) ==
          doctest::Approx(static_cast<double>(change.delay_ps)).epsilon(0.02));
  }
}

std::vector<std::string> names_of(const Change& change, const std::vector<ExplainedCause>& of_link) {
  if (change.overrides != kHalfNic) return {std::string(change.cause)};
  std::vector<std::string> names;
  for (const ExplainedCause& one : of_link) names.push_back(one.cause);
  return names;
}

}  // namespace

TEST_CASE("all pairs of changes are told apart, with their sizes") {
  const std::vector<Change> all = changes();
  const std::vector<ExplainedCause> of_link = causes_of_the_link();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = i + 1; k < all.size(); ++k) {
      if (test::kSanitized && (i + k) % 3 != 0) continue;
      CAPTURE(all[i].cause);
      CAPTURE(all[k].cause);
      const Explanation both = explanation_of_both(all[i], all[k]);
      std::vector<std::string> causes = names_of(all[i], of_link);
      for (const std::string& name : names_of(all[k], of_link)) causes.push_back(name);
      check_causes(both, causes);
      check_change(both, all[i], of_link);
      check_change(both, all[k], of_link);
      CHECK(sum_of_terms(both) == both.more_ps());
    }
}

TEST_CASE("what kernels lose to messages beside them is a cause of its own") {
  // The measured run loses 0.3 of its pace beside messages, the simulated one nothing: kernels take 1 / 0.7
  // times as long while messages run, and no class of kernels is slower.
  const auto with = [&](const std::string& interference) {
    return base({"plan.overlap_gradient_reduce=true", "software.communication_interference=" + interference});
  };
  Measurements all;
  all.profiles = measured_of(with("0.3"));
  const Explanation slow = explain(with("0"), all);
  check_causes(slow, {"contention"});
  CHECK(finding(slow, "contention").factor == doctest::Approx(1 / 0.7).epsilon(0.02));
  CHECK(term(slow, "contention").simulated_ps == 0);
  CHECK(std::abs(*finding(slow, "contention").gain_ps - slow.more_ps()) < two_percent(slow));
  CHECK(sum_of_terms(slow) == slow.more_ps());

  Planted slow_class;
  slow_class.slow_class = KernelClass::dense_products;
  slow_class.factor = 1.25;
  all.profiles = measured_of(with("0.3"), slow_class);
  const Explanation both = explain(with("0"), all);
  check_causes(both, {"contention", "dense_products"});
  CHECK(finding(both, "contention").factor == doctest::Approx(1 / 0.7).epsilon(0.02));
  CHECK(finding(both, "dense_products").factor == doctest::Approx(1.25).epsilon(0.02));
}

TEST_CASE("a trace of one rank says what it cannot tell") {
  Measurements one;
  one.profiles = measured_of(base());
  one.profiles.resize(1);
  const Explanation alone = explain(base(), one);
  CHECK(alone.more_ps() == 0);
  CHECK(std::ranges::any_of(alone.unmatched, [](const std::string& text) {
    return text.find("give traces of more ranks") != std::string::npos;
  }));
}
