// Prices of all that a run asks of its communicators, from prices that are kept from run to run. Where
// transfers do not slow each other down.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/cost/signature.hpp"
#include "sim/cost/traffic.hpp"
#include "sim/matching/channels.hpp"
#include "sim/run/kept_passes.hpp"
#include "sim/run/kept_prices.hpp"

namespace orrery {

class CallPricer {
 public:
  /// Of a workload, of whose calls `channels` say how often they are made. Refers to all, as what follows
  /// does.
  /// @param prices  of its communicators
  /// @param with_loads  what links carry is of interest
  void price(const Workload& workload, const Channels& channels, const Experiment& experiment,
             KeptPrices& prices, bool with_loads);

  [[nodiscard]] const std::vector<ComputePrice>& works() const { return works_; }
  [[nodiscard]] const std::vector<ComputePrice>& passes() const { return passes_; }
  /// What a call takes the communicator at a place of its channel.
  [[nodiscard]] TransferTime time(std::uint32_t call, std::uint32_t place) const {
    return calls_[call].times[calls_[call].of_place[place]];
  }
  /// Which communicators of a call take equally long, of those where not all do.
  [[nodiscard]] Signature pattern() const;
  [[nodiscard]] PriceList list() const;
  /// Where loads are of interest.
  [[nodiscard]] Traffic traffic();

 private:
  /// What a call takes: times[of_place[i]] for communicator i of its channel.
  struct Times {
    std::span<const std::uint32_t> of_place;
    std::span<const TransferTime> times;
  };
  struct Load {
    KeptPrices::Price* price = nullptr;
    std::uint64_t operations = 0;
  };

  KeptPrices::Price& price_message(const Call& call, std::uint32_t message, std::uint64_t operations);
  Times price_pass(const Call& call);
  std::uint32_t number_of_pass(std::uint32_t pass, std::span<const Load> loads, std::size_t place);

  KeptPasses kept_passes_;

  const Workload* workload_ = nullptr;  ///< of the run at hand, as all that follows
  const Channels* channels_ = nullptr;
  KeptPrices* prices_ = nullptr;
  bool with_loads_ = false;
  std::vector<std::uint32_t> numbers_;  ///< per message: KeptPrices::number
  std::vector<ComputePrice> works_;
  std::vector<ComputePrice> passes_;
  std::vector<Picoseconds> durations_;  ///< per message: of the communicator at hand
  std::vector<Times> calls_;
  std::vector<std::uint32_t> pass_places_;  ///< Times::of_place of passes
  std::vector<TransferTime> pass_times_;    ///< Times::times of passes
  std::vector<Load> loads_;
};

}  // namespace orrery
