// Checks that results cached by the hash of programs depend on nothing beyond the hash.
#include "sim/step/program_hash.hpp"

#include <doctest/doctest.h>

namespace orrery {
namespace {

TEST_CASE("programs that differ in whether stages hand over have unlike hashes") {
  // A gather on the tensor stream: of what a stage received in parts, or of a layer with sequence
  // parallelism. Interference takes the second to run beside compute and the first not to.
  Workload workload;
  workload.messages.emplace_back();
  Op gather;
  gather.kind = Op::Kind::communicate;
  gather.stream = Stream::tensor;
  gather.part = Part::stage;
  workload.programs.edit().resize(1);
  workload.programs.edit()[0].ops.push_back(gather);
  const ContentHash received = hash_programs(workload);
  workload.programs.edit()[0].ops[0].part = Part::layer;
  CHECK(hash_programs(workload) != received);
}

}  // namespace
}  // namespace orrery
