// What runs have in common, kept from one to the next for all threads:
//
//   on one cluster                 its topology (Place)
//   of one way to cut the ranks    communicators, and prices of messages within them (Cut)
//   of one order of operations     programs, periods (Order)
//     and one way to cut           channels (Meetings), folded ranks (Folds)
//     folded alike                 tasks, what figures need to know of them (Tasks)
//       for the same prices        what a run takes
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/topology.hpp"
#include "sim/cost/signature.hpp"
#include "sim/matching/channels.hpp"
#include "sim/metrics/build_report.hpp"
#include "sim/run/kept_prices.hpp"
#include "sim/run/periods.hpp"
#include "sim/run/pool.hpp"
#include "sim/symmetry/fold.hpp"
#include "sim/tasks/expanded_graph.hpp"

namespace orrery::kept {

template <class Value>
using Table = std::unordered_map<Signature, std::unique_ptr<Value>, SignatureHash>;

struct Place {
  std::uint64_t number = 0;  ///< of a store's topologies, never used again for another
  Cluster cluster;
  std::unique_ptr<const Topology> topology;

  /// Whether the topology of `other` is the same.
  [[nodiscard]] bool stands_for(const Cluster& other) const;
};

struct Cut {
  Cut(std::shared_ptr<const Place> place, const Experiment& experiment);

  std::shared_ptr<const Place> place;
  KeptPrices prices;
  Workload communicators;  ///< without anything else
  Channels grouped;        ///< without calls
  Table<Folded> folded;    ///< by pattern of prices and channels

  /// Bytes, about.
  [[nodiscard]] std::size_t weight() const;
};

struct Tasks {
  ExpandedGraph expanded;
  RunLayout layout;                          ///< empty until a breakdown is asked for
  std::optional<PeriodTasks> of_periods;     ///< once repeats were asked for
  Table<std::optional<WholeAndPart>> taken;  ///< by costs of tasks
  const struct Folds* latest = nullptr;      ///< whom they stand for at present
  bool are_new = true;                       ///< no run yet but the one whose prices they have
};

/// Whom tasks stand for in meetings with a pattern of prices.
struct Folds {
  StandIns stand_ins;
  Tasks* tasks = nullptr;
};

/// Who meets whom in an order and a cut.
struct Meetings {
  Channels channels;
  std::vector<std::uint64_t> calls;  ///< how often each is made in the programs
  std::vector<std::uint64_t> calls_in_period;
  Table<Folds> folds;  ///< by pattern of prices
};

struct Order {
  std::vector<Program> programs;
  bool told_by_few = false;  ///< programs of few micro-batches have the same works, messages and passes
  std::optional<Periods> periods;
  Table<Meetings> meetings;  ///< by communicators
  Table<Tasks> tasks;        ///< by shape of their foldings
  std::size_t bytes = 0;     ///< about

  [[nodiscard]] std::size_t weight() const { return bytes; }
};

/// Under which keys that is kept which the run of an experiment needs.
struct Trail {
  Signature order;
  Signature cut;
  Signature communicators;  ///< of Order::meetings
  Signature pattern;        ///< of Meetings::folds
  Signature costs;          ///< what runs take is kept by them and by what is asked for
};

/// Safe to use from several threads.
class Store {
 public:
  /// @param most_bytes  of free orders, about
  explicit Store(std::size_t most_bytes);

  [[nodiscard]] std::shared_ptr<const Place> place_of(const Cluster& cluster);

  /// That of an experiment that was run before and is equal.
  [[nodiscard]] std::optional<Trail> trail_of(const Experiment& experiment);
  void leave(const Experiment& experiment, const Trail& trail);

  Pool<Cut> cuts;
  Pool<Order> orders;

 private:
  struct Left {
    Experiment experiment;
    Trail trail;
    std::size_t bytes = 0;  ///< of the experiment, about
  };
  [[nodiscard]] std::shared_ptr<const Place> find(const Cluster& cluster) const;

  std::mutex mutex_;
  std::uint64_t places_made_ = 0;
  std::vector<std::shared_ptr<const Place>> places_;
  std::unordered_map<Signature, std::vector<Left>, SignatureHash> trails_;  ///< by sign_plan()
  std::size_t trail_bytes_ = 0;                                             ///< about
};

}  // namespace orrery::kept
