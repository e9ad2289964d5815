#include "sim/graph/channels.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace orrery {
namespace {

/// Puts communicators on the channels that their members' slots are on.
class Grouping {
 public:
  explicit Grouping(const Workload& workload) : workload_(workload) {
    result_.channel_of.assign(workload.programs.size() * workload.slots, kNone);
    result_.channel_group.assign(workload.groups(), kNone);
    result_.group_place.assign(workload.groups(), 0);
  }

  Channels group() {
    std::vector<std::uint32_t> groups;  // per channel
    for (std::uint32_t group = 0; group < workload_.groups(); ++group) {
      const std::uint32_t channel = channel_of(group);
      if (channel == groups.size()) groups.push_back(0);
      result_.channel_group[group] = channel;
      result_.group_place[group] = groups[channel]++;
      const auto members = static_cast<std::uint32_t>(workload_.members(group).size());
      count_size(result_.channels[channel].sizes, members);
    }
    for (std::size_t c = 0; c < groups.size(); ++c) result_.channels[c].groups.resize(groups[c]);
    for (std::uint32_t group = 0; group < workload_.groups(); ++group)
      result_.channels[result_.channel_group[group]].groups[result_.group_place[group]] = group;
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::uint32_t& end(std::uint32_t rank, std::size_t slot) {
    return result_.channel_of[workload_.program_of_rank[rank] * workload_.slots + slot];
  }

  /// Mostly that of another member.
  [[nodiscard]] std::size_t slot_of(std::uint32_t rank, std::uint32_t group, std::size_t slot) const {
    const std::uint32_t* const groups = workload_.group_of.data() + std::size_t{rank} * workload_.slots;
    if (groups[slot] == group) return slot;
    slot = 0;
    while (groups[slot] != group) ++slot;
    return slot;
  }

  /// A new one where none of its first member's is on one.
  std::uint32_t channel_of(std::uint32_t group) {
    const auto members = workload_.members(group);
    std::size_t slot = slot_of(members.front(), group, 0);
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
    return channel;
  }

  static void count_size(std::vector<Channel::Size>& sizes, std::uint32_t members) {
    if (!sizes.empty() && sizes.back().members == members) {
      ++sizes.back().groups;
      return;
    }
    const auto at = std::ranges::lower_bound(sizes, members, {}, &Channel::Size::members);
    if (at != sizes.end() && at->members == members) {
      ++at->groups;
    } else {
      sizes.insert(at, {members, 1});
    }
  }

  const Workload& workload_;
  Channels result_;
};

class Matcher {
 public:
  Matcher(const Workload& workload, Channels grouped) : workload_(workload), result_(std::move(grouped)) {}

  Channels match() {
    collect_requests();
    lay_out();
    return std::move(result_);
  }

 private:
  /// What each channel is asked for, by all of its ends.
  void collect_requests() {
    first_told_.resize(result_.channels.size());
    asked_.resize(workload_.slots);
    for (std::size_t program = 0; program < workload_.programs.size(); ++program) {
      list_requests(workload_.programs[program]);
      for (std::size_t slot = 0; slot < workload_.slots; ++slot) compare_end(program, slot);
    }
  }

  /// By slot, in order.
  void list_requests(const Program& program) {
    for (auto& asked : asked_) asked.clear();
    first_.assign(workload_.slots, nullptr);
    for (const Op& op : program.ops) {
      if (op.kind == Op::Kind::compute) continue;
      asked_[op.slot].push_back(request_of(op));
      if (op.kind == Op::Kind::pass) continue;
      const Op*& first = first_[op.slot];
      if (first == nullptr) first = &op;
      if (op.stream != first->stream) throw std::logic_error("a program slot is used on two streams");
    }
  }

  void compare_end(std::size_t program, std::size_t slot) {
    std::vector<Request>& asked = asked_[slot];
    const std::uint32_t number = result_.channel_of[program * workload_.slots + slot];
    if (number == kNone) {
      if (!asked.empty()) throw std::logic_error("an operation communicates without a communicator");
      return;
    }
    Channel& channel = result_.channels[number];
    if (!asked.empty()) ++channel.ends;
    if (channel.operations == 0) {
      channel.operations = static_cast<std::uint32_t>(asked.size());
      first_told_[number] = told_.size();
      told_.insert(told_.end(), asked.begin(), asked.end());
    } else if (!std::ranges::equal(told(number), asked)) {
      throw std::logic_error("the two ends of a channel disagree: program " + std::to_string(program) +
                             ", slot " + std::to_string(slot));
    }
  }

  [[nodiscard]] std::span<const Request> told(std::size_t channel) const {
    return std::span(told_).subspan(first_told_[channel], result_.channels[channel].operations);
  }

  void lay_out() {
    for (std::uint32_t c = 0; c < result_.channels.size(); ++c) {
      Channel& channel = result_.channels[c];
      channel.first_family = result_.families;
      result_.families += channel.operations;
      channel.first_call = static_cast<std::uint32_t>(result_.calls.size());
      for (const Request request : told(c)) count(c, request);
      channel.last_call = static_cast<std::uint32_t>(result_.calls.size());
    }
  }

  void count(std::uint32_t channel, Request request) {
    for (std::size_t at = result_.channels[channel].first_call; at < result_.calls.size(); ++at) {
      if (result_.calls[at].request != request) continue;
      ++result_.calls[at].operations;
      return;
    }
    result_.calls.push_back({channel, request, 1, result_.prices});
    result_.prices += static_cast<std::uint32_t>(result_.channels[channel].groups.size());
  }

  const Workload& workload_;
  Channels result_;
  std::vector<Request> told_;                ///< by the end of each channel that is met first
  std::vector<std::size_t> first_told_;      ///< [channel]
  std::vector<std::vector<Request>> asked_;  ///< [slot], by the program at hand
  std::vector<const Op*> first_;             ///< [slot]: the first message of that program
};

}  // namespace

Channels group_channels(const Workload& workload) { return Grouping(workload).group(); }

Channels match_channels(const Workload& workload, Channels grouped) {
  return Matcher(workload, std::move(grouped)).match();
}

}  // namespace orrery
