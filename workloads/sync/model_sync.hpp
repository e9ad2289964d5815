// Writes when models travel, for the methods that let replicas differ and bring them together now and then.
// What leaves after which step, to whom, and what it costs to take in is the method's row (sync_method.hpp);
// here are the points of the program where that happens.
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
  /// Part of the model on its way.
  struct InFlight {
    Payload payload;
    Departure departure;
    std::vector<OpId> arrived;
    std::int64_t due = 0;  ///< the step after whose update it is needed
  };

  /// Whether neighbours' models travel while a step computes, from before it to its update.
  [[nodiscard]] bool while_computing() const;
  [[nodiscard]] std::vector<Departure> departures() const;
  [[nodiscard]] std::vector<Payload> buckets(const Payload& payload) const;
  [[nodiscard]] Op label() const;
  void send_model(OpId ready);
  void send(const Payload& payload, const Departure& departure, OpId ready);
  OpId receive_due(OpId dep);
  OpId receive(const InFlight& one, OpId dep);

  const Experiment& experiment_;
  const DataParallelSync& sync_;
  const SyncMethodRow& method_;
  const SyncLayout& layout_;
  SyncOverlap overlap_;  ///< only neighbours' exchanges have others than none
  Payload model_;
  Averaging& averaging_;
  std::int32_t step_ = 0;
  std::vector<InFlight> in_flight_;
};

}  // namespace orrery
