// Runs that share what they have in common with those before them:
//
//   on one cluster                 its topology
//   of one way to cut the ranks    communicators, and prices of messages within them
//   of one order of operations     programs, periods
//     and one way to cut           channels, folded ranks
//     folded alike                 tasks, what figures need to know of them
//       for the same prices        what a run takes
//
// What is left for each run: what its stages hold, programs of a few micro-batches, to see what it shares and
// which messages it sends, prices of works and passes, a sweep over the tasks and the figures. These are
// those of a fresh run, to the bit.
//
// Programs treat all micro-batches alike but for the first and the last, and inner stages that hold the same
// alike. So programs of few micro-batches and of one stage of each kind stand for all of them, and hold the
// same works, messages and passes. Where they number these otherwise, as interleaved schedules do, the whole
// programs are written for each run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "orrery/experiment.hpp"
#include "sim/graph/fold.hpp"
#include "sim/graph/kept_passes.hpp"
#include "sim/graph/kept_prices.hpp"
#include "sim/run/runner.hpp"
#include "workloads/lower.hpp"

namespace orrery {

class KeptRunner : public Runner {
 public:
  /// Keeps tasks of about `most_bytes`, those met last.
  explicit KeptRunner(std::size_t most_bytes);
  ~KeptRunner() override;

  /// Whether runs of the experiment can share anything: transfers do not slow each other or compute down,
  /// ranks are even and fold, and replicas keep in step all together.
  [[nodiscard]] static bool takes(const Experiment& experiment);

  const Workload& outline(const Experiment& experiment) override;
  void write(std::int64_t micro_batches) override;
  const Periods& periods() override;
  const std::optional<WholeAndPart>& run(std::int64_t more, const Figures& figures) override;
  [[nodiscard]] RunView view() const override;

 private:
  struct Place;     ///< a topology
  struct Cut;       ///< communicators of a plan, and prices of messages within them
  struct Order;     ///< of operations
  struct Meetings;  ///< who meets whom in an order and a cut
  struct Folds;     ///< whom tasks stand for in meetings with a pattern of prices
  struct Tasks;     ///< of an order and a shape of foldings
  template <class Value>
  using Kept = std::unordered_map<Signature, std::unique_ptr<Value>, SignatureHash>;

  /// What a call takes: times[of_place[i]] for communicator i of its channel.
  struct CallTimes {
    std::span<const std::uint32_t> of_place;
    std::span<const TransferTime> times;
  };
  struct Load {
    KeptPrices::Price* price = nullptr;
    std::uint64_t operations = 0;
  };

  void forget_half();
  void add_bytes_kept(std::size_t bytes);
  Place& place_of(const Cluster& cluster);
  void put_back();
  [[nodiscard]] std::size_t priced() const;
  Order& order_of(const Signature& key, Workload& content);
  Order& keep_order(const Signature& key, Workload& whole, const Workload& few);
  Cut& cut_of(const Signature& communicators);
  Meetings& meetings_of(const Signature& communicators);
  Folds& folds_of(const Signature& pattern);
  const Folded& folded_of(const Signature& pattern);
  Tasks& tasks_of(const Signature& shape, const Folded& folded);
  void price_calls(std::int64_t more);
  KeptPrices::Price& price_message(const Call& call, std::uint32_t message, std::uint64_t operations);
  CallTimes price_pass(const Call& call);
  std::uint32_t number_of_pass(std::uint32_t pass, std::span<const Load> loads, std::size_t place);
  [[nodiscard]] Signature pattern() const;
  [[nodiscard]] Signature sign_costs(bool repeats, const Figures& figures) const;
  [[nodiscard]] PriceList list_prices() const;
  [[nodiscard]] Traffic count_traffic();

  std::vector<std::unique_ptr<Place>> places_;
  KeptPasses kept_passes_;
  Kept<Cut> cuts_;
  Kept<Order> orders_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;  ///< of orders, about
  std::uint64_t runs_ = 0;

  const Experiment* experiment_ = nullptr;  ///< of the run at hand, as all that follows
  std::optional<SyncLayout> layout_;
  Outline outlined_;
  Experiment written_;  ///< with the micro-batches of its programs
  Experiment few_;      ///< with a few of them
  Place* place_ = nullptr;
  Cut* cut_ = nullptr;
  Order* order_ = nullptr;
  Meetings* meetings_ = nullptr;
  Workload workload_;  ///< has the programs of the order and the communicators of the cut while it is at hand
  Tasks* tasks_ = nullptr;
  Figures figures_;
  std::vector<std::uint32_t> numbers_;  ///< per message: KeptPrices::number
  std::vector<ComputePrice> works_;
  std::vector<ComputePrice> passes_;
  std::vector<Picoseconds> durations_;  ///< per message: of the communicator at hand
  std::vector<CallTimes> calls_;
  std::vector<std::uint32_t> pass_places_;  ///< CallTimes::of_place of passes
  std::vector<TransferTime> pass_times_;    ///< CallTimes::times of passes
  std::vector<Load> loads_;
  bool with_loads_ = false;              ///< links are of interest
  std::vector<TransferTime> transfers_;  ///< per StandIns::transfers
  std::vector<Picoseconds> lags_;        ///< of HostLags
  Timeline timeline_;                    ///< of the latest run that was not known
  Traffic traffic_;
};

}  // namespace orrery
