// Programs and communicators of a workload, by what they are made from.
#pragma once

#include <cstddef>

#include "orrery/content_hash.hpp"
#include "sim/matching/channels.hpp"
#include "sim/step/memo.hpp"
#include "sim/step/step.hpp"

namespace orrery {

/// Fills in programs, and the kernel sequences, messages and passes of the input; returns the key of the
/// programs. Programs of equal keys do the same in the same order, whatever it costs; the names of layers and
/// the bytes of memory are of whoever wrote them first, unless `own`.
ContentHash write_programs_of(const StepInput& input, bool own, Memo& memo, Workload& workload);

/// Fills in the communicators; returns their key.
ContentHash join_communicators(const CommunicatorLayout& layout, Memo& memo, Workload& workload);

/// The communicators of each channel, whatever programs do on it.
struct GroupedChannels {
  Channels channels;

  [[nodiscard]] std::size_t bytes() const {
    return sizeof *this +
           (2 * channels.group_place.size() + channels.channel_of.size()) * sizeof(std::uint32_t) +
           channels.lists->groups.size() * sizeof(std::uint32_t);
  }
};

}  // namespace orrery
