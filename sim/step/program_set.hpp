// Shares programs and communicators of workloads, by the inputs they are made from.
#pragma once

#include <cstddef>

#include "orrery/cluster.hpp"
#include "orrery/content_hash.hpp"
#include "sim/matching/channels.hpp"
#include "sim/step/memo.hpp"
#include "sim/step/step.hpp"

namespace orrery {

/// Hashes the part of a cluster that its topology depends on: all but the compute speeds of its GPUs.
[[nodiscard]] ContentHash machine_key(const Cluster& cluster);

/// Fills in programs, and the kernel sequences, messages and passes of the input; returns the key of the
/// programs. Programs of equal keys have the same operations in the same order, whatever they cost; the names
/// of layers and the bytes of memory are those of the first writer, unless `own`.
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
