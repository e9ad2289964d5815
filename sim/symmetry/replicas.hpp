// Finds the replicas of a workload that can change places. Inside sim/symmetry/ only.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/content_hash.hpp"
#include "orrery/topology.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/matching/channels.hpp"
#include "sim/symmetry/shared_links.hpp"

namespace orrery {

/// Gives the signature by which folding compares prices: the whole price if transfers share links with
/// others, otherwise only its duration.
class CostSignatures {
 public:
  CostSignatures(const Channels& channels, const PriceList& prices, const SharedLinks& shared);

  /// Returns the signature of call number `call` for the group.
  [[nodiscard]] std::uint64_t of(std::uint32_t group, std::uint32_t call) const {
    const std::uint32_t price = first_[call] + prices_.calls[call].of_place[channels_.group_place[group]];
    return shared_.of(group).empty() ? std::uint64_t{times_[price]} : ~std::uint64_t{legs_[price]};
  }
  /// Returns true if the signature of the call is equal for all groups, so that it distinguishes none of
  /// them.
  [[nodiscard]] bool even(std::uint32_t call) const { return even_[call]; }

 private:
  void number(const CallPrice& price, ContentTable& times, ContentTable& legs);
  [[nodiscard]] bool takes_equally_long(std::uint32_t call) const;

  const Channels& channels_;
  const PriceList& prices_;
  const SharedLinks& shared_;
  std::vector<std::uint32_t> first_;  ///< per call: the first of its costs among all
  std::vector<std::uint32_t> times_;  ///< per cost: a number for how long it takes
  std::vector<std::uint32_t> legs_;   ///< and one for its legs
  std::vector<bool> even_;            ///< per call
};

struct Replicas {
  std::vector<std::uint32_t> like;   ///< per replica: the one that stands for it
  std::vector<std::uint32_t> times;  ///< per replica: for how many it stands; 0 if another one does
  std::vector<std::uint32_t> owner;  ///< per shared link: the first replica that meets others on it, or kNone
  std::vector<bool> wide;            ///< per channel: whether its groups join replicas

  /// A group of a rank of replica 0 with that replica only, which all replicas have one of.
  struct Part {
    std::uint32_t rank = 0;
    std::uint32_t channel = 0;
    std::uint16_t slot = 0;
  };
  std::vector<std::uint32_t> ranks;  ///< of replica 0
  std::vector<Part> parts;           ///< each group once
};

[[nodiscard]] Replicas fold_replicas(const Workload& workload, const Channels& channels,
                                     const SharedLinks& shared, const CostSignatures& colours,
                                     const RankSpeeds& rank_speeds, const Topology& topology);

}  // namespace orrery
