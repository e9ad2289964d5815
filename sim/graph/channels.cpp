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
    if (op.kind == Op::Kind::communicate) {
      if (!end.stream) end.stream = op.stream;
      if (op.stream != end.stream) throw std::logic_error("a program slot is used on two streams");
    }
    const std::uint32_t request = number_of(request_of(op));
    const std::uint32_t place = end.operations++;
    if (place < end.told->size()) return (*end.told)[place] == request;
    end.told->push_back(request);
    return true;
  }

  void close_end(std::size_t program, std::size_t slot) {
    const std::uint32_t number = channel_of(program, slot);
    if (number == kNone) return;
    Channel& channel = result_.channels[number];
    const std::uint32_t operations = ends_[slot].operations;
    if (operations > 0) ++channel.ends;
    if (channel.operations == 0) channel.operations = operations;
    if (channel.operations != operations) disagree(program, slot);
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

  void lay_out() {
    times_.assign(messages_ + workload_.passes.size(), 0);
    for (std::uint32_t c = 0; c < result_.channels.size(); ++c) {
      Channel& channel = result_.channels[c];
      channel.first_family = result_.families;
      result_.families += channel.operations;
      channel.first_call = static_cast<std::uint32_t>(result_.calls.size());
      list_calls(c);
      channel.last_call = static_cast<std::uint32_t>(result_.calls.size());
    }
  }

  void list_calls(std::uint32_t channel) {
    const auto groups = static_cast<std::uint32_t>(result_.channels[channel].groups.size());
    for (const std::uint32_t request : told_[channel]) {
      if (times_[request]++ > 0) continue;
      const bool pass = request >= messages_;
      result_.calls.push_back({channel, {pass, request - (pass ? messages_ : 0)}, 0, result_.prices});
      result_.prices += groups;
    }
    for (std::uint32_t c = result_.channels[channel].first_call; c < result_.calls.size(); ++c) {
      const Request request = result_.calls[c].request;
      result_.calls[c].operations = std::exchange(times_[number_of(request)], 0);
    }
  }

  const Workload& workload_;
  Channels result_;
  std::uint32_t messages_;                        ///< of the workload
  std::vector<std::vector<std::uint32_t>> told_;  ///< [channel]: requests, by the end that is ahead
  std::vector<End> ends_;                         ///< [slot]
  std::vector<std::uint32_t> times_;  ///< per request: how often it was made on the channel at hand
};

}  // namespace

Channels group_channels(const Workload& workload) { return Grouping(workload).group(); }

Channels match_channels(const Workload& workload, Channels grouped) {
  return Matcher(workload, std::move(grouped)).match();
}

}  // namespace orrery
