#include "workloads/memory/passes_side_by_side.hpp"

namespace orrery {
namespace {

class SideBySide {
 public:
  SideBySide(const Chunk& forward, const Chunk& backward, const ModelBlocks& blocks)
      : blocks_(blocks), ahead_{forward, PassKind::forward}, back_{backward, PassKind::backward} {}

  PairPeak run() {
    for (bool turn_of_back = false; !ahead_.ended() || !back_.ended(); turn_of_back = !turn_of_back)
      go_on(ahead_.ended() || (turn_of_back && !back_.ended()) ? back_ : ahead_);
    return peak_;
  }

 private:
  struct Side {
    const Chunk& chunk;
    PassKind kind;
    std::size_t begun = 0;       ///< blocks
    bool open = false;           ///< the latest of them has not ended
    std::int32_t exchanges = 0;  ///< that it still has to come
    bool freed = false;          ///< its activations are, although it is open
    WorkspaceBytes workspace{};  ///< while it is open

    [[nodiscard]] bool ahead() const { return kind == PassKind::forward; }
    [[nodiscard]] bool ended() const { return !open && begun == chunk.blocks.size(); }
    /// Place of a block in the chunk by its place in the pass.
    [[nodiscard]] std::size_t at(std::size_t i) const { return ahead() ? i : chunk.blocks.size() - 1 - i; }
  };

  [[nodiscard]] const Block& latest(const Side& side) const {
    return blocks_.kinds[side.chunk.blocks[side.at(side.begun - 1)].kind];
  }

  /// Continues a pass until it sends tokens, or ends. The work of a block on returned tokens ends the block.
  void go_on(Side& side) {
    if (side.open && side.exchanges == 0) end(side);
    while (!side.open && side.begun < side.chunk.blocks.size()) {
      begin(side);
      if (side.exchanges == 0) end(side);
    }
    if (side.open) --side.exchanges;
  }

  void begin(Side& side) {
    const std::size_t block = side.at(side.begun++);
    side.open = true;
    side.exchanges = latest(side).exchanges_in(side.kind);
    const BlockMoment moment = fullest_moment(side.chunk.blocks[block], blocks_, side.kind);
    side.workspace = moment.workspace;
    side.freed = moment.freed;
    if (side.ahead()) kept_ += latest(side).activations;
    if (side.freed) kept_ -= latest(side).activations;
    WorkspaceBytes workspace = ahead_.workspace;
    workspace += back_.workspace;
    const Bytes above = kept_.total() + workspace.total();
    if (above > peak_.above) peak_ = {above, kept_, workspace, !side.ahead(), block};
  }

  void end(Side& side) {
    if (!side.ahead() && !side.freed) kept_ -= latest(side).activations;
    side.open = false;
    side.workspace = {};
  }

  const ModelBlocks& blocks_;
  Side ahead_;
  Side back_;
  ActivationBytes kept_;  ///< by both, less the memory freed
  PairPeak peak_;
};

}  // namespace

PairPeak peak_side_by_side(const Chunk& forward, const Chunk& backward, const ModelBlocks& blocks) {
  return SideBySide(forward, backward, blocks).run();
}

}  // namespace orrery
