// Writes the operations of one program in issue order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "orrery/workload.hpp"

namespace orrery {

/// Index of an operation in its program.
using OpId = std::int32_t;
inline constexpr OpId kNoOp = -1;

class ProgramWriter {
 public:
  /// Appends `op` after all of `deps` (kNoOp entries are skipped); its index.
  OpId add(Op op, std::initializer_list<OpId> deps);
  OpId add(Op op, std::span<const OpId> deps);

  /// The operation just written, to complete its labels.
  [[nodiscard]] Op& at(OpId id) { return program_.ops[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(program_.ops.size()); }
  [[nodiscard]] Program finish() && { return std::move(program_); }

 private:
  Program program_;
};

}  // namespace orrery
