// Communicators by the dimension that they serve. A kind says in which slots its groups lie, on which
// streams their messages run, and which ranks form a group; the file of its dimension holds its row.
// `communicator_kinds()` is the menu. Which of them an experiment has follows from its CommunicatorSpec.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "orrery/communicator_set.hpp"
#include "orrery/experiment.hpp"
#include "orrery/workload.hpp"
#include "workloads/communicators/communicator_spec.hpp"

namespace orrery {

/// Forms groups one after the other.
class GroupWriter {
 public:
  GroupWriter(std::uint32_t ranks, std::uint32_t slots);

  /// `rank` is one more member of the group that is being formed.
  void join(std::uint32_t rank, std::uint32_t slot);
  /// The group that is being formed is complete.
  void close();
  /// A sender and its receiver.
  void add_pair(std::uint32_t sender, std::uint32_t receiver, std::uint32_t out, std::uint32_t in);
  /// Adds a group for every place off `axes`, of all ranks along them.
  void add_along(const RankGrid& grid, std::initializer_list<Axis> axes, std::uint32_t slot);
  /// Adds groups in which pipeline rank p - 1 - r holds the same parameters as rank r, so that both join one
  /// group.
  void add_mirrored(const RankGrid& grid, std::initializer_list<Axis> axes, std::uint32_t slot);
  /// Ranks without a group in `slot` form one each.
  void add_loners(std::uint32_t slot);

  [[nodiscard]] CommunicatorSet finish() && { return std::move(set_); }

 private:
  std::uint32_t ranks_;
  std::uint32_t formed_ = 0;  ///< groups
  CommunicatorSet set_;
};

class StepBuilder;
struct AttentionWork;

/// Describes how attention runs if the ranks of a group share sequences: the steps between those for its
/// inputs and those for its output. They follow step `after`; each function returns the step that completes
/// attention.
struct SharedAttention {
  std::int32_t (*forward)(StepBuilder& to, const AttentionWork& work, std::int32_t after);
  std::int32_t (*backward)(StepBuilder& to, const AttentionWork& work, std::int32_t after);
};

/// Reports an error at the first of the plan's keys that the user gave.
using ReportProblem = std::function<void(std::initializer_list<std::string_view> keys, std::string message)>;

/// A row of the menu.
struct CommunicatorKind {
  std::string_view name;
  Dimension dimension{};  ///< that its messages count for
  Slot first_slot{};      ///< that it takes; further ones follow in Slot
  /// The stream of its messages in each slot. Empty: the writer of the messages chooses. Parameters are
  /// gathered on Stream::gather in every slot.
  std::span<const Stream> streams;
  bool joins_some = false;  ///< its groups join some replicas with others, not all with all
  /// Returns the number of slots it takes; 0 if the experiment has no such groups.
  std::uint32_t (*slots)(const CommunicatorSpec& spec);
  /// Forms its groups, in slots from `first` on.
  void (*form)(const CommunicatorSpec& spec, std::uint32_t first, GroupWriter& to);
  /// nullptr: it leaves attention alone.
  const SharedAttention* attention = nullptr;
  /// Checks the degree of its dimension and related keys. nullptr: nothing to check.
  void (*check)(const Experiment& experiment, const ReportProblem& complain) = nullptr;
};

/// Returns all kinds. Kinds that join only some replicas with others come last.
[[nodiscard]] std::span<const CommunicatorKind* const> communicator_kinds();
/// The one that takes the slot.
[[nodiscard]] const CommunicatorKind& communicator_kind(Slot slot);
/// Returns how the ranks with these communicators share attention; nullptr: each rank computes it alone.
[[nodiscard]] const SharedAttention* shared_attention(const CommunicatorSpec& spec);
/// Returns the stream that carries the messages of the slot.
[[nodiscard]] Stream stream_of(Slot slot);

/// The numbers of the slots that an experiment has.
class SlotNumbers {
 public:
  SlotNumbers() { numbers_.fill(kNone); }
  explicit SlotNumbers(const CommunicatorSpec& spec);

  /// kNone where an experiment has no such groups.
  [[nodiscard]] std::uint16_t operator[](Slot slot) const { return numbers_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] bool has(Slot slot) const { return (*this)[slot] != kNone; }
  /// Returns the number of slots, at least one: operations of a single rank have number 0.
  [[nodiscard]] std::uint32_t count() const { return count_; }
  /// Slots before those whose groups join some replicas with others.
  [[nodiscard]] std::uint32_t common() const { return common_; }

  static constexpr std::uint16_t kNone = 0xffff;

 private:
  std::array<std::uint16_t, kSlotCount> numbers_{};
  std::uint32_t count_ = 0;
  std::uint32_t common_ = 0;
};

[[nodiscard]] CommunicatorSet make_communicators(const CommunicatorSpec& spec);

/// Fills in the ranks and groups of a workload.
void add_communicators(const CommunicatorSpec& spec, Workload& workload);

}  // namespace orrery
