// Do the rounds move the data? Every row of the table, executed on sets of blocks.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "workloads/collectives/collectives.hpp"

using namespace orrery;

namespace {

using Blocks = std::set<std::uint32_t>;
/// In place of the parent of a root.
constexpr std::uint32_t kRoot = 99;
/// Messages at the same time.
using Step = std::vector<RoundMessage>;

/// Nodes of `local` members each, with `channels` rings that start at different members.
GroupShape grid_shape(std::uint32_t nodes, std::uint32_t local, std::uint32_t channels = 1) {
  GroupShape shape;
  shape.members = nodes * local;
  shape.rings.resize(channels);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    auto& positions = shape.nodes.emplace_back();
    for (std::uint32_t i = 0; i < local; ++i) positions.push_back(node * local + i);
    for (std::uint32_t k = 0; k < channels; ++k) {
      for (std::uint32_t i = 0; i < local; ++i) shape.rings[k].push_back(positions[(i + k) % local]);
    }
  }
  return shape;
}

std::vector<GroupShape> shapes() {
  std::vector<GroupShape> all;
  for (std::uint32_t n : {2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 16U, 24U}) {
    all.push_back(one_node_shape(n));
    all.push_back(one_per_node_shape(n));
  }
  all.push_back(grid_shape(2, 2));
  all.push_back(grid_shape(3, 4));
  all.push_back(grid_shape(4, 3, 3));
  all.push_back(grid_shape(2, 8, 8));
  all.push_back({5, {{0, 1, 2}, {3, 4}}, {{0, 1, 2, 3, 4}}});  // unequal nodes
  return all;
}

/// Calls visit(algorithm, collective, shape) wherever there is no obstacle.
template <class Visit>
void for_each_row(Visit visit) {
  for (const CollectiveAlgorithm& algorithm : collective_algorithms()) {
    for (std::size_t i = 0; i < kCollectiveCount; ++i) {
      const auto collective = static_cast<Collective>(i);
      for (const GroupShape& shape : shapes()) {
        if (!algorithm.obstacle(collective, shape).empty()) continue;
        CAPTURE(algorithm.name);
        CAPTURE(kCollectiveNames[i]);
        CAPTURE(shape.members);
        CAPTURE(shape.nodes.size());
        visit(algorithm, collective, shape);
      }
    }
  }
}

std::uint32_t stages(const Round& round) {
  std::uint32_t count = 0;
  for (const RoundMessage& message : round.messages) count = std::max(count, message.stage + 1);
  return count;
}

/// Rounds one by one; a pipelined round (several stages, all of them hops) stage by stage.
std::vector<Step> steps_of(const Rounds& rounds) {
  std::vector<Step> steps;
  for (const Round& round : rounds.rounds) {
    const bool pipeline = round.hops > 1;
    for (std::int64_t repeat = 0; repeat < round.repeat; ++repeat) {
      for (std::uint32_t stage = 0; stage < (pipeline ? stages(round) : 1); ++stage) {
        Step& step = steps.emplace_back();
        std::ranges::copy_if(round.messages, std::back_inserter(step), [&](const RoundMessage& message) {
          return !pipeline || message.stage == stage;
        });
      }
    }
  }
  return steps;
}

std::vector<Step> backwards(std::vector<Step> steps) {
  std::ranges::reverse(steps);
  for (Step& step : steps) {
    for (RoundMessage& message : step) std::swap(message.from, message.to);
  }
  return steps;
}

/// Owner k starts with block k; each message carries all blocks that its receiver lacks. Checks that
/// this is as much as the message's share says, and that everyone ends with everything.
void check_all_gather(const std::vector<Step>& steps, std::uint32_t members, std::int64_t share_unit,
                      const std::vector<std::uint32_t>& owners) {
  std::vector<Blocks> has(members);
  for (std::uint32_t k = 0; k < owners.size(); ++k) has[owners[k]].insert(k);
  const auto blocks = static_cast<std::int64_t>(owners.size());
  bool shares_right = true;
  for (const Step& step : steps) {
    const std::vector<Blocks> before = has;
    for (const RoundMessage& message : step) {
      Blocks sent;
      std::ranges::set_difference(before[message.from], before[message.to], std::inserter(sent, sent.end()));
      shares_right &= static_cast<std::int64_t>(sent.size()) * share_unit == message.share * blocks;
      has[message.to].insert(sent.begin(), sent.end());
    }
  }
  CHECK(shares_right);
  CHECK(std::ranges::all_of(has, [&](const Blocks& held) { return held.size() == owners.size(); }));
}

std::vector<std::uint32_t> everyone(std::uint32_t members) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < members; ++i) all.push_back(i);
  return all;
}

/// Returns the members that send in the middle of an all-reduce: those that hold a piece of the sum.
std::vector<std::uint32_t> owners_of(const std::vector<Step>& steps) {
  std::set<std::uint32_t> owners;
  for (const RoundMessage& message : steps[steps.size() / 2]) owners.insert(message.from);
  return {owners.begin(), owners.end()};
}

/// Members whose data can have reached each member when a round is over.
std::vector<Blocks> reach(const std::vector<Step>& steps, std::uint32_t members) {
  std::vector<Blocks> reached(members);
  for (std::uint32_t i = 0; i < members; ++i) reached[i] = {i};
  for (const Step& step : steps) {
    const std::vector<Blocks> before = reached;
    for (const RoundMessage& message : step) {
      reached[message.to].insert(before[message.from].begin(), before[message.from].end());
    }
  }
  return reached;
}

/// Counts the parts of n * share_unit of the bytes that a member sends and receives.
struct Traffic {
  std::vector<std::int64_t> in, out;
};

Traffic traffic(const Rounds& rounds, std::uint32_t members) {
  Traffic sum{std::vector<std::int64_t>(members), std::vector<std::int64_t>(members)};
  for (const Round& round : rounds.rounds) {
    for (const RoundMessage& message : round.messages) {
      sum.out[message.from] += message.share * round.repeat * members;
      sum.in[message.to] += message.share * round.repeat * members;
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("messages are between different members of the group and carry something") {
  for_each_row([](const CollectiveAlgorithm& algorithm, Collective collective, const GroupShape& shape) {
    const Rounds rounds = algorithm.rounds(collective, shape);
    CHECK_FALSE(rounds.rounds.empty());
    for (const Round& round : rounds.rounds) {
      CHECK(round.repeat > 0);
      CHECK(round.hops > 0);
      CHECK(std::ranges::all_of(round.messages, [&](const RoundMessage& message) {
        return message.from < shape.members && message.to < shape.members && message.from != message.to &&
               message.share > 0;
      }));
    }
  });
}

TEST_CASE("everyone is reached by everyone whose data it needs") {
  for_each_row([](const CollectiveAlgorithm& algorithm, Collective collective, const GroupShape& shape) {
    // A broadcast on several rings starts in the middle of some: their stages go round twice.
    std::vector<Step> steps = steps_of(algorithm.rounds(collective, shape));
    const std::vector<Step> again = steps;
    if (collective == Collective::broadcast) steps.insert(steps.end(), again.begin(), again.end());
    const std::vector<Blocks> reached = reach(steps, shape.members);
    for (std::uint32_t i = 0; i < shape.members; ++i) {
      if (collective == Collective::broadcast || collective == Collective::send_recv) {
        CHECK(reached[i].contains(0));
      } else {
        CHECK(reached[i].size() == shape.members);
      }
    }
  });
}

TEST_CASE("no member sends or receives less than the lower bound") {
  for_each_row([](const CollectiveAlgorithm& algorithm, Collective collective, const GroupShape& shape) {
    const Rounds rounds = algorithm.rounds(collective, shape);
    const Traffic sum = traffic(rounds, shape.members);
    const std::int64_t n = shape.members;
    const std::int64_t whole = n * rounds.share_unit;       // M
    const std::int64_t part = (n - 1) * rounds.share_unit;  // (n-1)/n M
    for (std::uint32_t i = 0; i < shape.members; ++i) {
      if (collective == Collective::broadcast || collective == Collective::send_recv) {
        CHECK(sum.in[i] >= (i == 0 ? 0 : whole));
      } else if (collective == Collective::reduce_scatter) {
        // A member that stands aside lets others add up: it still gets its part and sends the rest.
        CHECK(sum.in[i] >= rounds.share_unit);
        CHECK(sum.out[i] >= part);
      } else if (collective == Collective::all_reduce) {
        CHECK(sum.in[i] >= whole);
        CHECK(sum.out[i] >= whole);
      } else {
        CHECK(sum.in[i] >= part);
        CHECK(sum.out[i] >= rounds.share_unit);
      }
    }
    // All members together: (n-1)/n M each, twice for an all-reduce.
    std::int64_t total = 0;
    for (const std::int64_t in : sum.in) total += in;
    const bool each = collective != Collective::broadcast && collective != Collective::send_recv;
    CHECK(total >= (each ? (collective == Collective::all_reduce ? 2 : 1) * n * part : (n - 1) * whole));
  });
}

TEST_CASE("all-gather, reduce-scatter and all-reduce end with the right blocks everywhere") {
  for_each_row([](const CollectiveAlgorithm& algorithm, Collective collective, const GroupShape& shape) {
    if (shape.rings.size() > 1 || algorithm.name == "tree") return;
    const Rounds rounds = algorithm.rounds(collective, shape);
    const std::vector<Step> steps = steps_of(rounds);
    const std::uint32_t n = shape.members;
    if (collective == Collective::all_gather) {
      check_all_gather(steps, n, rounds.share_unit, everyone(n));
    } else if (collective == Collective::reduce_scatter) {
      // A reduce-scatter is an all-gather that runs backwards.
      check_all_gather(backwards(steps), n, rounds.share_unit, everyone(n));
    } else if (collective == Collective::all_reduce) {
      const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
      const std::vector<std::uint32_t> owners = owners_of(steps);
      check_all_gather(backwards({steps.begin(), middle}), n, rounds.share_unit, owners);
      check_all_gather({middle, steps.end()}, n, rounds.share_unit, owners);
    }
  });
}

TEST_CASE("tree: both trees add up every contribution once, then hand out the sum") {
  for (const GroupShape& shape : shapes()) {
    CAPTURE(shape.members);
    const Rounds rounds = find_collective_algorithm("tree")->rounds(Collective::all_reduce, shape);
    const std::vector<RoundMessage>& messages = rounds.rounds.front().messages;
    const std::size_t trees = 2 * shape.rings.size();
    const std::size_t edges = 2 * (shape.members - 1);  // each up and down
    CHECK(rounds.share_unit == static_cast<std::int64_t>(trees));
    CHECK(messages.size() == trees * edges);
    for (std::size_t tree = 0; tree < trees; ++tree) {
      Rounds one{{{{}, 1, rounds.rounds.front().hops}}, rounds.share_unit};
      const auto begin = messages.begin() + static_cast<std::ptrdiff_t>(tree * edges);
      one.rounds.front().messages.assign(begin, begin + static_cast<std::ptrdiff_t>(edges));
      const std::vector<Step> steps = steps_of(one);
      const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
      // n - 1 messages that bring all data to one member are a tree: nothing is added twice.
      std::vector<Blocks> reached = reach({steps.begin(), middle}, shape.members);
      const auto roots =
          std::ranges::count_if(reached, [&](const Blocks& from) { return from.size() == shape.members; });
      CHECK(roots == 1);
      reached = reach(steps, shape.members);
      CHECK(std::ranges::all_of(reached, [&](const Blocks& from) { return from.size() == shape.members; }));
    }
  }
}

TEST_CASE("tree: every node is a leaf of at least one of the two trees") {
  for (std::uint32_t n = 3; n <= 70; ++n) {
    const Rounds rounds =
        find_collective_algorithm("tree")->rounds(Collective::all_reduce, one_per_node_shape(n));
    // A leaf has 1 neighbour, others at most 3; so no member sends more than 4 halves.
    const Traffic sum = traffic(rounds, n);
    CHECK(*std::ranges::max_element(sum.out) <= 4 * std::int64_t{n});
    CHECK(sum.in == sum.out);
  }
}

TEST_CASE("tree: the trees of NCCL") {
  // Parents of nodes 0.. by ncclGetBtree; the second tree is the mirror image (even) or shifted (odd).
  const auto parents = [](std::uint32_t n, std::size_t tree) {
    const Rounds rounds =
        find_collective_algorithm("tree")->rounds(Collective::all_reduce, one_per_node_shape(n));
    const std::uint32_t up_stages = static_cast<std::uint32_t>(rounds.rounds.front().hops) / 2;
    std::vector<std::uint32_t> parent(n, kRoot);
    const std::size_t edges = 2 * (n - 1);
    for (std::size_t i = tree * edges; i < (tree + 1) * edges; ++i) {
      const RoundMessage& message = rounds.rounds.front().messages[i];
      if (message.stage < up_stages) parent[message.from] = message.to;
    }
    return parent;
  };
  CHECK(parents(6, 0) == std::vector<std::uint32_t>{kRoot, 2, 4, 2, 0, 4});
  CHECK(parents(6, 1) == std::vector<std::uint32_t>{1, 5, 3, 1, 3, kRoot});
  CHECK(parents(5, 0) == std::vector<std::uint32_t>{kRoot, 2, 4, 2, 0});
  CHECK(parents(5, 1) == std::vector<std::uint32_t>{1, kRoot, 3, 0, 3});
}

TEST_CASE("all-to-all: every block of every member ends where it is to go") {
  using Block = std::pair<std::uint32_t, std::uint32_t>;  // source, destination
  for (const auto& [nodes, g] : {std::pair{2U, 1U}, {2U, 2U}, {3U, 4U}, {4U, 3U}}) {
    const GroupShape shape = grid_shape(nodes, g);
    const Rounds rounds = find_collective_algorithm("hierarchical")->rounds(Collective::all_to_all, shape);
    std::vector<std::set<Block>> has(shape.members);
    for (std::uint32_t from = 0; from < shape.members; ++from) {
      for (std::uint32_t to = 0; to < shape.members; ++to) has[from].insert({from, to});
    }
    for (const Round& round : rounds.rounds) {
      const std::vector<std::set<Block>> before = has;
      for (const RoundMessage& message : round.messages) {
        const bool inside = message.from / g == message.to / g;
        std::int64_t sent = 0;
        for (const Block& block : before[message.from]) {
          const bool goes = inside ? block.second % g == message.to % g : block.second == message.to;
          if (!goes) continue;
          has[message.to].insert(block);
          has[message.from].erase(block);
          ++sent;
        }
        CHECK(sent * rounds.share_unit == message.share * std::int64_t{shape.members});
      }
    }
    for (std::uint32_t i = 0; i < shape.members; ++i) {
      CHECK(has[i].size() == shape.members);
      CHECK(std::ranges::all_of(has[i], [&](const Block& block) { return block.second == i; }));
    }
  }
}

TEST_CASE("direct all-to-all: 1/n from each to each other") {
  const Rounds rounds =
      find_collective_algorithm("direct")->rounds(Collective::all_to_all, one_node_shape(6));
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const RoundMessage& message : rounds.rounds.front().messages) {
    pairs.insert({message.from, message.to});
    CHECK(message.share == 1);
  }
  CHECK(rounds.share_unit == 6);
  CHECK(pairs.size() == 30);
}
