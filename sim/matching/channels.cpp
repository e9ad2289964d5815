#include "sim/matching/channels.hpp"

#include <algorithm>
#include <memory>
#include <optional>
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
    for (std::uint32_t group = 0; group < workload_.groups(); ++group) {
      const std::uint32_t channel = channel_of(group);
      if (channel == groups_.size()) {
        groups_.push_back(0);
        sizes_.emplace_back();
      }
      result_.channel_group[group] = channel;
      result_.group_place[group] = groups_[channel]++;
      count_size(sizes_[channel], static_cast<std::uint32_t>(workload_.members(group).size()));
    }
    write_lists();
    return std::move(result_);
  }

 private:
  void write_lists() {
    auto lists = std::make_shared<Channels::Lists>();
    lists->groups.resize(workload_.groups());
    for (const auto& sizes : sizes_) lists->sizes.insert(lists->sizes.end(), sizes.begin(), sizes.end());
    std::uint32_t* groups = lists->groups.data();
    const Channel::Size* sizes = lists->sizes.data();
    std::vector<std::uint32_t*> first;  // per channel
    for (std::size_t c = 0; c < groups_.size(); ++c) {
      first.push_back(groups);
      result_.channels[c].groups = {groups, groups_[c]};
      result_.channels[c].sizes = {sizes, sizes_[c].size()};
      groups += groups_[c];
      sizes += sizes_[c].size();
    }
    for (std::uint32_t group = 0; group < workload_.groups(); ++group)
      first[result_.channel_group[group]][result_.group_place[group]] = group;
    result_.lists = std::move(lists);
  }

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
  std::vector<std::uint32_t> groups_;              ///< per channel: how many
  std::vector<std::vector<Channel::Size>> sizes_;  ///< per channel
  Channels result_;
};

class Matcher {
 public:
  Matcher(const Workload& workload, Channels grouped)
      : workload_(workload),
        result_(std::move(grouped)),
        messages_(static_cast<std::uint32_t>(workload.messages.size())) {}

  Channels match() {
    for (std::size_t program = 0; program < workload_.programs.size(); ++program) count(program);
    lay_out();
    for (std::size_t program = 0; program < workload_.programs.size(); ++program) follow(program);
    list_calls();
    return std::move(result_);
  }

 private:
  void count(std::size_t program) {
    std::vector<std::uint32_t> operations(workload_.slots);
    for (const Op& op : workload_.programs[program].ops)
      operations[op.slot] += op.kind == Op::Kind::compute ? 0 : 1;
    for (std::size_t slot = 0; slot < workload_.slots; ++slot) {
      const std::uint32_t number = channel_of(program, slot);
      if (number == kNone && operations[slot] == 0) continue;
      if (number == kNone) throw std::logic_error("an operation communicates without a communicator");
      Channel& channel = result_.channels[number];
      if (operations[slot] > 0) ++channel.ends;
      if (channel.operations == 0) channel.operations = operations[slot];
      if (channel.operations != operations[slot]) disagree(program, slot);
    }
  }

  void lay_out() {
    for (Channel& channel : result_.channels) {
      channel.first_task_group = result_.task_groups;
      result_.task_groups += channel.operations;
    }
    told_.resize(result_.task_groups, kNone);
  }

  /// Checks the calls of a program against the calls that earlier programs make on the same channels.
  void follow(std::size_t program) {
    std::vector<std::uint32_t*> next(workload_.slots,
                                     told_.data());  // per slot: the recorded calls of its channel
    std::vector<std::optional<Stream>> streams(workload_.slots);  // of its messages
    for (std::size_t slot = 0; slot < workload_.slots; ++slot) {
      const std::uint32_t channel = channel_of(program, slot);
      if (channel != kNone) next[slot] += result_.channels[channel].first_task_group;
    }
    for (const Op& op : workload_.programs[program].ops) {
      if (op.kind == Op::Kind::compute) continue;
      const std::uint32_t request = number_of(request_of(op));
      std::uint32_t& told = *next[op.slot]++;
      if (told == kNone) told = request;
      if (told != request) disagree(program, op.slot);
      if (op.kind == Op::Kind::pass || op.stream == Stream::gather) continue;
      std::optional<Stream>& stream = streams[op.slot];
      if (!stream) stream = op.stream;
      if (stream != op.stream) throw std::logic_error("a program slot is used on two streams");
    }
  }

  [[noreturn]] static void disagree(std::size_t program, std::size_t slot) {
    throw std::logic_error("the two ends of a channel disagree: program " + std::to_string(program) +
                           ", slot " + std::to_string(slot));
  }

  /// Messages come before passes.
  [[nodiscard]] std::uint32_t number_of(Request request) const {
    return request.work + (request.pass ? messages_ : 0);
  }
  [[nodiscard]] std::uint32_t channel_of(std::size_t program, std::size_t slot) const {
    return result_.channel_of[program * workload_.slots + slot];
  }

  void list_calls() {
    times_.assign(messages_ + workload_.passes.size(), 0);
    for (std::uint32_t c = 0; c < result_.channels.size(); ++c) {
      result_.channels[c].first_call = static_cast<std::uint32_t>(result_.calls.size());
      list_calls(c);
      result_.channels[c].last_call = static_cast<std::uint32_t>(result_.calls.size());
    }
  }

  void list_calls(std::uint32_t number) {
    const Channel& channel = result_.channels[number];
    for (const std::uint32_t request :
         std::span(told_).subspan(channel.first_task_group, channel.operations)) {
      if (times_[request]++ > 0) continue;
      const bool pass = request >= messages_;
      result_.calls.push_back({number, {pass, request - (pass ? messages_ : 0)}, 0});
    }
    for (std::uint32_t c = channel.first_call; c < result_.calls.size(); ++c) {
      const Request request = result_.calls[c].request;
      result_.calls[c].operations = std::exchange(times_[number_of(request)], 0);
    }
  }

  const Workload& workload_;
  Channels result_;
  std::uint32_t messages_;  ///< of the workload
  std::vector<std::uint32_t>
      told_;  ///< per task group that communicates: its request, by the end that is ahead
  std::vector<std::uint32_t> times_;  ///< per request: how often it was made on the channel at hand
};

}  // namespace

Channels group_channels(const Workload& workload) { return Grouping(workload).group(); }

Channels match_channels(const Workload& workload, Channels grouped) {
  return Matcher(workload, std::move(grouped)).match();
}

}  // namespace orrery
