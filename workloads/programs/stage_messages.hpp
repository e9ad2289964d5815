// Messages between pipeline stages: activations ahead, their gradients back. With scatter/gather (Narayanan
// et al. 2021, section 4.1) each tensor rank sends its part, and the receivers put the parts together.
#pragma once

#include "orrery/experiment.hpp"
#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/communicators/wire_width.hpp"
#include "workloads/models/blocks.hpp"
#include "workloads/programs/program_writer.hpp"

namespace orrery {

class StageMessages {
 public:
  /// Keeps references; writes to `writer`, and the messages to `workload`.
  StageMessages(const Experiment& experiment, const CommunicatorLayout& layout, Workload& workload,
                ProgramWriter& writer);

  /// Receives the message at a boundary, `ahead` (forward) or back; returns the operation after which all of
  /// it is there.
  /// @param like      the fields that all steps of the pass share
  /// @param reversed  of a chunk that lies against the order of the ranks
  OpId receive(Op like, const Boundary& boundary, bool ahead, bool reversed);
  /// Sends it after `done`.
  OpId send(Op like, const Boundary& boundary, bool ahead, bool reversed, OpId done);
  /// Returns true if tensor ranks gather their slices after they received them.
  [[nodiscard]] bool gathers(const Boundary& boundary, bool ahead) const {
    return !boundary.sliced(ahead) && plan_.scatter_gather && plan_.tensor_parallel > 1;
  }

 private:
  /// Returns the bytes that a rank sends or receives, before any cast.
  [[nodiscard]] Bytes part_of(const Boundary& boundary, bool ahead) const;
  void complete(Op& op, const Boundary& boundary, bool ahead);
  OpId cast(Op like, const Boundary& boundary, bool ahead, OpId dep);
  void put_on(Op& op, Slot slot) const;

  const Plan& plan_;
  const CommunicatorLayout& layout_;
  Workload& workload_;
  ProgramWriter& writer_;
  WireWidth width_;
  Picoseconds host_ps_;  ///< to issue a message
  Picoseconds cast_ps_;  ///< and a cast
  Bytes bytes_ = -1;     ///< of the latest
  std::uint32_t message_ = 0;
};

}  // namespace orrery
