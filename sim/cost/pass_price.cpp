#include "sim/cost/pass_price.hpp"

#include <algorithm>
#include <limits>

#include "sim/cost/busy_times.hpp"
#include "sim/cost/issue_time.hpp"

namespace orrery {
namespace {

/// Far before any start, and far enough from the end of 64 bits to add durations.
constexpr Picoseconds kLongAgo = std::numeric_limits<Picoseconds>::min() / 2;

/// A time counted from when the input is ready, and one from when the host begins to issue.
struct Times {
  Picoseconds ready = 0;
  Picoseconds host = kLongAgo;

  void wait_for(const Times& other) {
    ready = std::max(ready, other.ready);
    host = std::max(host, other.host);
  }
  void pass(Picoseconds duration) {
    ready = capped_sum(ready, duration);
    host = capped_sum(host, duration);
  }
};

}  // namespace

PassPrice price_pass(const PassWork& pass, const Workload& workload,
                     std::span<const ComputePrice> kernel_sequences, std::span<const Picoseconds> messages_ps,
                     double interference) {
  std::vector<Times> done;
  done.reserve(pass.size());
  BusyTimes beside;
  Times compute;
  Times tensor;
  Picoseconds issued = 0;
  Picoseconds busy = 0;
  Picoseconds launches = 0;
  Picoseconds slowed = 0;
  for (const PassStep& step : pass) {
    Times& stream = step.communicates ? tensor : compute;
    if (step.after >= 0) stream.wait_for(done[static_cast<std::size_t>(step.after)]);
    if (step.communicates) {
      const Picoseconds begin = stream.ready;
      stream.pass(messages_ps[step.work]);
      if (interference > 0) beside.add(begin, stream.ready);
      issued = capped_sum(issued, workload.messages[step.work].host_ps);
    } else {
      const Picoseconds alone = kernel_sequences[step.work].duration_ps;
      const Picoseconds duration =
          interference > 0 ? beside.finish(stream.ready, alone, interference) - stream.ready : alone;
      stream.host =
          std::max(stream.host, earliest_start(workload.kernel_sequences[step.work], alone, issued));
      stream.pass(duration);
      busy = capped_sum(busy, duration);
      slowed += duration - alone;
      launches = capped_sum(launches, kernel_sequences[step.work].launch_ps);
      issued = capped_sum(issued, workload.kernel_sequences[step.work].host_ps);
    }
    done.push_back(stream);
  }
  compute.wait_for(tensor);
  return {compute.ready,
          std::max<Picoseconds>(compute.host, 0) - compute.ready,
          {busy, std::min(launches, busy)},
          slowed};
}

std::vector<PassMessage> messages_of(const PassWork& pass) {
  std::vector<PassMessage> messages;
  for (const PassStep& step : pass) {
    if (!step.communicates) continue;
    const auto known = std::ranges::find(messages, step.work, &PassMessage::message);
    if (known == messages.end()) {
      messages.push_back({step.work, 1});
    } else {
      ++known->steps;
    }
  }
  return messages;
}

}  // namespace orrery
