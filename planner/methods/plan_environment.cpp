#include "planner/methods/plan_environment.hpp"

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

std::size_t lowest_bit(std::size_t number) { return number & (~number + 1); }

}  // namespace

PlanEnvironment::PlanEnvironment(const Space& space, std::vector<Candidate> candidates)
    : candidates_(std::move(candidates)), sums_(candidates_.size() + 1, 0), strides_(space.keys().size()) {
  for (const SpaceKey& key : space.keys()) counts_.push_back(key.values.size());
  std::uint64_t stride = 1;
  for (std::size_t k = strides_.size(); k-- > 0; stride *= counts_[k]) strides_[k] = stride;
  for (std::size_t c = 0; c < candidates_.size(); ++c) put_back(c);
}

void PlanEnvironment::add(std::size_t candidate, bool is_left) {
  const std::int64_t change = is_left ? 1 : -1;
  for (std::size_t at = candidate + 1; at < sums_.size(); at += lowest_bit(at)) sums_[at] += change;
  left_ += change;
}

void PlanEnvironment::take_out(std::size_t candidate) { add(candidate, false); }
void PlanEnvironment::put_back(std::size_t candidate) { add(candidate, true); }

std::int64_t PlanEnvironment::left_before(std::size_t candidate) const {
  std::int64_t sum = 0;
  for (std::size_t at = candidate; at > 0; at -= lowest_bit(at)) sum += sums_[at];
  return sum;
}

void PlanEnvironment::reset() {
  key_ = 0;
  index_ = 0;
}

/// Points with the same first values stand side by side, since the last key changes fastest.
std::size_t PlanEnvironment::first_at(std::uint64_t index) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(candidates_, index, {}, &Candidate::index) -
                                  candidates_.begin());
}

std::vector<bool> PlanEnvironment::mask() const {
  std::vector<bool> allowed;
  std::int64_t before = left_before(first_at(index_));
  for (std::uint64_t value = 0; value < counts_[key_]; ++value) {
    const std::int64_t next = left_before(first_at(index_ + (value + 1) * strides_[key_]));
    allowed.push_back(next > before);
    before = next;
  }
  return allowed;
}

void PlanEnvironment::take(std::size_t value) { index_ += value * strides_[key_++]; }

std::vector<std::size_t> PlanEnvironment::values_at(std::uint64_t index) const {
  std::vector<std::size_t> values;
  for (std::size_t k = 0; k < strides_.size(); ++k)
    values.push_back(static_cast<std::size_t>(index / strides_[k] % counts_[k]));
  return values;
}

}  // namespace orrery
