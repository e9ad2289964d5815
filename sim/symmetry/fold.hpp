// Folds ranks: those that cannot differ are simulated once.
//
// Ranks, communicators and links on which transfers meet are coloured by their properties, then refined:
// two ranks keep one colour only while their communicators have equal colours slot by slot, two
// communicators only while their prices and the colours of their members and links agree, two links
// only while the same colours load them equally. The colours that no longer split form an equitable
// partition: members of a class see the same history, so one of each is enough, and a shared link is
// loaded by its classes with their summed weights. Results are equal to the bit.
//
// Replicas of the model that are priced alike and load their links alike can change places, so one of
// them stands for all before anything is refined. Replicas that meet on a link change places together.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/topology.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/symmetry/shared_links.hpp"

namespace orrery {

/// A partition of n things.
struct Partition {
  std::vector<std::uint32_t> class_of;        ///< per thing
  std::vector<std::uint32_t> representative;  ///< per class: one of its members
  std::vector<std::uint32_t> multiplicity;    ///< per class: how many members
};

struct Folded {
  Partition ranks;
  Partition groups;
  SharedLinks shared;
  /// Per shared link that represents others: its class; kNone for the others.
  std::vector<std::uint32_t> link_class;
  std::vector<LinkId> links;  ///< per class of links: the one that stands for it
};

[[nodiscard]] Folded fold(const Workload& workload, const Channels& channels, const PriceList& prices,
                          const Topology& topology, SharedLinks shared);

/// Everything in a class of its own.
[[nodiscard]] Folded unfolded(const Workload& workload, SharedLinks shared);

}  // namespace orrery
