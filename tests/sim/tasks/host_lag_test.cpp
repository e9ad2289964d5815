// When the host has issued an operation, by hand: times in ps, small numbers.
#include "sim/tasks/host_lag.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using namespace orrery;

namespace {

using Lags = std::vector<Picoseconds>;

/// A program on one rank, operation by operation.
struct Issued {
  Workload workload;
  std::vector<ComputePrice> prices;

  Issued() { workload.programs.resize(1); }

  void compute(std::size_t kernels, Picoseconds host_ps, Picoseconds duration_ps,
               Stream stream = Stream::compute) {
    KernelSequence work;
    work.kernels.resize(kernels);
    work.host_ps = host_ps;
    Op op;
    op.stream = stream;
    op.work = static_cast<std::uint32_t>(workload.kernel_sequences.size());
    workload.kernel_sequences.push_back(work);
    prices.push_back({duration_ps, 0});
    workload.programs.edit()[0].ops.push_back(op);
  }
  void host(Picoseconds duration_ps) { compute(0, duration_ps, duration_ps, Stream::host); }
  void message(Picoseconds host_ps) {
    Op op;
    op.kind = Op::Kind::communicate;
    op.stream = Stream::tensor;
    op.work = static_cast<std::uint32_t>(workload.messages.size());
    workload.messages.push_back({Collective::all_reduce, 8, Dimension::tensor, host_ps});
    workload.programs.edit()[0].ops.push_back(op);
  }
  /// Returns the lags of all operations, program by program.
  [[nodiscard]] Lags lags() const {
    HostLags host;
    const std::vector<std::uint32_t> numbers = host.add(workload);
    const Lags values = host.values(workload, prices);
    Lags lags;
    for (const std::uint32_t number : numbers) lags.push_back(number == kNone ? 0 : values[number]);
    return lags;
  }
};

}  // namespace

TEST_CASE("an operation starts when its first kernel is issued, and ends after its last one is") {
  Issued run;
  run.compute(4, 40, 100);  // before the host is known
  run.message(7);
  run.host(5);
  run.compute(4, 40, 100);  // kernels of 25: max(0 + 40/4, 40 - 3 * 25)
  run.message(7);           // issued at 40 + 7
  run.compute(2, 20, 10);   // kernels of 5: max(47 + 20/2, 67 - 1 * 5)
  run.host(3);              // after all that: 47 + 20
  run.compute(1, 8, 100);   // max(0 + 8, 8 - 0)
  run.compute(3, 9, 10);    // kernels of 10/3 = 3: max(8 + 9/3, 17 - 2 * 3)
  run.compute(3, 9, 7);     // kernels of 7/3 = 2: max(17 + 9/3, 26 - 2 * 2)
  CHECK(run.lags() == Lags{0, 0, 0, 10, 0, 62, 67, 8, 11, 22});
}

TEST_CASE("a message without cost delays nothing, and a work without kernels counts as one") {
  Issued run;
  run.host(0);
  run.message(0);
  run.compute(0, 6, 50);  // max(0 + 6, 6 - 0)
  run.compute(2, 0, 50);  // max(6 + 0, 6 - 25)
  CHECK(run.lags() == Lags{0, 0, 6, 6});
}

TEST_CASE("without operations of the host there are no lags") {
  Issued run;
  run.compute(4, 40, 100);
  run.message(7);
  CHECK(run.lags() == Lags{0, 0});
  // Nor in a program beside one that has some.
  run.workload.programs.push_back(run.workload.programs[0]);
  run.host(5);
  CHECK(run.lags() == Lags{0, 0, 0, 0, 0});
}

TEST_CASE("issue times add up to the end of 64 bits at most") {
  constexpr Picoseconds kMost = std::numeric_limits<Picoseconds>::max();
  constexpr Picoseconds kHalf = kMost / 2;  // 2^62 - 1
  Issued run;
  run.host(0);
  run.compute(1, kHalf, 10);  // kHalf
  run.message(kHalf);         // 2 kHalf = kMost - 1
  run.compute(1, 1, 10);      // kMost
  run.compute(1, 5, 10);      // kMost and no more
  run.message(kMost);
  run.compute(2, kMost, 10);  // max(kMost, kMost - 5)
  run.host(0);
  CHECK(run.lags() == Lags{0, kHalf, 0, kMost, kMost, 0, kMost, kMost});
}
