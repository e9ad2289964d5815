// Finds causes behind terms: a class of kernels, a rank, messages of a dimension, a host, the loading of
// data.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "reports/difference_causes.hpp"
#include "sim/cost/price_list.hpp"
#include "studies/explain/profile_terms.hpp"
#include "studies/explain/replay.hpp"

namespace orrery {
namespace {

constexpr double kWorthNaming = 0.02;      ///< a factor on times that is one or less away from 1 is none
constexpr double kWorthADelay = 0.002;     ///< of the step
constexpr double kMostInterference = 0.9;  ///< that an experiment may say
constexpr double kWorthAClass = 0.001;     ///< of the step: classes that take less tell nothing of ranks

/// The lower one of two in the middle: of two ranks, one of which is slow, the other is as it should be.
double lower_median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

/// A value and how much it counts.
struct Weighted {
  double value = 0;
  double weight = 0;
};

double weighted_median(std::vector<Weighted> values) {
  std::ranges::sort(values, {}, &Weighted::value);
  double half = 0;
  for (const Weighted& one : values) half += one.weight / 2;
  for (const Weighted& one : values) {
    half -= one.weight;
    if (half <= 0) return one.value;
  }
  return 1;
}

double per_step(const RankAccount& account, std::size_t term) {
  return static_cast<double>(account.times_ns[term]) / static_cast<double>(account.steps);
}

double step_of(const RankAccount& account) {
  return static_cast<double>(account.step_ns) / static_cast<double>(account.steps);
}

Picoseconds ns_to_ps(double nanoseconds) {
  return static_cast<Picoseconds>(std::llround(nanoseconds * 1000));
}

class CauseFinder {
 public:
  CauseFinder(const AccountPair& accounts, const Experiment& experiment, Explanation& to)
      : accounts_(accounts), experiment_(experiment), to_(to), ranks_(accounts.measured.size()) {}

  void run() {
    find_kernel_factors();
    find_rank_factors();
    find_message_factors();
    report_kernels();
    report_ranks();
    report_messages();
    report_loading();
    report_hosts();
    report_contention();
    simulate_gains();
  }

 private:
  [[nodiscard]] bool counts(std::size_t r, std::size_t use) const {
    return per_step(accounts_.simulated[r], use) > kWorthAClass * step_of(accounts_.simulated[r]);
  }
  [[nodiscard]] double ratio(std::size_t r, std::size_t use) const {
    return per_step(accounts_.measured[r], use) / per_step(accounts_.simulated[r], use);
  }

  /// A class is slower where it is on most ranks.
  void find_kernel_factors() {
    for (std::size_t use = 0; use < kComputeUses; ++use) {
      std::vector<double> ratios;
      for (std::size_t r = 0; r < ranks_; ++r)
        if (counts(r, use)) ratios.push_back(ratio(r, use));
      if (!ratios.empty()) slow_.kernels[use] = std::max(lower_median(std::move(ratios)), 1e-3);
    }
  }

  /// A rank is slower where most of its kernels are, beside the same ones of other ranks.
  void find_rank_factors() {
    rank_factors_.assign(ranks_, 1);
    if (ranks_ < 2) return;
    for (std::size_t r = 0; r < ranks_; ++r) {
      std::vector<Weighted> ratios;
      for (std::size_t use = 0; use < kComputeUses; ++use)
        if (counts(r, use))
          ratios.push_back({ratio(r, use) / slow_.kernels[use], per_step(accounts_.simulated[r], use)});
      if (!ratios.empty()) rank_factors_[r] = weighted_median(std::move(ratios));
      if (rank_factors_[r] > 1 + kWorthNaming) slow_.ranks[accounts_.measured[r].rank] = rank_factors_[r];
    }
  }

  void find_message_factors() {
    std::array<double, kDimensionCount> measured{};
    std::array<double, kDimensionCount> simulated{};
    for (const ExplainedMessages& kind : to_.messages) {
      const auto* const name = std::ranges::find(kDimensionNames, kind.dimension);
      if (name == kDimensionNames.end()) continue;
      if (std::abs(kind.measured_calls - kind.simulated_calls) > 0.01 * kind.simulated_calls) {
        to_.unmatched.push_back(fmt::format("{} {} messages: {:.4g} a step measured, {:.4g} simulated",
                                            kind.dimension, kind.collective, kind.measured_calls,
                                            kind.simulated_calls));
        continue;
      }
      measured[static_cast<std::size_t>(name - kDimensionNames.begin())] += kind.measured_s;
      simulated[static_cast<std::size_t>(name - kDimensionNames.begin())] += kind.simulated_s;
    }
    for (std::size_t d = 0; d < kDimensionCount; ++d)
      if (simulated[d] > 0 && measured[d] > 0) slow_.messages[d] = measured[d] / simulated[d];
  }

  static bool is_named(double factor) { return std::abs(factor - 1) > kWorthNaming; }

  void report_kernels() {
    for (std::size_t use = 0; use < kComputeUses; ++use) {
      const double factor = slow_.kernels[use];
      if (!is_named(factor)) continue;
      const std::string name = name_of_term(use);
      add({name,
           fmt::format("{} take{} {:.3g} times as long as simulated", words_of(name),
                       words_of(name).ends_with("s") ? "" : "s", factor),
           factor,
           0,
           {}},
          [use](Slowdowns& slow) { slow.kernels[use] = 1; });
    }
  }

  void report_ranks() {
    for (const auto& [rank, factor] : slow_.ranks)
      add({fmt::format("rank {}", rank),
           fmt::format("kernels of rank {} take {:.3g} times as long as those of other ranks", rank, factor),
           factor,
           0,
           {}},
          [rank = rank](Slowdowns& slow) { slow.ranks.erase(rank); });
  }

  void report_messages() {
    for (std::size_t d = 0; d < kDimensionCount; ++d) {
      const double factor = slow_.messages[d];
      if (!is_named(factor)) continue;
      const std::string name(kDimensionNames[d]);
      add({name + " messages",
           fmt::format("messages of {} parallelism take {:.3g} times as long as simulated{}", name, factor,
                       accounts_.lined_up ? "" : ", waits for ranks without a trace among them"),
           factor,
           0,
           {}},
          [d](Slowdowns& slow) { slow.messages[d] = 1; });
    }
  }

  /// Returns the time of a term that each rank has beyond the simulated one, in ns.
  [[nodiscard]] std::vector<double> excess(std::size_t term) const {
    std::vector<double> more;
    for (std::size_t r = 0; r < ranks_; ++r)
      more.push_back(per_step(accounts_.measured[r], term) - per_step(accounts_.simulated[r], term));
    return more;
  }
  [[nodiscard]] bool is_delay(double ns) const {
    return ns > kWorthADelay * step_of(accounts_.simulated.front());
  }
  void add_delay(const std::string& cause, const std::string& sentence, double ns) {
    add({cause, fmt::format("{}: {:.3f} ms a step", sentence, ns * 1e-6), 0, ns_to_ps(ns), ns_to_ps(ns)}, {});
  }

  void report_loading() {
    const std::vector<double> more = excess(step_term::kLoading);
    const double usual = lower_median(more);
    if (is_delay(usual)) add_delay("data loading", "GPUs wait for data", usual);
    for (std::size_t r = 0; r < ranks_; ++r)
      if (is_delay(more[r] - usual))
        add_delay(fmt::format("data loading of rank {}", accounts_.measured[r].rank),
                  fmt::format("rank {} waits longer for data than others", accounts_.measured[r].rank),
                  more[r] - usual);
  }

  void report_hosts() {
    const std::vector<double> more = excess(step_term::kHost);
    const double usual = lower_median(more);
    if (is_delay(usual)) add_delay("host", "the host issues kernels more slowly than simulated", usual);
    for (std::size_t r = 0; r < ranks_; ++r)
      if (is_delay(more[r] - usual))
        add_delay(
            fmt::format("host of rank {}", accounts_.measured[r].rank),
            fmt::format("rank {} is late, its host issues later than others", accounts_.measured[r].rank),
            more[r] - usual);
  }

  /// Returns the share of their pace that kernels lose while messages are beside them.
  [[nodiscard]] static double lost_share(const std::vector<RankAccount>& accounts) {
    double lost = 0;
    double beside = 0;
    for (const RankAccount& account : accounts) {
      lost += static_cast<double>(account.times_ns[step_term::kContention]);
      beside += static_cast<double>(account.beside_ns);
    }
    return beside > 0 ? std::min(lost / beside, kMostInterference) : 0;
  }

  void report_contention() {
    check_unknown_contention();
    const double measured = lost_share(accounts_.measured);
    const double simulated = lost_share(accounts_.simulated);
    const std::vector<double> more = excess(step_term::kContention);
    double mean = 0;
    for (const double one : more) mean += one / static_cast<double>(ranks_);
    if (!is_delay(std::abs(mean)) || !is_named((1 - simulated) / (1 - measured))) return;
    const double keeps = (1 - communication_interference(experiment_)) * (1 - measured) / (1 - simulated);
    slow_.interference = std::clamp(1 - keeps, 0.0, kMostInterference);
    add({"contention",
         fmt::format(
             "kernels lose {:.3g} % of their pace to messages beside them, simulated {:.3g} %: {:.3f} ms "
             "a step",
             100 * measured, 100 * simulated, mean * 1e-6),
         (1 - simulated) / (1 - measured),
         ns_to_ps(mean),
         {}},
        [](Slowdowns& slow) { slow.interference = -1; });
  }
  /// Kernels that always run beside messages have no measure of their own.
  void check_unknown_contention() {
    double unknown = 0;
    for (const RankAccount& account : accounts_.measured)
      unknown += static_cast<double>(account.beside_unknown_ns) / static_cast<double>(account.steps);
    unknown /= static_cast<double>(ranks_);
    if (unknown > kWorthNaming * step_of(accounts_.measured.front()))
      to_.unmatched.push_back(fmt::format(
          "{:.3f} ms a step of kernels run beside messages and never alone: what they lose to these "
          "is taken to be what others lose",
          unknown * 1e-6));
  }

  void add(ExplainedCause finding, std::function<void(Slowdowns&)> mend) {
    to_.findings.push_back(std::move(finding));
    mends_.push_back(std::move(mend));
  }

  /// Classes that were counted as another one have its factor.
  void simulate_gains() {
    Replay replay(experiment_);
    const Picoseconds all = replay.step_ps(slow_);
    Picoseconds explained = all;
    for (std::size_t i = 0; i < mends_.size(); ++i) {
      if (!mends_[i]) {
        explained += to_.findings[i].delay_ps;
        continue;
      }
      Slowdowns mended = slow_;
      mends_[i](mended);
      to_.findings[i].gain_ps = all - replay.step_ps(mended);
    }
    std::ranges::stable_sort(to_.findings, std::greater<>(),
                             [](const ExplainedCause& finding) { return finding.gain_ps.value_or(0); });
    const double off = to_.measured_ps > 0 ? std::abs(static_cast<double>(explained - to_.measured_ps)) /
                                                 static_cast<double>(to_.measured_ps)
                                           : 0;
    to_.confidence = fmt::format(
        "{}: with the causes that were found, the simulated step is {:.1f} % off the measured one",
        off < 0.03  ? "high"
        : off < 0.1 ? "medium"
                    : "low",
        100 * off);
  }

  const AccountPair& accounts_;
  const Experiment& experiment_;
  Explanation& to_;
  std::size_t ranks_;
  Slowdowns slow_;
  std::vector<double> rank_factors_;
  std::vector<std::function<void(Slowdowns&)>> mends_;
};

}  // namespace

void find_causes(const AccountPair& accounts, const Experiment& experiment, Explanation& to) {
  CauseFinder(accounts, experiment, to).run();
}

}  // namespace orrery
