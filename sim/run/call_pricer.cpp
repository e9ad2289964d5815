#include "sim/run/call_pricer.hpp"

#include <algorithm>

namespace orrery {

void CallPricer::price(const Workload& workload, const Channels& channels, const Experiment& experiment,
                       KeptPrices& prices, bool with_loads) {
  workload_ = &workload;
  channels_ = &channels;
  prices_ = &prices;
  with_loads_ = with_loads;
  works_ = price_works(workload, experiment);
  passes_.assign(workload.passes.size(), {});
  durations_.assign(workload.messages.size(), 0);
  numbers_.clear();
  for (const Message& message : workload.messages) numbers_.push_back(prices.number(message));
  kept_passes_.begin(workload, works_);
  calls_.clear();
  pass_places_.clear();
  pass_times_.clear();
  pass_places_.reserve(channels.prices);  // calls_ refers to both
  pass_times_.reserve(channels.prices);
  loads_.clear();
  for (const Call& call : channels.calls) {
    if (call.request.pass) {
      calls_.push_back(price_pass(call));
    } else {
      const KeptPrices::Price& price = price_message(call, call.request.work, call.operations);
      calls_.push_back({price.of_place, price.times});
    }
  }
}

KeptPrices::Price& CallPricer::price_message(const Call& call, std::uint32_t message,
                                             std::uint64_t operations) {
  KeptPrices::Price& price = prices_->price(numbers_[message], workload_->messages[message], call.channel,
                                            *workload_, *channels_, with_loads_);
  loads_.push_back({&price, operations});
  return price;
}

/// Communicators whose messages take equally long share a time.
CallPricer::Times CallPricer::price_pass(const Call& call) {
  const std::uint32_t pass = call.request.work;
  const std::size_t places = channels_->channels[call.channel].groups.size();
  const std::size_t first_load = loads_.size();
  const std::size_t first_place = pass_places_.size();
  const std::size_t first_time = pass_times_.size();
  for (const auto& [message, steps] : kept_passes_.messages()[pass])
    price_message(call, message, call.operations * steps);
  const std::span<const Load> loads = std::span(loads_).subspan(first_load);
  const bool even =
      std::ranges::all_of(loads, [](const Load& load) { return load.price->times.size() == 1; });
  for (std::size_t place = 0; place < (even ? 1 : places); ++place) {
    const PassPrice& price = kept_passes_.price(number_of_pass(pass, loads, place));
    const TransferTime time{price.duration_ps, price.lead_ps};
    const std::span<const TransferTime> known = std::span(pass_times_).subspan(first_time);
    const auto at = static_cast<std::size_t>(std::ranges::find(known, time) - known.begin());
    if (at == known.size()) pass_times_.push_back(time);
    pass_places_.push_back(static_cast<std::uint32_t>(at));
    passes_[pass] = price.compute;
  }
  pass_places_.resize(first_place + places, 0);
  return {std::span(pass_places_).subspan(first_place), std::span(pass_times_).subspan(first_time)};
}

/// For a communicator of a channel, with the loads of the pass.
std::uint32_t CallPricer::number_of_pass(std::uint32_t pass, std::span<const Load> loads, std::size_t place) {
  const std::span<const PassMessage> messages = kept_passes_.messages()[pass];
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const KeptPrices::Price& price = *loads[i].price;
    durations_[messages[i].message] = price.times[price.of_place[place]].duration_ps;
  }
  return kept_passes_.number(pass, durations_);
}

/// Which communicators of a call take equally long, of those where not all do.
Signature CallPricer::pattern() const {
  Signature pattern;
  for (std::size_t c = 0; c < calls_.size(); ++c) {
    if (calls_[c].times.size() == 1) continue;
    pattern.append(c);
    pattern.append(channels_->calls[c].channel);
    for (const std::uint32_t time : calls_[c].of_place) pattern.append(time);
  }
  return pattern;
}

PriceList CallPricer::list() const {
  PriceList list;
  list.works = works_;
  list.passes = passes_;
  for (const Times& call : calls_) {
    const auto first = static_cast<std::uint32_t>(list.prices.size());
    for (const TransferTime& time : call.times) {
      list.prices.push_back({time.duration_ps, 0, 0});
      list.leads.push_back(time.lead_ps);
    }
    for (const std::uint32_t time : call.of_place) list.transfers.push_back({first + time, 0});
  }
  return list;
}

Traffic CallPricer::traffic() {
  LinkClasses& links = prices_->links();
  std::vector<std::uint64_t> bytes(links.classes(), 0);
  for (const auto& [price, operations] : loads_) {
    links.complete(price->loads);
    for (const std::uint32_t c : price->loads.loaded)
      add_bytes(bytes[c], capped_bytes(price->loads.bytes[c], operations));
  }
  return {bytes_sent(*workload_, *channels_, kept_passes_.messages()), links.traffic(bytes)};
}

}  // namespace orrery
