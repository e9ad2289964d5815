#include "sim/network/radix_queue.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace orrery;

TEST_CASE("radix queue: a batch per time, in order of time") {
  RadixQueue queue;
  CHECK(queue.next() == kNever);
  std::uint32_t id = 0;
  CHECK_FALSE(queue.pop(kNever, id));
  queue.push(7, 1);
  queue.push(5, 2);
  CHECK(queue.next() == 5);
  queue.push(4, 3);  // earlier than next() is fine: nothing was popped yet
  CHECK_FALSE(queue.pop(3, id));
  REQUIRE(queue.pop(4, id));
  CHECK(id == 3);
  REQUIRE(queue.pop(5, id));
  CHECK(id == 2);
  queue.erase_if([](Picoseconds, std::uint32_t entry) { return entry == 1; });
  CHECK(queue.next() == kNever);
}

TEST_CASE("radix queue agrees with a sorted map") {
  for (std::uint32_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    RadixQueue queue;
    std::multimap<Picoseconds, std::uint32_t> expected;
    Picoseconds now = 0;
    for (std::uint32_t step = 0; step < 2000; ++step) {
      const auto shift = static_cast<int>(random() % 60);
      if (random() % 2 == 0 || expected.empty()) {
        const Picoseconds time =
            now + static_cast<Picoseconds>(random() % 1000 << (shift < 40 ? 0 : shift - 40));
        queue.push(time, step);
        expected.emplace(time, step);
        continue;
      }
      now = expected.begin()->first;
      REQUIRE(queue.next() == now);
      std::uint32_t id = 0;
      REQUIRE(queue.pop(now, id));
      auto [first, last] = expected.equal_range(now);
      while (first != last && first->second != id) ++first;
      REQUIRE(first != last);
      expected.erase(first);
      REQUIRE(queue.size() == expected.size());
    }
  }
}
