#include "studies/jobs/link_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/serving/random_stream.hpp"

namespace orrery {
namespace {

constexpr std::uint64_t kFullPace = 1 << 16;  // of a job's messages; links carry this times their bytes/s
constexpr std::size_t kAllMoments = 6;        // jobs of which every set is tried
constexpr std::int64_t kDrawnMoments = 64;    // of more jobs
constexpr std::int64_t kManyJobs = 2048;      // drawn moments times jobs, at most
constexpr int kRounds = 8;
constexpr double kSameStretch = 1e-6;
constexpr std::uint64_t kMomentStream = 0x5a4e;  // of random numbers

}  // namespace

LinkSharing::LinkSharing(const JobsModel& model) : model_(model) {
  if (!model.topology) return;
  links_.resize(model.topology->links().size());
  for (std::size_t link = 0; link < links_.size(); ++link)
    links_[link].capacity = model.topology->links()[link].bytes_per_s;
}

/// Messages within an NVLink domain cross no fabric.
std::vector<LinkLoad> LinkSharing::loads_of(const std::vector<GpuId>& gpus) const {
  const Topology& topology = *model_.topology;
  std::vector<std::vector<GpuId>> nodes;
  for (const GpuId gpu : gpus) {
    if (nodes.empty() || topology.node_of(nodes.back().front()) != topology.node_of(gpu))
      nodes.emplace_back();
    nodes.back().push_back(gpu);
  }
  std::map<std::uint32_t, std::int64_t> loads;
  std::vector<LinkId> way;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const std::vector<GpuId>& from = nodes[n];
    const std::vector<GpuId>& to = nodes[(n + 1) % nodes.size()];
    if (topology.domain_of(from.front()) == topology.domain_of(to.front())) continue;
    for (std::size_t g = 0; g < std::min(from.size(), to.size()); ++g) {
      way.clear();
      topology.route(from[g], to[g], way);
      std::int64_t rate = topology.flow_bytes_per_s();
      for (const LinkId link : way) rate = std::min(rate, topology.link(link).bytes_per_s);
      for (const LinkId link : way)
        if (topology.link(link).kind != LinkKind::nvlink) loads[index(link)] += rate;
    }
  }
  std::vector<LinkLoad> out;
  for (const auto& [link, rate] : loads) out.push_back({link, rate});
  return out;
}

double LinkSharing::excess(const std::vector<LinkLoad>& loads) const {
  double most = 1;
  for (const LinkLoad& load : loads)
    most = std::max(most,
                    static_cast<double>(load.bytes_per_s) / static_cast<double>(links_[load.link].capacity));
  return most;
}

double LinkSharing::usual_excess(std::int64_t gpus) {
  const auto [known, is_new] = usual_excess_.emplace(gpus, 1);
  if (is_new) {
    std::vector<GpuId> first;
    for (std::int64_t gpu = 0; gpu < gpus; ++gpu) first.push_back(GpuId{static_cast<std::uint32_t>(gpu)});
    known->second = excess(loads_of(first));
  }
  return known->second;
}

void LinkSharing::start(std::size_t job, const std::vector<GpuId>& gpus) {
  Sender& sender = senders_[job];
  touched_.push_back(job);
  if (model_.jobs[job].sending == 0 || !model_.topology) return;
  sender.loads = loads_of(gpus);
  const double usual = usual_excess(model_.jobs[job].gpus);
  for (LinkLoad& load : sender.loads) {
    load.bytes_per_s =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(load.bytes_per_s) / usual));
    LinkState& link = links_[load.link];
    link.load += load.bytes_per_s;
    link.jobs.push_back(job);
  }
}

void LinkSharing::stop(std::size_t job) {
  const auto found = senders_.find(job);
  if (found == senders_.end()) return;
  for (const LinkLoad& load : found->second.loads) {
    LinkState& link = links_[load.link];
    if (link.is_overloaded()) touched_.insert(touched_.end(), link.jobs.begin(), link.jobs.end());
    link.load -= load.bytes_per_s;
    std::erase(link.jobs, job);
  }
  senders_.erase(found);
}

std::vector<StretchChange> LinkSharing::changes() {
  std::vector<StretchChange> out;
  std::ranges::sort(touched_);
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  std::vector<std::size_t> done;
  for (const std::size_t job : touched_) {
    const auto found = senders_.find(job);
    if (found == senders_.end() || std::ranges::binary_search(done, job)) continue;
    add_group(job);
    std::vector<double> before;
    for (const std::size_t member : group_) before.push_back(senders_.at(member).slowdown);
    solve_group();
    for (std::size_t m = 0; m < group_.size(); ++m)
      if (const double now = senders_.at(group_[m]).slowdown; now != before[m])
        out.push_back({group_[m], now});
    done.insert(done.end(), group_.begin(), group_.end());
    std::ranges::sort(done);
    finish_group();
  }
  touched_.clear();
  std::ranges::sort(out, {}, &StretchChange::job);
  return out;
}

/// The jobs that overloaded links join to one, and those links.
void LinkSharing::add_group(std::size_t job) {
  const auto add = [this](std::size_t member) {
    Sender& sender = senders_.at(member);
    if (sender.in_group) return;
    sender.in_group = true;
    group_.push_back(member);
  };
  add(job);
  for (std::size_t next = 0; next < group_.size(); ++next) {
    for (const LinkLoad& load : senders_.at(group_[next]).loads) {
      LinkState& link = links_[load.link];
      if (!link.is_overloaded() || link.in_group) continue;
      link.in_group = true;
      group_links_.push_back(load.link);
      for (const std::size_t member : link.jobs) add(member);
    }
  }
  std::ranges::sort(group_);
  std::ranges::sort(group_links_);
  drop_equal_links();
}

/// Keeps one of the links that have the same loads of the same jobs.
void LinkSharing::drop_equal_links() {
  for (std::size_t l = 0; l < group_links_.size(); ++l)
    links_[group_links_[l]].place = static_cast<std::uint32_t>(l);
  std::vector<std::vector<std::int64_t>> loads(group_links_.size());
  for (std::size_t l = 0; l < loads.size(); ++l) loads[l].push_back(links_[group_links_[l]].capacity);
  for (std::size_t m = 0; m < group_.size(); ++m)
    for (const LinkLoad& load : senders_.at(group_[m]).loads)
      if (const LinkState& link = links_[load.link]; link.in_group)
        loads[link.place].insert(loads[link.place].end(), {static_cast<std::int64_t>(m), load.bytes_per_s});
  std::set<std::vector<std::int64_t>> seen;
  std::size_t kept = 0;
  for (std::size_t l = 0; l < loads.size(); ++l) {
    const std::uint32_t link = group_links_[l];
    if (seen.insert(std::move(loads[l])).second) {
      group_links_[kept++] = link;
    } else {
      links_[link].in_group = false;
    }
  }
  group_links_.resize(kept);
}

void LinkSharing::finish_group() {
  for (const std::size_t member : group_) senders_.at(member).in_group = false;
  for (const std::uint32_t link : group_links_) links_[link].in_group = false;
  group_.clear();
  group_links_.clear();
}

double LinkSharing::slowdown_at(std::size_t job, double stretch) const {
  const ModelJob& of = model_.jobs[job];
  if (stretch <= 1) return 1;
  return of.slowdown ? (*of.slowdown)(stretch) : 1 + of.sending * (stretch - 1);
}

double LinkSharing::share_of_sending(std::size_t job) const {
  const Sender& sender = senders_.at(job);
  return std::min(1.0, model_.jobs[job].sending * sender.stretch / sender.slowdown);
}

void LinkSharing::solve_group() {
  for (const std::size_t member : group_) {
    Sender& sender = senders_.at(member);
    sender.stretch = sender.slowdown = 1;
  }
  if (group_links_.empty()) return;
  const int rounds = group_.size() <= kAllMoments ? kRounds : 2;
  for (int round = 0; round < rounds && solve_round(); ++round) {
  }
}

/// Returns true if a stretch has changed.
bool LinkSharing::solve_round() {
  std::vector<double> shares;
  for (const std::size_t member : group_) shares.push_back(share_of_sending(member));
  weight_.assign(group_.size(), 0);
  stretched_.assign(group_.size(), 0);
  if (group_.size() <= kAllMoments) {
    all_moments(shares);
  } else {
    const std::int64_t jobs = static_cast<std::int64_t>(group_.size());
    drawn_moments(shares, std::clamp<std::int64_t>(kManyJobs / jobs, 8, kDrawnMoments));
  }
  bool changed = false;
  for (std::size_t m = 0; m < group_.size(); ++m) {
    Sender& sender = senders_.at(group_[m]);
    const double stretch = std::max(1.0, stretched_[m] / weight_[m]);
    changed = changed || std::abs(stretch - sender.stretch) > kSameStretch * stretch;
    sender.stretch = stretch;
    sender.slowdown = slowdown_at(group_[m], stretch);
  }
  return changed;
}

/// Each set of senders; to a member of it, it counts as often as the others are just these.
void LinkSharing::all_moments(const std::vector<double>& shares) {
  const std::size_t sets = std::size_t{1} << group_.size();
  std::vector<bool> sends(group_.size());
  for (std::size_t set = 1; set < sets; ++set) {
    for (std::size_t m = 0; m < sends.size(); ++m) sends[m] = (set >> m & 1U) != 0;
    solve_moment(sends);
    for (std::size_t m = 0; m < sends.size(); ++m) {
      if (!sends[m]) continue;
      double probability = 1;
      for (std::size_t other = 0; other < sends.size(); ++other)
        if (other != m) probability *= sends[other] ? shares[other] : 1 - shares[other];
      weight_[m] += probability;
      stretched_[m] += probability * stretch_now(m);
    }
  }
}

void LinkSharing::drawn_moments(const std::vector<double>& shares, std::int64_t moments) {
  RandomStream random(group_.front(), kMomentStream);
  std::vector<bool> sends(group_.size());
  for (std::int64_t moment = 0; moment < moments; ++moment) {
    for (std::size_t m = 0; m < sends.size(); ++m) sends[m] = random.uniform() < shares[m];
    solve_moment(sends);
    for (std::size_t m = 0; m < sends.size(); ++m) {
      weight_[m] += sends[m] ? 1 : 0;
      stretched_[m] += sends[m] ? stretch_now(m) : 0;
    }
  }
  for (std::size_t m = 0; m < sends.size(); ++m) {
    if (weight_[m] > 0) continue;  // it sends in none of them
    const bool before = sends[m];
    sends[m] = true;
    solve_moment(sends);
    weight_[m] = 1;
    stretched_[m] = stretch_now(m);
    sends[m] = before;
  }
}

/// The stretch of a job that sends at the moment solved last.
double LinkSharing::stretch_now(std::size_t place) const {
  return static_cast<double>(kFullPace) / static_cast<double>(solver_.rate(flow_of_[place]));
}

/// Paces of the jobs that send at a moment.
void LinkSharing::solve_moment(const std::vector<bool>& sends) {
  solver_.clear();
  for (std::size_t l = 0; l < group_links_.size(); ++l) {
    LinkState& link = links_[group_links_[l]];
    link.place = solver_.add_link(static_cast<std::uint64_t>(link.capacity) * kFullPace);
  }
  flow_of_.assign(group_.size(), 0);
  for (std::size_t m = 0; m < group_.size(); ++m) {
    if (!sends[m]) continue;
    flow_of_[m] = solver_.add_flow(kFullPace);
    for (const LinkLoad& load : senders_.at(group_[m]).loads)
      if (links_[load.link].in_group)
        solver_.add_use(links_[load.link].place, static_cast<std::uint64_t>(load.bytes_per_s));
  }
  solver_.solve();
}

}  // namespace orrery
