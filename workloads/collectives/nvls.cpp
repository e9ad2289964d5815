// NVLink SHARP: the switch of a node adds up and copies (NCCL's NVLS). Member i makes the switch reduce
// its n-th part, for which all members send theirs, and hands the sum to the switch to copy it to all:
// through each port go M up to be reduced and M/n up as a sum, M/n down as a sum and M down as the
// result, (n+1)/n M each way. Reduce-scatter and all-gather gain little from it and stay rings.
#include <string_view>

#include "workloads/collectives/algorithms.hpp"

namespace orrery {
namespace {

std::string_view nvls_obstacle(Collective collective, const GroupShape& shape) {
  if (collective != Collective::all_reduce) return "it does all-reduce only";
  if (shape.nodes.size() > 1) return "it stays inside one node";
  return shape.switch_reduces ? "" : "it needs a node whose switch reduces (cluster.node.nvls_efficiency)";
}

/// Neighbour to neighbour, so that every port is loaded once each way. Two hops: to a sum, and back.
Rounds nvls_rounds(Collective, const GroupShape& shape) {
  Round round;
  append_ring(round, shape.nodes.front(), shape.members + 1);
  for (RoundMessage& message : round.messages) message.stage = 0;
  round.hops = 2;
  return {{round}, shape.members, true};
}

bool nvls_automatic(Collective collective, const GroupShape&) { return collective == Collective::all_reduce; }

}  // namespace

CollectiveAlgorithm nvls_algorithm() {
  return {{"nvls", "the switch of the node reduces and copies (NVLink SHARP)"},
          nvls_obstacle,
          nvls_rounds,
          nvls_automatic};
}

}  // namespace orrery
