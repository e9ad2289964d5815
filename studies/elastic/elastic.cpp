#include "studies/elastic/elastic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "config/experiment/read_experiment.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "orrery/require_training.hpp"
#include "orrery/simulate.hpp"
#include "topologies/common/topologies.hpp"
#include "workloads/models/blocks.hpp"
#include "workloads/weights/optimizer_states.hpp"

namespace orrery {
namespace {

[[noreturn]] void refuse_change(const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", message}});
}

std::string change_text(const SiteChange& change) {
  return fmt::format("{}:{}{}", change.step, change.joins ? '+' : '-', change.site);
}

class ElasticSimulation {
 public:
  explicit ElasticSimulation(const ElasticRequest& request)
      : request_(request), whole_(read({})), changes_(request.changes) {
    require_training(whole_, "steps whose number sites change");
    if (!whole_.cluster.regions)
      throw InputError("/cluster/regions", "missing; sites that come and go need it");
    std::ranges::stable_sort(changes_, {}, &SiteChange::step);
    for (const Site& site : whole_.cluster.regions->sites) sites_.push_back(site.name);
    for (const SiteChange& change : changes_) check(change);
    for (const SiteChange& change : changes_)
      if (change.joins && is_first(change)) away_.insert(change.site);
  }

  ElasticRun run() {
    ElasticRun result;
    std::size_t next = 0;
    for (std::int64_t step = 0; step < request_.steps;) {
      std::vector<std::string> joining;
      for (; next < changes_.size() && changes_[next].step == step; ++next) apply(changes_[next], joining);
      const std::int64_t end = next < changes_.size() ? changes_[next].step : request_.steps;
      result.phases.push_back(phase(step, end - step, joining));
      step = end;
    }
    return result;
  }

 private:
  [[nodiscard]] Experiment read(const std::vector<std::string>& more) const {
    std::vector<std::string> overrides = request_.overrides;
    overrides.insert(overrides.end(), more.begin(), more.end());
    return read_experiment_text(request_.text, request_.source, overrides, request_.catalog, request_.menus)
        .experiment;
  }

  void check(const SiteChange& change) const {
    const std::vector<std::string_view> known(sites_.begin(), sites_.end());
    if (std::ranges::find(sites_, change.site) == sites_.end())
      refuse_change(fmt::format("--change {}: found site {}, allowed {}{}", change_text(change),
                                quote(change.site), joined(known), hint(change.site, known)));
    if (change.step < 0 || change.step >= request_.steps)
      refuse_change(fmt::format("--change {}: found step {}, allowed 0 to {}, the last of --steps",
                                change_text(change), change.step, request_.steps - 1));
  }

  [[nodiscard]] bool is_first(const SiteChange& change) const {
    return &*std::ranges::find(changes_, change.site, &SiteChange::site) == &change;
  }

  void apply(const SiteChange& change, std::vector<std::string>& joining) {
    const bool away = away_.contains(change.site);
    if (away != change.joins)
      refuse_change(fmt::format("--change {}: found a site that is {}, allowed one that is {}",
                                change_text(change), away ? "away" : "present", away ? "present" : "away"));
    if (change.joins) {
      away_.erase(change.site);
      joining.push_back(change.site);
    } else {
      away_.insert(change.site);
    }
  }

  /// The experiment without the nodes of sites that are away, which only forward messages then.
  [[nodiscard]] Experiment present() const {
    std::vector<std::string> overrides;
    std::int64_t nodes = 0;
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      if (away_.contains(sites_[s])) {
        overrides.push_back(fmt::format("cluster.regions.sites.{}.nodes=0", s));
      } else {
        nodes += whole_.cluster.regions->sites[s].nodes;
      }
    }
    if (nodes == 0) refuse_change("--change: found no site that is left, allowed one or more");
    const Plan& plan = whole_.plan;
    const std::int64_t replicas = plan.data_parallel * nodes / whole_.cluster.nodes;
    overrides.push_back(fmt::format("plan.data_parallel={}", replicas));
    overrides.push_back(
        fmt::format("plan.global_batch_size={}", plan.global_batch_size / plan.data_parallel * replicas));
    return read(overrides);
  }

  ElasticPhase phase(std::int64_t first, std::int64_t steps, const std::vector<std::string>& joining) {
    const Experiment experiment = present();
    ElasticPhase phase{first, steps, {}, {}, simulator_.simulate(experiment)};
    for (const std::string& site : sites_)
      if (away_.contains(site)) phase.away.push_back(site);
    if (phase.report.workers < request_.quorum)
      refuse_change(fmt::format("--quorum {}: found {} workers from step {} on, allowed as many or more",
                                request_.quorum, phase.report.workers, first));
    for (const std::string& site : joining)
      phase.fetches.push_back(fetch(experiment, phase.report.parameters, site, joining));
    return phase;
  }

  /// The first node of a site.
  [[nodiscard]] static std::int64_t first_node(const Cluster& cluster, std::string_view name) {
    std::int64_t node = 0;
    for (const Site& site : cluster.regions->sites) {
      if (site.name == name) break;
      node += site.nodes;
    }
    return node;
  }

  /// Optimizer states, and the weights where those have no copy of them.
  [[nodiscard]] static Bytes bytes_to_fetch(const Plan& plan, std::int64_t parameters) {
    const bool copied = main_weight_bytes(plan, parameters) > 0;
    return optimizer_state_bytes(plan, parameters) +
           (copied ? 0 : parameters * element_bytes(plan.precision));
  }

  [[nodiscard]] static Fetch fetch(const Experiment& experiment, std::int64_t parameters,
                                   const std::string& site, const std::vector<std::string>& joining) {
    const Cluster& cluster = experiment.cluster;
    const auto topology = build_topology(cluster);
    Fetch best{site, "", bytes_to_fetch(experiment.plan, parameters), 0};
    const auto gpu_at = [&](std::string_view name) {
      return GpuId{static_cast<std::uint32_t>(first_node(cluster, name) * cluster.gpus_per_node)};
    };
    for (const Site& from : cluster.regions->sites) {
      if (from.nodes == 0 || std::ranges::find(joining, from.name) != joining.end()) continue;
      std::vector<LinkId> route;
      topology->route(gpu_at(from.name), gpu_at(site), route);
      Picoseconds latency = 0;
      std::int64_t rate = kMaxLinkBytesPerS;
      for (const LinkId link : route) {
        latency += topology->link(link).latency_ps;
        rate = std::min(rate, topology->link(link).bytes_per_s);
      }
      const Picoseconds duration = latency + transfer_ps(best.bytes, rate, 1);
      if (!best.from.empty() && duration >= best.duration_ps) continue;
      best.from = from.name;
      best.duration_ps = duration;
    }
    return best;
  }

  const ElasticRequest& request_;
  Experiment whole_;
  std::vector<SiteChange> changes_;  ///< in order of steps
  std::vector<std::string> sites_;
  std::set<std::string> away_;
  Simulator simulator_;
};

}  // namespace

SiteChange parse_change(std::string_view text) {
  SiteChange change;
  const char* const end = text.data() + text.size();
  const auto [colon, error] = std::from_chars(text.data(), end, change.step);
  const bool fine =
      error == std::errc{} && end - colon > 2 && *colon == ':' && (colon[1] == '+' || colon[1] == '-');
  if (!fine)
    refuse_change(fmt::format("--change: found {}, allowed STEP:+SITE or STEP:-SITE, such as 200:-europe",
                              quote(text)));
  change.joins = colon[1] == '+';
  change.site.assign(colon + 2, end);
  return change;
}

double ElasticRun::seconds() const {
  double sum = 0;
  for (const ElasticPhase& phase : phases) sum += phase.seconds();
  return sum;
}

double ElasticRun::tokens() const {
  double sum = 0;
  for (const ElasticPhase& phase : phases) sum += phase.tokens();
  return sum;
}

ElasticRun simulate_elastic(const ElasticRequest& request) { return ElasticSimulation(request).run(); }

}  // namespace orrery
