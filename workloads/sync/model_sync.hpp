// Writes the messages of models, for methods that let replicas differ and synchronise them now and then. The
// method's row (sync_method.hpp) gives the time, receivers and merge cost of messages; this class finds their
// points in the program.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "workloads/programs/stages.hpp"
#include "workloads/sync/averaging.hpp"
#include "workloads/sync/model_parts.hpp"

namespace orrery {

class ModelSync {
 public:
  /// Keeps references.
  ModelSync(const Experiment& experiment, const CommunicatorLayout& layout, const ModelBlocks& blocks,
            const Stage& stage, Averaging& averaging);

  /// A block of the stage.
  struct Place {
    std::int32_t chunk = 0;
    std::size_t block = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };

  /// Returns true if buckets are sent in this step as soon as they are updated.
  [[nodiscard]] bool by_bucket() const;
  /// Returns true if a bucket has to end with the block in a backward pass, because the next one, if any, is
  /// not sent with it.
  [[nodiscard]] bool ends_bucket(Place place) const;
  /// Returns true if a received model is merged within this pass.
  [[nodiscard]] bool meets(const Pass& pass) const;

  /// Begins a step with the models that `ready` produced. Models that travel while it computes are sent now.
  void begin_step(std::int32_t step, OpId ready);
  /// Call before a block runs, which then waits for `dep`. Returns the operation it has to wait for: `dep`,
  /// or the merge of received models into the block.
  OpId before_block(const Pass& pass, std::size_t block, OpId dep);
  /// Returns the operation that the update has to wait for; kNoOp: nothing. `last` is the step's last
  /// gradient.
  OpId before_update(OpId last);
  /// The part of the model in a bucket, which begins with the block at `first`, is up to date after
  /// `updated`. It is sent if it is part of a payload.
  void send_bucket(const Payload& bucket, Place first, OpId updated);
  /// Sends models after the update, and receives models that are due. Returns the operation that the next
  /// step waits for.
  OpId after_update(OpId updated);

 private:
  /// Part of the model on its way.
  struct InFlight {
    Payload payload;
    Departure departure;
    std::vector<OpId> arrived;
    std::int64_t due = 0;  ///< the step after whose update it is needed
    Place first;           ///< where it is brought in before that block's next forward pass, that block
  };

  /// Returns true if neighbours' models travel from the start of a step to its update.
  [[nodiscard]] bool while_computing() const;
  /// Returns true if received models are merged layer by layer before forward passes.
  [[nodiscard]] bool by_layer() const {
    return method_.merges_by_layer && overlap_ == SyncOverlap::adapt_then_combine;
  }
  [[nodiscard]] bool leaves(Place place) const;
  [[nodiscard]] bool waits_for(const InFlight& one, Place place) const;
  [[nodiscard]] std::vector<Payload> buckets(const Payload& payload) const;
  [[nodiscard]] Op label() const;
  void send_model(OpId ready);
  void send(Payload payload, const Departure& departure, Place first, OpId ready);
  OpId receive_due(OpId dep);
  OpId receive(const InFlight& one, std::initializer_list<OpId> after);

  const Experiment& experiment_;
  const DataParallelSync& sync_;
  const SyncMethodRow& method_;
  const CommunicatorLayout& layout_;
  SyncOverlap overlap_;  ///< only neighbours' exchanges have others than none
  const Stage& stage_;
  ModelParts parts_;
  Averaging& averaging_;
  std::int32_t step_ = 0;
  OpId ready_ = kNoOp;                 ///< models are up to date for this step
  std::vector<Departure> departures_;  ///< of this step
  std::vector<InFlight> in_flight_;
};

}  // namespace orrery
