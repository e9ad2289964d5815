// Recursive halving and doubling: log2 n rounds between partners whose position differs in one bit
// (Thakur, Rabenseifner, Gropp 2005, section 4); a broadcast is a binomial tree. When n is no power
// of two, one of each of the first pairs stands aside: its partner acts for both.
#include <algorithm>
#include <bit>

#include "workloads/collectives/algorithms.hpp"

namespace orrery {
namespace {

std::string_view halving_obstacle(Collective collective, const GroupShape&) {
  const bool able = collective == Collective::all_reduce || collective == Collective::all_gather ||
                    collective == Collective::reduce_scatter || collective == Collective::broadcast;
  return able ? "" : "it does all-reduce, all-gather, reduce-scatter and broadcast only";
}

/// The largest power of two of the members, numbered on their own: `extra` of them stand for two.
struct Fold {
  explicit Fold(std::uint32_t members) : active(std::bit_floor(members)), extra(members - active) {}

  [[nodiscard]] std::uint32_t position(std::uint32_t number) const {
    return number < extra ? 2 * number : number + extra;
  }
  /// Blocks that the active members [begin, begin + count) stand for.
  [[nodiscard]] std::uint32_t blocks(std::uint32_t begin, std::uint32_t count) const {
    return count + std::clamp(extra, begin, begin + count) - begin;
  }

  std::uint32_t active;
  std::uint32_t extra;
};

/// Members that stand aside send to their partners, or get the result from them.
void append_fold(Rounds& out, const Fold& fold, bool to_partner, std::uint32_t share) {
  if (fold.extra == 0) return;
  Round& round = out.rounds.emplace_back();
  for (std::uint32_t number = 0; number < fold.extra; ++number) {
    const std::uint32_t partner = 2 * number;
    const std::uint32_t aside = partner + 1;
    round.messages.push_back(to_partner ? RoundMessage{aside, partner, share, 0}
                                        : RoundMessage{partner, aside, share, 0});
  }
}

/// Partners at distance `bit` exchange the same share.
void append_pairs(Rounds& out, const Fold& fold, std::uint32_t bit, std::uint32_t share) {
  Round& round = out.rounds.emplace_back();
  for (std::uint32_t number = 0; number < fold.active; ++number) {
    round.messages.push_back({fold.position(number), fold.position(number ^ bit), share, 0});
  }
}

/// Rabenseifner's all-reduce: the largest pieces go to the nearest partners.
Rounds all_reduce(const Fold& fold) {
  const std::uint32_t unit = fold.active;
  Rounds out{{}, unit};
  append_fold(out, fold, true, unit);
  for (std::uint32_t bit = 1; bit < fold.active; bit *= 2) append_pairs(out, fold, bit, unit / (2 * bit));
  for (std::uint32_t bit = fold.active / 2; bit > 0; bit /= 2) append_pairs(out, fold, bit, unit / (2 * bit));
  append_fold(out, fold, false, unit);
  return out;
}

/// Recursive doubling: each sends all blocks it has so far.
void append_doubling(Rounds& out, const Fold& fold, std::uint32_t bit, bool halving) {
  Round& round = out.rounds.emplace_back();
  for (std::uint32_t number = 0; number < fold.active; ++number) {
    const std::uint32_t kept = halving ? number ^ bit : number;
    const std::uint32_t share = fold.blocks(kept & ~(bit - 1), bit);
    round.messages.push_back({fold.position(number), fold.position(number ^ bit), share, 0});
  }
}

Rounds all_gather(const Fold& fold, std::uint32_t members) {
  Rounds out{{}, members};
  append_fold(out, fold, true, 1);
  for (std::uint32_t bit = 1; bit < fold.active; bit *= 2) append_doubling(out, fold, bit, false);
  append_fold(out, fold, false, members - 1);
  return out;
}

/// Recursive halving, the all-gather backwards: each sends the blocks of its partner's half.
Rounds reduce_scatter(const Fold& fold, std::uint32_t members) {
  Rounds out{{}, members};
  append_fold(out, fold, true, members - 1);
  for (std::uint32_t bit = fold.active / 2; bit > 0; bit /= 2) append_doubling(out, fold, bit, true);
  append_fold(out, fold, false, 1);
  return out;
}

/// The farthest first, so that few rounds cross between nodes.
Rounds broadcast(std::uint32_t members) {
  Rounds out;
  for (std::uint32_t bit = std::bit_ceil(members) / 2; bit > 0; bit /= 2) {
    Round& round = out.rounds.emplace_back();
    for (std::uint32_t from = 0; from + bit < members; from += 2 * bit) {
      round.messages.push_back({from, from + bit, 1, 0});
    }
  }
  return out;
}

Rounds halving_rounds(Collective collective, const GroupShape& shape) {
  const Fold fold(shape.members);
  switch (collective) {
    case Collective::all_reduce:
      return all_reduce(fold);
    case Collective::all_gather:
      return all_gather(fold, shape.members);
    case Collective::reduce_scatter:
      return reduce_scatter(fold, shape.members);
    default:
      return broadcast(shape.members);
  }
}

bool halving_automatic(Collective, const GroupShape&) { return false; }

}  // namespace

CollectiveAlgorithm halving_doubling_algorithm() {
  return {{"halving-doubling", "log2 n rounds between partners at distances 1, 2, 4, ..."},
          halving_obstacle,
          halving_rounds,
          halving_automatic};
}

}  // namespace orrery
