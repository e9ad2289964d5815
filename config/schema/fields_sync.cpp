#include "config/schema/fields.hpp"

namespace orrery {
namespace {

constexpr double kMaxPeriod = 1e4;
constexpr double kMaxExtent = 1e7;

}  // namespace

const std::vector<Field<DataParallelSync>>& sync_fields() {
  using S = DataParallelSync;
  using T = FieldTable<S>;
  static const std::vector<Field<S>> fields{
      T::choice(
          "method", {kSyncMethodNames, nullptr, {}},
          +[](S& s, std::size_t i) { s.method = static_cast<SyncMethod>(i); }, "all-reduce",
          "how replicas are kept in step"),
      T::nested("topology",
                "with whom workers gossip: a name, or per worker a list of those it receives from; "
                "one-peer-exponential by default"),
      T::choice(
          "weights", {kMixingWeightsNames, nullptr, {}},
          +[](S& s, std::size_t i) { s.weights = static_cast<MixingWeights>(i); }, "auto",
          "of neighbours; auto: metropolis-hastings where every edge goes both ways, else uniform"),
      T::choice(
          "level", {kSyncLevelNames, nullptr, {}},
          +[](S& s, std::size_t i) { s.level = static_cast<SyncLevel>(i); }, "gpu",
          "what a worker is: each replica, or those of a node, or of a site, together"),
      T::integer("period", 1, kMaxPeriod, &S::period, "6",
                 "steps from one global average to the next; of a worker, from one exchange with the centre"),
      T::integer("final_period", 1, kMaxPeriod, &S::final_period, "64",
                 "to which the period of gossip-aga doubles"),
      T::choice(
          "overlap", {kSyncOverlapNames, nullptr, {}},
          +[](S& s, std::size_t i) { s.overlap = static_cast<SyncOverlap>(i); },
          "none; of gossip adapt-then-combine where the stack overlaps gradients",
          "when models travel: after the update, by bucket as it is updated, or while the next step "
          "computes; local-sgd and diloco have the first two, and by bucket is by layer for them; "
          "ad-psgd has the first and the third"),
      T::choice(
          "base", {kSlowBaseNames, nullptr, {}},
          +[](S& s, std::size_t i) { s.base = static_cast<SlowBase>(i); }, "gossip",
          "slowmo: what workers do between global averages"),
      T::nested("compression", "the name of a method, or an object with method and its parameters"),
      T::integer("servers", 1, kMaxGpus, &S::servers, "1",
                 "of a parameter server or centre, each with an equal share of the parameters"),
      T::integers("shape", 1, kMaxExtent, &S::shape, "as square as can be", "extents of a grid or torus"),
      T::number("probability", "", 0, 1, &S::probability, "0.5", "of an edge of an erdos-renyi graph"),
      T::integer("peers", 1, 64, &S::peers, "1", "neighbours in a round of a base-k graph"),
      T::integer("fragments", 1, kMaxPeriod, &S::fragments, "1",
                 "diloco: parts of the model that travel in turn"),
      T::integer("delay", 0, kMaxPeriod, &S::delay, "0",
                 "diloco: steps that go on while a part of the model travels"),
      T::choice(
          "fragment_pattern", {kFragmentPatternNames, nullptr, {}},
          +[](S& s, std::size_t i) { s.fragment_pattern = static_cast<FragmentPattern>(i); }, "even",
          "diloco: a fragment is an equal share of the parameters, layers that follow each other, or every "
          "so manieth layer"),
      T::number("mixing", "", 0, 1, &S::mixing, "0.5 with a delay, else 0",
                "diloco: share of its own model that a worker keeps when the outer one comes"),
      T::nested("placement", "linear, near, or a list with the replica (or node) of each worker"),
  };
  return fields;
}

const FieldInfo& gossip_topology_field() {
  static const FieldInfo field =
      FieldTable<DataParallelSync>::choice("topology", {{}, &Menus::gossip_topologies, {}}, std::monostate{},
                                           "one-peer-exponential", "with whom workers gossip");
  return field;
}

const Field<DataParallelSync>& placement_field() {
  using S = DataParallelSync;
  static const Field<S> field = FieldTable<S>::choice(
      "placement", {kPlacementNames, nullptr, {}},
      +[](S& s, std::size_t i) { s.placement = static_cast<Placement>(i); }, "linear", "where workers sit");
  return field;
}

const std::vector<Field<Compression>>& compression_fields() {
  using C = Compression;
  using T = FieldTable<C>;
  static const std::vector<Field<C>> fields{
      T::choice(
          "method", {C::kNames, nullptr, {}},
          +[](C& c, std::size_t i) { c.method = static_cast<C::Method>(i); }, "none",
          "lossy form of what travels"),
      T::integer(
          "bits", 2, 32, &C::bits, "16; 32 for top-k and dct-top-k, 2 for sparse-loco",
          "quantize: of a value, 4, 8 or 16, which is half precision without a scale; top-k, dct-top-k: of a "
          "value that is kept"),
      T::integer("levels", 1, 32767, &C::levels, "16", "qsgd: levels between 0 and the norm"),
      T::integer("bucket", 1, 1e9, &C::bucket, "512",
                 "qsgd, fp4, quantize below 16 bits: values that share a scale"),
      T::number("fraction", "", 1e-6, 1, &C::fraction, "0.01",
                "top-k, dct-top-k, random-k: share of the values kept"),
      T::integer("chunk", 2, 1e9, &C::chunk, "all that travel together",
                 "top-k, dct-top-k: values of which the largest are kept; their places take the bits to tell "
                 "so many apart"),
      T::integer("rank", 1, 1024, &C::rank, "4", "low-rank: columns of the factors"),
      T::flag("error_feedback", &C::error_feedback, "true",
              "sign, top-k, dct-top-k, random-k, low-rank: what is lost is added next time"),
      T::number("error_decay", "", 0, 1, &C::error_decay, "1; 0.95 for sparse-loco, 0.999 for demo",
                "share of what was lost that is added"),
  };
  return fields;
}

}  // namespace orrery
