// Which replicas and ranks fold, counted by hand on replicas of two tensor ranks that reduce their gradients.
#include "sim/symmetry/replicas.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

#include "sim/symmetry/fold.hpp"

using namespace orrery;

namespace {

using List = std::vector<std::uint32_t>;

/// Links without vertices; their numbers are all that folding reads.
class Links : public Topology {
 public:
  explicit Links(std::size_t count) { links_.resize(count, {{}, {}, 1000, 0, LinkKind::fabric}); }
  void route(GpuId, GpuId, std::vector<LinkId>&) const override {}
  [[nodiscard]] std::string vertex_name(VertexId) const override { return {}; }
  Link& at(std::size_t link) { return links_[link]; }
};

/// Rank 2 d + t is tensor rank t of replica d. Group d is the tensor group of replica d, then come the
/// data groups of t = 0 and t = 1. All transfers take 100 ps, and load no link.
struct Run {
  Workload workload;
  Channels channels;
  PriceList prices;
  Links topology{4};
  std::vector<std::vector<SharedLinks::Use>> uses;  ///< per group
  std::vector<LinkId> links;                        ///< shared ones, the first of the topology

  explicit Run(std::uint32_t count) {
    workload.replicas = count;
    workload.replica_stride = 2;
    workload.programs.resize(1);
    workload.program_of_rank.assign(2 * std::size_t{count}, 0);
    workload.messages.resize(1);
    workload.group_begin = {0};
    workload.group_of.assign(workload.ranks() * std::size_t{kSlotCount}, kNoGroup);
    for (std::uint32_t d = 0; d < count; ++d) add_group(Slot::tensor, {2 * d, 2 * d + 1});
    List of_place[2];
    for (std::uint32_t rank = 0; rank < 2 * count; ++rank) of_place[rank % 2].push_back(rank);
    for (const List& members : of_place) add_group(Slot::data, members);
    add_op(Slot::tensor, Stream::tensor);
    add_op(Slot::data, Stream::data);
    channels = match_channels(workload);
    for (const Call& call : channels.calls)
      prices.calls.push_back({List(channels.channels[call.channel].groups.size(), 0), {{100, 0, 0}}, {}, {}});
    uses.resize(workload.groups());
  }
  void set_time(std::uint32_t group, Picoseconds time) {
    CallPrice& price = prices.calls[call_of(group)];
    price.of_place.edit()[channels.group_place[group]] = static_cast<std::uint32_t>(price.costs.size());
    price.costs.push_back({time, 0, 0});
  }
  void slow_down(const List& ranks) {
    Experiment experiment;
    experiment.cluster.nodes = workload.ranks();
    experiment.cluster.gpus_per_node = 1;
    for (const std::uint32_t rank : ranks) experiment.cluster.overrides.push_back({rank, 1, 0.5});
    prices.rank_speeds = RankSpeeds(experiment);
  }
  void load(std::uint32_t group, std::uint32_t link, std::uint64_t weight = kWeightOne) {
    uses[group].push_back({call_of(group), 0, link, weight});
  }
  [[nodiscard]] std::uint32_t call_of(std::uint32_t group) const {
    return channels.channels[channels.channel_group[group]].first_call;
  }
  [[nodiscard]] SharedLinks shared() const {
    SharedLinks result{links, {}, {}};
    for (const auto& of_group : uses) {
      result.begin.push_back(static_cast<std::uint32_t>(result.uses.size()));
      result.uses.insert(result.uses.end(), of_group.begin(), of_group.end());
    }
    result.begin.push_back(static_cast<std::uint32_t>(result.uses.size()));
    return result;
  }
  [[nodiscard]] Replicas folded_replicas() const {
    const SharedLinks on_links = shared();
    return fold_replicas(workload, channels, on_links, CostSignatures(channels, prices, on_links),
                         prices.rank_speeds, topology);
  }
  [[nodiscard]] Folded folded() const { return fold(workload, channels, prices, topology, shared()); }

 private:
  void add_group(Slot slot, const List& members) {
    for (const std::uint32_t rank : members) {
      workload.group_of.edit()[rank * kSlotCount + static_cast<std::size_t>(slot)] = workload.groups();
      workload.group_members.push_back(rank);
    }
    workload.group_begin.push_back(static_cast<std::uint32_t>(workload.group_members.size()));
  }
  void add_op(Slot slot, Stream stream) {
    Op op;
    op.kind = Op::Kind::communicate;
    op.slot = static_cast<std::uint16_t>(slot);
    op.stream = stream;
    workload.programs.edit()[0].ops.push_back(op);
  }
};

/// Per class, how many members `class_of` names.
List members_of(const Partition& partition) {
  List members(partition.representative.size());
  for (const std::uint32_t cls : partition.class_of) ++members[cls];
  return members;
}

/// The groups of a rank are of the classes of its representative's, and so are the members of a group, with
/// its price and load.
void check_equitable(const Run& run, const Folded& folded) {
  const auto of_rank = [&](std::uint32_t rank) {
    List colours{static_cast<std::uint32_t>(run.prices.rank_speeds.kind(rank))};
    for (const Slot slot : {Slot::tensor, Slot::data})
      colours.push_back(folded.groups.class_of[run.workload.group(rank, static_cast<std::size_t>(slot))]);
    return colours;
  };
  const auto of_group = [&](std::uint32_t group) {
    List members;
    for (const std::uint32_t rank : run.workload.members(group))
      members.push_back(folded.ranks.class_of[rank]);
    std::ranges::sort(members);
    std::uint64_t weight = 0;
    for (const SharedLinks::Use& use : run.uses[group]) weight += use.weight;
    const Cost& cost = run.prices.calls[run.call_of(group)].cost(run.channels.group_place[group]);
    return std::tuple(run.channels.channel_group[group], cost.duration_ps, members, weight);
  };
  for (std::uint32_t rank = 0; rank < run.workload.ranks(); ++rank)
    CHECK(of_rank(rank) == of_rank(folded.ranks.representative[folded.ranks.class_of[rank]]));
  for (std::uint32_t group = 0; group < run.workload.groups(); ++group)
    CHECK(of_group(group) == of_group(folded.groups.representative[folded.groups.class_of[group]]));
  CHECK(members_of(folded.ranks) == folded.ranks.multiplicity);
  CHECK(members_of(folded.groups) == folded.groups.multiplicity);
}

}  // namespace

TEST_CASE("replicas that are priced alike fold onto the first") {
  const Run run(4);
  const Replicas replicas = run.folded_replicas();
  CHECK(replicas.like == List{0, 0, 0, 0});
  CHECK(replicas.times == List{4, 0, 0, 0});
  CHECK(replicas.parts.size() == 1);  // the tensor group; data groups join replicas
  CHECK(replicas.wide == std::vector<bool>{false, true});
  const Folded folded = run.folded();
  CHECK(folded.ranks.multiplicity == List{8});
  CHECK(folded.groups.class_of == List{0, 0, 0, 0, 1, 1});
  CHECK(folded.groups.multiplicity == List{4, 2});
}

TEST_CASE(
    "a replica whose collectives take longer is kept apart, one with a price of its own but as long is not") {
  Run run(4);
  run.set_time(1, 100);
  run.set_time(2, 150);
  CHECK(run.folded_replicas().like == List{0, 0, 2, 0});
  CHECK(run.folded_replicas().times == List{3, 0, 1, 0});
  const Folded folded = run.folded();
  CHECK(folded.ranks.class_of == List{0, 0, 0, 0, 1, 1, 0, 0});
  CHECK(folded.groups.multiplicity == List{3, 1, 2});
  check_equitable(run, folded);
}

TEST_CASE("a straggler keeps its replica apart, and tells the data groups apart") {
  Run run(4);
  run.slow_down({5});  // tensor rank 1 of replica 2
  CHECK(run.folded_replicas().like == List{0, 0, 2, 0});
  // The data group of t = 1 has the straggler, so ranks of t = 0 and t = 1 differ in every replica.
  const Folded folded = run.folded();
  CHECK(folded.ranks.class_of == List{0, 1, 0, 1, 2, 3, 0, 1});
  CHECK(folded.ranks.multiplicity == List{3, 3, 1, 1});
  CHECK(folded.groups.multiplicity == List{3, 1, 1, 1});
}

TEST_CASE("stragglers in different places keep their replicas apart, but their ranks fold") {
  Run run(4);
  run.slow_down({4, 7});  // t = 0 of replica 2, t = 1 of replica 3
  CHECK(run.folded_replicas().like == List{0, 0, 2, 3});
  // Each data group has one straggler, one rank beside a straggler, and two others.
  const Folded folded = run.folded();
  CHECK(folded.ranks.class_of == List{0, 0, 0, 0, 1, 2, 2, 1});
  Run uneven(3);
  uneven.slow_down({0, 2, 5});  // t = 0 of two replicas, t = 1 of one: the data groups differ
  CHECK(uneven.folded().ranks.class_of == List{0, 1, 0, 1, 2, 3});
}

TEST_CASE("replicas that share an uplink change places together, with those that share another") {
  Run run(4);
  run.links = {LinkId{0}, LinkId{1}};
  for (std::uint32_t d = 0; d < 4; ++d) run.load(d, d / 2);
  CHECK(run.folded_replicas().owner == List{0, 2});
  CHECK(run.folded_replicas().like == List{0, 1, 0, 1});
  CHECK(run.folded().ranks.multiplicity == List{8});  // both ends of an uplink are alike in turn
  CHECK(run.folded().link_class == List{0, kNone});
  SUBCASE("unless one uplink is slower") { run.topology.at(1).bytes_per_s = 500; }
  SUBCASE("unless one replica loads its uplink more") { run.uses[3].front().weight *= 2; }
  SUBCASE("unless a group of all replicas crosses one of them") { run.load(4, 1); }
  CHECK(run.folded_replicas().times == List{1, 1, 1, 1});
  CHECK(run.folded().ranks.class_of[6] != run.folded().ranks.class_of[0]);
  check_equitable(run, run.folded());
}

TEST_CASE("an uplink that only some replicas cross keeps them apart from the others") {
  Run run(4);
  run.links = {LinkId{0}};
  run.load(0, 0);
  run.load(1, 0);
  CHECK(run.folded_replicas().like == List{0, 1, 2, 2});
  CHECK(run.folded().ranks.class_of == List{0, 0, 0, 0, 1, 1, 1, 1});
}

TEST_CASE("partitions are equitable whatever prices, stragglers and loads are") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](std::uint32_t values) { return static_cast<std::uint32_t>(random() % values); };
    Run run(1 + pick(6));
    for (std::uint32_t link = pick(5); link > 0; --link)
      run.links.insert(run.links.begin(), LinkId{link - 1});
    List slow;
    for (std::uint32_t rank = 0; rank < run.workload.ranks(); ++rank)
      if (pick(3) == 0) slow.push_back(rank);
    run.slow_down(slow);
    for (std::uint32_t group = 0; group < run.workload.groups(); ++group) {
      if (pick(4) == 0) run.set_time(group, 150);
      if (!run.links.empty() && pick(2) == 0)
        run.load(group, pick(static_cast<std::uint32_t>(run.links.size())), kWeightOne << pick(2));
    }
    check_equitable(run, run.folded());
  }
}

TEST_CASE("unfolded, every rank, communicator and link is by itself") {
  Run run(2);
  run.links = {LinkId{0}, LinkId{1}, LinkId{2}};
  const Folded each = unfolded(run.workload, run.shared());
  CHECK(each.ranks.class_of == List{0, 1, 2, 3});
  CHECK(each.ranks.multiplicity == List{1, 1, 1, 1});
  CHECK(each.groups.class_of == List{0, 1, 2, 3});
  CHECK(each.groups.multiplicity == each.ranks.multiplicity);
  CHECK(each.link_class == List{0, 1, 2});
  CHECK(each.links == run.links);
}
