// Checks that the results a Simulator caches between experiments change nothing: reports equal those of fresh
// runs.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "orrery/parallel.hpp"
#include "orrery/simulate.hpp"
#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/report_text.hpp"

using namespace orrery;
using orrery::test::RandomExperiment;
using orrery::test::read;
using orrery::test::text_of;

TEST_CASE("a simulator tells of one experiment after another what a fresh run tells of each") {
  Simulator simulator(3'000'000);  // so little that it forgets now and then
  std::uint64_t kept = 0;
  for (std::uint64_t seed = 20000; seed < 20000 + test::trials(400); ++seed) {
    const std::string text = RandomExperiment(seed).text_with_software();
    CAPTURE(seed);
    CAPTURE(text);
    try {
      Experiment e = read(text);
      e.simulation.network = seed % 4 < 2 ? Network::alpha_beta : Network::flow;
      e.simulation.detail = seed % 2 == 0 ? Detail::layer : Detail::stage;
      ++kept;
      // Each variant has the same structure with other prices, other counts of micro-batches or other links.
      for (int variant = 0; variant < 5; ++variant) {
        if (variant == 1) e.model.hidden *= 2;
        if (variant == 2) e.plan.global_batch_size *= 5;
        if (variant == 3) e.cluster.fabric.nic_gbps *= 3;
        if (variant == 4) e.cluster.gpu.gemm_efficiency *= 0.5;
        const std::string fresh = text_of(simulate(e));
        CHECK(text_of(simulator.simulate(e)) == fresh);
      }
    } catch (const InputError&) {
    }
  }
  CHECK(kept > test::trials(200));
}

TEST_CASE("passes that run side by side are told from those that do not, whichever came first") {
  // In four micro-batches on four stages no backward pass comes after a forward pass of the steady part, so
  // that programs of few micro-batches are alike.
  const auto experiment = [](bool side_by_side) {
    Experiment e = read(
        R"({"model": {"base": "mixtral-8x7b", "layers": 16}, "cluster": {"base": "dgx-h100", "nodes": 4},
            "plan": {"pipeline_parallel": 4, "virtual_stages": 2, "expert_parallel": 8, "micro_batch_size": 1,
                     "pipeline_schedule": "interleaved-1f1b", "global_batch_size": 128}})");
    e.plan.overlap_expert_parallel = side_by_side;
    return e;
  };
  for (const bool first : {false, true}) {
    Simulator simulator;
    for (const bool side_by_side : {first, !first})
      CHECK(text_of(simulator.simulate(experiment(side_by_side))) ==
            text_of(simulate(experiment(side_by_side))));
  }
}

TEST_CASE("threads that share a simulator tell what fresh runs tell") {
  std::vector<Experiment> experiments;
  for (std::uint64_t seed = 22000; seed < 22000 + test::trials(60); ++seed) {
    try {
      Experiment e = read(RandomExperiment(seed).text_with_software());
      e.simulation.steps = 1;
      e.simulation.network = Network::alpha_beta;
      e.simulation.folding = Folding::automatic;
      // Neighbours in the list share much, as they do in a search.
      for (int variant = 0; variant < 8; ++variant) {
        experiments.push_back(e);
        if (variant % 2 == 0) e.plan.global_batch_size *= 2;
        if (variant % 4 == 1) e.cluster.gpu.gemm_efficiency *= 0.9;
      }
    } catch (const InputError&) {
    }
  }
  std::vector<std::string> fresh(experiments.size());
  std::vector<std::string> told(experiments.size());
  const auto text = [&](std::size_t i, auto tell) {
    try {
      return text_of(tell(experiments[i]));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  for (const std::size_t most_bytes : {Simulator::kUsualBytes, std::size_t{300'000}}) {
    Simulator simulator(most_bytes);
    for_each_index(experiments.size(), 4, [&](std::size_t i) {
      fresh[i] = text(i, [](const Experiment& e) { return simulate(e); });
      told[i] = text(i, [&](const Experiment& e) { return simulator.simulate(e); });
    });
    CHECK(experiments.size() > test::trials(200));
    CHECK(std::ranges::equal(told, fresh));
  }
}

TEST_CASE("plans of other batches are told from what one of them took, and others are not") {
  Simulator simulator;
  const Experiment first = read(
      R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 4}, "simulation": {"network": "alpha-beta",
          "detail": "stage"}, "plan": {"tensor_parallel": 2, "pipeline_parallel": 4, "global_batch_size": 64}})");
  const std::vector<std::function<void(Experiment&)>> changes{
      [](Experiment&) {},
      [](Experiment& e) { e.cluster.gpu.gemm_efficiency *= 0.5; },
      [](Experiment& e) { e.software.step_overhead_ms += 7; },
      [](Experiment& e) { e.model.vocab *= 2; },
      [](Experiment& e) { e.plan.zero_stage = 1; },
      [](Experiment& e) { e.cluster.fabric.nic_gbps *= 0.25; },
      [](Experiment& e) { e.plan.recompute = Recompute::full; }};
  Figures of_time;
  of_time.breakdown = of_time.critical_path = of_time.traffic = false;
  std::set<std::int64_t> times;
  for (const std::int64_t batch : {64, 128, 640}) {
    for (const auto& change : changes) {
      Experiment e = first;
      e.plan.global_batch_size = batch;
      change(e);
      const Report fresh = simulate(e);
      CHECK(simulator.simulate(e, of_time).makespan_ps == fresh.makespan_ps);
      CHECK(text_of(simulator.simulate(e)) == text_of(fresh));
      times.insert(fresh.makespan_ps);
    }
  }
  CHECK(times.size() == 3 * changes.size());
}

TEST_CASE("many experiments of one plan are told apart") {
  Simulator simulator;
  Experiment e = read(
      R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 4}, "simulation": {"network": "alpha-beta",
          "detail": "stage"}, "plan": {"tensor_parallel": 2, "pipeline_parallel": 4, "global_batch_size": 64}})");
  Figures of_time;
  of_time.breakdown = of_time.critical_path = of_time.traffic = false;
  std::map<double, std::int64_t> times;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 50; ++i) {  // more than are remembered of a plan
      e.software.step_overhead_ms = 1 + i;
      const std::int64_t time = simulator.simulate(e, of_time).makespan_ps;
      CHECK(times.emplace(e.software.step_overhead_ms, time).first->second == time);
    }
  }
  for (const auto& [overhead_ms, time] : times)
    CHECK(time - times.begin()->second == from_microseconds(1e3 * (overhead_ms - 1)));
}

TEST_CASE("figures that nobody asks for leave those that are asked for as they are") {
  Simulator all;
  Simulator some;
  int infeasible = 0;
  for (std::uint64_t seed = 21000; seed < 21150; ++seed) {
    const std::string text = RandomExperiment(seed).text_with_software();
    CAPTURE(seed);
    CAPTURE(text);
    try {
      Experiment e = read(text);
      e.simulation.detail = seed % 2 == 0 ? Detail::layer : Detail::stage;
      const Report whole = all.simulate(e);
      Figures figures;
      figures.breakdown = seed % 3 == 0;
      figures.critical_path = seed % 5 == 0;
      figures.traffic = seed % 7 == 0;
      figures.origin = seed % 11 != 0;
      const Report part = some.simulate(e, figures);
      CHECK(part.makespan_ps == whole.makespan_ps);
      CHECK(part.feasible == whole.feasible);
      CHECK(part.name == (figures.origin ? whole.name : ""));
      std::vector<std::string> assumptions = figures.origin ? whole.assumptions : std::vector<std::string>{};
      if (!figures.traffic)  // which alone tells of overloaded links
        std::erase_if(assumptions, [](const std::string& one) { return one.starts_with("the busiest "); });
      CHECK(part.assumptions == assumptions);
      CHECK(part.warnings ==
            (figures.origin && figures.breakdown ? whole.warnings : std::vector<std::string>{}));
      CHECK(part.model_flops_per_step == whole.model_flops_per_step);
      CHECK(part.gpu_utilization_mean == (figures.breakdown ? whole.gpu_utilization_mean : 0));
      CHECK(part.breakdown.compute_ps == (figures.breakdown ? whole.breakdown.compute_ps : 0));
      CHECK(part.critical_path.compute_ps == (figures.critical_path ? whole.critical_path.compute_ps : 0));
      CHECK(part.bytes_per_gpu == (figures.traffic ? whole.bytes_per_gpu : Report{}.bytes_per_gpu));
      CHECK(part.links.size() == (figures.traffic ? whole.links.size() : 0));
      // Figures that were left out are computed when they are asked for.
      CHECK(text_of(some.simulate(e)) == text_of(whole));

      figures.of_infeasible = false;
      figures.origin = true;
      e.cluster.gpu.memory_gb = seed % 4 < 2 ? 1e-3 : 1e6;
      const Report judged = some.simulate(e, figures);
      CHECK(judged.feasible == (seed % 4 >= 2));
      CHECK((judged.makespan_ps > 0) == judged.feasible);
      if (judged.feasible) CHECK(judged.makespan_ps == whole.makespan_ps);
      if (!judged.feasible) CHECK(text_of(judged) == text_of(account_memory(e)));
      infeasible += judged.feasible ? 0 : 1;
    } catch (const InputError&) {
    }
  }
  CHECK(infeasible > 40);
}

TEST_CASE("long pipelines of unlike stages are told as fresh runs tell them") {
  Simulator simulator;
  const char* const layers[] = {"", R"(, "stage_layers": [3, 3, 3, 3, 3, 3, 3, 3])",
                                R"(, "stage_layers": [2, 3, 3, 4, 3, 3, 4, 2])",
                                R"(, "stage_layers": [1, 4, 4, 4, 4, 4, 2, 1])"};
  for (const char* const stages : layers) {
    for (const int zero : {0, 1, 3}) {
      for (const char* const detail : {"layer", "stage"}) {
        const Experiment e = read(
            std::string(
                R"({"model": {"base": "gpt3-125m", "layers": 24}, "cluster": {"base": "dgx-a100-80gb", "nodes": 4},
              "simulation": {"network": "alpha-beta", "detail": ")") +
            detail +
            R"("}, "plan": {"tensor_parallel": 2, "pipeline_parallel": 8, "global_batch_size": 80, "zero_stage": )" +
            std::to_string(zero) + stages + "}}");
        CHECK(text_of(simulator.simulate(e)) == text_of(simulate(e)));
      }
    }
  }
}

TEST_CASE(
    "plans of one order of operations that cut the ranks in different ways are told as fresh runs tell "
    "them") {
  Simulator simulator;
  for (const char* const rank_order : {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp", "pp-tp-cp-ep-dp"}) {
    for (const int tensor : {2, 4, 8}) {
      for (const int pipeline : {2, 4}) {
        for (const int micro_batches : {6, 24, 96}) {
          const int data = 32 / tensor / pipeline;
          const std::vector<std::string> plan{
              "plan.rank_order=" + std::string(rank_order), "plan.tensor_parallel=" + std::to_string(tensor),
              "plan.pipeline_parallel=" + std::to_string(pipeline),
              "plan.data_parallel=" + std::to_string(data),
              "plan.global_batch_size=" + std::to_string(data * micro_batches)};
          for (const char* const detail : {"simulation.detail=layer", "simulation.detail=stage"}) {
            std::vector<std::string> overrides = plan;
            overrides.push_back(detail);
            const Experiment e =
                read(R"({"model": {"base": "gpt3-125m", "heads": 16, "kv_heads": 16, "hidden": 1024},
                "cluster": {"base": "dgx-a100-80gb", "nodes": 4}, "simulation": {"network": "alpha-beta"},
                "plan": {}})",
                     overrides);
            CHECK(text_of(simulator.simulate(e)) == text_of(simulate(e)));
          }
        }
      }
    }
  }
}

TEST_CASE(
    "memory of a step of a million micro-batches is that of a few, but for a schedule that collects them") {
  const auto memory = [](const std::string& schedule, const std::string& batch) {
    return account_memory(
               read(R"({"model": "gpt3-125m", "cluster": {"base": "dgx-a100-80gb", "nodes": 1}, "plan":
                 {"pipeline_parallel": 4, "data_parallel": 2, "pipeline_schedule": ")" +
                    schedule + R"(", "global_batch_size": )" + batch + "}}"))
        .stage_memory[0]
        .activations.total();
  };
  CHECK(memory("1f1b", "2000000") == memory("1f1b", "16"));
  CHECK(memory("1f1b", "4") == memory("1f1b", "16") / 2);     // two micro-batches of at most four in flight
  CHECK(memory("gpipe", "32") == 2 * memory("gpipe", "16"));  // sixteen in place of eight
}

// More clusters than a simulator keeps, each again after all others: nothing kept of one may be taken for
// another.
TEST_CASE("clusters that come again after hundreds of others are told as before") {
  std::vector<Experiment> experiments;
  for (int i = 0; i < 150; ++i) {
    Experiment e = read(
        R"({"model": {"base": "gpt3-125m", "layers": 2}, "cluster": {"base": "dgx-a100-80gb", "nodes": 4},
            "simulation": {"network": "alpha-beta"}})");
    e.cluster.fabric.nic_gbps = (i % 2 == 0 ? 1 : 400) + i / 1000.0;
    e.plan.micro_batch_size = 1 + i;
    e.plan.global_batch_size = 32 * (1 + i);
    experiments.push_back(e);
  }
  Simulator simulator;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < experiments.size(); ++i) {
      CAPTURE(round);
      CAPTURE(i);
      CHECK(simulator.simulate(experiments[i]).makespan_ps == simulate(experiments[i]).makespan_ps);
    }
  }
}
