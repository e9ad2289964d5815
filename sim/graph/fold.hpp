// Folding: ranks that cannot differ are simulated once.
//
// Ranks, communicators and (where transfers share links) links are coloured by what they are, then
// refined: two ranks keep one colour only while their communicators have equal colours slot by slot,
// two communicators only while their prices and the colours of their members and links agree, two
// links only while the same colours load them equally. The colours that no longer split form an
// equitable partition: members of a class see the same history, so one of each is enough, and a
// shared link is loaded by its classes with their summed weights. Results are equal to the bit.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/topology.hpp"
#include "orrery/workload.hpp"
#include "sim/graph/price_list.hpp"

namespace orrery {

/// A partition of n things. Classes are numbered in the order of their first members.
struct Partition {
  std::vector<std::uint32_t> class_of;        ///< per thing
  std::vector<std::uint32_t> representative;  ///< per class: its first member
  std::vector<std::uint32_t> multiplicity;    ///< per class: how many members
};

struct Folded {
  Partition ranks;
  Partition groups;
  Partition links;  ///< empty unless links were asked for
};

/// `links`: transfers share links, so links are part of the picture.
[[nodiscard]] Folded fold(const Workload& workload, const Channels& channels, const PriceList& prices,
                          const Topology& topology, bool links);

/// Everything in a class of its own.
[[nodiscard]] Folded unfolded(const Workload& workload);

}  // namespace orrery
