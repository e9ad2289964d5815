#include "sim/step/program_hash.hpp"

namespace orrery {
namespace {

/// A signature of long sequences: two lanes that each take two words a step (the mixing step of wyhash,
/// W. Yi 2019).
class Digest {
 public:
  void append(std::uint64_t x, std::uint64_t y) {
    a_ = ContentHash::mix(a_ ^ x ^ 0xa0761d6478bd642f, y ^ 0xe7037ed1a0b428db) + y;
    b_ = ContentHash::mix(b_ ^ y ^ 0x8ebc6af09c88c6e3, x ^ 0x589965cc75374cc3) + x;
  }
  [[nodiscard]] ContentHash signature() const {
    ContentHash result;
    result.append(a_);
    result.append(b_);
    return result;
  }

 private:
  std::uint64_t a_ = 0x1d8e4e27c47d124f;
  std::uint64_t b_ = 0x72b22b96e169b471;
};

std::uint64_t pair(std::uint64_t high, std::uint64_t low) { return high << 32 | low; }

void append(const Program& program, Digest& digest) {
  digest.append(program.ops.size(), program.deps.size());
  for (const Op& op : program.ops) {
    // The hash includes stage messages because they decide what runs beside compute
    // (sim/tasks/interference.hpp).
    const std::uint64_t what =
        static_cast<std::uint64_t>(op.kind) | static_cast<std::uint64_t>(op.part == Part::stage) << 7 |
        static_cast<std::uint64_t>(op.phase) << 8 | static_cast<std::uint64_t>(op.stream) << 16;
    digest.append(pair(what, op.work), pair(static_cast<std::uint32_t>(op.micro_batch), op.slot));
    digest.append(pair(static_cast<std::uint32_t>(op.chunk), op.dep_end),
                  static_cast<std::uint32_t>(op.step));
  }
  const std::vector<std::uint32_t>& deps = program.deps;
  std::size_t i = 0;
  for (; i + 3 < deps.size(); i += 4)
    digest.append(pair(deps[i], deps[i + 1]), pair(deps[i + 2], deps[i + 3]));
  for (; i < deps.size(); ++i) digest.append(deps[i], 0);
}

}  // namespace

ContentHash hash_programs(const Workload& workload) {
  Digest digest;
  digest.append(workload.kernel_sequences.size(), workload.passes.size());
  digest.append(workload.messages.size(), workload.programs.size());
  for (const Message& message : workload.messages)
    digest.append(static_cast<std::uint64_t>(message.dimension), 0);
  for (const Program& program : workload.programs) append(program, digest);
  return digest.signature();
}

}  // namespace orrery
