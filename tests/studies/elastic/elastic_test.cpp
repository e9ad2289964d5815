// Tests phases of a run whose sites come and go. There are three sites of one GPU on a router each; a step
// without synchronisation takes a fixed time; an average is a ring over the present sites.
#include "studies/elastic/elastic.hpp"

#include <doctest/doctest.h>

#include "config/experiment/read_experiment.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"

using namespace orrery;

namespace {

constexpr const char* kThreeSites =
    R"({"model": {"kind": "mlp", "widths": [1008, 1000], "seq_length": 1},
        "cluster": {"gpu": {"peak_tflops": {"fp32": 1}, "memory_gb": 1, "memory_gb_per_s": 4032},
                    "fabric": {"kind": "switch", "nic_gbps": 8.064},
                    "regions": {"sites": [{"name": "east"}, {"name": "west"}, {"name": "north"}],
                                "links": [{"from": "east", "to": "west", "up_gbps": 0.8064, "latency_ms": 20},
                                          {"from": "west", "to": "north", "up_gbps": 0.4032, "latency_ms": 30}]}},
        "plan": {"precision": "fp32", "bucket_mb": 0, "micro_batch_size": 2, "collectives": {"all-reduce": "ring"}},
        "stack": "ideal", "data_parallel_sync": {"method": "local-sgd", "period": 1}})";

ElasticRequest request_for(const std::vector<std::string>& changes, std::int64_t quorum = 1) {
  ElasticRequest request{"test", kThreeSites, {}, {}, 100, quorum, Catalog::embedded(), menus()};
  for (const std::string& change : changes) request.changes.push_back(parse_change(change));
  return request;
}

std::string refusal(const std::vector<std::string>& changes, std::int64_t quorum = 1) {
  try {
    (void)simulate_elastic(request_for(changes, quorum));
  } catch (const InputError& error) {
    return error.diagnostics().front().message;
  }
  return "";
}

}  // namespace

TEST_CASE("without changes a run is one phase of the experiment's steps") {
  const ElasticRun run = simulate_elastic(request_for({}));
  REQUIRE(run.phases.size() == 1);
  const auto whole = read_experiment_text(kThreeSites, "test", {}, Catalog::embedded(), menus()).experiment;
  CHECK(run.phases[0].report.makespan_ps == simulate(whole).makespan_ps);
  CHECK(run.seconds() == 100 * simulate(whole).step_time_s());
}

TEST_CASE("a site leaves and comes again") {
  const ElasticRun run = simulate_elastic(request_for({"60:+north", "20:-north"}));
  REQUIRE(run.phases.size() == 3);
  CHECK(run.phases[1].first_step == 20);
  CHECK(run.phases[1].steps == 40);
  CHECK(run.phases[1].away == std::vector<std::string>{"north"});
  CHECK(run.phases[1].report.workers == 2);
  CHECK(run.phases[1].report.samples_per_step == 4);  // each replica keeps its batch
  CHECK(run.phases[2].report.makespan_ps == run.phases[0].report.makespan_ps);
  CHECK(run.tokens() == 60 * 6 + 40 * 4);
  // Two sites: a ring of two rounds of S / 2, 20 ms each at 0.1008 GB/s, with 20 ms; three: slower, over a
  // line of half the rate.
  CHECK(run.phases[1].report.makespan_ps < run.phases[0].report.makespan_ps);
  // The model of 1,008,000 values and two moments in 32 bits, over a line of 50.4 MB/s with 30 ms: 240 ms and
  // 30 ms.
  REQUIRE(run.phases[2].fetches.size() == 1);
  CHECK(run.phases[2].fetches[0].from == "west");
  CHECK(run.phases[2].fetches[0].bytes == 1'008'000 * 12);
  CHECK(run.phases[2].fetches[0].duration_ps == 270'000'000'000);
}

TEST_CASE("phases that do not fit into memory say so") {
  ElasticRequest request = request_for({});
  request.overrides = {"cluster.gpu.memory_gb=0.001"};
  const ElasticRun run = simulate_elastic(request);
  CHECK_FALSE(run.phases[0].report.feasible);
  CHECK(elastic_text(run).find("not feasible from step 0 on: out of memory") != std::string::npos);
  CHECK(elastic_json(run).find("out of memory") != std::string::npos);
}

TEST_CASE("a site that joins first is away at the beginning") {
  const ElasticRun run = simulate_elastic(request_for({"10:+east"}));
  REQUIRE(run.phases.size() == 2);
  CHECK(run.phases[0].away == std::vector<std::string>{"east"});
  CHECK(run.phases[1].away.empty());
}

TEST_CASE("changes that contradict are refused") {
  CHECK(refusal({"10:-nroth"}) ==
        "--change 10:-nroth: found site \"nroth\", allowed east, west, north; did you mean \"north\"?");
  CHECK(refusal({"100:-north"}) ==
        "--change 100:-north: found step 100, allowed 0 to 99, the last of --steps");
  CHECK(refusal({"10:-north", "20:-north"}) ==
        "--change 20:-north: found a site that is away, allowed one that is present");
  CHECK(refusal({"1:-north", "2:-west", "3:-east"}) ==
        "--change: found no site that is left, allowed one or more");
  CHECK(refusal({"10:-north"}, 3) == "--quorum 3: found 2 workers from step 10 on, allowed as many or more");
  CHECK(refusal({}, 4) == "--quorum 4: found 3 workers from step 0 on, allowed as many or more");
  CHECK_THROWS_AS((void)parse_change("10"), InputError);
  CHECK_THROWS_AS((void)parse_change("x:-a"), InputError);
  CHECK_THROWS_AS((void)parse_change("10:"), InputError);
}
