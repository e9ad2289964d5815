// What is taken is somebody's alone; what is kept was given back last.
#include "sim/run/pool.hpp"

#include <doctest/doctest.h>

using namespace orrery;

namespace {

struct Weighed {
  std::size_t pounds = 0;
  [[nodiscard]] std::size_t weight() const { return pounds; }
};

Signature key(std::uint64_t number) {
  Signature signature;
  signature.append(number);
  return signature;
}

}  // namespace

TEST_CASE("a thing that is taken is nobody else's until it is given back") {
  Pool<Weighed> pool(100, 100);
  CHECK(pool.take(key(1)) == nullptr);
  pool.give(key(1), std::make_unique<Weighed>(Weighed{7}));
  CHECK(pool.take(key(2)) == nullptr);
  auto first = pool.take(key(1));
  REQUIRE(first != nullptr);
  CHECK(first->pounds == 7);
  CHECK(pool.take(key(1)) == nullptr);
  pool.give(key(1), std::make_unique<Weighed>(Weighed{8}));  // made meanwhile by another
  pool.give(key(1), std::move(first));
  const auto one = pool.take(key(1));
  const auto other = pool.take(key(1));
  REQUIRE(one != nullptr);
  REQUIRE(other != nullptr);
  CHECK(one->pounds + other->pounds == 15);
  CHECK(pool.take(key(1)) == nullptr);
}

TEST_CASE("of two that weigh too much together the latter stays") {
  Pool<Weighed> pool(10, 100);
  pool.give(key(1), std::make_unique<Weighed>(Weighed{6}));
  pool.give(key(2), std::make_unique<Weighed>(Weighed{6}));
  CHECK(pool.take(key(1)) == nullptr);
  CHECK(pool.take(key(2)) != nullptr);
}

TEST_CASE("the half that was given first is forgotten where all weigh too much or are too many") {
  for (const auto& [most_weight, most_things] : {std::pair<std::size_t, std::size_t>{45, 100}, {1000, 4}}) {
    Pool<Weighed> pool(most_weight, most_things);
    for (std::uint64_t i = 0; i < 4; ++i) pool.give(key(i), std::make_unique<Weighed>(Weighed{10}));
    pool.give(key(0), pool.take(key(0)));  // of 1, 2, 3, 0 and 4 those in the middle and before it go
    pool.give(key(4), std::make_unique<Weighed>(Weighed{10}));
    CHECK(pool.take(key(1)) == nullptr);
    CHECK(pool.take(key(2)) == nullptr);
    CHECK(pool.take(key(3)) == nullptr);
    CHECK(pool.take(key(0)) != nullptr);
    CHECK(pool.take(key(4)) != nullptr);
  }
}
