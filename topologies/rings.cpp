#include "topologies/rings.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace orrery {
namespace {

using Tour = std::vector<std::uint32_t>;

std::size_t copies(std::size_t tours, std::size_t members) {
  constexpr std::size_t kMaxRings = 32;
  const std::size_t even = std::lcm(tours, members) / tours;
  const std::size_t limit = std::max(kMaxRings, members) / tours;
  return std::max<std::size_t>(1, std::min(even, limit));
}

/// Counts how often each member starts and ends a ring.
class Cutter {
 public:
  explicit Cutter(const Tour& members)
      : members_(members), starts_(*std::max_element(members.begin(), members.end()) + 1), ends_(starts_) {}

  Tour cut(Tour tour) {
    Tour::iterator best = tour.begin();
    for (const std::uint32_t member : members_) {
      const auto candidate = std::find(tour.begin(), tour.end(), member);
      if (member == members_.front() || cost(tour, candidate) < cost(tour, best)) best = candidate;
    }
    std::rotate(tour.begin(), best, tour.end());
    ++starts_[tour.front()];
    ++ends_[tour.back()];
    return tour;
  }

 private:
  [[nodiscard]] std::tuple<int, int> cost(const Tour& tour, Tour::const_iterator start) const {
    const std::uint32_t last = start == tour.begin() ? tour.back() : *(start - 1);
    return {starts_[*start], ends_[last]};
  }

  const Tour& members_;
  std::vector<int> starts_;
  std::vector<int> ends_;
};

}  // namespace

std::vector<Tour> cut_tours(const std::vector<Tour>& tours, const Tour& members) {
  if (members.size() < 2) return tours;
  std::vector<Tour> rings;
  Cutter cutter(members);
  const std::size_t rounds = copies(tours.size(), members.size());
  rings.reserve(rounds * tours.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    for (const Tour& tour : tours) rings.push_back(cutter.cut(tour));
  }
  return rings;
}

}  // namespace orrery
