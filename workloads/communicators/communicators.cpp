#include "workloads/communicators/communicators.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace orrery {

namespace {

const CommunicatorKind* kind_that_takes(Slot slot) {
  const CommunicatorKind* found = communicator_kinds().front();
  for (const CommunicatorKind* kind : communicator_kinds()) {
    if (kind->first_slot <= slot && kind->first_slot > found->first_slot) found = kind;
  }
  return found;
}

}  // namespace

const CommunicatorKind& communicator_kind(Slot slot) {
  static const auto kinds = [] {
    std::array<const CommunicatorKind*, kSlotCount> all{};
    for (std::size_t s = 0; s < kSlotCount; ++s) all[s] = kind_that_takes(static_cast<Slot>(s));
    return all;
  }();
  return *kinds[std::min(static_cast<std::size_t>(slot), kSlotCount - 1)];
}

const SharedAttention* shared_attention(const CommunicatorSpec& spec) {
  for (const CommunicatorKind* kind : communicator_kinds()) {
    if (kind->attention != nullptr && kind->slots(spec) > 0) return kind->attention;
  }
  return nullptr;
}

Stream stream_of(Slot slot) {
  const CommunicatorKind& kind = communicator_kind(slot);
  const auto at = static_cast<std::size_t>(slot) - static_cast<std::size_t>(kind.first_slot);
  return kind.streams[at];
}

GroupWriter::GroupWriter(std::uint32_t ranks, std::uint32_t slots) : ranks_(ranks) {
  set_.slots = slots;
  set_.group_of.assign(std::size_t{ranks} * slots, kNoGroup);
  set_.group_members.reserve(set_.group_of.size());
  set_.group_begin.assign(1, 0);
}

void GroupWriter::join(std::uint32_t rank, std::uint32_t slot) {
  set_.group_members.push_back(rank);
  set_.group_of.edit()[std::size_t{rank} * set_.slots + slot] = formed_;
}

void GroupWriter::close() {
  set_.group_begin.push_back(static_cast<std::uint32_t>(set_.group_members.size()));
  ++formed_;
}

void GroupWriter::add_pair(std::uint32_t sender, std::uint32_t receiver, std::uint32_t out,
                           std::uint32_t in) {
  join(sender, out);
  join(receiver, in);
  close();
}

void GroupWriter::add_along(const RankGrid& grid, std::initializer_list<Axis> axes, std::uint32_t slot) {
  grid.for_each_group(axes, [&](const RankCoordinates& at) {
    grid.for_each_member(at, axes, [&](std::uint32_t member) { join(member, slot); });
    close();
  });
}

void GroupWriter::add_mirrored(const RankGrid& grid, std::initializer_list<Axis> axes, std::uint32_t slot) {
  const std::int64_t stages = grid.size(Axis::pipeline);
  grid.for_each_group(axes, [&](RankCoordinates at) {
    const std::int64_t stage = at[Axis::pipeline];
    if (stage >= stages / 2) return;
    for (const std::int64_t of : {stage, stages - 1 - stage}) {
      at[Axis::pipeline] = of;
      grid.for_each_member(at, axes, [&](std::uint32_t member) { join(member, slot); });
    }
    close();
  });
}

void GroupWriter::add_loners(std::uint32_t slot) {
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    if (set_.group_of[std::size_t{rank} * set_.slots + slot] != kNoGroup) continue;
    join(rank, slot);
    close();
  }
}

SlotNumbers::SlotNumbers(const CommunicatorSpec& spec) : SlotNumbers() {
  for (const CommunicatorKind* kind : communicator_kinds()) {
    const std::uint32_t slots = kind->slots(spec);
    for (std::uint32_t s = 0; s < slots && static_cast<std::size_t>(kind->first_slot) + s < kSlotCount; ++s)
      numbers_[static_cast<std::size_t>(kind->first_slot) + s] = static_cast<std::uint16_t>(count_ + s);
    count_ += slots;
    if (!kind->joins_some) common_ = count_;
  }
  if (count_ == 0) count_ = common_ = 1;
}

CommunicatorSet make_communicators(const CommunicatorSpec& spec) {
  GroupWriter to(spec.grid.ranks(), SlotNumbers(spec).count());
  std::uint32_t first = 0;
  for (const CommunicatorKind* kind : communicator_kinds()) {
    const std::uint32_t slots = kind->slots(spec);
    if (slots > 0) kind->form(spec, first, to);
    first += slots;
  }
  return std::move(to).finish();
}

namespace {

/// Programs of a class of replicas are those of its stages.
std::uint32_t program_of(const CommunicatorSpec& spec, std::uint32_t rank) {
  const auto stage = static_cast<std::uint32_t>(spec.grid.place(rank, Axis::pipeline));
  if (spec.class_of_replica.empty()) return stage;
  const auto replica = static_cast<std::size_t>(spec.grid.place(rank, Axis::data));
  return spec.class_of_replica[replica] * static_cast<std::uint32_t>(spec.grid.size(Axis::pipeline)) + stage;
}

}  // namespace

void add_communicators(const CommunicatorSpec& spec, Workload& workload) {
  const RankGrid& grid = spec.grid;
  workload.program_of_rank.resize(grid.ranks());
  for (std::uint32_t rank = 0; rank < grid.ranks(); ++rank)
    workload.program_of_rank.edit()[rank] = program_of(spec, rank);
  workload.replicas = static_cast<std::uint32_t>(grid.size(Axis::data));
  workload.replica_stride = static_cast<std::uint32_t>(grid.stride(Axis::data));
  CommunicatorSet set = make_communicators(spec);
  workload.slots = set.slots;
  workload.common_slots = SlotNumbers(spec).common();
  workload.group_begin = std::move(set.group_begin);
  workload.group_members = std::move(set.group_members);
  workload.group_of = std::move(set.group_of);
}

}  // namespace orrery
