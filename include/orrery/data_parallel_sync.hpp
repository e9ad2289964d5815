// Describes how the replicas of the data-parallel dimension are synchronised: the `data_parallel_sync` of an
// experiment. Read by topologies/gossip/ (the graph), workloads/ (the tasks) and studies/converge/ (the
// mathematics).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class SyncMethod : std::uint8_t {
  none,               ///< replicas stay apart
  all_reduce,         ///< parallel SGD: gradients are averaged over all replicas every step
  parameter_server,   ///< the same through servers that add up and send back
  gossip,             ///< decentralised SGD: models are averaged with neighbours every step
  push_sum,           ///< stochastic gradient push: gossip on directed graphs, a weight travels along
  local_sgd,          ///< FedAvg: models are averaged over all replicas every `period` steps
  gossip_pga,         ///< gossip, and every `period` steps a global average in its place
  gossip_aga,         ///< the same with a period that doubles from `period` to `final_period`
  diloco,             ///< local steps; every `period` steps an outer optimizer takes the averaged change
  gradient_tracking,  ///< gossip of models and of estimates of the mean gradient
  d2,                 ///< gossip of models that are corrected by the last step's; exact diffusion
  qg_dsgdm,           ///< gossip with a momentum of the models' change after averaging
  slowmo,             ///< `base` steps; every `period` steps a global average and slow momentum
  noloco,             ///< local steps; every `period` steps an outer optimizer with a partner
  sparse_loco,        ///< diloco whose changes are sparse, with error feedback in place of momentum
  demo,               ///< decoupled momentum: its largest frequencies are averaged every step
  ad_psgd,            ///< workers average with a random neighbour at the ends of their own steps
  easgd,              ///< every `period` of its own steps a worker and a centre pull at each other
  async_diloco,       ///< diloco whose server takes each worker's change when it comes
};
inline constexpr std::array<std::string_view, 19> kSyncMethodNames{
    "none",        "all-reduce", "parameter-server",  "gossip", "push-sum",    "local-sgd", "gossip-pga",
    "gossip-aga",  "diloco",     "gradient-tracking", "d2",     "qg-dsgdm",    "slowmo",    "noloco",
    "sparse-loco", "demo",       "ad-psgd",           "easgd",  "async-diloco"};

/// Says how workers of slowmo exchange models between global averages.
enum class SlowBase : std::uint8_t { gossip, local_sgd };
inline constexpr std::array<std::string_view, 2> kSlowBaseNames{"gossip", "local-sgd"};

enum class MixingWeights : std::uint8_t {
  automatic,            ///< metropolis-hastings where every edge goes both ways, else uniform
  uniform,              ///< 1 / (in-degree + 1)
  metropolis_hastings,  ///< 1 / (1 + the larger degree of the two ends)
};
inline constexpr std::array<std::string_view, 3> kMixingWeightsNames{"auto", "uniform",
                                                                     "metropolis-hastings"};

enum class SyncLevel : std::uint8_t {
  gpu,   ///< every replica is a worker
  node,  ///< the replicas of a node are one worker: they reduce, one of them exchanges, and broadcasts
  site,  ///< the same with the replicas of a site of cluster.regions
};
inline constexpr std::array<std::string_view, 3> kSyncLevelNames{"gpu", "node", "site"};

/// Says when models travel. Not every method has every form.
enum class SyncOverlap : std::uint8_t {
  none,                     ///< after the update, before the next step
  adapt_then_combine,       ///< each bucket as soon as its gradients are there and applied
  combine_while_computing,  ///< while the next step computes; combined with its gradients
  one_step_stale,           ///< the same window; received models are used a step late
};
inline constexpr std::array<std::string_view, 4> kSyncOverlapNames{
    "none", "adapt-then-combine", "combine-while-computing", "one-step-stale"};

enum class Placement : std::uint8_t {
  linear,  ///< worker i is replica i
  near,    ///< neighbours are put on near GPUs
};
inline constexpr std::array<std::string_view, 2> kPlacementNames{"linear", "near"};

/// Says how a model is cut into fragments.
enum class FragmentPattern : std::uint8_t {
  even,        ///< an equal share of the parameters, wherever they lie
  sequential,  ///< layers that follow each other
  strided,     ///< every n-th layer
};
inline constexpr std::array<std::string_view, 3> kFragmentPatternNames{"even", "sequential", "strided"};

/// Describes the lossy compression of messages. docs/theory/synchronization.md has their bytes and constants.
struct Compression {
  enum class Method : std::uint8_t { none, quantize, qsgd, sign, top_k, random_k, low_rank, fp4, dct_top_k };
  static constexpr std::array<std::string_view, 9> kNames{"none",     "quantize", "qsgd", "sign",     "top-k",
                                                          "random-k", "low-rank", "fp4",  "dct-top-k"};
  Method method = Method::none;
  std::int64_t bits = 16;     ///< quantize: per value, 4, 8 or 16; top-k, dct-top-k: of one that is kept
  std::int64_t levels = 16;   ///< qsgd: s, levels between 0 and the norm
  std::int64_t bucket = 512;  ///< qsgd, fp4, quantize below 16 bits: values that share a scale
  double fraction = 0.01;     ///< top-k, dct-top-k, random-k: k / d
  std::int64_t chunk = 0;     ///< top-k, dct-top-k: values of which the largest are kept; 0: all that travel
  std::int64_t rank = 4;      ///< low-rank: r
  /// Error feedback, for sign, top-k, dct-top-k, random-k, low-rank: the loss is added next time.
  bool error_feedback = true;
  double error_decay = 1;  ///< share of the loss that is added

  [[nodiscard]] bool keeps_largest() const { return method == Method::top_k || method == Method::dct_top_k; }
  /// Returns true if the compressor stores its loss and adds it next time (error feedback).
  [[nodiscard]] bool feeds_back() const {
    return error_feedback && (keeps_largest() || method == Method::sign || method == Method::random_k ||
                              method == Method::low_rank);
  }

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(method, bits, levels, bucket, fraction, chunk, rank, error_feedback, error_decay);
  }
  friend bool operator==(const Compression&, const Compression&) = default;
};

struct DataParallelSync {
  SyncMethod method = SyncMethod::all_reduce;
  std::string topology = "one-peer-exponential";  ///< a name of `gossip_topologies()`
  std::vector<std::vector<std::int64_t>>
      neighbours;  ///< explicit graph: the workers that each worker receives from
  MixingWeights weights = MixingWeights::automatic;
  SyncLevel level = SyncLevel::gpu;
  std::int64_t period = 6;         ///< H, steps from one global average to the next
  std::int64_t final_period = 64;  ///< gossip-aga
  SyncOverlap overlap = SyncOverlap::none;
  SlowBase base = SlowBase::gossip;  ///< slowmo
  Compression compression;
  std::int64_t servers = 1;         ///< parameter-server: each holds an equal share of the parameters
  std::vector<std::int64_t> shape;  ///< grid, torus: extents; empty: as square as can be
  double probability = 0.5;         ///< erdos-renyi: of an edge
  std::int64_t peers = 1;           ///< base-k: neighbours a worker may have in a round
  std::int64_t fragments = 1;       ///< diloco: parts of the model that travel in turn
  std::int64_t delay = 0;           ///< diloco: steps until a message is needed
  FragmentPattern fragment_pattern = FragmentPattern::even;
  double mixing = 0;  ///< diloco: share of its own model that a worker keeps when the outer one comes
  Placement placement = Placement::linear;
  std::vector<std::int64_t> places;  ///< per worker its replica; empty: by `placement`

  /// Returns true if the replicas of a node, or of a site, form one worker. All-reduce has hierarchical
  /// algorithms instead.
  [[nodiscard]] bool joins_replicas() const {
    return level != SyncLevel::gpu && method != SyncMethod::all_reduce && method != SyncMethod::none;
  }
  /// Returns true if workers go on without waiting for others, each at its own pace.
  [[nodiscard]] bool asynchronous() const {
    return method == SyncMethod::ad_psgd || method == SyncMethod::easgd || method == SyncMethod::async_diloco;
  }
  [[nodiscard]] bool gossips() const {
    switch (method) {
      case SyncMethod::gossip:
      case SyncMethod::push_sum:
      case SyncMethod::gossip_pga:
      case SyncMethod::gossip_aga:
      case SyncMethod::gradient_tracking:
      case SyncMethod::d2:
      case SyncMethod::qg_dsgdm:
      case SyncMethod::noloco:
      case SyncMethod::ad_psgd:
        return true;
      case SyncMethod::slowmo:
        return base == SlowBase::gossip;
      default:
        return false;
    }
  }

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(method, topology, neighbours, weights, level, period, final_period, overlap, base,
                 compression, servers, shape, probability, peers, fragments, delay, fragment_pattern, mixing,
                 placement, places);
  }
  friend bool operator==(const DataParallelSync&, const DataParallelSync&) = default;
};

}  // namespace orrery
