#include "studies/explain/profile_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>

namespace orrery {
namespace {

constexpr std::size_t kMostPlaces = 8;

/// Picoseconds per step of one rank, by term: they add up to its mean step.
std::vector<Picoseconds> means_of(const RankAccount& account) {
  std::vector<Picoseconds> means;
  const Int128 steps = account.steps;
  const auto all = static_cast<Picoseconds>(Int128{account.step_ns} * 1000 / steps);
  Picoseconds left = all;
  std::size_t largest = 0;
  for (std::size_t t = 0; t < step_term::kCount; ++t) {
    means.push_back(static_cast<Picoseconds>(Int128{account.times_ns[t]} * 1000 / steps));
    left -= means.back();
    if (means[t] > means[largest]) largest = t;
  }
  means[largest] += left;
  return means;
}

/// Means over ranks, likewise.
std::vector<Picoseconds> means_of(const std::vector<RankAccount>& accounts) {
  std::vector<Int128> sums(step_term::kCount, 0);
  for (const RankAccount& account : accounts) {
    const std::vector<Picoseconds> own = means_of(account);
    for (std::size_t t = 0; t < sums.size(); ++t) sums[t] += own[t];
  }
  Int128 all = 0;
  for (const Int128 sum : sums) all += sum;
  const auto ranks = static_cast<Int128>(accounts.size());
  std::vector<Picoseconds> means;
  Int128 left = all / ranks;
  for (const Int128 sum : sums) {
    means.push_back(static_cast<Picoseconds>(sum / ranks));
    left -= means.back();
  }
  *std::ranges::max_element(means) += static_cast<Picoseconds>(left);
  return means;
}

std::vector<TermPlace> places_of(const AccountPair& accounts, std::size_t term) {
  std::vector<TermPlace> places;
  for (std::size_t r = 0; r < accounts.measured.size(); ++r) {
    const RankAccount& one = accounts.measured[r];
    const Picoseconds more = means_of(one)[term] - means_of(accounts.simulated[r])[term];
    if (more > 0) places.push_back({one.rank, more, one.longest[term].start_ns * 1000});
  }
  std::ranges::stable_sort(places, std::greater<>(), &TermPlace::more_ps);
  if (places.size() > kMostPlaces) places.resize(kMostPlaces);
  return places;
}

std::map<MessageKind, MessageCount> sum_of(const std::vector<RankAccount>& accounts) {
  std::map<MessageKind, MessageCount> sums;
  for (const RankAccount& account : accounts) {
    for (const auto& [kind, count] : account.messages) {
      MessageCount& sum = sums[kind];
      sum.calls += count.calls;
      sum.bytes += count.bytes;
      sum.transfer_ns += count.transfer_ns;
      sum.waiting_ns += count.waiting_ns;
    }
  }
  return sums;
}

double rank_steps(const std::vector<RankAccount>& accounts) {
  double sum = 0;
  for (const RankAccount& account : accounts) sum += static_cast<double>(account.steps);
  return sum;
}

std::string name_of_dimension(std::size_t dimension) {
  return dimension < kDimensionCount ? std::string(kDimensionNames[dimension]) : "unknown";
}

void explain_messages(const AccountPair& accounts, Explanation& to) {
  std::map<MessageKind, MessageCount> measured = sum_of(accounts.measured);
  std::map<MessageKind, MessageCount> simulated = sum_of(accounts.simulated);
  std::set<MessageKind> kinds;
  for (const auto& [kind, count] : measured) kinds.insert(kind);
  for (const auto& [kind, count] : simulated) kinds.insert(kind);
  const double all = rank_steps(accounts.measured);
  const double own = rank_steps(accounts.simulated);
  for (const MessageKind& kind : kinds) {
    const MessageCount& a = measured[kind];
    const MessageCount& b = simulated[kind];
    to.messages.push_back({name_of_dimension(kind.dimension),
                           std::string(kCollectiveNames[static_cast<std::size_t>(kind.collective)]),
                           static_cast<double>(a.calls) / all, static_cast<double>(b.calls) / own,
                           a.bytes * 1e-9 / all, b.bytes * 1e-9 / own, a.transfer_ns * 1e-9 / all,
                           b.transfer_ns * 1e-9 / own, a.waiting_ns * 1e-9 / all});
  }
}

void set_steps(const AccountPair& accounts, Explanation& to) {
  std::vector<double> steps;
  for (const RankAccount& account : accounts.measured)
    for (const std::int64_t one : account.each_step_ns) steps.push_back(static_cast<double>(one) * 1e-9);
  std::ranges::sort(steps);
  to.measured_s_p10 = steps[steps.size() / 10];
  to.measured_s_p90 = steps[std::min(steps.size() - 1, steps.size() * 9 / 10)];
  for (const RankAccount& account : accounts.measured) to.steps = std::max(to.steps, account.steps);
}

/// Where a class of kernels goes if the measured run has no name for it.
std::size_t parent_of(std::size_t use) {
  using K = KernelClass;
  const auto at = [](K kernel_class) { return static_cast<std::size_t>(kernel_class); };
  const bool product = use == at(K::expert_products) || use == at(K::logits) || use == at(K::recomputation) ||
                       use == at(K::convolution);
  return product ? at(K::dense_products) : at(K::other);
}

std::int64_t sum_of_term(const std::vector<RankAccount>& accounts, std::size_t term) {
  std::int64_t sum = 0;
  for (const RankAccount& account : accounts) sum += account.times_ns[term];
  return sum;
}

}  // namespace

void merge_classes(AccountPair& accounts) {
  const auto move = [](std::vector<RankAccount>& of, std::size_t from, std::size_t into) {
    for (RankAccount& account : of) account.times_ns[into] += std::exchange(account.times_ns[from], 0);
  };
  for (std::size_t use = kComputeUses; use-- > 0;) {
    if (use == parent_of(use)) continue;
    const bool measured = sum_of_term(accounts.measured, use) > 0;
    const bool simulated = sum_of_term(accounts.simulated, use) > 0;
    if (measured == simulated) continue;
    move(accounts.measured, use, parent_of(use));
    move(accounts.simulated, use, parent_of(use));
  }
}

void explain_terms(AccountPair accounts, Explanation& to) {
  const std::vector<Picoseconds> measured = means_of(accounts.measured);
  const std::vector<Picoseconds> simulated = means_of(accounts.simulated);
  for (std::size_t t = 0; t < step_term::kCount; ++t) {
    to.measured_ps += measured[t];
    to.simulated_ps += simulated[t];
    if (measured[t] == 0 && simulated[t] == 0) continue;
    to.terms.push_back({name_of_term(t), measured[t], simulated[t], places_of(accounts, t)});
  }
  std::ranges::stable_sort(to.terms, std::greater<>(),
                           [](const ExplainedTerm& term) { return std::abs(term.more_ps()); });
  explain_messages(accounts, to);
  set_steps(accounts, to);
}

}  // namespace orrery
