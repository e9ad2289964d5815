#include "sim/cost/traffic.hpp"

#include <algorithm>
#include <map>
#include <utility>

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

std::array<double, kDimensionCount> bytes_sent(const Workload& workload, const Channels& channels,
                                               std::span<const std::span<const PassMessage>> pass_messages) {
  std::array<double, kDimensionCount> sent{};
  const auto add = [&](const Call& call, std::uint32_t number, std::uint64_t operations) {
    const Message& message = workload.messages[number];
    sent[static_cast<std::size_t>(message.dimension)] +=
        static_cast<double>(operations) * bytes_sent(message, channels.channels[call.channel]);
  };
  for (const Call& call : channels.calls) {
    if (!call.request.pass) {
      add(call, call.request.work, call.operations);
      continue;
    }
    for (const auto& [message, steps] : pass_messages[call.request.work])
      add(call, message, call.operations * steps);
  }
  return sent;
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

}  // namespace orrery
