#include "studies/explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "orrery/error.hpp"
#include "orrery/rank_grid.hpp"
#include "orrery/simulate.hpp"
#include "reports/writers.hpp"
#include "sim/run/prepare.hpp"
#include "sim/run/run.hpp"
#include "studies/explain/log_terms.hpp"
#include "studies/explain/measured/chrome_profile.hpp"
#include "studies/explain/profile_terms.hpp"

namespace orrery {
namespace {

std::vector<std::uint32_t> ranks_of(const std::vector<Profile>& profiles, std::int64_t gpus) {
  std::vector<std::uint32_t> ranks;
  for (const Profile& profile : profiles) {
    if (profile.rank >= gpus)
      throw InputError(
          {Diagnostic{profile.source, 0, 0, "",
                      fmt::format("is of rank {}, but the experiment has {} GPUs", profile.rank, gpus)}});
    ranks.push_back(static_cast<std::uint32_t>(profile.rank));
  }
  return ranks;
}

void describe_profiles(const Measurements& measured, std::int64_t gpus, Explanation& to) {
  for (const Profile& profile : measured.profiles) {
    to.read.push_back(fmt::format("{}: rank {}, {} steps, {} kernels, messages and copies; {}",
                                  profile.source, profile.rank, profile.steps.size(), profile.spans.size(),
                                  profile.writer));
    to.unmatched.insert(to.unmatched.end(), profile.remarks.begin(), profile.remarks.end());
    if (profile.unlaunched > profile.spans.size() / 2)
      to.unmatched.push_back(
          profile.source + ": launches of kernels are not recorded, so waits for the host count as bubbles");
    if (profile.world > 0 && profile.world != gpus && profile.writer != "Nsight Systems")
      to.unmatched.push_back(fmt::format("{}: the run had {} ranks, the experiment has {}", profile.source,
                                         profile.world, gpus));
  }
}

void check_step(const Profile& profile, const RankAccount& account) {
  constexpr std::int64_t kDay = 86'400'000'000'000;
  if (account.step_ns <= 0 || account.step_ns / account.steps > kDay)
    throw InputError({Diagnostic{profile.source, 0, 0, "", "has steps of no time, or of more than a day"}});
}

void add_lanes(const AccountPair& accounts, ExplainedTimelines& to) {
  for (std::size_t r = 0; r < accounts.measured.size(); ++r) {
    const RankAccount& measured = accounts.measured[r];
    to.lanes.push_back({measured.rank, "measured", measured.stretches});
    to.lanes.push_back({measured.rank, "simulated", accounts.simulated[r].stretches});
    const std::int64_t begin = measured.last_begin_ns - to.clock_ahead_ns[r];
    to.begin_ns = r == 0 ? begin : std::min(to.begin_ns, begin);
  }
}

void explain_profiles(const Experiment& experiment, const Measurements& measured, Explanation& to,
                      ExplainedTimelines* timelines) {
  const std::int64_t gpus = experiment.plan.gpus();
  const std::vector<std::uint32_t> ranks = ranks_of(measured.profiles, gpus);
  describe_profiles(measured, gpus, to);
  const LinedUp lined = line_up(measured.profiles);
  AccountPair accounts;
  accounts.measured = account_for(measured.profiles, lined);
  for (std::size_t r = 0; r < accounts.measured.size(); ++r)
    check_step(measured.profiles[r], accounts.measured[r]);
  std::vector<Profile> own = simulated_profiles(experiment, ranks);
  accounts.simulated = account_for(own, line_up(own));
  accounts.by_name = measured.profiles.front().writer != "orrery";
  accounts.lined_up = lined.met > 0 && lined.unmatched <= lined.met / 10;
  if (accounts.by_name) merge_classes(accounts);
  if (lined.unmatched > 0 && !accounts.lined_up)
    to.unmatched.push_back(
        fmt::format("{} messages are of communicators of which one rank alone has a trace: waits for its "
                    "other ranks count "
                    "as communication; give traces of more ranks",
                    lined.unmatched));
  explain_terms(accounts, to);
  find_causes(accounts, experiment, to);
  if (timelines == nullptr) return;
  timelines->clock_ahead_ns = lined.clock_ahead_ns;
  add_lanes(accounts, *timelines);
  timelines->simulated = std::move(own);
}

}  // namespace

std::vector<Profile> profiles_of(const Run& run, const Plan& plan, const std::vector<std::uint32_t>& ranks) {
  TraceOptions options;
  options.ranks = ranks;
  std::ranges::sort(options.ranks);
  std::vector<Profile> profiles;
  const FileMaker read_back = [&](const std::string& name, const std::function<void(const Sink&)>& write) {
    std::string text;
    write([&](std::string_view part) { text += part; });
    std::stringbuf bytes(std::move(text), std::ios::in);
    profiles.push_back(read_chrome_profile(bytes, "simulated " + name));
  };
  const RankGrid grid(plan);
  const RunView view = run.view();
  write_kineto(view, grid, options, read_back);
  return profiles;
}

std::vector<Profile> simulated_profiles(const Experiment& experiment,
                                        const std::vector<std::uint32_t>& ranks) {
  Memo memo;
  const PreparedExperiment prepared = prepare(experiment, memo);
  return profiles_of(run_in_layers(prepared, memo), prepared.experiment.plan, ranks);
}

Explanation explain(const Experiment& experiment, const Measurements& measured,
                    ExplainedTimelines* timelines) {
  Explanation out;
  out.name = experiment.name;
  if (!measured.serving.empty()) {
    explain_serving(experiment, measured.serving, out);
  } else if (experiment.inference) {
    throw InputError(
        "/inference",
        "found requests to serve, whose measurements are results of vLLM's benchmark or the log of "
        "a server");
  } else if (!measured.profiles.empty()) {
    explain_profiles(experiment, measured, out, timelines);
  } else if (!measured.training.empty()) {
    explain_logs(experiment, measured.training, out);
  }
  if (!measured.collectives.empty()) explain_collectives(experiment, measured.collectives, out);
  return out;
}

}  // namespace orrery
