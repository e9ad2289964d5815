// Writes the operations of one program in issue order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

#include "orrery/workload.hpp"

namespace orrery {

/// Index of an operation in its program.
using OpId = std::int32_t;
inline constexpr OpId kNoOp = -1;

class ProgramWriter {
 public:
  /// Makes room for `ops` operations and `deps` dependencies.
  void expect(std::size_t ops, std::size_t deps) {
    program_.ops.reserve(ops);
    program_.deps.reserve(deps);
  }
  /// Appends `op` after all of `deps` (kNoOp entries are skipped); its index.
  OpId add(const Op& op, std::initializer_list<OpId> deps) {
    return add(op, std::span<const OpId>(deps.begin(), deps.size()));
  }
  OpId add(const Op& op, std::span<const OpId> deps) {
    Op& added = program_.ops.emplace_back(op);
    added.dep_begin = static_cast<std::uint32_t>(program_.deps.size());
    for (const OpId dep : deps) {
      if (dep != kNoOp) program_.deps.push_back(static_cast<std::uint32_t>(dep));
    }
    added.dep_end = static_cast<std::uint32_t>(program_.deps.size());
    return size() - 1;
  }

  /// Repeats the operations [first, end) for another micro-batch: their dependencies keep their distances.
  void repeat(OpId first, OpId end, std::int32_t micro_batch) {
    const auto by = static_cast<std::uint32_t>(size() - first);
    const std::uint32_t begin = at(first).dep_begin;
    const std::uint32_t deps_by = static_cast<std::uint32_t>(program_.deps.size()) - begin;
    for (std::uint32_t d = begin; d < at(end - 1).dep_end; ++d)
      program_.deps.push_back(program_.deps[d] + by);
    for (OpId id = first; id < end; ++id) {
      Op& op = program_.ops.emplace_back(at(id));
      op.micro_batch = micro_batch;
      op.dep_begin += deps_by;
      op.dep_end += deps_by;
    }
  }

  /// The operation just written, to complete its labels.
  [[nodiscard]] Op& at(OpId id) { return program_.ops[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(program_.ops.size()); }
  [[nodiscard]] Program finish() && { return std::move(program_); }

 private:
  Program program_;
};

}  // namespace orrery
