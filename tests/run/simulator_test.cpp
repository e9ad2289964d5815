// What a Simulator keeps from experiment to experiment changes nothing: reports are those of fresh runs.
#include <doctest/doctest.h>

#include <sstream>

#include "orrery/simulate.hpp"
#include "sim/report/writers.hpp"
#include "sim/run/kept_runner.hpp"
#include "tests/run/experiments.hpp"

using namespace orrery;
using orrery::test::RandomExperiment;
using orrery::test::read;

namespace {

/// All that is written of a report, without the wall clock.
std::string text_of(Report report) {
  report.stats.wall_s = report.stats.tasks_per_s = report.stats.peak_rss_mb = 0;
  std::string text;
  write_json(report, {}, 0, [&text](std::string_view part) { text += part; });
  return text;
}

}  // namespace

TEST_CASE("a simulator tells of one experiment after another what a fresh run tells of each") {
  Simulator simulator(3'000'000);  // so little that it forgets now and then
  std::uint64_t kept = 0;
  for (std::uint64_t seed = 20000; seed < 20400; ++seed) {
    const std::string text = RandomExperiment(seed).text_with_software();
    CAPTURE(seed);
    CAPTURE(text);
    try {
      Experiment e = read(text);
      e.simulation.steps = 1;
      e.simulation.network = Network::alpha_beta;
      e.simulation.folding = Folding::automatic;
      e.simulation.detail = seed % 2 == 0 ? Detail::layer : Detail::stage;
      kept += KeptRunner::takes(e) ? 1 : 0;
      // The same structure again with other prices, other counts of micro-batches, other links.
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
  CHECK(kept > 200);
}
