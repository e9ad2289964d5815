// The workloads of docs/developers/performance.md in SimGrid (S4U activities, without actors): network model
// CM02 with all factors 1, no cross traffic, no TCP window; latency, then max-min sharing of the links on the
// route. The driver counts predecessors and creates an activity when the last of them ends, so only running
// activities exist: SimGrid 3.32 keeps activities in one list and leaves it by linear search, which makes a
// graph tied by add_successor quadratic.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/workloads.hpp"

// version.h is not self-contained.
// clang-format off
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
// clang-format on

namespace {

namespace sg = simgrid::s4u;
using namespace orrery::bench;

constexpr double kBandwidth = static_cast<double>(kLinkBytesPerS);
constexpr double kSpeed = 1e9;  // a flop a nanosecond
constexpr double kHopLatency = 1e-6;

using Hosts = std::vector<sg::Host*>;

/// Records the activities that a workload writes, by kind, and their dependencies.
class ActivityGraph {
 public:
  enum class Kind : std::uint32_t { compute, reduce, send };
  struct Activity {
    Kind kind;
    std::uint32_t on;  ///< host, engine, or host that sends
    std::uint32_t to;
    std::uint64_t amount;  ///< ns or bytes
  };

  std::uint32_t compute(std::uint32_t host, std::uint64_t ns, std::span<const std::uint32_t> preds) {
    return add({Kind::compute, host, 0, ns}, preds);
  }
  std::uint32_t reduce(std::uint32_t engine, std::uint64_t ns, std::span<const std::uint32_t> preds) {
    return add({Kind::reduce, engine, 0, ns}, preds);
  }
  std::uint32_t send(std::uint32_t from, std::uint32_t to, std::uint32_t, std::uint64_t bytes,
                     std::span<const std::uint32_t> preds) {
    return add({Kind::send, from, to, bytes}, preds);
  }

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(activities_.size()); }
  [[nodiscard]] const Activity& activity(std::uint32_t id) const { return activities_[id]; }
  [[nodiscard]] std::span<const std::uint32_t> preds(std::uint32_t id) const {
    return {preds_.data() + begin_[id], preds_.data() + begin_[id + 1]};
  }

 private:
  std::uint32_t add(Activity activity, std::span<const std::uint32_t> preds) {
    activities_.push_back(activity);
    preds_.insert(preds_.end(), preds.begin(), preds.end());
    begin_.push_back(preds_.size());
    return size() - 1;
  }

  std::vector<Activity> activities_;
  std::vector<std::uint64_t> begin_{0};
  std::vector<std::uint32_t> preds_;
};

/// Calls back when an activity has ended.
void on_end(const std::function<void(const sg::Activity&)>& ended) {
#if SIMGRID_VERSION >= 33400
  sg::Comm::on_completion_cb([ended](const sg::Comm& activity) { ended(activity); });
  sg::Exec::on_completion_cb([ended](const sg::Exec& activity) { ended(activity); });
#else
  sg::Activity::on_completion_cb(ended);
#endif
}

template <class Pointer>
void start(const Pointer& activity) {
#if SIMGRID_VERSION >= 33400
  activity->start();
#else
  activity->vetoable_start();
#endif
}

/// Runs a graph, creating each activity when its last predecessor has ended.
class GraphRun {
 public:
  GraphRun(const ActivityGraph& graph, const Hosts& hosts, const Hosts& engines)
      : graph_(graph), hosts_(hosts), engines_(engines), waiting_(graph.size()), begin_(graph.size() + 2, 0) {
    for (std::uint32_t id = 0; id < graph.size(); ++id) {
      waiting_[id] = static_cast<std::uint32_t>(graph.preds(id).size());
      for (const std::uint32_t pred : graph.preds(id)) ++begin_[pred + 2];
    }
    for (std::size_t i = 2; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    successors_.resize(begin_.back());
    for (std::uint32_t id = 0; id < graph.size(); ++id) {
      for (const std::uint32_t pred : graph.preds(id)) successors_[begin_[pred + 1]++] = id;
    }
  }

  std::uint64_t run(const sg::Engine& engine) {
    on_end([this](const sg::Activity& activity) { ended(activity); });
    for (std::uint32_t id = 0; id < graph_.size(); ++id) {
      if (graph_.preds(id).empty()) launch(id);
    }
    engine.run();
    return done_;
  }

 private:
  struct Slot {
    sg::ActivityPtr activity;
    std::uint32_t id;
  };

  void launch(std::uint32_t id) {
    Slot* const slot = take_slot();
    slot->id = id;
    const ActivityGraph::Activity& what = graph_.activity(id);
    if (what.kind == ActivityGraph::Kind::send) {
      const auto comm =
          sg::Comm::sendto_init(hosts_[what.on], hosts_[what.to])->set_payload_size(what.amount);
      comm->set_data(slot);
      slot->activity = comm;
      start(comm);
      return;
    }
    sg::Host* const host = (what.kind == ActivityGraph::Kind::compute ? hosts_ : engines_)[what.on];
    const auto exec = sg::Exec::init()->set_flops_amount(static_cast<double>(what.amount))->set_host(host);
    exec->set_data(slot);
    slot->activity = exec;
    start(exec);
  }

  void ended(const sg::Activity& activity) {
    for (Slot* slot : ending_) {  // those whose callback has returned
      slot->activity = nullptr;
      idle_.push_back(slot);
    }
    ending_.clear();
    Slot* const slot = activity.get_data<Slot>();
    ending_.push_back(slot);
    ++done_;
    for (std::uint64_t i = begin_[slot->id]; i < begin_[slot->id + 1]; ++i) {
      if (--waiting_[successors_[i]] == 0) launch(successors_[i]);
    }
  }

  Slot* take_slot() {
    if (idle_.empty()) return new Slot;  // lives as long as the process
    Slot* const slot = idle_.back();
    idle_.pop_back();
    return slot;
  }

  const ActivityGraph& graph_;
  const Hosts& hosts_;
  const Hosts& engines_;
  std::vector<std::uint32_t> waiting_;
  std::vector<std::uint64_t> begin_;
  std::vector<std::uint32_t> successors_;
  std::vector<Slot*> idle_;
  std::vector<Slot*> ending_;
  std::uint64_t done_ = 0;
};

/// The ring without a stored graph: two messages of a rank at most are in flight.
class RingRun {
 public:
  RingRun(Ring ring, const Hosts& hosts) : ring_(ring), hosts_(hosts), tags_(ring.ranks), live_(ring.ranks) {}

  std::uint64_t run(const sg::Engine& engine) {
    on_end([this](const sg::Activity& activity) {
      const Tag tag = *activity.get_data<Tag>();
      ++done_;
      if (tag.step + 1 < ring_.steps()) launch(ring_.next(tag.rank), tag.step + 1);
    });
    for (std::uint32_t rank = 0; rank < ring_.ranks; ++rank) launch(rank, 0);
    engine.run();
    return done_;
  }

 private:
  struct Tag {
    std::uint32_t rank;
    std::uint32_t step;
  };

  void launch(std::uint32_t rank, std::uint32_t step) {
    tags_[rank][step % 2] = {rank, step};
    const auto comm =
        sg::Comm::sendto_init(hosts_[rank], hosts_[ring_.next(rank)])->set_payload_size(ring_.bytes());
    comm->set_data(&tags_[rank][step % 2]);
    live_[rank][step % 2] = comm;
    start(comm);
  }

  Ring ring_;
  const Hosts& hosts_;
  std::vector<std::array<Tag, 2>> tags_;
  std::vector<std::array<sg::CommPtr, 2>> live_;
  std::uint64_t done_ = 0;
};

/// The ring as an actor per rank: faster than RingRun on an idle machine, slower where caches are shared.
std::uint64_t run_ring_of_actors(const sg::Engine& engine, const Ring& ring, const Hosts& hosts) {
  static int payload = 0;
  for (std::uint32_t rank = 0; rank < ring.ranks; ++rank) {
    sg::Actor::create("rank" + std::to_string(rank), hosts[rank], [ring, rank] {
      auto* const out = sg::Mailbox::by_name(std::to_string(ring.next(rank)));
      auto* const in = sg::Mailbox::by_name(std::to_string(rank));
      for (std::uint32_t step = 0; step < ring.steps(); ++step) {
        const auto sent = out->put_async(&payload, ring.bytes());
        in->get<int>();
        sent->wait();
      }
    });
  }
  engine.run();
  return ring.messages();
}

/// Rounds of flows; the last end of a round starts the next.
class PermutationsRun {
 public:
  PermutationsRun(bool equal, std::uint32_t rounds, const Hosts& hosts)
      : equal_(equal), rounds_(rounds), hosts_(hosts), live_(hosts.size()) {}

  std::uint64_t run(const sg::Engine& engine) {
    on_end([this](const sg::Activity&) {
      ++done_;
      if (--left_ == 0 && ++round_ < rounds_) launch();
    });
    launch();
    engine.run();
    return done_;
  }

 private:
  void launch() {
    const std::vector<std::uint32_t> to = Permutations::permutation(round_);
    left_ = Permutations::kHosts;
    for (std::uint32_t host = 0; host < Permutations::kHosts; ++host) {
      live_[host] = sg::Comm::sendto_init(hosts_[host], hosts_[to[host]])
                        ->set_payload_size(Permutations::bytes(equal_, round_, host));
    }
    for (const auto& comm : live_) start(comm);
  }

  bool equal_;
  std::uint32_t rounds_;
  const Hosts& hosts_;
  std::vector<sg::CommPtr> live_;
  std::uint32_t round_ = 0;
  std::uint32_t left_ = 0;
  std::uint64_t done_ = 0;
};

/// SimGrid 4 has a root zone from the start, 3 takes the first zone as the root.
sg::NetZone* root() {
#if SIMGRID_VERSION >= 40000
  return sg::Engine::get_instance()->get_netzone_root();
#else
  return nullptr;
#endif
}

sg::ClusterCallbacks leaves() {
#if SIMGRID_VERSION >= 40000
  return sg::ClusterCallbacks([](sg::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
    return zone->add_host("h" + std::to_string(id), kSpeed)->seal();
  });
#else
  return sg::ClusterCallbacks([](sg::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
    auto* const host = zone->create_host("h" + std::to_string(id), kSpeed)->seal();
    return std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*>(
        host->get_netpoint(), nullptr);
  });
#endif
}

Hosts hosts_named(const sg::Engine& engine, const std::string& prefix, std::uint32_t count) {
  Hosts hosts;
  for (std::uint32_t i = 0; i < count; ++i) hosts.push_back(engine.host_by_name(prefix + std::to_string(i)));
  return hosts;
}

void make_torus(const std::vector<unsigned long>& sides) {
  sg::create_torus_zone("torus", root(), sides, leaves(), kBandwidth, kHopLatency,
                        sg::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
}

/// A split-duplex link per host: a flow takes the sender's way up and the receiver's way down.
void make_star(std::uint32_t hosts, std::uint32_t engines) {
#if SIMGRID_VERSION >= 40000
  auto* const zone = root()->add_netzone_star("star");
#else
  auto* const zone = sg::create_star_zone("star");
#endif
  for (std::uint32_t i = 0; i < hosts; ++i) {
    const auto* const host = zone->create_host("h" + std::to_string(i), kSpeed)->seal();
    auto* const link =
        zone->create_split_duplex_link("l" + std::to_string(i), kBandwidth)->set_latency(kHopLatency);
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {{link, sg::LinkInRoute::Direction::UP}},
                    true);
  }
  for (std::uint32_t i = 0; i < engines; ++i) zone->create_host("e" + std::to_string(i), kSpeed)->seal();
  zone->seal();
}

/// Latency on the links of hosts alone, so that a flow inside a leaf waits as long as one between leaves.
Hosts make_fat_tree(const sg::Engine& engine) {
  using W = Permutations;
  sg::create_fatTree_zone("tree", root(), {2, {W::kPerLeaf, W::kLeaves}, {1, W::kSpines}, {1, 1}}, leaves(),
                          kBandwidth, 0.0, sg::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
  const Hosts hosts = hosts_named(engine, "h", W::kHosts);
  for (std::uint32_t i = 0; i < W::kHosts; ++i) {
    std::vector<sg::Link*> links;
    double latency = 0;
    hosts[i]->route_to(hosts[(i + W::kPerLeaf) % W::kHosts], links, &latency);
    links.front()->set_latency(kHopLatency);
    links.back()->set_latency(kHopLatency);
  }
  return hosts;
}

std::uint64_t run_ring(const sg::Engine& engine, std::uint32_t ranks, bool actors) {
  make_torus({ranks});
  const Hosts hosts = hosts_named(engine, "h", ranks);
  return actors ? run_ring_of_actors(engine, Ring{ranks}, hosts) : RingRun(Ring{ranks}, hosts).run(engine);
}

std::uint64_t run_steps(const sg::Engine& engine, std::uint32_t replicas, std::uint32_t count) {
  TrainingSteps steps(replicas, count);
  make_star(steps.hosts(), steps.engines());
  ActivityGraph graph;
  steps.write(graph);
  const Hosts hosts = hosts_named(engine, "h", steps.hosts());
  const Hosts engines = hosts_named(engine, "e", steps.engines());
  return GraphRun(graph, hosts, engines).run(engine);
}

std::uint64_t run_flows(const sg::Engine& engine, bool equal, std::uint32_t rounds) {
  const Hosts hosts = make_fat_tree(engine);
  return PermutationsRun(equal, rounds, hosts).run(engine);
}

std::uint64_t run_gossip(const sg::Engine& engine, std::uint32_t rounds) {
  make_torus({Gossip::kSide, Gossip::kSide});
  ActivityGraph graph;
  Gossip{rounds}.write(graph);
  const Hosts hosts = hosts_named(engine, "h", Gossip::kNodes);
  return GraphRun(graph, hosts, {}).run(engine);
}

}  // namespace

int main(int argc, char** argv) {
  sg::Engine engine(&argc, argv);
  sg::Engine::set_config("network/model:CM02");
  sg::Engine::set_config("network/crosstraffic:0");
  sg::Engine::set_config("network/TCP-gamma:0");
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string what = words.empty() ? "" : words[0];
  const auto number = [&](std::size_t i) { return static_cast<std::uint32_t>(std::stoul(words.at(i))); };
  std::uint64_t tasks = 0;
  if (what == "ring" || what == "ring-actors") {
    tasks = run_ring(engine, number(1), what == "ring-actors");
  } else if (what == "steps") {
    tasks = run_steps(engine, number(1), number(2));
  } else if (what == "flows") {
    tasks = run_flows(engine, words.at(1) == "equal", number(2));
  } else if (what == "gossip") {
    tasks = run_gossip(engine, number(1));
  } else {
    std::fputs(
        "usage: simgrid_workloads ring|ring-actors RANKS | steps REPLICAS STEPS | flows equal|random ROUNDS "
        "| gossip ROUNDS\n",
        stderr);
    return 2;
  }
  std::printf("{\"tasks\": %llu, \"simulated_s\": %.12f, \"version\": \"SimGrid %d.%d\"}\n",
              static_cast<unsigned long long>(tasks), sg::Engine::get_clock(), SIMGRID_VERSION_MAJOR,
              SIMGRID_VERSION_MINOR);
  std::fflush(stdout);
  std::_Exit(0);  // taking millions of activities down is not simulation
}
