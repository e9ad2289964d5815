#include "reports/writers.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/sim/metrics/run_fixture.hpp"

using namespace orrery;
using namespace orrery::test;
using Json = nlohmann::ordered_json;

namespace {

Report finished_report() {
  RandomPipeline pipeline({3, 4, 4, 1'000'000'000, 9'000'000'000, true}, 7);
  pipeline.fixture.workload.steps = 2;
  Report report = orrery::test::report_of(pipeline.fixture.view());
  report.name = "a \"quoted\", name";
  report.assumptions = {"links are not shared", "GPUs are equal"};
  report.samples_per_step = 64;
  report.tokens_per_step = 131'072;
  report.parameters = 1'300'000'000;
  report.model_flops_per_step = 3'000'000'000'000;
  report.hardware_flops_per_step = 4'000'000'000'000;
  report.peak_tflops_per_gpu = 312;
  report.gpu_memory = report.gpu_usable_memory = 80'000'000'000;
  StageMemory memory;
  memory.parameters_count = 1'000;
  memory.parameters = 2'600'000'000;
  memory.gradients = 5'200'000'000;
  memory.optimizer_states = 15'600'000'000;
  memory.activations[ActivationKind::mlp] = 9'000'000'000;
  report.stage_memory.assign(3, memory);
  report.stats.wall_s = 0.01;
  return report;
}

Report infeasible_report() {
  Report report;
  report.name = "too large";
  report.feasible = false;
  report.reasons = {"stage 0 needs 96.0 GB of 80.0 GB"};
  report.gpus = 8;
  report.gpu_memory = report.gpu_usable_memory = 80'000'000'000;
  StageMemory memory;
  memory.parameters = 90'000'000'000;
  memory.activations[ActivationKind::mlp] = 6'000'000'000;
  report.stage_memory.assign(1, memory);
  return report;
}

std::string json_text(const Report& report, int indent = 2) {
  std::string text;
  write_json(report, {}, indent, [&text](std::string_view part) { text += part; });
  return text;
}
std::string summary_text(const Report& report, bool colour = false) {
  std::string text;
  write_summary(report, {colour, 80}, [&text](std::string_view part) { text += part; });
  return text;
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> out;
  for (const auto& [key, value] : object.items()) out.push_back(key);
  return out;
}

double sum(const Json& object) {
  double out = 0;
  for (const auto& [key, value] : object.items()) out += value.get<double>();
  return out;
}

/// The longest line in characters; UTF-8 continuation bytes do not count.
std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto characters =
        std::count_if(line.begin(), line.end(), [](char c) { return (c & '\xc0') != '\x80'; });
    widest = std::max(widest, static_cast<std::size_t>(characters));
  }
  return widest;
}

}  // namespace

TEST_CASE("the JSON result has the keys of the interface, in their order") {
  const Json json = Json::parse(json_text(finished_report()));
  CHECK(keys(json) == std::vector<std::string>{"name",
                                               "feasible",
                                               "reasons",
                                               "assumptions",
                                               "warnings",
                                               "model",
                                               "cluster",
                                               "stack",
                                               "plan",
                                               "data_parallel_sync",
                                               "parameters",
                                               "active_parameters",
                                               "gpus",
                                               "step_time_s",
                                               "samples_per_s",
                                               "tokens_per_s",
                                               "model_flops_per_step",
                                               "hardware_flops_per_step",
                                               "model_tflops_per_gpu",
                                               "hardware_tflops_per_gpu",
                                               "mfu",
                                               "hfu",
                                               "energy_kwh",
                                               "cost_usd",
                                               "breakdown_s",
                                               "pipeline_bubble_fraction",
                                               "utilization",
                                               "memory",
                                               "communication",
                                               "critical_path_s",
                                               "stats"});
  CHECK(keys(json["breakdown_s"]) == std::vector<std::string>{"compute", "exposed_tensor", "exposed_pipeline",
                                                              "exposed_data", "exposed_context",
                                                              "exposed_expert", "exposed_offload",
                                                              "optimizer", "bubble", "host"});
  CHECK(keys(json["utilization"]) == std::vector<std::string>{"gpu_mean", "gpu_min", "links"});
  CHECK(keys(json["utilization"]["links"][0]) == std::vector<std::string>{"kind", "mean", "peak"});
  CHECK(keys(json["memory"]["per_stage"][0]) ==
        std::vector<std::string>{"stage", "parameters_gb", "gradients_gb", "optimizer_gb", "activations_gb",
                                 "workspace_gb", "peak_gb", "reserved_gb", "device_gb", "categories_gb"});
  CHECK(keys(json["communication"]["bytes_per_gpu"]) ==
        std::vector<std::string>{"tensor", "pipeline", "data", "context", "expert"});
  CHECK(json["memory"]["per_stage"].size() == 3);
  CHECK(json["memory"]["peak_gb"] == 32.4);
  CHECK(json["memory"]["fits"] == true);
}

TEST_CASE("parts of the JSON result add up to the step time, per step") {
  const Report report = finished_report();
  const Json json = Json::parse(json_text(report));
  const double step = json["step_time_s"];
  CHECK(step == report.step_time_s());  // round trip
  CHECK(std::abs(sum(json["breakdown_s"]) / step - 1) < 1e-12);
  CHECK(std::abs(sum(json["critical_path_s"]) / step - 1) < 1e-12);
  CHECK(json["mfu"].get<double>() * 312 == doctest::Approx(json["model_tflops_per_gpu"].get<double>()));
}

TEST_CASE("deciles of the step time and days of training appear where they are known") {
  Report report = finished_report();
  report.error_p10 = -0.25;
  report.error_p90 = 0.5;
  report.training_tokens = 300'000'000'000;
  Json json = Json::parse(json_text(report));
  const double step = report.step_time_s();
  CHECK(json["step_time_s_p10"] == step * 0.75);
  CHECK(json["step_time_s_p90"] == step * 1.5);
  CHECK(json["training_days"] == 3e11 / report.tokens_per_s() / 86400);
  const std::vector<std::string> all = keys(json);
  CHECK(std::vector<std::string>(all.begin() + 13, all.begin() + 18) ==
        std::vector<std::string>{"step_time_s", "step_time_s_p10", "step_time_s_p90", "training_days",
                                 "samples_per_s"});
  CHECK(summary_text(report).find("where 8 of 10 measured runs lie") != std::string::npos);
  CHECK(summary_text(report).find(" days ") != std::string::npos);
  // Equal deciles, 0 where none are known, are no spread.
  report.error_p10 = report.error_p90 = 0;
  report.training_tokens = 0;
  json = Json::parse(json_text(report));
  CHECK(!json.contains("step_time_s_p10"));
  CHECK(!json.contains("step_time_s_p90"));
  CHECK(!json.contains("training_days"));
  CHECK(summary_text(report).find("as far as measured runs tell") == std::string::npos);
  CHECK(summary_text(report).find(" days ") == std::string::npos);
}

TEST_CASE("energy and cost are power and rent times time, null where the GPUs do not tell") {
  Report report = finished_report();
  Json json = Json::parse(json_text(report));
  CHECK(json["energy_kwh"].is_null());
  CHECK(json["cost_usd"].is_null());
  CHECK(!json.contains("training_energy_kwh"));
  report.power_w = 16 * 700;
  report.usd_per_hour = 16 * 2.5;
  report.training_tokens = 300'000'000'000;
  json = Json::parse(json_text(report));
  const double hours = report.step_time_s() / 3600;
  CHECK(json["energy_kwh"].get<double>() == doctest::Approx(11.2 * hours));
  CHECK(json["cost_usd"].get<double>() == doctest::Approx(40 * hours));
  // The training has this many steps.
  const double steps = 3e11 / static_cast<double>(report.tokens_per_step);
  CHECK(json["training_energy_kwh"].get<double>() == doctest::Approx(11.2 * hours * steps));
  CHECK(json["training_cost_usd"].get<double>() == doctest::Approx(40 * hours * steps));
  CHECK(summary_text(report).find(" MWh ") != std::string::npos);
  CHECK(summary_text(report).find(" USD\n") != std::string::npos);
  report.makespan_ps = 0;  // a plan that was not timed
  CHECK(Json::parse(json_text(report))["energy_kwh"].is_null());
}

TEST_CASE("the summary says how replicas are kept in step where it is no plain all-reduce") {
  Report report = finished_report();
  report.plan.data_parallel = 16;
  report.workers = 16;
  CHECK(summary_text(report).find("replicas:") == std::string::npos);
  report.data_parallel_sync.level = SyncLevel::node;
  CHECK(summary_text(report).find("replicas:") == std::string::npos);  // all-reduce has no levels
  report.workers = 2;
  report.data_parallel_sync.method = SyncMethod::gossip_pga;
  report.data_parallel_sync.topology = "torus";
  report.data_parallel_sync.compression.method = Compression::Method::qsgd;
  CHECK(summary_text(report).find("\nreplicas: gossip-pga over torus, 2 workers (nodes), period 6, qsgd\n") !=
        std::string::npos);
  report.plan.data_parallel = 1;
  CHECK(summary_text(report).find("replicas:") == std::string::npos);
}

TEST_CASE("a training run below two days is told in hours, and images are not tokens") {
  Report report = finished_report();
  report.tokens_per_step = report.samples_per_step;
  report.training_tokens = static_cast<std::int64_t>(report.samples_per_s() * 3600 * 11.6);
  const std::string text = summary_text(report);
  CHECK(text.find("11.6 hours     for") != std::string::npos);
  CHECK(text.find(" samples\n") != std::string::npos);
  CHECK(text.find("token") == std::string::npos);
}

TEST_CASE("an infeasible result has null for what needs a timeline") {
  const Json json = Json::parse(json_text(infeasible_report(), -1));
  for (const char* key : {"step_time_s", "samples_per_s", "model_tflops_per_gpu", "mfu", "hfu"}) {
    CHECK(json[key].is_null());
  }
  CHECK(json["breakdown_s"]["compute"].is_null());
  CHECK(json["critical_path_s"]["wait"].is_null());
  CHECK(json["memory"]["fits"] == false);
  CHECK(json["memory"]["peak_gb"] == 96.0);
  CHECK(json_text(infeasible_report(), -1).find('\n') == json_text(infeasible_report(), -1).size() - 1);
}

TEST_CASE("CSV is a header and a row of the same length, quoted where needed") {
  std::string text;
  write_csv(finished_report(), {}, [&text](std::string_view part) { text += part; });
  std::istringstream lines(text);
  std::string header;
  std::string row;
  std::string rest;
  std::getline(lines, header);
  std::getline(lines, row);
  CHECK_FALSE(std::getline(lines, rest));
  CHECK(header.substr(0, 22) == "name,feasible,reasons,");
  CHECK(header.find("breakdown_s.exposed_tensor") != std::string::npos);
  CHECK(row.substr(0, 25) == R"("a ""quoted"", name",true)");
  CHECK(row.find("links are not shared; GPUs are equal") != std::string::npos);
  // The only commas within quotes are those of the name.
  CHECK(std::count(row.begin(), row.end(), ',') == std::count(header.begin(), header.end(), ',') + 1);
}

TEST_CASE("the summary fits a terminal") {
  const std::string text = summary_text(finished_report());
  CHECK(widest_line(text) <= 80);
  CHECK(text.find("step time") != std::string::npos);
  CHECK(text.find("\x1b") == std::string::npos);
  CHECK(summary_text(finished_report(), true).find("\x1b[") != std::string::npos);
  CHECK(text.find("0-2") != std::string::npos);  // equal stages share a row
}

TEST_CASE("the summary of an infeasible plan says why and shows no times") {
  Report report = infeasible_report();
  report.assumptions = {std::string(250, 'x') + " and " + std::string(90, 'y') + " end"};
  const std::string text = summary_text(report);
  CHECK(text.find("INFEASIBLE") != std::string::npos);
  CHECK(text.find("stage 0 needs 96.0 GB") != std::string::npos);
  CHECK(text.find("nan") == std::string::npos);
  CHECK(text.find("inf ") == std::string::npos);
  CHECK(text.find("Where the time goes") == std::string::npos);
  CHECK(widest_line(text) <= 80);
}

TEST_CASE("keys that are asked for are written alone, in their order, and say what has to be measured") {
  const auto written = [](const std::vector<std::string>& names) {
    std::string text;
    write_json(finished_report(), ResultSelection(names), -1, [&](std::string_view part) { text += part; });
    return Json::parse(text);
  };
  const Json all = Json::parse(json_text(finished_report()));
  CHECK(written({"memory.peak_gb", "step_time_s"}) ==
        Json{{"step_time_s", all["step_time_s"]}, {"memory", {{"peak_gb", all["memory"]["peak_gb"]}}}});
  CHECK(written({"breakdown_s"}) == Json{{"breakdown_s", all["breakdown_s"]}});
  CHECK(written({"communication", "plan.zero_stage"}) ==
        Json{{"plan", {{"zero_stage", 0}}}, {"communication", all["communication"]}});
  CHECK(written({"memory.peak", "step_time"}) == Json::object());

  const auto figures = [](const std::vector<std::string>& names) { return ResultSelection(names).figures(); };
  CHECK_FALSE(figures({"step_time_s", "memory", "mfu", "stats"}).breakdown);
  CHECK_FALSE(figures({"step_time_s", "memory", "mfu", "stats"}).critical_path);
  CHECK_FALSE(figures({"step_time_s", "memory", "mfu", "stats"}).traffic);
  CHECK(figures({"pipeline_bubble_fraction"}).breakdown);
  CHECK(figures({"utilization.gpu_min"}).breakdown);
  CHECK(figures({"utilization.links"}).traffic);
  CHECK_FALSE(figures({"utilization.links"}).breakdown);
  CHECK(figures({"critical_path_s.wait"}).critical_path);

  std::string csv;
  const std::vector<std::string> some{"gpus", "memory.per_stage", "feasible"};
  write_csv(finished_report(), ResultSelection(some), [&](std::string_view part) { csv += part; });
  CHECK(csv == "feasible,gpus\ntrue," + all["gpus"].dump() + "\n");
}

TEST_CASE("names that can be asked for are those of the result") {
  const Json all = Json::parse(json_text(finished_report()));
  const std::vector<std::string_view> names = ResultSelection::names();
  std::size_t found = 0;
  for (const std::string_view name : names) {
    std::string pointer = "/" + std::string(name);
    std::ranges::replace(pointer, '.', '/');
    found += name.starts_with("plan") || all.contains(Json::json_pointer(pointer)) ? 1 : 0;
  }
  // 53 keys of requests that are served, two deciles of time and of memory, days, energy and cost of
  // training, a graph, memory over time, `what_if`, `kernels_s`, `asynchrony` with its five keys and `run`
  // with its thirteen are not in every result; nor are keys of the plan that have no effect.
  CHECK(found == names.size() - 17 - 86 - 14);
  CHECK(names.size() == 153 + 12 + 86 + 14);  // keys, and the objects they lie in
  const std::vector<std::string> tables{"utilization.links", "memory.per_stage"};
  CHECK_FALSE(ResultSelection(tables).has_row());
  CHECK(ResultSelection().has_row());
}
