// Accounts that are worked out by hand: times in microseconds from the beginning of the step.
#include "studies/explain/account.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace orrery;

namespace {

constexpr std::int64_t kUs = 1000;

std::int64_t time_of(const RankAccount& account, std::size_t term) { return account.times_ns[term] / kUs; }
std::int64_t time_of(const RankAccount& account, KernelClass kernel_class) {
  return time_of(account, static_cast<std::size_t>(kernel_class));
}

/// Builds a profile with one step from 0 to `end`.
class ProfileFixture {
 public:
  explicit ProfileFixture(std::int64_t end, std::int64_t rank = 0) {
    profile.rank = rank;
    profile.names = {""};
    profile.steps = {{1, {0, end * kUs}}};
  }
  void compute(std::int64_t start, std::int64_t finish, KernelClass kernel_class, std::int64_t launched = 0) {
    add(start, finish, launched).use = use_of(kernel_class);
  }
  void message(std::int64_t start, std::int64_t finish, Collective collective, Dimension dimension) {
    GpuSpan& span = add(start, finish, 0);
    span.use = KernelUse::communication;
    span.message = static_cast<std::uint32_t>(profile.messages.size());
    profile.messages.push_back({collective, dimension, "group", 2, 1'000'000});
  }
  Profile profile;

 private:
  GpuSpan& add(std::int64_t start, std::int64_t finish, std::int64_t launched) {
    GpuSpan span{start * kUs, finish * kUs, launched * kUs};
    span.step = 0;
    profile.spans.push_back(span);
    return profile.spans.back();
  }
};

RankAccount account_of(const Profile& profile) { return account_for({profile}, line_up({profile})).front(); }

std::int64_t sum_of(const RankAccount& account) {
  return std::accumulate(account.times_ns.begin(), account.times_ns.end(), std::int64_t{0});
}

}  // namespace

TEST_CASE("compute hides communication, and the rest of that is exposed") {
  // products 0-100, all-reduce 80-150 beside them, norm 150-160, nothing until 170.
  ProfileFixture fixture(170);
  fixture.compute(0, 100, KernelClass::dense_products);
  fixture.message(80, 150, Collective::all_reduce, Dimension::tensor);
  fixture.compute(150, 160, KernelClass::norm);
  const RankAccount account = account_of(fixture.profile);
  CHECK(time_of(account, KernelClass::dense_products) == 100);
  CHECK(time_of(account, KernelClass::norm) == 10);
  CHECK(time_of(account, step_term::kExposed + static_cast<std::size_t>(Dimension::tensor)) == 50);
  CHECK(time_of(account, step_term::kBubble) == 10);
  CHECK(sum_of(account) == account.step_ns);
}

TEST_CASE("idle time belongs to the host until the launch, to data while they are fetched") {
  // attention 0-40; the next kernel is launched at 100 and begins at 104: 4 us are a gap between launches.
  // Data are fetched from 50 to 80. Then 104-124 routing.
  ProfileFixture fixture(124);
  fixture.compute(0, 40, KernelClass::attention);
  fixture.compute(104, 124, KernelClass::routing, 100);
  fixture.profile.loading = {{50 * kUs, 80 * kUs}};
  const RankAccount account = account_of(fixture.profile);
  CHECK(time_of(account, step_term::kLoading) == 30);
  CHECK(time_of(account, step_term::kHost) == 10 + 20 + 4);
  CHECK(account.longest[step_term::kLoading].start_ns == 50 * kUs);
  CHECK(sum_of(account) == 124 * kUs);
}

TEST_CASE("waiting for the last rank of a communicator is no communication") {
  // Rank 0 comes to the all-reduce at 100, rank 1 at 130, both leave at 150: 20 us are the message's.
  ProfileFixture first(150, 0);
  first.compute(0, 100, KernelClass::dense_products);
  first.message(100, 150, Collective::all_reduce, Dimension::data);
  ProfileFixture second(150, 1);
  second.compute(0, 130, KernelClass::dense_products);
  second.message(130, 150, Collective::all_reduce, Dimension::data);
  const std::vector<Profile> profiles{first.profile, second.profile};
  const LinedUp lined = line_up(profiles);
  CHECK(lined.met == 1);
  const std::vector<RankAccount> accounts = account_for(profiles, lined);
  constexpr std::size_t kData = step_term::kExposed + static_cast<std::size_t>(Dimension::data);
  CHECK(time_of(accounts[0], step_term::kStragglers) == 30);
  CHECK(time_of(accounts[0], kData) == 20);
  CHECK(time_of(accounts[1], step_term::kStragglers) == 0);
  CHECK(time_of(accounts[1], kData) == 20);
  CHECK(accounts[0].messages.begin()->second.waiting_ns == doctest::Approx(30e3));
}

TEST_CASE("clocks that differ are set by messages that end together") {
  // As before, but the clock of rank 1 is 1 s ahead.
  ProfileFixture first(150, 0);
  first.message(100, 150, Collective::all_reduce, Dimension::data);
  ProfileFixture second(150, 1);
  second.message(1'000'130, 1'000'150, Collective::all_reduce, Dimension::data);
  const LinedUp lined = line_up({first.profile, second.profile});
  CHECK(lined.clock_ahead_ns[1] == 1'000'000 * kUs);
  CHECK(lined.ready_ns[0][0] == 130 * kUs);
  CHECK(lined.ready_ns[1][0] == 1'000'130 * kUs);
}

TEST_CASE("a receive waits for the stage before, of which there is no trace") {
  // Two receives of the same size: 10-20 and 40-90. The longer one waited 40 of its 50 us: a bubble.
  ProfileFixture fixture(100);
  fixture.compute(0, 10, KernelClass::dense_products);
  fixture.message(10, 20, Collective::send_recv, Dimension::pipeline);
  fixture.compute(20, 40, KernelClass::dense_products);
  fixture.message(40, 90, Collective::send_recv, Dimension::pipeline);
  fixture.compute(90, 100, KernelClass::dense_products);
  const RankAccount account = account_of(fixture.profile);
  CHECK(time_of(account, step_term::kExposed + static_cast<std::size_t>(Dimension::pipeline)) == 20);
  CHECK(time_of(account, step_term::kBubble) == 40);
  CHECK(sum_of(account) == 100 * kUs);
}

TEST_CASE("the first of three steps warms up, and the others follow each other on the GPU") {
  // Kernels 0-50, 60-90, 100-130; each step ends with its kernel: 50-90 and 90-130 count, the last with its
  // mark at 135.
  ProfileFixture fixture(0);
  fixture.profile.steps = {{1, {0, 55 * kUs}}, {2, {55 * kUs, 95 * kUs}}, {3, {95 * kUs, 135 * kUs}}};
  fixture.compute(0, 50, KernelClass::norm);
  fixture.compute(60, 90, KernelClass::norm, 60);
  fixture.compute(100, 130, KernelClass::norm, 100);
  for (std::size_t s = 0; s < 3; ++s) fixture.profile.spans[s].step = static_cast<std::int32_t>(s);
  const RankAccount account = account_of(fixture.profile);
  CHECK(account.steps == 2);
  CHECK(account.step_ns == 85 * kUs);
  CHECK(time_of(account, KernelClass::norm) == 60);
  CHECK(time_of(account, step_term::kHost) == 20);
  CHECK(time_of(account, step_term::kBubble) == 5);
}
