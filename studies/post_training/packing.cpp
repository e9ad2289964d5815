#include "studies/post_training/packing.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "orrery/units.hpp"
#include "workloads/models/blocks.hpp"

namespace orrery {
namespace {

std::int64_t round_up(std::int64_t value, std::int64_t step) { return divide_up(value, step) * step; }

/// Tokens of each micro-batch, the fullest first. `lengths` falls.
std::vector<std::int64_t> best_fit(const std::vector<std::int64_t>& lengths, std::int64_t most_tokens) {
  std::vector<std::int64_t> filled;
  std::multiset<std::pair<std::int64_t, std::size_t>> room;  // left over, and of which
  for (const std::int64_t length : lengths) {
    const auto found = room.lower_bound({length, 0});
    if (found == room.end()) {
      filled.push_back(length);
      room.emplace(most_tokens - length, filled.size() - 1);
      continue;
    }
    const auto [left, which] = *found;
    room.erase(found);
    filled[which] += length;
    room.emplace(left - length, which);
  }
  std::ranges::sort(filled, std::greater<>());
  return filled;
}

/// Tokens of the replica that gets most.
std::int64_t fullest_replica(const std::vector<std::int64_t>& filled, std::int64_t replicas) {
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(replicas));
  for (std::size_t i = 0; i < filled.size(); ++i) {
    const std::size_t round = i / tokens.size();
    const std::size_t place = i % tokens.size();
    tokens[round % 2 == 0 ? place : tokens.size() - 1 - place] += filled[i];
  }
  return *std::ranges::max_element(tokens);
}

/// @param sum  of the tokens that are not padding
PackedSamples of_one_length(std::int64_t length, std::int64_t samples, std::int64_t sum,
                            const PackingRules& rules) {
  const std::int64_t own = divide_up(samples, rules.replicas);
  const std::int64_t sequences = std::clamp<std::int64_t>(rules.most_tokens / length, 1, own);
  const std::int64_t micro_batches = round_up(divide_up(own, sequences), rules.multiple);
  const std::int64_t padded = round_up(length, rules.divisor);
  const auto computed = static_cast<double>(Int128{padded} * sequences * micro_batches * rules.replicas);
  return {{padded, 0, sequences, micro_batches},
          static_cast<double>(own * rules.replicas) / static_cast<double>(samples),
          static_cast<double>(sum) / computed};
}

/// The length at which equal samples attend to as many tokens: attention goes with the square.
std::int64_t attended_length(const std::vector<std::int64_t>& lengths, std::int64_t sum) {
  Int128 squares = 0;
  for (const std::int64_t length : lengths) squares += Int128{length} * length;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(divide_rounded(squares, sum)));
}

/// Sequences of samples side by side, where attention does not stay within samples of a sequence.
TrainingShape side_by_side(std::int64_t tokens, std::int64_t length, const PackingRules& rules) {
  const std::int64_t sequences = std::max<std::int64_t>(1, tokens / length);
  return {round_up(divide_up(tokens, sequences), rules.divisor), 0, sequences, 1};
}

}  // namespace

PackedSamples pack_samples(std::vector<std::int64_t> lengths, const PackingRules& rules) {
  std::ranges::sort(lengths, std::greater<>());
  const auto count = static_cast<std::int64_t>(lengths.size());
  const std::int64_t sum = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  if (rules.pads || lengths.front() == lengths.back())
    return of_one_length(lengths.front(), count, sum, rules);
  const std::vector<std::int64_t> filled = best_fit(lengths, rules.most_tokens);
  const std::int64_t micro_batches =
      round_up(divide_up(static_cast<std::int64_t>(filled.size()), rules.replicas), rules.multiple);
  const std::int64_t most = fullest_replica(filled, rules.replicas);
  const std::int64_t tokens = divide_up(most, micro_batches);
  const std::int64_t length = attended_length(lengths, sum);
  PackedSamples packed;
  if (rules.packs) {
    const std::int64_t padded = round_up(tokens, rules.divisor);
    packed.shape = {padded, length < padded ? length : 0, 1, micro_batches};
  } else {
    packed.shape = side_by_side(tokens, length, rules);
    packed.shape.micro_batches = micro_batches;
  }
  packed.imbalance = static_cast<double>(most * rules.replicas) / static_cast<double>(sum);
  packed.fill =
      static_cast<double>(sum) / static_cast<double>(Int128{packed.shape.sequence_tokens} *
                                                     packed.shape.sequences * micro_batches * rules.replicas);
  return packed;
}

}  // namespace orrery
