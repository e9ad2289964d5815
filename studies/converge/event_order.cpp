#include "studies/converge/event_order.hpp"

#include <algorithm>

#include "studies/converge/objective.hpp"

namespace orrery {
namespace {

constexpr std::uint64_t kPartnerPurpose = 10;

}  // namespace

StepEnds::StepEnds(const std::vector<double>& speeds, std::uint32_t workers) {
  const double slowest = speeds.empty() ? 1 : *std::ranges::min_element(speeds);
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    periods_.push_back(speeds.empty() ? 1 : slowest / speeds[worker % speeds.size()]);
    waiting_.push({periods_.back(), worker, 1});
  }
}

StepEnd StepEnds::next() {
  const StepEnd end = waiting_.top();
  waiting_.pop();
  const std::int64_t step = end.step + 1;
  waiting_.push({static_cast<double>(step) * periods_[end.worker], end.worker, step});
  return end;
}

std::uint32_t partner_of(const StepEnd& end, const GossipGraph& graph, std::int64_t seed) {
  const auto rounds = static_cast<std::int64_t>(graph.rounds.size());
  const Mixing& round = graph.rounds[static_cast<std::size_t>((end.step - 1) % rounds)];
  const auto neighbours = round.neighbours(end.worker);
  if (neighbours.empty()) return end.worker;
  SplitMix64 random = random_stream(seed, kPartnerPurpose, end.worker, static_cast<std::uint64_t>(end.step));
  return neighbours[random.below(neighbours.size())];
}

}  // namespace orrery
