// Computes how much longer compute takes beside tensor, data and expert traffic, whose kernels take SMs and
// memory bandwidth. It is derived from the program of a rank and the prices of its operations, before the
// run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "orrery/content_hash.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/busy_times.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/matching/channels.hpp"

namespace orrery {

/// Holds the part of interference that follows from a program alone: communication is ready, at the earliest,
/// when a compute operation has ended.
struct InterferenceOrder {
  /// [op], and one for the begin: the first that is ready after it, or kNone
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> next;  ///< [op]: the next one that is
  /// [op]: of a gradient that comes from another stage, the activation sent there, or kNone.
  std::vector<std::uint32_t> sent;
  bool beside = false;  ///< whether some of it may run beside compute
};
struct InterferenceOrders {
  std::vector<InterferenceOrder> of_program;

  [[nodiscard]] std::size_t bytes() const;
};
[[nodiscard]] InterferenceOrders interference_orders(const Workload& workload);

class Interference {
 public:
  /// Keeps references.
  /// @param orders  of the workload; null where no operation may be slowed
  Interference(const Workload& workload, const Channels& channels, const PriceList& prices,
               std::shared_ptr<const InterferenceOrders> orders);

  /// Returns true if any operation may be slowed.
  [[nodiscard]] bool any() const { return prices_.interference > 0; }

  /// Returns [op of its program] the time that each operation on the compute stream of `rank` takes on top of
  /// its price. Each rank is treated as if it waited for no other: operations start when their streams and
  /// dependencies on this rank are done, and communication takes as long as it does alone. While any tensor,
  /// data or expert traffic runs, compute keeps 1 - PriceList::interference of its pace. Ranks of a kind
  /// share the list, which stays valid.
  [[nodiscard]] std::span<const Picoseconds> of(std::uint32_t rank);

 private:
  [[nodiscard]] std::vector<Picoseconds> durations(std::uint32_t rank) const;
  [[nodiscard]] std::vector<Picoseconds> delays(const Program& program, const InterferenceOrder& order,
                                                std::span<const Picoseconds> durations) const;
  [[nodiscard]] double share(const Op& op, Picoseconds duration) const;

  const Workload& workload_;
  const Channels& channels_;
  const PriceList& prices_;
  std::shared_ptr<const InterferenceOrders> orders_;
  ContentTable kinds_;
  std::vector<std::vector<Picoseconds>> delays_;  ///< per kind of rank
};

}  // namespace orrery
