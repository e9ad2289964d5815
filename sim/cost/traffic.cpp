#include "sim/cost/traffic.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "orrery/content_hash.hpp"

namespace orrery {

double bytes_sent(const Message& message, std::size_t members, bool first) {
  const double bytes = static_cast<double>(message.bytes) * message.times;
  const auto n = static_cast<double>(members);
  switch (message.collective) {
    case Collective::send_recv:
      return first && members > 1 ? bytes : 0;
    case Collective::all_reduce:
      return 2 * (n - 1) * bytes / n;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::broadcast:
    case Collective::all_to_all:
      break;
  }
  return (n - 1) * bytes / n;
}

double bytes_sent(const Message& message, const Channel& channel) {
  double sum = 0;
  for (const Channel::Size& size : channel.sizes) {
    const bool pair = message.collective == Collective::send_recv;
    const auto senders = static_cast<double>(size.groups) * (pair ? 1 : size.members);
    sum += senders * bytes_sent(message, size.members, true);
  }
  return sum;
}

std::uint64_t capped_bytes(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ~std::uint64_t{0} : product;
}

std::vector<LinkTraffic> traffic_of(const std::vector<Link>& links, std::span<const std::uint64_t> bytes) {
  std::map<std::pair<LinkKind, std::int64_t>, LinkTraffic> kinds;
  LinkTraffic* kind = nullptr;  // links mostly follow others like them
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Link& link = links[i];
    if (kind == nullptr || kind->kind != link.kind || kind->bytes_per_s != link.bytes_per_s) {
      kind = &kinds[{link.kind, link.bytes_per_s}];
      kind->kind = link.kind;
      kind->bytes_per_s = link.bytes_per_s;
    }
    ++kind->links;
    kind->most = std::max(kind->most, bytes[i]);
    kind->bytes += bytes[i];
  }
  std::vector<LinkTraffic> result;
  for (const auto& [key, traffic] : kinds) result.push_back(traffic);
  return result;
}

class TrafficCounts::Counter {
 public:
  Counter(const Workload& workload, const Channels& channels, const Topology& topology, TrafficCounts& counts)
      : workload_(workload),
        channels_(channels),
        topology_(topology),
        bytes_(topology.links().size(), 0),
        bytes_in_period_(topology.links().size(), 0),
        counts_(counts) {}

  /// A message that the communicators of a channel send so often.
  void add(std::uint32_t channel, std::uint32_t message, const CallPrice& price, std::uint64_t times,
           std::uint64_t in_period) {
    const Message& what = workload_.messages[message];
    counts_.sent_.push_back(
        {what.dimension, bytes_sent(what, channels_.channels[channel]), times, in_period});
    for (std::uint32_t place = 0; place < price.of_place.size(); ++place) {
      const Cost& cost = price.cost(place);
      if (cost.leg_begin == cost.leg_end) continue;
      const std::span<const LinkId> links = price.links(place);
      const std::uint32_t first = price.routed->legs[cost.leg_begin].use_begin;
      const std::uint32_t last = price.routed->legs[cost.leg_end - 1].use_end;
      for (std::uint32_t u = first; u < last; ++u) {
        const std::uint32_t link = index(links[index(price.routed->uses[u].link)]);
        const std::uint64_t bytes = price.routed->use_bytes[u];
        add_bytes(bytes_[link], capped_bytes(bytes, times));
        if (in_period > 0) add_bytes(bytes_in_period_[link], capped_bytes(bytes, in_period));
      }
    }
  }

  /// Puts links that carry the same together.
  void finish() {
    counts_.kinds_ = traffic_of(topology_.links(), std::vector<std::uint64_t>(bytes_.size(), 0));
    ContentTable table;
    std::uint32_t kind = 0;
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      kind = kind_of(topology_.links()[i], kind);
      const std::uint32_t number = table.number(content_of(kind, bytes_[i], bytes_in_period_[i]));
      if (number == counts_.links_.size())
        counts_.links_.push_back({kind, 0, bytes_[i], bytes_in_period_[i]});
      ++counts_.links_[number].links;
    }
  }

 private:
  /// Mostly that of the link before it.
  [[nodiscard]] std::uint32_t kind_of(const Link& link, std::uint32_t latest) const {
    const auto like = [&link](const LinkTraffic& kind) {
      return kind.kind == link.kind && kind.bytes_per_s == link.bytes_per_s;
    };
    if (like(counts_.kinds_[latest])) return latest;
    return static_cast<std::uint32_t>(std::ranges::find_if(counts_.kinds_, like) - counts_.kinds_.begin());
  }

  const Workload& workload_;
  const Channels& channels_;
  const Topology& topology_;
  std::vector<std::uint64_t> bytes_;  ///< per link
  std::vector<std::uint64_t> bytes_in_period_;
  TrafficCounts& counts_;
};

TrafficCounts::TrafficCounts(const Workload& workload, const Channels& channels, const PriceList& prices,
                             const Topology& topology, std::span<const std::uint64_t> calls_in_period) {
  Counter counter(workload, channels, topology, *this);
  for (std::size_t c = 0; c < channels.calls.size(); ++c) {
    const Call& call = channels.calls[c];
    const std::uint64_t in_period = calls_in_period.empty() ? 0 : calls_in_period[c];
    if (!call.request.pass) {
      counter.add(call.channel, call.request.work, prices.calls[c], call.operations, in_period);
      continue;
    }
    const std::vector<PassMessage> steps = messages_of(workload.passes[call.request.work]);
    for (std::size_t i = 0; i < steps.size(); ++i)
      counter.add(call.channel, steps[i].message, prices.in_passes[c][i], call.operations * steps[i].steps,
                  in_period * steps[i].steps);
  }
  counter.finish();
}

Traffic TrafficCounts::traffic(std::uint64_t more) const {
  Traffic result;
  for (const Sent& sent : sent_)
    result.sent[static_cast<std::size_t>(sent.dimension)] +=
        static_cast<double>(sent.times + more * sent.times_in_period) * sent.bytes;
  result.links = kinds_;
  for (const Links& links : links_) {
    std::uint64_t bytes = links.bytes;
    add_bytes(bytes, capped_bytes(links.bytes_in_period, more));
    LinkTraffic& kind = result.links[links.kind];
    kind.most = std::max(kind.most, bytes);
    kind.bytes += Int128{links.links} * static_cast<Int128>(bytes);
  }
  return result;
}

}  // namespace orrery
