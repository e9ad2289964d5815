#include "sim/graph/channels.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace orrery {
namespace {

class Matcher {
 public:
  explicit Matcher(const Workload& workload) : workload_(workload) {
    result_.channel_of.assign(workload.programs.size() * workload.slots, kNone);
    result_.channel_group.assign(workload.groups(), kNone);
    result_.group_place.assign(workload.groups(), 0);
  }

  Channels match() {
    collect_groups();
    collect_calls();
    lay_out();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::uint32_t& end(std::uint32_t rank, std::size_t slot) {
    return result_.channel_of[workload_.program_of_rank[rank] * workload_.slots + slot];
  }

  /// Mostly that of another member.
  [[nodiscard]] std::size_t slot_of(std::uint32_t rank, std::uint32_t group, std::size_t slot = 0) const {
    if (workload_.group(rank, slot) == group) return slot;
    slot = 0;
    while (workload_.group(rank, slot) != group) ++slot;
    return slot;
  }

  void collect_groups() {
    for (std::uint32_t group = 0; group < workload_.groups(); ++group) {
      const auto members = workload_.members(group);
      std::size_t slot = slot_of(members.front(), group);
      std::uint32_t channel = end(members.front(), slot);
      if (channel == kNone) {
        channel = static_cast<std::uint32_t>(result_.channels.size());
        result_.channels.emplace_back();
      }
      for (const std::uint32_t member : members) {
        slot = slot_of(member, group, slot);
        std::uint32_t& here = end(member, slot);
        if (here != kNone && here != channel) throw std::logic_error("a program slot meets two channels");
        here = channel;
      }
      auto& groups = result_.channels[channel].groups;
      result_.channel_group[group] = channel;
      result_.group_place[group] = static_cast<std::uint32_t>(groups.size());
      groups.push_back(group);
      count_size(result_.channels[channel].sizes, static_cast<std::uint32_t>(members.size()));
    }
  }

  static void count_size(std::vector<Channel::Size>& sizes, std::uint32_t members) {
    const auto at = std::ranges::lower_bound(sizes, members, {}, &Channel::Size::members);
    if (at != sizes.end() && at->members == members) {
      ++at->groups;
    } else {
      sizes.insert(at, {members, 1});
    }
  }

  /// Counts operations per end and collects the calls of each channel.
  void collect_calls() {
    calls_.resize(result_.channels.size());
    std::vector<std::vector<Request>> told(result_.channels.size());
    for (std::size_t program = 0; program < workload_.programs.size(); ++program) {
      std::vector<std::vector<Request>> asked = requests_of(workload_.programs[program]);
      for (std::size_t slot = 0; slot < workload_.slots; ++slot)
        compare_end(program, slot, std::move(asked[slot]), told);
    }
  }

  /// By slot, in order.
  [[nodiscard]] std::vector<std::vector<Request>> requests_of(const Program& program) const {
    std::vector<std::vector<Request>> asked(workload_.slots);
    std::vector<const Op*> first(workload_.slots, nullptr);  // of the messages
    for (const Op& op : program.ops) {
      if (op.kind == Op::Kind::compute) continue;
      asked[op.slot].push_back(request_of(op));
      if (op.kind == Op::Kind::pass) continue;
      if (first[op.slot] == nullptr) first[op.slot] = &op;
      if (op.stream != first[op.slot]->stream)
        throw std::logic_error("a program slot is used on two streams");
    }
    return asked;
  }

  void compare_end(std::size_t program, std::size_t slot, std::vector<Request>&& sequence,
                   std::vector<std::vector<Request>>& told) {
    const std::uint32_t channel = result_.channel_of[program * workload_.slots + slot];
    if (channel == kNone) {
      if (!sequence.empty()) throw std::logic_error("an operation communicates without a communicator");
      return;
    }
    if (told[channel].empty()) {
      for (const Request request : sequence) count(channel, request);
      result_.channels[channel].operations = static_cast<std::uint32_t>(sequence.size());
      told[channel] = std::move(sequence);
    } else if (told[channel] != sequence) {
      throw std::logic_error("the two ends of a channel disagree: program " + std::to_string(program) +
                             ", slot " + std::to_string(slot));
    }
  }

  void count(std::uint32_t channel, Request request) {
    for (Call& call : calls_[channel]) {
      if (call.request != request) continue;
      ++call.operations;
      return;
    }
    calls_[channel].push_back({channel, request, 1, 0});
  }

  void lay_out() {
    for (std::size_t c = 0; c < result_.channels.size(); ++c) {
      Channel& channel = result_.channels[c];
      channel.first_family = result_.families;
      result_.families += channel.operations;
      channel.first_call = static_cast<std::uint32_t>(result_.calls.size());
      for (Call& call : calls_[c]) {
        call.first_price = result_.prices;
        result_.prices += static_cast<std::uint32_t>(channel.groups.size());
        result_.calls.push_back(call);
      }
      channel.last_call = static_cast<std::uint32_t>(result_.calls.size());
    }
  }

  const Workload& workload_;
  Channels result_;
  std::vector<std::vector<Call>> calls_;  ///< [channel]
};

}  // namespace

Channels match_channels(const Workload& workload) { return Matcher(workload).match(); }

}  // namespace orrery
