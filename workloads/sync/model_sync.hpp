// When models travel: the methods that let replicas differ and bring them together now and then.
//
//   gossip, push-sum      every step with the neighbours of the round (Lian et al. 2017, Assran et al. 2019)
//   local-sgd             every `period` steps with all (McMahan et al. 2017)
//   gossip-pga            with neighbours, every `period` steps with all (Chen et al. 2021)
//   gossip-aga            the same with periods `period`, 2 `period`, ... `final_period`, and again
//   diloco                every `period` steps with all, an outer optimizer takes the mean change (Douillard
//                         et al. 2023); in fragments, and with a delay (Douillard et al. 2025)
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/programs/stages.hpp"
#include "workloads/sync/averaging.hpp"

namespace orrery {

class ModelSync {
 public:
  /// Keeps references. `model`: what one rank of a replica holds.
  ModelSync(const Experiment& experiment, const SyncLayout& layout, const Payload& model,
            Averaging& averaging);

  /// Whether buckets travel as soon as they are updated.
  [[nodiscard]] bool by_bucket() const;

  /// A step begins with the models that `ready` left. Those that travel while it computes leave now.
  void begin_step(std::int32_t step, OpId ready);
  /// What the update has to wait for; `last` is the step's last gradient. kNoOp: nothing.
  OpId before_update(OpId last);
  /// The part of the model in a bucket is up to date after `updated`, and leaves.
  void send_bucket(const Payload& bucket, const Op& like, OpId updated);
  /// Models that travel after the update, and what arrives now. Returns what the next step waits for.
  OpId after_update(OpId updated);

 private:
  enum class Exchange : std::uint8_t { none, neighbours, all };
  /// Part of the model on its way.
  struct InFlight {
    Payload payload;
    Exchange exchange = Exchange::none;
    std::vector<OpId> arrived;
    std::int32_t due = 0;  ///< the step that needs it
  };

  [[nodiscard]] Exchange exchange_of(std::int64_t step) const;
  [[nodiscard]] std::vector<Payload> buckets(const Payload& payload) const;
  [[nodiscard]] Op label() const;
  void send(const Payload& payload, Exchange exchange, OpId ready, std::int32_t due);
  OpId receive(const InFlight& one, OpId dep);
  OpId sync_fragments(OpId updated);

  const Experiment& experiment_;
  const DataParallelSync& sync_;
  const SyncLayout& layout_;
  SyncOverlap overlap_;  ///< only neighbours' exchanges have others than none
  Payload model_;
  Averaging& averaging_;
  std::int32_t step_ = 0;
  std::vector<InFlight> in_flight_;
};

/// Steps after which what a method does repeats itself; `rounds` of its graph, 1 where it has none.
[[nodiscard]] std::int64_t sync_cycle(const DataParallelSync& sync, std::int64_t rounds);

}  // namespace orrery
