#include "sim/run/kept_prices.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace orrery {

LinkClasses::LinkClasses(const Topology& topology) : adding_(topology.links().size(), 0) {
  const std::vector<std::uint64_t> none(topology.links().size(), 0);
  kinds_ = traffic_of(topology.links(), none);
  for (std::uint32_t kind = 0; kind < kinds_.size(); ++kind) {
    parent_.push_back(kind);
    links_.push_back(static_cast<std::uint32_t>(kinds_[kind].links));
    kind_.push_back(kind);
  }
  std::uint32_t kind = 0;
  for (const Link& link : topology.links()) {
    const auto like = [&link](const LinkTraffic& t) {
      return t.kind == link.kind && t.bytes_per_s == link.bytes_per_s;
    };
    if (!like(kinds_[kind]))
      kind = static_cast<std::uint32_t>(std::ranges::find_if(kinds_, like) - kinds_.begin());
    class_of_.push_back(kind);
  }
}

void LinkClasses::add(LinkId link, std::uint64_t bytes) {
  if (bytes == 0) return;
  std::uint64_t& sum = adding_[index(link)];
  if (sum == 0) touched_.push_back(index(link));
  add_bytes(sum, bytes);
}

std::uint32_t LinkClasses::split(std::uint32_t from) {
  parent_.push_back(from);
  links_.push_back(0);
  kind_.push_back(kind_[from]);
  return static_cast<std::uint32_t>(parent_.size() - 1);
}

/// Links of one class that now carry the same.
struct LinkClasses::Group {
  std::uint32_t from = 0;
  std::uint64_t bytes = 0;
  std::uint32_t to = 0;
};

/// Groups leave their class, but for the first of them where no link of the class is left behind.
LinkClasses::Loads LinkClasses::take() {
  std::vector<Group> groups;
  std::vector<std::uint32_t> group_of;
  std::vector<std::uint32_t> touched_of_class(classes(), 0);
  SignatureTable table;
  group_of.reserve(touched_.size());
  for (const std::uint32_t link : touched_) {
    const std::uint32_t from = class_of_[link];
    const std::uint64_t bytes = std::exchange(adding_[link], 0);
    ++touched_of_class[from];
    std::uint32_t group = group_of.empty() ? 0 : group_of.back();
    if (groups.empty() || groups[group].from != from || groups[group].bytes != bytes) {
      group = table.number({Signature::mix(from), Signature::mix(bytes)});
      if (group == groups.size()) groups.push_back({from, bytes, from});
    }
    group_of.push_back(group);
  }
  std::vector<bool> stays(classes());
  for (std::size_t c = 0; c < stays.size(); ++c) stays[c] = touched_of_class[c] == links_[c];
  for (Group& group : groups) {
    if (!stays[group.from]) group.to = split(group.from);
    stays[group.from] = false;
  }
  Loads loads{std::vector<std::uint64_t>(classes(), 0), {}};
  for (const Group& group : groups) {
    loads.bytes[group.to] = group.bytes;
    loads.loaded.push_back(group.to);
  }
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    const Group& group = groups[group_of[i]];
    class_of_[touched_[i]] = group.to;
    --links_[group.from];
    ++links_[group.to];
  }
  touched_.clear();
  return loads;
}

void LinkClasses::complete(Loads& loads) const {
  for (auto c = static_cast<std::uint32_t>(loads.bytes.size()); c < classes(); ++c) {
    loads.bytes.push_back(loads.bytes[parent_[c]]);
    if (loads.bytes[c] > 0) loads.loaded.push_back(c);
  }
}

std::vector<LinkTraffic> LinkClasses::traffic(std::span<const std::uint64_t> bytes) const {
  std::vector<LinkTraffic> result = kinds_;
  for (std::size_t c = 0; c < bytes.size(); ++c) {
    LinkTraffic& kind = result[kind_[c]];
    kind.most = std::max(kind.most, bytes[c]);
    kind.bytes += Int128{links_[c]} * static_cast<Int128>(bytes[c]);
  }
  return result;
}

namespace {

/// A price with its places in tables of messages, prices and lists of channels.
std::size_t bytes_of(const KeptPrices::Price& price, const Channel& channel) {
  constexpr std::size_t kTables = 400;
  return sizeof price + kTables + channel.groups.size() * sizeof(std::uint32_t);
}

}  // namespace

KeptPrices::KeptPrices(const Topology& topology, const std::array<std::string, kCollectiveCount>& algorithms,
                       double split_node_efficiency)
    : topology_(topology), pricer_(topology, algorithms, split_node_efficiency, list_) {}

std::uint32_t KeptPrices::number(const Message& message) {
  Signature content;
  content.append(static_cast<std::uint64_t>(message.bytes));
  content.append(static_cast<std::uint64_t>(message.collective) << 8 |
                 static_cast<std::uint64_t>(message.dimension));
  content.append(std::bit_cast<std::uint64_t>(message.efficiency));
  content.append(static_cast<std::uint64_t>(message.wait_ps));
  content.append(std::uint64_t{message.servers} << 32 | message.times);
  return messages_.number(content);
}

KeptPrices::Price& KeptPrices::price(std::uint32_t number, const Message& message, std::uint32_t channel,
                                     const Workload& workload, const Channels& channels, bool with_loads) {
  if (prices_.size() <= channel) prices_.resize(channels.channels.size());
  auto& of_channel = prices_[channel];
  if (of_channel.size() <= number) of_channel.resize(number + 1);
  std::unique_ptr<Price>& price = of_channel[number];
  if (price == nullptr) {
    price = std::make_unique<Price>();
    if (!with_loads) find_times(message, alike(message, channel, workload, channels), *price);
    bytes_ += bytes_of(*price, channels.channels[channel]);
  }
  if (with_loads && !price->has_loads)
    find_loads(number, message, channels.channels[channel], workload, *price);
  return *price;
}

const KeptPrices::Alike& KeptPrices::alike(const Message& message, std::uint32_t channel,
                                           const Workload& workload, const Channels& channels) {
  if (alike_.size() <= channel) alike_.resize(channels.channels.size());
  auto& of_channel = alike_[channel];
  const auto known = std::ranges::find_if(of_channel, [&](const Alike& alike) {
    return alike.collective == message.collective && alike.servers == message.servers;
  });
  if (known != of_channel.end()) return *known;
  Alike alike{message.collective, message.servers, {}, {}};
  for (const std::uint32_t group : channels.channels[channel].groups) {
    const std::uint32_t laid = pricer_.lay(message, workload.members(group));
    const auto same = std::ranges::find(alike.laid, laid);
    alike.of_place.push_back(static_cast<std::uint32_t>(same - alike.laid.begin()));
    if (same == alike.laid.end()) alike.laid.push_back(laid);
  }
  of_channel.push_back(std::move(alike));
  return of_channel.back();
}

void KeptPrices::find_times(const Message& message, const Alike& alike, Price& price) {
  std::vector<std::uint32_t> time_of_laid;
  for (const std::uint32_t laid : alike.laid)
    time_of_laid.push_back(price.time(pricer_.duration_ps(laid, message)));
  price.of_place.reserve(alike.of_place.size());
  for (const std::uint32_t laid : alike.of_place) price.of_place.push_back(time_of_laid[laid]);
}

void KeptPrices::find_loads(std::uint32_t number, const Message& message, const Channel& channel,
                            const Workload& workload, Price& price) {
  LinkClasses& links = this->links();
  price.of_place.clear();
  price.of_place.reserve(channel.groups.size());
  for (const std::uint32_t group : channel.groups) {
    const Transfer transfer = pricer_.price(number, message, workload.members(group));
    pricer_.for_each_load(transfer, [&](LinkId link, std::uint64_t bytes) { links.add(link, bytes); });
    list_.links.clear();
    price.of_place.push_back(price.time(list_.duration_ps(transfer)));
  }
  price.loads = links.take();
  price.has_loads = true;
  bytes_ +=
      price.loads.bytes.size() * sizeof(std::uint64_t) + price.loads.loaded.size() * sizeof(std::uint32_t);
}

/// Its place in `times`.
std::uint32_t KeptPrices::Price::time(Picoseconds duration) {
  const auto known = std::ranges::find(times, duration, &TransferTime::duration_ps);
  const auto place = static_cast<std::uint32_t>(known - times.begin());
  if (known == times.end()) times.push_back({duration, 0});
  return place;
}

}  // namespace orrery
