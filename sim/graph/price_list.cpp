#include "sim/graph/price_list.hpp"

#include <algorithm>
#include <span>

#include "sim/graph/host_lag.hpp"
#include "sim/graph/pass_price.hpp"
#include "sim/graph/signature.hpp"

namespace orrery {
namespace {

double bytes_on(const Leg& leg, const LinkUse& use) {
  const double rate =
      static_cast<double>(leg.rate) * static_cast<double>(use.weight) / static_cast<double>(kWeightOne);
  return rate * to_seconds(leg.alone_ps);
}

/// Links idle before the data move: until the last rank has come, and where software does not keep them
/// busy.
void slow_down(TransferPrice& price, Picoseconds wait, double efficiency) {
  if (price.legs.empty()) return;
  price.legs.front().latency_ps += wait;
  if (efficiency >= 1) return;
  Picoseconds data = 0;
  for (const Leg& leg : price.legs) data += leg.alone_ps;
  const double more = static_cast<double>(data) * (1 / efficiency - 1);
  price.legs.front().latency_ps += static_cast<Picoseconds>(more + 0.5);
}

/// Whether a group over several nodes has more than one, but not all, of the GPUs of a node.
bool splits_nodes(const Topology& topology, std::span<const std::uint32_t> members) {
  const auto node_of = [&](std::uint32_t rank) { return topology.node_of(GpuId{rank}); };
  const NodeId first = node_of(members.front());
  const std::int64_t beside = std::ranges::count(members, first, node_of);
  return beside > 1 && beside < topology.gpus_per_node() && beside < std::ssize(members);
}

/// Links in the list of a communicator per member or message, mostly: saves copies as the lists grow.
constexpr std::size_t kUsualLinks = 3;

/// Prices transfers, and looks up those that cannot differ from earlier ones: pairs whose routes have
/// equal links, and groups of the same GPUs of alike nodes.
class TransferPricer {
 public:
  TransferPricer(const Workload& workload, const Topology& topology, const Experiment& experiment,
                 PriceList& list)
      : workload_(workload),
        topology_(topology),
        pricer_(topology, experiment.plan.collectives),
        split_node_efficiency_(experiment.software.split_node_efficiency),
        list_(list),
        pass_durations_(workload.messages.size(), 0) {
    for (const PassWork& pass : workload.passes) pass_messages_.push_back(messages_of(pass));
    number_makes();
  }

  /// Counts the bytes too.
  Transfer price(const Call& call, std::span<const std::uint32_t> members) {
    if (call.request.pass) return price_pass_of(call, members);
    const Transfer transfer = price(call.request.work, members);
    count_bytes(transfer, call.operations);
    return transfer;
  }

 private:
  Transfer price(std::uint32_t message, std::span<const std::uint32_t> members) {
    if (members.size() == 2 && workload_.messages[message].collective == Collective::send_recv)
      return price_pair(message, members);
    if (topology_.links_per_node() > 0 && on_one_node(members)) return price_in_node(message, members);
    return price_anew(message, members);
  }

  /// The steps are walked through once for each set of durations of their messages.
  Transfer price_pass_of(const Call& call, std::span<const std::uint32_t> members) {
    const std::uint32_t number = call.request.work;
    const PassWork& pass = workload_.passes[number];
    Signature key;
    key.append(number);
    for (const auto& [message, steps] : pass_messages_[number]) {
      const Transfer transfer = price(message, members);
      count_bytes(transfer, call.operations * steps);
      pass_durations_[message] = list_.duration_ps(transfer);
      key.append(static_cast<std::uint64_t>(pass_durations_[message]));
    }
    const std::uint32_t known = pass_table_.number(key);
    if (known < passes_.size()) return {passes_[known], 0};
    const PassPrice price = price_pass(pass, workload_, list_.works, pass_durations_);
    passes_.push_back(add_price({price.duration_ps, 0, 0}, price.lead_ps));
    list_.passes[number] = {price.compute_ps, std::min(launches_in(pass), price.compute_ps)};
    return {passes_.back(), 0};
  }

  [[nodiscard]] Picoseconds launches_in(const PassWork& pass) const {
    Picoseconds sum = 0;
    for (const PassStep& step : pass) {
      if (!step.communicates) sum = capped_sum(sum, list_.works[step.work].launch_ps);
    }
    return sum;
  }

  void count_bytes(const Transfer& transfer, std::uint64_t operations) {
    const auto [first, last] = list_.uses_of(list_.prices[transfer.price]);
    for (std::uint32_t u = first; u < last; ++u) {
      const LinkId link = list_.links[transfer.first_link + index(list_.uses[u].link)];
      list_.link_bytes[index(link)] += use_bytes_[u] * static_cast<double>(operations);
    }
  }

  /// A price met before, on the links of the first node.
  struct Known {
    std::uint32_t price = 0;
    std::vector<std::uint32_t> links;
  };

  [[nodiscard]] std::uint32_t node(std::uint32_t member) const {
    return index(topology_.node_of(GpuId{member}));
  }

  [[nodiscard]] bool on_one_node(std::span<const std::uint32_t> members) const {
    const std::uint32_t first = node(members.front()) * topology_.gpus_per_node();
    return std::ranges::all_of(
        members, [&](std::uint32_t member) { return member - first < topology_.gpus_per_node(); });
  }

  /// Links mostly alternate, out and in.
  void number_makes() {
    const std::vector<Link>& links = topology_.links();
    const auto alike = [](const Link& a, const Link& b) {
      return a.bytes_per_s == b.bytes_per_s && a.latency_ps == b.latency_ps;
    };
    SignatureTable table;
    makes_.reserve(links.size());
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (i >= 2 && alike(links[i], links[i - 2])) {
        makes_.push_back(makes_[i - 2]);
        continue;
      }
      Signature make;
      make.append(static_cast<std::uint64_t>(links[i].bytes_per_s));
      make.append(static_cast<std::uint64_t>(links[i].latency_ps));
      makes_.push_back(table.number(make));
    }
  }

  Transfer price_pair(std::uint32_t message, std::span<const std::uint32_t> members) {
    links_.clear();
    topology_.route(GpuId{members[0]}, GpuId{members[1]}, links_);
    const bool near = node(members[0]) == node(members[1]);
    if (!like_latest_pair(message, near)) find_pair(message, near, members);
    return {latest_pair_, place_links()};
  }

  /// Neighbours are mostly alike.
  [[nodiscard]] bool like_latest_pair(std::uint32_t message, bool near) const {
    return message == latest_message_ && near == latest_near_ &&
           std::ranges::equal(links_, latest_makes_, {}, [&](LinkId link) { return makes_[index(link)]; });
  }

  void find_pair(std::uint32_t message, bool near, std::span<const std::uint32_t> members) {
    latest_message_ = message;
    latest_near_ = near;
    latest_makes_.clear();
    for (const LinkId link : links_) latest_makes_.push_back(makes_[index(link)]);
    Signature key;
    key.append(message);
    key.append(near ? 1 : 0);
    for (const std::uint32_t make : latest_makes_) key.append(make);
    const std::uint32_t number = pair_table_.number(key);
    if (number == pairs_.size()) {
      price_message(message, members);
      pairs_.push_back(add_price());
    }
    latest_pair_ = pairs_[number];
  }

  Transfer price_in_node(std::uint32_t message, std::span<const std::uint32_t> members) {
    const std::uint32_t here = node(members.front());
    Signature key;
    key.append(message);
    for (const std::uint32_t member : members) key.append(member - here * topology_.gpus_per_node());
    const std::uint32_t number = node_table_.number(key);
    const std::uint32_t first_link = here * topology_.links_per_node();
    if (number == in_node_.size()) {
      const Transfer first = price_anew(message, members);
      Known& known = in_node_.emplace_back(Known{first.price, {}});
      for (const LinkId link : links_) known.links.push_back(index(link) - first_link);
      return first;
    }
    links_.clear();
    for (const std::uint32_t link : in_node_[number].links) links_.push_back(LinkId{first_link + link});
    return {in_node_[number].price, place_links()};
  }

  Transfer price_anew(std::uint32_t message, std::span<const std::uint32_t> members) {
    price_message(message, members);
    links_.clear();
    for (const LinkUse& use : one_.uses) links_.push_back(use.link);
    if (one_.legs.size() > 1) {
      std::ranges::sort(links_);
      links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
    }
    const std::uint32_t price = add_price();
    return {price, place_links()};
  }

  void price_message(std::uint32_t message, std::span<const std::uint32_t> members) {
    const Message& what = workload_.messages[message];
    pricer_.price(what, members, one_);
    const bool split = what.dimension == Dimension::data && splits_nodes(topology_, members);
    slow_down(one_, what.wait_ps, what.efficiency * (split ? split_node_efficiency_ : 1));
  }

  /// The price at hand, with its links as places in links_, if it is not in the list yet.
  std::uint32_t add_price() {
    std::uint32_t place = 0;
    for (LinkUse& use : one_.uses) {
      place = place_of(use.link, place);
      use.link = LinkId{place};
    }
    Signature content;
    for (const Leg& leg : one_.legs) {
      content.append(static_cast<std::uint64_t>(leg.latency_ps));
      content.append(static_cast<std::uint64_t>(leg.alone_ps));
      content.append(static_cast<std::uint64_t>(leg.rate));
      content.append(leg.use_end - leg.use_begin);
    }
    append_uses(content);
    const std::uint32_t number = price_table_.number(content);
    if (number < number_of_price_.size()) return number_of_price_[number];
    number_of_price_.push_back(static_cast<std::uint32_t>(list_.prices.size()));
    const auto first_use = static_cast<std::uint32_t>(list_.uses.size());
    Cost cost{one_.alone_ps(), static_cast<std::uint32_t>(list_.legs.size()), 0};
    for (Leg leg : one_.legs) {
      for (std::uint32_t u = leg.use_begin; u < leg.use_end; ++u)
        use_bytes_.push_back(bytes_on(leg, one_.uses[u]));
      leg.use_begin += first_use;
      leg.use_end += first_use;
      list_.legs.push_back(leg);
    }
    list_.uses.insert(list_.uses.end(), one_.uses.begin(), one_.uses.end());
    cost.leg_end = static_cast<std::uint32_t>(list_.legs.size());
    return add_price(cost, 0);
  }

  std::uint32_t add_price(const Cost& cost, Picoseconds lead) {
    list_.prices.push_back(cost);
    list_.leads.push_back(lead);
    return static_cast<std::uint32_t>(list_.prices.size() - 1);
  }

  /// Uses of neighbouring links with one weight are taken together.
  void append_uses(Signature& content) const {
    const auto& uses = one_.uses;
    for (std::size_t i = 0; i < uses.size();) {
      const std::size_t first = i;
      do ++i;
      while (i < uses.size() && uses[i].weight == uses[first].weight &&
             index(uses[i].link) == index(uses[i - 1].link) + 1);
      content.append(index(uses[first].link));
      content.append(uses[first].weight);
      content.append(i - first);
    }
  }

  /// Where the link is in links_, looked for from `place` on.
  [[nodiscard]] std::uint32_t place_of(LinkId link, std::uint32_t place) const {
    while (links_[place] != link) place = place + 1 < links_.size() ? place + 1 : 0;
    return place;
  }

  /// Messages of one communicator that cross the same links share their list.
  std::uint32_t place_links() {
    const std::size_t placed = list_.links.size();
    if (placed >= links_.size() && std::equal(links_.begin(), links_.end(),
                                              list_.links.end() - static_cast<std::ptrdiff_t>(links_.size())))
      return static_cast<std::uint32_t>(placed - links_.size());
    list_.links.insert(list_.links.end(), links_.begin(), links_.end());
    return static_cast<std::uint32_t>(placed);
  }

  const Workload& workload_;
  const Topology& topology_;
  CollectivePricer pricer_;
  double split_node_efficiency_;
  PriceList& list_;
  std::vector<std::uint32_t> makes_;  ///< per link: a number for its bandwidth and latency
  SignatureTable pair_table_;
  SignatureTable node_table_;
  SignatureTable price_table_;
  std::vector<std::uint32_t> number_of_price_;  ///< [number in price_table_]: into list_.prices
  std::vector<std::uint32_t> pairs_;
  std::vector<Known> in_node_;
  std::uint32_t latest_pair_ = 0;  ///< price of the pair before
  std::uint32_t latest_message_ = kNone;
  bool latest_near_ = false;
  std::vector<std::uint32_t> latest_makes_;
  TransferPrice one_;
  std::vector<LinkId> links_;      ///< of the transfer at hand
  std::vector<double> use_bytes_;  ///< per PriceList::uses
  SignatureTable pass_table_;
  std::vector<std::uint32_t> passes_;                    ///< [number in pass_table_]: into list_.prices
  std::vector<std::vector<PassMessage>> pass_messages_;  ///< per Workload::passes
  std::vector<Picoseconds> pass_durations_;              ///< per Workload::messages: of the group at hand
};

std::vector<ComputePrice> price_works(const Workload& workload, const Experiment& experiment) {
  std::vector<ComputePrice> prices;
  for (const ComputeWork& work : workload.works) {
    if (work.kernels.empty()) {
      prices.push_back({work.host_ps, 0});
    } else {
      prices.push_back(
          price_compute(work, experiment.cluster.gpu, experiment.software, experiment.plan.precision));
    }
  }
  return prices;
}

}  // namespace

PriceList price(const Workload& workload, const Channels& channels, const Topology& topology,
                const Experiment& experiment) {
  const bool flows = experiment.simulation.network == Network::flow;
  PriceList list;
  list.works = price_works(workload, experiment);
  list.pace = Pace(experiment);
  if (experiment.plan.data_parallel > 1) list.interference = experiment.software.communication_interference;
  list.passes.resize(workload.passes.size());
  list.transfers.resize(channels.prices);
  list.link_bytes.assign(topology.links().size(), 0.0);
  if (flows) list.links.reserve(kUsualLinks * (workload.group_members.size() + workload.groups()));
  TransferPricer pricer(workload, topology, experiment, list);
  for (const Channel& channel : channels.channels) {
    for (std::size_t i = 0; i < channel.groups.size(); ++i) {
      const auto members = workload.members(channel.groups[i]);
      for (std::uint32_t c = channel.first_call; c < channel.last_call; ++c) {
        const Call& call = channels.calls[c];
        list.transfers[call.first_price + i] = pricer.price(call, members);
      }
      if (!flows) list.links.clear();
    }
  }
  return list;
}

}  // namespace orrery
