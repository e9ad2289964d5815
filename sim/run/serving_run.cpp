#include "sim/run/serving_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "orrery/serving_reach.hpp"
#include "sim/claims/serving_range.hpp"
#include "sim/run/iteration_cost.hpp"
#include "sim/run/replica_kinds.hpp"
#include "sim/run/run.hpp"
#include "sim/run/serving_capacity.hpp"
#include "sim/serving/serve.hpp"

namespace orrery {
namespace {

class ServingExperiment {
 public:
  /// @param inference  of the experiment, or the same at another rate
  ServingExperiment(const PreparedExperiment& prepared, const Inference& inference, const Figures& figures,
                    Memo& memo)
      : prepared_(prepared),
        inference_(inference),
        figures_(figures),
        memo_(memo),
        context_(inference_.context_tokens > 0 ? inference_.context_tokens : experiment_.model.seq_length),
        replicas_(replica_kinds(experiment_)),
        setup_{inference_,
               context_,
               experiment_.plan.data_parallel,
               memory_of(replicas_.kinds.front()),
               static_cast<std::uint64_t>(experiment_.simulation.seed),
               {from_microseconds(1e3 * experiment_.software.front_end_ms),
                from_microseconds(experiment_.software.front_end_request_us),
                from_microseconds(experiment_.software.front_end_message_us)}} {}

  /// Runs may get longer than the experiment says.
  void leave_length_open() { length_is_open_ = true; }

  Report simulated(const ServingObserver& observer) {
    const auto costs = iteration_costs(prepared_, inference_, replicas_.kinds, memo_);
    std::vector<IterationCost*> by_kind;
    for (const auto& cost : costs) by_kind.push_back(cost.get());
    if (is_mixed()) mix(by_kind);
    ServedRun run = served(by_kind, observer);
    for (std::size_t kind = 0; kind < run.serving.groups.size(); ++kind)
      run.serving.groups[kind].gpus = replicas_.kinds[kind].gpus();
    if (observer.record != nullptr) describe(*observer.record);
    return report(std::move(run.serving), run.obstacle);
  }

  Report memory_alone() {
    if (is_mixed()) list_memories();
    return report({}, serving_obstacle_of_memory(setup_));
  }

 private:
  /// The run, as long as it needs to be to tell whether the queue grows, where the experiment leaves its
  /// length open.
  ServedRun served(const std::vector<IterationCost*>& costs, const ServingObserver& observer) {
    const ServingRecord empty = observer.record != nullptr ? *observer.record : ServingRecord{};
    for (;; setup_.lengthened *= 2) {
      if (observer.record != nullptr) *observer.record = empty;
      ServedRun run = serve(setup_, costs, observer);
      const Serving& serving = run.serving;
      const bool untold = serving.arrivals_per_s > 0 && !serving.unstable && !inference_.trace.has_value();
      if (!untold || !length_is_open_ || !has_room_for_twice(serving)) return run;
    }
  }

  [[nodiscard]] bool has_room_for_twice(const Serving& serving) const {
    constexpr std::int64_t kLongest = 32;
    return setup_.lengthened < kLongest &&
           2.0 * static_cast<double>(serving.requests) <= kMostServedRequests &&
           2.0 * static_cast<double>(serving.output_tokens) <= kMostServedTokens &&
           2.0 * static_cast<double>(serving.requests) <=
               kMostServedArrivalSeconds * inference_.requests_per_s;
  }

  [[nodiscard]] ServingMemory memory_of(const ReplicaKind& kind) const {
    return serving_memory(experiment_, inference_, kind, inference_.iteration_tokens(context_));
  }
  [[nodiscard]] bool is_mixed() const { return !replicas_.of_replica.empty(); }

  void list_memories() {
    for (const ReplicaKind& kind : replicas_.kinds) setup_.mix.memories.push_back(memory_of(kind));
    setup_.mix.kind_of_replica = replicas_.of_replica;
  }

  /// Returns kinds of replicas by the time of an output on them alone, the fastest first.
  [[nodiscard]] std::vector<std::uint32_t> fastest_first(const std::vector<IterationCost*>& costs) const {
    IterationBatch one;
    one.decode_requests = one.decode_tokens = one.results = 1;
    one.decode_context = std::min(context_, inference_.longest_prompt(context_));
    std::vector<std::pair<Picoseconds, std::uint32_t>> times;
    for (IterationCost* cost : costs) {
      Picoseconds sum = 0;
      for (std::uint32_t stage = 0; stage < cost->stages(); ++stage) sum += cost->stage_ps(stage, one);
      times.emplace_back(sum, static_cast<std::uint32_t>(times.size()));
    }
    std::ranges::sort(times);
    std::vector<std::uint32_t> order;
    for (const auto& [time, kind] : times) order.push_back(kind);
    return order;
  }

  /// Puts kinds and their costs in that order, and tells the setup of them.
  void mix(std::vector<IterationCost*>& costs) {
    const std::vector<std::uint32_t> order = fastest_first(costs);
    const std::vector<ReplicaKind> kinds = replicas_.kinds;
    const std::vector<IterationCost*> unsorted = costs;
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t to = 0; to < order.size(); ++to) {
      place[order[to]] = to;
      replicas_.kinds[to] = kinds[order[to]];
      costs[to] = unsorted[order[to]];
    }
    for (std::uint32_t& kind : replicas_.of_replica) kind = place[kind];
    list_memories();
  }

  void describe(ServingRecord& record) const {
    record.replicas = static_cast<std::uint32_t>(setup_.replicas);
    record.prefill_replicas = static_cast<std::uint32_t>(inference_.disaggregated.prefill);
    record.page_tokens = inference_.page_tokens;
    record.bytes_per_token = setup_.memory_of(0).cache_per_token;
    record.held_bytes = setup_.memory_of(0).weights + setup_.memory_of(0).workspace;
    record.usable_bytes = setup_.memory_of(0).usable;
    for (std::int64_t replica = 0; setup_.is_mixed() && replica < setup_.replicas; ++replica) {
      const std::size_t kind = setup_.kind_of(replica);
      const ServingMemory& memory = setup_.memory_of(kind);
      record.unlike.push_back({cache_room(setup_, kind, {}).pages, memory.cache_per_token,
                               memory.weights + memory.workspace, memory.usable});
    }
  }

  [[nodiscard]] Report report(Serving serving, const std::string& obstacle) {
    Report report = outlined_report(prepared_.outlined.workload);
    add_experiment(prepared_, figures_, report);
    report.feasible = obstacle.empty();
    if (figures_.origin && !obstacle.empty()) report.reasons.push_back(obstacle);
    report.power_w = experiment_.cluster.sum_over_gpus(&Gpu::power_w);
    report.usd_per_hour = experiment_.cluster.sum_over_gpus(&Gpu::usd_per_hour);
    report.stats.events = static_cast<std::uint64_t>(serving.iterations);
    report.slo = inference_.slo;
    add_memory(serving);
    if (figures_.capacity && report.feasible && !inference_.trace.has_value()) serving.capacity = capacity();
    if (figures_.range && report.feasible) serving.ranges = serving_ranges(experiment_, serving);
    report.serving = std::move(serving);
    if (figures_.origin) explain(report);
    return report;
  }

  [[nodiscard]] Capacity capacity() const {
    return find_capacity(inference_.slo, [this](double requests_per_s) {
      Inference at_rate = inference_;
      at_rate.requests_per_s = requests_per_s;
      constexpr Figures kNone{false, false, false, false, false, false};
      ServingExperiment run(prepared_, at_rate, kNone, memo_);
      run.leave_length_open();
      return *run.simulated({}).serving;
    });
  }

  void add_memory(Serving& serving) const {
    std::size_t tightest = 0;
    for (std::size_t kind = 1; kind < setup_.kinds(); ++kind)
      if (pages_of(kind) < pages_of(tightest)) tightest = kind;
    const ServingMemory& memory = setup_.memory_of(tightest);
    serving.weights_bytes = memory.weights;
    serving.workspace_bytes = memory.workspace;
    serving.cache_tokens = pages_of(tightest) * inference_.page_tokens;
    serving.cache_bytes = serving.cache_tokens * memory.cache_per_token;
  }

  [[nodiscard]] std::int64_t pages_of(std::size_t kind) const { return cache_room(setup_, kind, {}).pages; }

  void explain(Report& report) const {
    const Serving& serving = *report.serving;
    report.assumptions = {
        inference_.is_closed_loop()
            ? "a new request comes whenever one has ended, up to the number that is to be served"
            : fmt::format("requests arrive {}, and go to the replica with the fewest",
                          inference_.trace.has_value() ? "as in " + inference_.trace.file()
                                                       : std::string("as a Poisson process")),
        "percentiles are nearest ranks over requests; rates are over the time from the first arrival to the "
        "end of the last request"};
    if (!experiment_.plan_reason.empty())
      report.assumptions.insert(report.assumptions.begin(), experiment_.plan_reason);
    if (setup_.is_mixed())
      report.assumptions.emplace_back(
          "replicas differ: requests go to those with a place in their batch first, and of replicas with as "
          "few requests to that on the fastest GPUs");
    if (setup_.memory_of(0).usable == 0)
      report.assumptions.emplace_back(
          "the memory of the GPU is unknown: the cache holds any number of tokens");
    if (figures_.range && serving.duration_ps > 0)
      report.assumptions.push_back(ranges_sentence(experiment_, serving.ranges));
    add_warnings(serving, report.warnings);
  }

  static void add_warnings(const Serving& serving, std::vector<std::string>& warnings) {
    if (serving.truncated_requests > 0)
      warnings.push_back(
          fmt::format("the drawn lengths of {} of {} requests were cut to what the context (max_model_len, "
                      "else model.seq_length) leaves of them",
                      serving.truncated_requests, serving.requests));
    if (serving.arrivals_per_s == 0) return;
    if (!serving.unstable) {
      warnings.push_back(
          fmt::format("{} requests are too few to tell whether the queue grows: give more with "
                      "inference.requests",
                      serving.requests));
    } else if (*serving.unstable) {
      warnings.push_back(fmt::format(
          "of the requests of the second half {:.3g} arrive per second and {:.3g} end while they do: the "
          "queue "
          "grows by {:.3g} per second, and latencies are those of a run that stops after {} requests",
          serving.late_ends_per_s + serving.queue_growth_per_s, serving.late_ends_per_s,
          serving.queue_growth_per_s, serving.requests));
    }
  }

  const PreparedExperiment& prepared_;
  const Experiment& experiment_ = prepared_.experiment;
  const Inference& inference_;
  const Figures& figures_;
  Memo& memo_;
  std::int64_t context_;
  ReplicaKinds replicas_;
  ServingSetup setup_;
  bool length_is_open_ = inference_.requests == 0;
};

}  // namespace

Report report_on_serving(const PreparedExperiment& prepared, const Figures& figures, Memo& memo,
                         const ServingObserver& observer) {
  return ServingExperiment(prepared, *prepared.experiment.inference, figures, memo).simulated(observer);
}

Report report_on_serving_memory(const PreparedExperiment& prepared, const Figures& figures, Memo& memo) {
  return ServingExperiment(prepared, *prepared.experiment.inference, figures, memo).memory_alone();
}

}  // namespace orrery
