// Gossip graphs for the tests of this folder.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "topologies/gossip/analysis.hpp"
#include "topologies/gossip/gossip.hpp"

namespace orrery::test {

inline DataParallelSync sync_of(const std::string& topology, SyncMethod method = SyncMethod::gossip) {
  DataParallelSync sync;
  sync.method = method;
  sync.topology = topology;
  return sync;
}

inline GossipGraph graph_of(const std::string& topology, std::uint32_t workers) {
  return build_gossip_graph(sync_of(topology), {workers, 4, 8, 1});
}

inline GossipGraph base_k(std::uint32_t workers, std::int64_t peers) {
  DataParallelSync sync = sync_of("base-k");
  sync.peers = peers;
  return build_gossip_graph(sync, {workers, 1, 1, 0});
}

/// "pointer: message" of the mistake, or "" where there is none.
inline std::string diagnostic_of(const DataParallelSync& sync, const GossipSize& size) {
  try {
    (void)build_gossip_graph(sync, size);
  } catch (const InputError& error) {
    return error.diagnostics().front().text();
  }
  return "";
}

}  // namespace orrery::test
