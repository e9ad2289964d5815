// Prices the messages of one topology: each different one once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/cost/price_list.hpp"
#include "sim/cost/signature.hpp"

namespace orrery {

/// Prices messages, and looks up those that cannot differ from earlier ones: pairs whose routes have
/// equal links, and groups of the same GPUs of alike nodes.
class TransferPricer {
 public:
  /// Adds to the prices, legs, uses and links of `list`. Keeps references.
  TransferPricer(const Topology& topology, const std::array<std::string, kCollectiveCount>& algorithms,
                 double split_node_efficiency, PriceList& list);

  /// `message` stands for `what`: equal numbers for equal messages.
  Transfer price(std::uint32_t message, const Message& what, std::span<const std::uint32_t> members);

  /// A number for all groups in which messages of the collective and servers of `what` take equally long.
  std::uint32_t lay(const Message& what, std::span<const std::uint32_t> members);
  /// How long it takes in groups of that number: what price() says, without a look at links.
  [[nodiscard]] Picoseconds duration_ps(std::uint32_t laid, const Message& what);

  /// Visits (link, bytes) for all that a transfer puts on links.
  template <class Visit>
  void for_each_load(const Transfer& transfer, Visit visit) const {
    const auto [first, last] = list_.uses_of(list_.prices[transfer.price]);
    for (std::uint32_t u = first; u < last; ++u)
      visit(list_.links[transfer.first_link + index(list_.uses[u].link)], use_bytes_[u]);
  }

 private:
  static constexpr std::uint32_t kNoMessage = 0xffffffff;

  /// A price met before, on the links of the first node.
  struct Known {
    std::uint32_t price = 0;
    std::vector<std::uint32_t> links;
  };

  /// A collective in a group, of whatever size.
  struct Laid {
    LaidCollective collective;
    bool splits_nodes = false;
  };

  [[nodiscard]] std::uint32_t node(std::uint32_t member) const;
  [[nodiscard]] bool on_one_node(std::span<const std::uint32_t> members) const;
  /// Links mostly alternate, out and in.
  void number_makes();
  Transfer price_pair(std::uint32_t message, const Message& what, std::span<const std::uint32_t> members);
  /// Neighbours are mostly alike.
  [[nodiscard]] bool like_latest_pair(std::uint32_t message, bool near) const;
  void find_pair(std::uint32_t message, bool near, const Message& what,
                 std::span<const std::uint32_t> members);
  Transfer price_in_node(std::uint32_t message, const Message& what, std::span<const std::uint32_t> members);
  Transfer price_anew(const Message& what, std::span<const std::uint32_t> members);
  void price_message(const Message& what, std::span<const std::uint32_t> members);
  /// Of the price at hand: what software does, and how often it is repeated.
  void adjust(const Message& what, bool splits_nodes);
  void append_way(std::span<const std::uint32_t> pair, Signature& key);
  void append_ways(std::span<const std::uint32_t> pair, Signature& key);
  std::uint32_t lay_anew(const Message& what, std::span<const std::uint32_t> members);
  /// The price at hand, with its links as places in links_, if it is not in the list yet.
  std::uint32_t add_price();
  /// Uses of neighbouring links with one weight are taken together.
  void append_uses(Signature& content) const;
  /// Where the link is in links_, looked for from `place` on.
  [[nodiscard]] std::uint32_t place_of(LinkId link, std::uint32_t place) const;
  /// Messages of one communicator that cross the same links share their list.
  std::uint32_t place_links();

  const Topology& topology_;
  CollectivePricer pricer_;
  double split_node_efficiency_;
  PriceList& list_;
  std::vector<std::uint32_t> makes_;  ///< per link: a number for its bandwidth and latency
  SignatureTable pair_table_;
  SignatureTable node_table_;
  SignatureTable price_table_;
  SignatureTable near_table_;
  SignatureTable laid_table_;
  std::vector<std::uint32_t> number_of_price_;  ///< [number in price_table_]: into list_.prices
  std::vector<std::uint32_t> pairs_;
  std::vector<Known> in_node_;
  std::vector<std::uint32_t> laid_of_near_;  ///< [number in near_table_]: into laid_
  std::vector<Laid> laid_;                   ///< each different one
  std::uint32_t latest_pair_ = 0;            ///< price of the pair before
  std::uint32_t latest_message_ = kNoMessage;
  bool latest_near_ = false;
  std::vector<std::uint32_t> latest_makes_;
  TransferPrice one_;
  std::vector<LinkId> links_;             ///< of the transfer at hand
  std::vector<std::uint64_t> use_bytes_;  ///< per PriceList::uses
};

}  // namespace orrery
