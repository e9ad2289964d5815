#include "workloads/program_writer.hpp"

namespace orrery {

OpId ProgramWriter::add(Op op, std::initializer_list<OpId> deps) {
  return add(op, std::span<const OpId>(deps.begin(), deps.size()));
}

OpId ProgramWriter::add(Op op, std::span<const OpId> deps) {
  op.dep_begin = static_cast<std::uint32_t>(program_.deps.size());
  for (const OpId dep : deps) {
    if (dep != kNoOp) program_.deps.push_back(static_cast<std::uint32_t>(dep));
  }
  op.dep_end = static_cast<std::uint32_t>(program_.deps.size());
  program_.ops.push_back(op);
  return size() - 1;
}

}  // namespace orrery
