// Checks `run`, weeks of training: keys that are read, and values that are refused.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "config/experiment/read_experiment.hpp"
#include "orrery/long_run.hpp"
#include "tests/config/support.hpp"

using namespace orrery;
using io_test::diagnostics;

namespace {

std::string weeks(const std::string& run) {
  return R"({"model": "tiny", "cluster": "box", "run": {)" + run + "}}";
}

/// Reads with the catalog of the program.
Experiment read_run(const std::string& run) {
  const std::string text = R"({"model": "gpt3-125m", "cluster": "dgx-h100", "plan": {"data_parallel": 8},
                              "run": {)" +
                           run + "}}";
  return read_experiment_text(text, "test", {}, Catalog::embedded(), menus()).experiment;
}

void refuses_run(const std::string& run, const std::string& message) {
  const std::string found = diagnostics(weeks(run));
  CAPTURE(found);
  CHECK(found.find(message) != std::string::npos);
}

const ComponentFailures& of(const LongRun& run, FailureComponent component) {
  return run.failures.of[static_cast<std::size_t>(component)];
}

class FailureFile {
 public:
  explicit FailureFile(const std::string& text) {
    std::string name = (std::filesystem::temp_directory_path() / "orrery-failures-XXXXXX").string();
    REQUIRE(::mkstemp(name.data()) >= 0);
    path = name;
    std::ofstream(path, std::ios::binary) << text;
  }
  ~FailureFile() { std::filesystem::remove(path); }
  std::string path;
};

}  // namespace

TEST_CASE("a run is read") {
  const Experiment experiment =
      read_run(R"("tokens": "15T", "checkpoint": {"interval_minutes": 20, "mode": "async"},
    "failures": {"components": {"gpu": {"mtbf_hours": 1e5}, "software": {"mtbf_hours": 1e4}}},
    "recovery": {"policy": "spares", "hot_spares": 4})");
  REQUIRE(experiment.run);
  const LongRun& run = *experiment.run;
  CHECK(run.tokens == 15'000'000'000'000);
  CHECK(run.checkpoint->interval == CheckpointInterval::given);
  CHECK(run.checkpoint->mode == CheckpointMode::async);
  CHECK(of(run, FailureComponent::gpu).reach == FailureReach::node);
  CHECK(of(run, FailureComponent::software).reach == FailureReach::process);
  CHECK(run.recovery.hot_spares == 4);
}

TEST_CASE("the interval is chosen where a name stands for it") {
  for (const char* checkpoint : {R"("optimal")", R"({"interval": "optimal"})",
                                 R"({"interval_steps": "optimal"})", R"({"interval_minutes": "optimal"})"})
    CHECK(read_run(std::string(R"("steps": 9, "checkpoint": )") + checkpoint).run->checkpoint->interval ==
          CheckpointInterval::optimal);
}

TEST_CASE("failure rates come from the catalog, and are changed") {
  const LongRun run = *read_run(R"("steps": 9, "failures": {"preset": "llama3-2024",
    "components": {"gpu": {"mtbf_hours": 1000}}})")
                           .run;
  CHECK(of(run, FailureComponent::gpu).mtbf_hours == 1000);
  // 16,384 GPUs in 54 days over 73.
  CHECK(of(run, FailureComponent::memory).mtbf_hours ==
        doctest::Approx(16384.0 * 54 * 24 / 73).epsilon(1e-5));
  CHECK(read_run(R"("steps": 9, "failures": "rsc-1")").run->failures.preset == "rsc-1");
}

TEST_CASE("a distribution takes the place of the preset's") {
  const LongRun drawn = *read_run(R"("steps": 9, "failures": {"preset": "llama3-2024",
    "components": {"gpu": {"distribution": "empirical", "gaps_hours": [1, 2]}}})")
                             .run;
  CHECK(of(drawn, FailureComponent::gpu).law == FailureLaw::empirical);
  CHECK(of(drawn, FailureComponent::gpu).mtbf_hours == 0);
  CHECK(of(drawn, FailureComponent::memory).mtbf_hours > 0);
  // One that has the preset's mean time keeps it.
  const LongRun aging = *read_run(R"("steps": 9, "failures": {"preset": "llama3-2024",
    "components": {"gpu": {"distribution": "weibull", "shape": 0.7}}})")
                             .run;
  CHECK(of(aging, FailureComponent::gpu).mtbf_hours == 111756);
  refuses_run(R"("failures": {"components": {"gpu": {"distribution": "empirical", "gaps_hours": [1],
    "mtbf_hours": 3}}})",
              "found with distribution empirical");
}

TEST_CASE("reading the resolved experiment gives the same run") {
  const std::string text =
      R"({"model": "gpt3-125m", "cluster": {"base": "dgx-h100", "storage": {"latency_s": 2}},
    "plan": {"data_parallel": 8},
    "run": {"steps": 100, "warmup": {"steps": 2, "slowdown": 3}, "evaluation": {"interval_steps": 9, "samples": 4},
      "maintenance": {"interval_hours": 5, "duration_hours": 1}, "checkpoint": {"mode": "multi-level"},
      "failures": {"preset": "llama3-2024", "slow_gpu": {"mtbf_hours": 5e4, "speed": 0.5},
        "components": {"host": {"mtbf_hours": 7, "distribution": "weibull", "shape": 0.8},
                       "switch": {"distribution": "empirical", "gaps_hours": [1, 2]}}},
      "recovery": {"policy": "shrink", "keep_batch": true}}})";
  const Catalog catalog = Catalog::embedded();
  const LocatedExperiment first = read_experiment_text(text, "test", {}, catalog, menus());
  const std::string resolved = first.positions.resolved(first.experiment);
  const Experiment again = read_experiment_text(resolved, "again", {}, catalog, menus()).experiment;
  LongRun expected = *first.experiment.run;
  expected.failures.preset.clear();  // its rates stand there
  CHECK(*again.run == expected);
  CHECK(again.cluster.storage == first.experiment.cluster.storage);
}

TEST_CASE("keys that contradict each other or do nothing are refused") {
  refuses_run(R"("steps": 9, "tokens": 9)", "/run/tokens: found beside steps, allowed one of them");
  refuses_run(R"("stepz": 9)", "found unknown key");
  refuses_run(R"("checkpoint": "optimum")", "did you mean \"optimal\"?");
  refuses_run(R"("checkpoint": {"interval_steps": 5, "interval": "optimal"})", "found beside interval_steps");
  refuses_run(R"("checkpoint": {"persist_every": 5})", "found without mode multi-level");
  refuses_run(R"("checkpoint": {"mode": "multi-level", "target": "filesystem"})",
              "it is the persistent_target");
  refuses_run(R"("checkpoint": {"overlap_copy": true})", "allowed with async, multi-level");
  refuses_run(R"("evaluation": {"interval_steps": 5})", "evaluation without samples");
  refuses_run(R"("failures": {"components": {"gpus": {"mtbf_hours": 5}}})", "found unknown key \"gpus\"");
  refuses_run(R"("failures": {"components": {"gpu": {"shape": 5, "mtbf_hours": 1}}})",
              "without distribution weibull");
  refuses_run(R"("failures": {"components": {"gpu": {"distribution": "weibull", "mtbf_hours": 1}}})",
              "/run/failures/components/gpu/shape: missing");
  refuses_run(R"("failures": {"components": {"gpu": {"distribution": "empirical"}}})",
              "allowed a list of 1 to");
  refuses_run(R"("failures": {"components": {"gpu": {"mtbf_hours": 0}}})", "allowed a number from");
  refuses_run(R"("failures": "llama4")", "allowed an object or a catalog failure");
  refuses_run(R"("failures": {"silent": {"mtbf_hours": 5, "speed": 0.5}})", "silent faults slow nothing");
  refuses_run(R"("recovery": {"hot_spares": 5})", "found with policy restart");
  refuses_run(R"("recovery": {"policy": "spares", "keep_batch": true})", "allowed with shrink");
}

TEST_CASE("a trace of failures is read, or its line is named") {
  const FailureFile good("time_hours,component,node,repair_hours\n1.5,gpu,0,2\n# a comment\n3,software,,\n");
  const LongRun run = *read_run(R"("steps": 9, "failures": {"trace": ")" + good.path + R"("})").run;
  REQUIRE(run.failures.trace.size() == 2);
  CHECK(run.failures.trace[0].repair_hours == 2);
  CHECK(run.failures.trace[1].node == -1);
  const auto refuses_file = [](const std::string& text, const std::string& message) {
    const FailureFile file(text);
    refuses_run(R"("failures": {"trace": ")" + file.path + R"("})", message);
  };
  refuses_file("time_hours,component\n1,gpu\n0.5,gpu\n", ":3:1: found a failure before the one above");
  refuses_file("time_hours,component\n1,gbu\n", "did you mean \"gpu\"?");
  refuses_file("time_hours,component\n-1,gpu\n", ":2:1: found time_hours \"-1\"");
  refuses_file("time,component\n1,gpu\n", "found column \"time\"");
  refuses_file("time_hours,component\n", "found no failures");
  refuses_run(R"("failures": {"trace": "/nowhere"})", "/run/failures/trace");
}
