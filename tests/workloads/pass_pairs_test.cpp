// Passes side by side, operation by operation.
#include "workloads/programs/pass_pairs.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace orrery;

namespace {

Op operation(Stream stream, std::int32_t label) {
  Op op;
  op.kind = stream == Stream::compute ? Op::Kind::compute : Op::Kind::communicate;
  op.stream = stream;
  op.layer = label;
  return op;
}

/// Compute, tokens there, compute, tokens back, compute: labels from `label` on, each after the one before.
OpId write_pass(ProgramWriter& writer, std::int32_t label, OpId after) {
  for (const Stream stream :
       {Stream::compute, Stream::expert, Stream::compute, Stream::expert, Stream::compute})
    after = writer.add(operation(stream, label++), {after});
  return after;
}

std::vector<std::int32_t> labels(const Program& program) {
  std::vector<std::int32_t> list;
  for (const Op& op : program.ops) list.push_back(op.layer);
  return list;
}

}  // namespace

TEST_CASE("two passes take turns where they send tokens") {
  ProgramWriter writer;
  const OpId before = writer.add(operation(Stream::compute, 99), {});
  write_pass(writer, 0, before);
  write_pass(writer, 10, kNoOp);
  writer.add(operation(Stream::compute, 98), {5, 10});
  Program program = std::move(writer).finish();
  run_side_by_side(std::vector<PassPair>{{1, 6, 11}}, program);
  CHECK(labels(program) == std::vector<std::int32_t>{99, 0, 1, 10, 11, 2, 3, 12, 13, 4, 14, 98});
  for (const Op& op : program.ops) {
    for (const std::uint32_t dep : program.dependencies(op))
      CHECK(static_cast<std::ptrdiff_t>(dep) < &op - program.ops.data());
  }
  // Operations that followed the ends of both passes still do.
  CHECK(program.ops[program.dependencies(program.ops[11])[0]].layer == 4);
  CHECK(program.ops[program.dependencies(program.ops[11])[1]].layer == 14);
}

TEST_CASE("a pass that waits for the other comes after it") {
  ProgramWriter writer;
  const OpId end = write_pass(writer, 0, kNoOp);
  write_pass(writer, 10, end);
  Program program = std::move(writer).finish();
  run_side_by_side(std::vector<PassPair>{{0, 5, 10}}, program);
  CHECK(labels(program) == std::vector<std::int32_t>{0, 1, 2, 3, 4, 10, 11, 12, 13, 14});
}

TEST_CASE("messages of one dispatch go together") {
  ProgramWriter writer;
  for (const std::int32_t label : {0, 10}) {
    writer.add(operation(Stream::compute, label), {});
    writer.add(operation(Stream::expert, label + 1), {});
    writer.add(operation(Stream::expert, label + 2), {});
    writer.add(operation(Stream::compute, label + 3), {});
  }
  Program program = std::move(writer).finish();
  run_side_by_side(std::vector<PassPair>{{0, 4, 8}}, program);
  CHECK(labels(program) == std::vector<std::int32_t>{0, 1, 2, 10, 11, 12, 3, 13});
}
