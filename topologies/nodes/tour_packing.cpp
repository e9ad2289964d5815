#include "topologies/nodes/tour_packing.hpp"

#include <algorithm>

namespace orrery {
namespace {

using Tour = std::vector<std::uint32_t>;

/// Lists the tours over direct links, each in one direction only, in lexicographic order.
class DirectTours {
 public:
  DirectTours(const Tour& members, const LinkCounts& links) : links_(links), tour_(members) {
    std::sort(tour_.begin(), tour_.end());
    extend(1);
  }
  [[nodiscard]] const std::vector<Tour>& found() const { return found_; }

 private:
  void extend(std::size_t placed) {
    if (placed == tour_.size()) {
      if (tour_[1] < tour_.back() && links_[tour_.back()][tour_[0]] > 0) found_.push_back(tour_);
      return;
    }
    // Rotating instead of swapping keeps the rest sorted, so that tours come in order.
    for (std::size_t next = placed; next < tour_.size(); ++next) {
      std::rotate(tour_.begin() + placed, tour_.begin() + next, tour_.begin() + next + 1);
      if (links_[tour_[placed - 1]][tour_[placed]] > 0) extend(placed + 1);
      std::rotate(tour_.begin() + placed, tour_.begin() + placed + 1, tour_.begin() + next + 1);
    }
  }

  const LinkCounts& links_;
  Tour tour_;
  std::vector<Tour> found_;
};

/// Chooses tours, repeated ones allowed, as many as the links carry.
class Packing {
 public:
  Packing(const std::vector<Tour>& tours, const LinkCounts& links) : tours_(tours), free_(links) {
    if (tours.empty()) return;
    for (const std::uint32_t member : tours.front()) {
      int degree = 0;
      for (const int count : links[member]) degree += count;
      bound_ = std::min(bound_, static_cast<std::size_t>(degree) / 2);
    }
    add_from(0);
  }
  [[nodiscard]] const std::vector<const Tour*>& best() const { return best_; }

 private:
  void add_from(std::size_t first) {
    if (chosen_.size() > best_.size()) best_ = chosen_;
    for (std::size_t i = first; i < tours_.size() && best_.size() < bound_; ++i) {
      if (!fits(tours_[i])) continue;
      take(tours_[i], 1);
      chosen_.push_back(&tours_[i]);
      add_from(i);
      chosen_.pop_back();
      take(tours_[i], -1);
    }
  }

  [[nodiscard]] bool fits(const Tour& tour) const {
    for (std::size_t i = 0; i < tour.size(); ++i) {
      if (free_[tour[i]][tour[(i + 1) % tour.size()]] == 0) return false;
    }
    return true;
  }

  void take(const Tour& tour, int count) {
    for (std::size_t i = 0; i < tour.size(); ++i) {
      const std::uint32_t a = tour[i];
      const std::uint32_t b = tour[(i + 1) % tour.size()];
      free_[a][b] -= count;
      free_[b][a] -= count;
    }
  }

  const std::vector<Tour>& tours_;
  LinkCounts free_;
  std::size_t bound_ = kMaxTourMembers;
  std::vector<const Tour*> chosen_;
  std::vector<const Tour*> best_;
};

/// Least share of a link that a tour gets, in 1/840 links (840 is a multiple of every load up to 8).
int bottleneck(const Tour& tour, const LinkCounts& links, const NextHops& via) {
  LinkCounts load{};
  int least = 840 * static_cast<int>(kMaxTourMembers);
  const auto use = [&](std::uint32_t from, std::uint32_t to) {
    least = std::min(least, 840 * links[from][to] / ++load[from][to]);
  };
  for (std::size_t i = 0; i < tour.size(); ++i) {
    const std::uint32_t from = tour[i];
    const std::uint32_t to = tour[(i + 1) % tour.size()];
    const std::uint32_t over = via[from][to];
    use(from, over);
    if (over != to) use(over, to);
  }
  return least;
}

/// The tour with the widest bottleneck, of equal ones the first in lexicographic order.
Tour widest_tour(Tour tour, const LinkCounts& links, const NextHops& via) {
  std::sort(tour.begin(), tour.end());
  Tour best = tour;
  int best_width = bottleneck(tour, links, via);
  while (std::next_permutation(tour.begin() + 1, tour.end())) {
    const int width = bottleneck(tour, links, via);
    if (width > best_width) {
      best = tour;
      best_width = width;
    }
  }
  return best;
}

}  // namespace

std::vector<Tour> pack_tours(const Tour& members, const LinkCounts& links, const NextHops& via) {
  if (members.size() < 3) return {members};
  const DirectTours direct(members, links);
  const Packing packing(direct.found(), links);
  std::vector<Tour> out;
  for (const Tour* tour : packing.best()) {
    out.push_back(*tour);
    out.emplace_back(tour->rbegin(), tour->rend());
  }
  if (out.empty()) {
    const Tour tour = widest_tour(members, links, via);
    out = {tour, {tour.rbegin(), tour.rend()}};
  }
  return out;
}

}  // namespace orrery
