// Simulates asynchronous workers: each does its local steps at its own pace, and events decide which workers
// exchange models. Simulated time orders them, then the numbers of workers, so a run is a function of its
// input.
//
//   in pairs       asynchronous decentralised SGD (Lian et al. 2018): a worker that has done a step picks a
//                  neighbour by seed; once neither is in an exchange, both send their model and both take
//                  the mean
//   at a centre    EASGD (Zhang, Choromanska, LeCun 2015), asynchronous local SGD (Liu et al. 2024): every
//                  period a worker sends its model to the centre, which merges it and answers
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/gossip_graph.hpp"
#include "orrery/topology.hpp"
#include "sim/asynchronous/local_steps.hpp"
#include "sim/asynchronous/model_routes.hpp"

namespace orrery {

/// Holds the inputs that all runs of exchanges need.
struct ExchangeInput {
  const std::vector<LocalSteps>& workers;
  /// Mean number of steps per worker: the run ends when all workers together have done that many, with the
  /// exchanges they wait for.
  std::int64_t steps = 1;
  const Topology& topology;
  bool shares_links = true;             ///< messages slow each other down
  ModelRoutes& routes;                  ///< of a model, or of a server's part of it
  std::vector<Picoseconds> merge_time;  ///< per worker: kernels that merge a received model
};

struct PairRules {
  GossipGraph graph;
  std::uint64_t seed = 1;
  bool while_computing = false;  ///< the next step goes on beside the exchange
};

struct CentreRules {
  std::int64_t period = 1;
  std::vector<std::uint32_t> servers;  ///< workers that hold a part of the centre each
  std::vector<Picoseconds> makes;      ///< per worker: kernels that prepare its message
  std::vector<Picoseconds> updates;    ///< per worker: kernels of a server there that take a part in
};

/// Two workers that averaged; or a worker and the centre, under its own number.
struct Exchange {
  Picoseconds at = 0;  ///< when the models are taken in
  std::uint32_t worker = 0;
  std::uint32_t partner = 0;
};

struct ExchangeRun {
  Picoseconds makespan = 0;
  std::vector<std::int64_t> steps;  ///< per worker: done
  std::vector<Picoseconds> busy;    ///< per worker: of local steps, with the one that the end cut off
  std::vector<Exchange> exchanges;  ///< that are over, in order of time
  std::int64_t updates = 0;         ///< whose staleness is counted
  std::int64_t staleness = 0;       ///< of all: updates by others since the model it is based on was read
  std::int64_t most_stale = 0;
  Int128 bytes = 0;                       ///< that have arrived
  std::vector<std::uint64_t> link_bytes;  ///< per link: of those
  std::uint64_t events = 0;
};

/// @throws InputError at /simulation if it would take more simulated time than there is.
[[nodiscard]] ExchangeRun average_in_pairs(const ExchangeInput& input, const PairRules& rules);
/// @throws as average_in_pairs()
[[nodiscard]] ExchangeRun run_parameter_server(const ExchangeInput& input, const CentreRules& rules);

/// Returns the number of the neighbour that a worker picks after its step, below `neighbours`: by SplitMix64
/// of all three.
[[nodiscard]] std::uint32_t pick_neighbour(std::uint64_t seed, std::uint32_t worker, std::int64_t step,
                                           std::uint32_t neighbours);

}  // namespace orrery
