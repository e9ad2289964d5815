#include "config/experiment/read_jobs.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "config/catalog/locate.hpp"
#include "config/experiment/experiment_reader.hpp"
#include "config/experiment/job_trace.hpp"
#include "config/experiment/read_experiment.hpp"
#include "config/schema/aliases.hpp"
#include "config/schema/fields.hpp"
#include "config/schema/overrides.hpp"
#include "config/text/document.hpp"
#include "config/text/wording.hpp"

namespace orrery {

/// Holds the document, and what was read from it.
struct JobsExperiment::State {
  std::string text;
  std::string source;
  Catalog catalog;
  Menus menus;
  Document document;
  Json given;
  std::vector<std::string> set;
  std::vector<CatalogUse> uses;
  std::string name;
  Cluster cluster;
  JobsPolicy policy;
  std::vector<JobSpec> jobs;
  std::vector<Experiment> experiments;
  std::map<std::string, std::size_t> known;  ///< numbers of experiments by their documents
  std::map<std::string, Json> files;
  std::string_view trace_kind;
  std::int64_t left_out = 0;

  State(std::string_view all, std::string file, Catalog entries, Menus names)
      : text(all),
        source(std::move(file)),
        catalog(std::move(entries)),
        menus(std::move(names)),
        document(parse_document(text, source)) {}

  void read(const std::vector<std::string>& overrides) {
    std::vector<Diagnostic> diagnostics;
    given = std::move(document.value);
    if (!overrides.empty()) set = apply_overrides(given, overrides, diagnostics);
    if (!diagnostics.empty()) throw InputError(std::move(diagnostics));
    if (!given.is_object())
      throw InputError({Diagnostic{source, 0, 0, "", "found " + described(given) + ", allowed an object"}});
    Findings findings;
    Scope scope{menus, findings};
    read_frame(scope);
    if (findings.empty()) read_jobs(scope);
    if (!findings.empty()) throw located_error(findings);
  }

  [[nodiscard]] InputError located_error(const Findings& findings) const {
    return InputError(orrery::located(findings, {document, source, given, set, uses, catalog.data()}));
  }

 private:
  // --- the cluster and the rules
  // ----------------------------------------------------------------------------

  void read_frame(Scope& scope) {
    const Path top;
    const std::vector<std::string_view> known_keys{"name",      "cluster",  "jobs",       "id",
                                                   "placement", "queueing", "preemption", "$schema"};
    Json rules = Json::object();
    for (const auto& [key, value] : given.items()) {
      if (key == "placement" || key == "queueing") rules[key] = value;
      if (std::ranges::find(known_keys, key) == known_keys.end()) refuse_key(key, known_keys, scope);
    }
    read_fields(rules, jobs_policy_fields(), policy, top, scope);
    if (const auto text_of = given.find("name"); text_of != given.end())
      name = read_name(*text_of, field_named(experiment_fields(), "name"), Path(top, "name"), scope)
                 .value_or("");
    read_preemption(scope);
    for (const char* key : {"cluster", "jobs"})
      require(given, experiment_fields(), key, "an experiment with jobs", top, scope);
    if (given.contains("cluster")) read_cluster_of_jobs(scope.findings);
  }

  static void refuse_key(const std::string& key, const std::vector<std::string_view>& known_keys,
                         Scope& scope) {
    const Path top;
    const auto is_it = [&key = key](const Field<Experiment>& field) { return field.name == key; };
    if (std::ranges::none_of(experiment_fields(), is_it))
      return report_unknown_key(key, known_keys, Path(top, key), scope);
    scope.findings.add(Path(top, key), "found beside jobs, allowed in the experiment of each job",
                       Anchor::key);
  }

  void read_preemption(Scope& scope) {
    const auto keys = given.find("preemption");
    if (keys == given.end()) return;
    const Path top;
    const Path path(top, "preemption");
    const bool slices = policy.queueing == JobQueueing::gang;
    if (!slices && policy.queueing != JobQueueing::priority)
      return scope.findings.add(path, "found without queueing priority or gang, where no job leaves",
                                Anchor::key);
    read_fields(*keys, preemption_fields(), policy, path, scope);
    if (keys->is_object() && keys->contains("slice_s") && !slices)
      scope.findings.add(Path(path, "slice_s"), "found without queueing gang", Anchor::key);
    if (slices && policy.slice_s <= policy.restart_s)
      scope.findings.add(Path(path, "slice_s"),
                         fmt::format("found {}, allowed more than restart_s {}: a job would never get on",
                                     policy.slice_s, policy.restart_s));
  }

  void read_cluster_of_jobs(Findings& findings) {
    ExperimentReader reader(catalog, menus);
    cluster = reader.read_cluster_alone(given["cluster"]);
    uses = reader.resolver().uses();
    for (const Finding& finding : reader.findings().list())
      findings.add(finding.pointer, finding.message, finding.anchor);
    if (!findings.empty()) return;
    if (!cluster.groups.empty() || cluster.regions || cluster.graph || !cluster.overrides.empty())
      findings.add(
          "/cluster",
          "found a cluster with groups, regions, a graph or overrides, allowed nodes that are alike");
  }

  // --- jobs
  // -------------------------------------------------------------------------------------------------

  void read_jobs(Scope& scope) {
    const Path top;
    const Path path(top, "jobs");
    const Json& value = given["jobs"];
    if (value.is_string()) return read_trace({{"trace", value}}, path, scope);
    if (value.is_object()) return read_trace(value, path, scope);
    if (!value.is_array() || value.empty() || value.size() > kMostJobs)
      return scope.findings.add(
          path, fmt::format("found {}, allowed a list of 1 to {} jobs, or a file of them", described(value),
                            kMostJobs));
    for (std::size_t i = 0; i < value.size(); ++i)
      jobs.push_back(read_job(value[i], Path(path, i), i, scope));
  }

  void read_trace(const Json& value, const Path& path, Scope& scope) {
    JobTraceKeys keys;
    read_fields(value, job_trace_fields(), keys, path, scope);
    require(value, job_trace_fields(), "trace", "jobs", path, scope);
    if (!scope.findings.empty()) return;
    JobTrace trace = read_job_trace(keys.trace, cluster.gpus(), path, scope);
    jobs = std::move(trace.jobs);
    trace_kind = trace.kind;
    left_out = trace.left_out;
    if (keys.first > 0 && static_cast<std::size_t>(keys.first) < jobs.size())
      jobs.resize(static_cast<std::size_t>(keys.first));
    if (value.contains("fabric_share"))
      for (JobSpec& job : jobs) job.fabric_share = keys.fabric_share;
  }

  JobSpec read_job(const Json& value, const Path& path, std::size_t number, Scope& scope) {
    JobSpec job;
    job.name = fmt::format("job {}", number + 1);
    read_fields(value, job_fields(), job, path, scope);
    if (!value.is_object()) return job;
    require(value, job_fields(), "steps", "every job", path, scope);
    if (value.contains("experiment")) {
      for (const char* key : {"step_s", "fabric_share"})
        if (value.contains(key))
          scope.findings.add(Path(path, key), "found beside experiment, whose simulated step says it",
                             Anchor::key);
      read_experiment_of(value["experiment"], Path(path, "experiment"), job, scope);
    } else {
      for (const char* key : {"gpus", "step_s"})
        require(value, job_fields(), key, "a job without experiment", path, scope);
    }
    check_job(job, path, scope);
    return job;
  }

  void check_job(const JobSpec& job, const Path& path, Scope& scope) const {
    if (job.gpus > cluster.gpus())
      scope.findings.add(Path(path, "gpus"), fmt::format("found {}, allowed up to {}, those of the cluster",
                                                         job.gpus, cluster.gpus()));
    if (static_cast<double>(job.steps) * job.step_s > kMostJobSeconds)
      scope.findings.add(Path(path, "steps"),
                         fmt::format("found {} steps of {} s, allowed up to {:.0e} s together", job.steps,
                                     job.step_s, kMostJobSeconds));
  }

  // --- experiments of jobs
  // ----------------------------------------------------------------------------------

  void read_experiment_of(const Json& value, const Path& path, JobSpec& job, Scope& scope) {
    Json keys = value;
    std::string file;
    if (value.is_string()) {
      file = value.get<std::string>();
      if (!load(file, path, scope)) return;
      keys = files[file];
    }
    if (!expect_object(keys, path, scope)) return;
    for (const char* key : {"jobs", "inference", "post_training"})
      if (keys.contains(key))
        return scope.findings.add(Path(path, key),
                                  "found in the experiment of a job, allowed steps of training", Anchor::key);
    keys.erase("run");
    keys.erase("id");
    if (job.gpus > 0 && !give_share(job.gpus, keys, path, scope)) return;
    if (job.gpus == 0 && !keys.contains("cluster"))
      return scope.findings.add(path, "found no cluster in the experiment, allowed gpus beside it");
    const auto [place, is_new] = known.emplace(keys.dump(), experiments.size());
    if (is_new) {
      const bool sound = add_experiment(keys, file, path, scope);
      if (!sound) return static_cast<void>(known.erase(place));
    }
    job.experiment = place->second;
    if (job.gpus > 0) return;
    job.gpus = experiments[job.experiment].cluster.gpus();
    read_experiment_of(value, path, job, scope);  // on as many GPUs of the cluster
  }

  bool load(const std::string& file, const Path& path, Scope& scope) {
    if (files.contains(file)) return true;
    if (file == "-") {
      scope.findings.add(path, "found \"-\", allowed a file or an object");
      return false;
    }
    try {
      const std::string content = read_text(file);
      files[file] = parse_document(content, file).value;
      return true;
    } catch (const InputError& error) {
      for (const Diagnostic& problem : error.diagnostics())
        scope.findings.add(path, fmt::format("{}:{}: {}", file, problem.line, problem.message));
    }
    return false;
  }

  /// Gives an experiment its share of the cluster: whole nodes, or a part of one.
  bool give_share(std::int64_t gpus, Json& keys, const Path& path, Scope& scope) {
    const std::int64_t per_node = cluster.gpus_per_node;
    if (gpus % per_node != 0 && (gpus > per_node || per_node % gpus != 0)) {
      scope.findings.add(path, fmt::format("found {} GPUs, allowed whole nodes of {} or an equal part of one",
                                           gpus, per_node));
      return false;
    }
    Json share = given["cluster"];
    if (share.is_string()) share = Json{{"base", share}};
    share["nodes"] = std::max<std::int64_t>(1, gpus / per_node);
    if (gpus < per_node) share["gpus_per_node"] = gpus;
    keys["cluster"] = std::move(share);
    return true;
  }

  bool add_experiment(const Json& keys, const std::string& file, const Path& path, Scope& scope) {
    try {
      experiments.push_back(read_experiment_text(keys.dump(), source, {}, catalog, menus).experiment);
      return true;
    } catch (const InputError& error) {
      for (const Diagnostic& problem : error.diagnostics()) {
        const bool in_file = !file.empty() || problem.pointer.starts_with("/cluster");
        const std::string at = file.empty() ? problem.pointer : file + problem.pointer;
        scope.findings.add(in_file ? path.pointer() : path.pointer() + problem.pointer,
                           in_file ? fmt::format("{}: {}", at, problem.message) : problem.message);
      }
    }
    return false;
  }
};

JobsExperiment::JobsExperiment(std::string_view text, const std::string& source,
                               const std::vector<std::string>& overrides, const Catalog& catalog,
                               Menus menus) {
  const auto state = std::make_shared<State>(text, source, catalog, std::move(menus));
  state->read(overrides);
  state_ = state;
}

const std::string& JobsExperiment::name() const { return state_->name; }
const Cluster& JobsExperiment::cluster() const { return state_->cluster; }
const JobsPolicy& JobsExperiment::policy() const { return state_->policy; }
const std::vector<JobSpec>& JobsExperiment::jobs() const { return state_->jobs; }
const std::vector<Experiment>& JobsExperiment::experiments() const { return state_->experiments; }
std::string_view JobsExperiment::trace_kind() const { return state_->trace_kind; }
std::int64_t JobsExperiment::left_out() const { return state_->left_out; }

InputError JobsExperiment::located(const InputError& error) const {
  Findings findings;
  for (const Diagnostic& problem : error.diagnostics()) findings.add(problem);
  return state_->located_error(findings);
}

}  // namespace orrery
