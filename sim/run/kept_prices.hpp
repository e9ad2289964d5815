// Prices of messages that are kept from run to run, for one topology and one set of communicators, where
// transfers do not slow each other down.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/cost/signature.hpp"
#include "sim/cost/traffic.hpp"
#include "sim/cost/transfer_pricer.hpp"
#include "sim/matching/channels.hpp"

namespace orrery {

/// Links by what they are and what messages put on them: links of a class have carried the same in every
/// message so far. Classes split as more messages are met.
class LinkClasses {
 public:
  explicit LinkClasses(const Topology& topology);

  /// What a message puts on links.
  struct Loads {
    std::vector<std::uint64_t> bytes;  ///< per class of links; those of later messages are missing at its end
    std::vector<std::uint32_t> loaded;  ///< classes with more than 0, mostly few
  };

  void add(LinkId link, std::uint64_t bytes);
  /// All that has been added since the last call.
  [[nodiscard]] Loads take();
  /// Brings loads up to the classes there are now.
  void complete(Loads& loads) const;

  [[nodiscard]] std::size_t classes() const { return parent_.size(); }
  /// From the bytes on a link of each class.
  [[nodiscard]] std::vector<LinkTraffic> traffic(std::span<const std::uint64_t> bytes) const;

 private:
  struct Group;
  [[nodiscard]] std::uint32_t split(std::uint32_t from);

  std::vector<LinkTraffic> kinds_;
  std::vector<std::uint32_t> class_of_;  ///< per link
  std::vector<std::uint32_t> parent_;    ///< per class: an earlier one that it was part of
  std::vector<std::uint32_t> links_;     ///< per class: how many
  std::vector<std::uint32_t> kind_;      ///< per class: into kinds_
  std::vector<std::uint64_t> adding_;    ///< per link
  std::vector<std::uint32_t> touched_;   ///< links with more than 0 in adding_
};

class KeptPrices {
 public:
  /// Keeps a reference. Every workload priced has the same communicators, and `channels` of the same number
  /// the same groups.
  KeptPrices(const Topology& topology, const std::array<std::string, kCollectiveCount>& algorithms,
             double split_node_efficiency);
  KeptPrices(const KeptPrices&) = delete;
  KeptPrices& operator=(const KeptPrices&) = delete;

  struct Price {
    std::vector<std::uint32_t> of_place;  ///< per communicator of the channel: into `times`
    std::vector<TransferTime> times;      ///< each different one
    LinkClasses::Loads loads;
    bool has_loads = false;  ///< somebody has asked for them

    std::uint32_t time(Picoseconds duration);
  };

  /// A number for all messages like this one.
  std::uint32_t number(const Message& message);
  /// Of the message of that number for all communicators of a channel. Stays where it is.
  Price& price(std::uint32_t number, const Message& message, std::uint32_t channel, const Workload& workload,
               const Channels& channels, bool with_loads);

  [[nodiscard]] LinkClasses& links() { return links_ ? *links_ : links_.emplace(topology_); }
  /// What is kept takes, about.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  /// Communicators of a channel by how long messages of a collective and servers take.
  struct Alike {
    Collective collective{};
    std::uint32_t servers = 0;
    std::vector<std::uint32_t> of_place;  ///< into `laid`
    std::vector<std::uint32_t> laid;      ///< TransferPricer::lay(): each different one
  };

  const Alike& alike(const Message& message, std::uint32_t channel, const Workload& workload,
                     const Channels& channels);
  void find_times(const Message& message, const Alike& alike, Price& price);
  /// Times too, which come with them.
  void find_loads(std::uint32_t number, const Message& message, const Channel& channel,
                  const Workload& workload, Price& price);

  const Topology& topology_;
  PriceList list_;
  TransferPricer pricer_;
  std::optional<LinkClasses> links_;  ///< from when loads are first asked for
  SignatureTable messages_;
  std::vector<std::vector<Alike>> alike_;                    ///< [channel]
  std::vector<std::vector<std::unique_ptr<Price>>> prices_;  ///< [channel][number]
  std::size_t bytes_ = 0;
};

}  // namespace orrery
