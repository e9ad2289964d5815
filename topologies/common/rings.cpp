#include "topologies/common/rings.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace orrery {
namespace {

using Tour = std::vector<std::uint32_t>;

std::size_t copies(std::size_t tours, std::size_t members) {
  constexpr std::size_t kMaxRings = 32;
  constexpr std::size_t kMaxChannels = 64;  // as NCCL: more bring nothing but work
  const std::size_t even = std::lcm(tours, members) / tours;
  const std::size_t limit = std::min(std::max(kMaxRings, members), kMaxChannels) / tours;
  return std::max<std::size_t>(1, std::min(even, limit));
}

/// Counts how often each member starts and ends a ring.
class Cutter {
 public:
  explicit Cutter(const Tour& members)
      : members_(members),
        starts_(*std::max_element(members.begin(), members.end()) + 1),
        ends_(starts_),
        places_(starts_.size()) {}

  Tour cut(Tour tour) {
    for (std::uint32_t i = 0; i < tour.size(); ++i) places_[tour[i]] = i;
    std::uint32_t best = places_[members_.front()];
    for (const std::uint32_t member : members_) {
      if (cost(tour, places_[member]) < cost(tour, best)) best = places_[member];
    }
    std::rotate(tour.begin(), tour.begin() + best, tour.end());
    ++starts_[tour.front()];
    ++ends_[tour.back()];
    return tour;
  }

 private:
  [[nodiscard]] std::tuple<int, int> cost(const Tour& tour, std::uint32_t start) const {
    const std::uint32_t last = start == 0 ? tour.back() : tour[start - 1];
    return {starts_[tour[start]], ends_[last]};
  }

  const Tour& members_;
  std::vector<int> starts_;
  std::vector<int> ends_;
  std::vector<std::uint32_t> places_;  // of each member in the tour being cut
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
