#include "sim/graph/channels.hpp"

#include <algorithm>
#include <optional>
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
  Matcher(const Workload& workload, Channels grouped)
      : workload_(workload),
        result_(std::move(grouped)),
        messages_(static_cast<std::uint32_t>(workload.messages.size())) {}

  Channels match() {
    told_.resize(result_.channels.size());
    for (std::size_t program = 0; program < workload_.programs.size(); ++program) follow(program);
    lay_out();
    return std::move(result_);
  }

 private:
  /// A slot of the program at hand.
  struct End {
    std::vector<std::uint32_t>* told = nullptr;  ///< of its channel
    std::uint32_t operations = 0;                ///< so far
    std::optional<Stream> stream;                ///< of its messages
  };

  /// What a program asks of its channels, against what the ends before it asked of them.
  void follow(std::size_t program) {
    ends_.assign(workload_.slots, {});
    for (std::size_t slot = 0; slot < workload_.slots; ++slot) {
      const std::uint32_t channel = channel_of(program, slot);
      if (channel != kNone) ends_[slot].told = &told_[channel];
    }
    for (const Op& op : workload_.programs[program].ops) {
      if (op.kind != Op::Kind::compute && !fits(op, ends_[op.slot])) disagree(program, op.slot);
    }
    for (std::size_t slot = 0; slot < workload_.slots; ++slot) close_end(program, slot);
  }

  /// Adds the next operation of an end; false where another end asks for something else.
  bool fits(const Op& op, End& end) const {
    if (end.told == nullptr) throw std::logic_error("an operation communicates without a communicator");
    std::uint32_t request = op.work;
    if (op.kind == Op::Kind::pass) {
      request += messages_;
    } else if (end.stream.value_or(op.stream) != op.stream) {
      throw std::logic_error("a program slot is used on two streams");
    } else {
      end.stream = op.stream;
    }
    const std::uint32_t number = end.operations++;
    if (number < end.told->size()) return (*end.told)[number] == request;
    end.told->push_back(request);
    return true;
  }

  void close_end(std::size_t program, std::size_t slot) {
    const std::uint32_t number = channel_of(program, slot);
    if (number == kNone) return;
    Channel& channel = result_.channels[number];
    const std::uint32_t operations = ends_[slot].operations;
    if (operations > 0) ++channel.ends;
    if (channel.operations == 0) {
      channel.operations = operations;
      result_.families += operations;
    }
    if (channel.operations != operations) disagree(program, slot);
  }

  [[noreturn]] static void disagree(std::size_t program, std::size_t slot) {
    throw std::logic_error("the two ends of a channel disagree: program " + std::to_string(program) +
                           ", slot " + std::to_string(slot));
  }

  [[nodiscard]] std::uint32_t channel_of(std::size_t program, std::size_t slot) const {
    return result_.channel_of[program * workload_.slots + slot];
  }

  void lay_out() {
    result_.call_of.reserve(result_.families);
    latest_call_.assign(messages_ + workload_.passes.size(), kNone);
    for (std::uint32_t c = 0; c < result_.channels.size(); ++c) {
      Channel& channel = result_.channels[c];
      channel.first_family = static_cast<std::uint32_t>(result_.call_of.size());
      channel.first_call = static_cast<std::uint32_t>(result_.calls.size());
      for (const std::uint32_t request : told_[c]) count(c, request);
      channel.last_call = static_cast<std::uint32_t>(result_.calls.size());
    }
  }

  void count(std::uint32_t channel, std::uint32_t request) {
    std::uint32_t& call = latest_call_[request];
    if (call == kNone || call < result_.channels[channel].first_call) {
      call = static_cast<std::uint32_t>(result_.calls.size());
      const bool pass = request >= messages_;
      result_.calls.push_back({channel, {pass, request - (pass ? messages_ : 0)}, 0, result_.prices});
      result_.prices += static_cast<std::uint32_t>(result_.channels[channel].groups.size());
    }
    ++result_.calls[call].operations;
    result_.call_of.push_back(call);
  }

  const Workload& workload_;
  Channels result_;
  std::uint32_t messages_;                        ///< requests are numbers of messages, then of passes
  std::vector<std::vector<std::uint32_t>> told_;  ///< [channel]: requests of the end that is ahead
  std::vector<End> ends_;                         ///< [slot]
  std::vector<std::uint32_t> latest_call_;        ///< per request: the call made for it last
};

}  // namespace

Channels group_channels(const Workload& workload) { return Grouping(workload).group(); }

Channels match_channels(const Workload& workload, Channels grouped) {
  return Matcher(workload, std::move(grouped)).match();
}

}  // namespace orrery
