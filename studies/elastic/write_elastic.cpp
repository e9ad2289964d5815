// The phases of an elastic run as a table, as JSON and as CSV.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/text/csv_field.hpp"
#include "studies/elastic/elastic.hpp"

namespace orrery {
namespace {

/// Share of the time of all GPUs in which none waits for data-parallel communication.
double computing(const Report& report) {
  const Int128 exposed = report.breakdown.exposed_ps[static_cast<std::size_t>(Dimension::data)];
  const Int128 all = Int128{report.makespan_ps} * report.gpus;
  return all > 0 ? 1 - static_cast<double>(exposed) / static_cast<double>(all) : 0;
}

std::string names(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& name : list) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "-" : text;
}

std::string hours(double seconds) {
  return seconds < 7200 ? fmt::format("{:.4g} s", seconds) : fmt::format("{:.4g} h", seconds / 3600);
}

}  // namespace

std::string elastic_text(const ElasticRun& run) {
  std::string text = fmt::format("{:>14}  {:>7}  {:>8}  {:>9}  {:>5}  {:>10}  {}\n", "steps", "workers",
                                 "step s", "computing", "MFU", "time", "away");
  for (const ElasticPhase& phase : run.phases) {
    const std::string steps = fmt::format("{} to {}", phase.first_step, phase.first_step + phase.steps - 1);
    text += fmt::format("{:>14}  {:>7}  {:>8.4g}  {:>7.1f} %  {:>3.1f} %  {:>10}  {}\n", steps,
                        phase.report.workers, phase.report.step_time_s(), 100 * computing(phase.report),
                        100 * phase.report.mfu(), hours(phase.seconds()), names(phase.away));
  }
  for (const ElasticPhase& phase : run.phases)
    for (const std::string& reason : phase.report.reasons)
      text += fmt::format("not feasible from step {} on: {}\n", phase.first_step, reason);
  text += fmt::format("\n{:.4g} tokens in {}: {:.4g} tokens/s\n", run.tokens(), hours(run.seconds()),
                      run.tokens() / run.seconds());
  for (const ElasticPhase& phase : run.phases) {
    for (const Fetch& fetch : phase.fetches)
      text += fmt::format("{} fetches {:.1f} GB from {} in {} before step {}; the others go on meanwhile\n",
                          fetch.site, static_cast<double>(fetch.bytes) / 1e9, fetch.from,
                          hours(to_seconds(fetch.duration_ps)), phase.first_step);
  }
  return text;
}

std::string elastic_json(const ElasticRun& run) {
  nlohmann::ordered_json all{{"tokens", run.tokens()}, {"time_s", run.seconds()}};
  nlohmann::ordered_json& phases = all["phases"] = nlohmann::ordered_json::array();
  for (const ElasticPhase& phase : run.phases) {
    nlohmann::ordered_json fetches = nlohmann::ordered_json::array();
    for (const Fetch& fetch : phase.fetches)
      fetches.push_back({{"site", fetch.site},
                         {"from", fetch.from},
                         {"bytes", fetch.bytes},
                         {"time_s", to_seconds(fetch.duration_ps)}});
    phases.push_back({{"first_step", phase.first_step},
                      {"steps", phase.steps},
                      {"away", phase.away},
                      {"workers", phase.report.workers},
                      {"step_time_s", phase.report.step_time_s()},
                      {"computing", computing(phase.report)},
                      {"mfu", phase.report.mfu()},
                      {"tokens_per_step", phase.report.tokens_per_step},
                      {"feasible", phase.report.feasible},
                      {"reasons", phase.report.reasons},
                      {"fetches", std::move(fetches)}});
  }
  return all.dump(2) + "\n";
}

std::string elastic_csv(const ElasticRun& run) {
  std::string text =
      "first_step,steps,workers,step_time_s,computing,mfu,tokens_per_step,feasible,away,fetch_s\n";
  for (const ElasticPhase& phase : run.phases) {
    Picoseconds fetch = 0;
    for (const Fetch& one : phase.fetches) fetch = std::max(fetch, one.duration_ps);
    text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", phase.first_step, phase.steps,
                        phase.report.workers, phase.report.step_time_s(), computing(phase.report),
                        phase.report.mfu(), phase.report.tokens_per_step, phase.report.feasible,
                        phase.away.empty() ? "" : csv_field(names(phase.away)),
                        phase.fetches.empty() ? "" : fmt::format("{}", to_seconds(fetch)));
  }
  return text;
}

}  // namespace orrery
