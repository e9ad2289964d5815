// The price of a whole pass by hand: times in ps, small numbers.
#include "sim/cost/pass_price.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace orrery;

namespace {

/// Works of the given durations, each one kernel of the given issue time; messages issued in no time.
struct Prices {
  Workload workload;
  std::vector<ComputePrice> kernel_sequences;
  std::vector<Picoseconds> messages;

  Prices(std::initializer_list<Picoseconds> durations, Picoseconds issue,
         std::vector<Picoseconds> of_messages)
      : messages(std::move(of_messages)) {
    for (const Picoseconds duration : durations) {
      workload.kernel_sequences.push_back({std::vector<Kernel>(1), issue, 0});
      kernel_sequences.push_back({duration, 0});
    }
    workload.messages.resize(messages.size());
  }
  [[nodiscard]] PassPrice of(const PassWork& steps, double interference = 0) const {
    return price_pass(steps, workload, kernel_sequences, messages, interference);
  }
};

constexpr bool kCompute = false;
constexpr bool kCollective = true;

}  // namespace

TEST_CASE("steps in sequence take the sum of their durations") {
  const Prices prices({10, 20}, 0, {5});
  const PassPrice price = prices.of({{kCompute, 0, -1}, {kCollective, 0, 0}, {kCompute, 1, 1}});
  CHECK(price.duration_ps == 10 + 5 + 20);
  CHECK(price.compute.duration_ps == 10 + 20);
  CHECK(price.lead_ps == 0);  // issued in no time, the host holds nothing up
}

TEST_CASE("compute and collectives that do not wait for each other overlap") {
  const Prices prices({10, 20}, 0, {15});
  // 0 to 10 compute, then 10 to 25 the collective beside 10 to 30 compute.
  CHECK(prices.of({{kCompute, 0, -1}, {kCollective, 0, 0}, {kCompute, 1, 0}}).duration_ps == 30);
}

TEST_CASE("compute beside collectives of its pass is slower") {
  const Prices prices({10, 20}, 0, {15});
  // From 10 to 25 the collective beside compute at 0.6 of its speed: 9 of 20 are done, 11 follow.
  const PassPrice price = prices.of({{kCompute, 0, -1}, {kCollective, 0, 0}, {kCompute, 1, 0}}, 0.4);
  CHECK(price.duration_ps == 25 + 11);
  CHECK(price.compute.duration_ps == 10 + 15 + 11);
  CHECK(price.slowed_ps == 6);
  // Nothing is beside it where compute waits.
  CHECK(prices.of({{kCompute, 0, -1}, {kCollective, 0, 0}, {kCompute, 1, 1}}, 0.4).slowed_ps == 0);
}

TEST_CASE("the host leads where issuing takes longer than computing") {
  const Prices prices({10, 10, 10}, 30, {});
  // From the input: 30. From the host: kernels are issued at 30, 60 and 90 and the last one ends at 100.
  const PassPrice price = prices.of({{kCompute, 0, -1}, {kCompute, 1, 0}, {kCompute, 2, 1}});
  CHECK(price.duration_ps == 30);
  CHECK(price.lead_ps == 100 - 30);
}

TEST_CASE("a pass names each of its messages once") {
  const PassWork pass{{kCollective, 3, -1}, {kCompute, 0, 0}, {kCollective, 1, 1}, {kCollective, 3, 2}};
  const std::vector<PassMessage> messages = messages_of(pass);
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].message == 3);
  CHECK(messages[0].steps == 2);
  CHECK(messages[1].message == 1);
  CHECK(messages[1].steps == 1);
}
