#include "studies/explain/account.hpp"

#include <algorithm>
#include <limits>

#include "sim/metrics/run_layout.hpp"

namespace orrery {
namespace {

/// A GPU that has work queued begins it within microseconds; a longer wait has another cause.
constexpr std::int64_t kLaunchGapNs = 10'000;
constexpr std::int64_t kStretches = 4000;  ///< a page shows so many in a step

class StepAccountant {
 public:
  StepAccountant(const Profile& profile, const std::vector<std::int64_t>& ready, RankAccount& to)
      : profile_(profile), ready_(ready), to_(to), contention_(contention_of(profile, ready)) {}

  void account(const ClockRange& window, std::int32_t step) {
    begin_ = to_.last_begin_ns = window.start_ns;
    shortest_ = (window.finish_ns - window.start_ns) / kStretches;
    to_.stretches.clear();
    std::int64_t now = window.start_ns;
    const std::vector<GpuSpan>& spans = profile_.spans;
    while (first_ < spans.size() && spans[first_].finish_ns <= window.start_ns) ++first_;
    list_messages(window);
    for (std::size_t s = first_; s < spans.size() && spans[s].start_ns < window.finish_ns; ++s) {
      const GpuSpan& span = spans[s];
      if (!computes(span.use) || span.finish_ns <= now) continue;
      const std::int64_t start = std::max(span.start_ns, now);
      const std::int64_t finish = std::min(span.finish_ns, window.finish_ns);
      launched_ns_ = span.launched_ns;
      if (start > now) gap({now, start});
      if (finish > start) work(s, {start, finish});
      now = std::max(now, finish);
    }
    launched_ns_ = -1;
    if (window.finish_ns > now) gap({now, window.finish_ns});
    count_messages(step);
    ++to_.steps;
    to_.step_ns += window.finish_ns - window.start_ns;
    to_.each_step_ns.push_back(window.finish_ns - window.start_ns);
  }

 private:
  void add(std::size_t term, const ClockRange& range) {
    const std::int64_t length = range.finish_ns - range.start_ns;
    if (length <= 0) return;
    to_.times_ns[term] += length;
    const ClockRange of_step{range.start_ns - begin_, range.finish_ns - begin_};
    ClockRange& longest = to_.longest[term];
    if (length > longest.finish_ns - longest.start_ns) longest = of_step;
    std::vector<LaneStretch>& lane = to_.stretches;
    if (!lane.empty() && (lane.back().term == term || length < shortest_)) {
      lane.back().range.finish_ns = of_step.finish_ns;
    } else {
      lane.push_back({term, of_step});
    }
  }

  /// A kernel, and at its end what it lost to messages beside it.
  void work(std::size_t s, const ClockRange& range) {
    const GpuSpan& span = profile_.spans[s];
    const double share = static_cast<double>(range.finish_ns - range.start_ns) /
                         static_cast<double>(span.finish_ns - span.start_ns);
    const auto part = [share](std::int64_t time) {
      return static_cast<std::int64_t>(static_cast<double>(time) * share);
    };
    to_.beside_ns += part(contention_.beside_ns[s]);
    to_.beside_unknown_ns += part(contention_.unknown_ns[s]);
    const std::int64_t disturbed = std::max(range.finish_ns - part(contention_.lost_ns[s]), range.start_ns);
    kernels(span, {range.start_ns, disturbed});
    add(step_term::kContention, {disturbed, range.finish_ns});
  }

  /// A kernel, or the kernels of an operation in their shares, of which gaps between launches are the host's.
  void kernels(const GpuSpan& span, const ClockRange& range) {
    if (span.parts == GpuSpan::kNothing) return add(static_cast<std::size_t>(span.use), range);
    const auto& shares = profile_.parts[span.parts].shares;
    double sum = 0;
    for (const auto& [use, share] : shares) sum += share;
    if (!(sum > 0)) return add(static_cast<std::size_t>(span.use), range);
    std::int64_t at = range.start_ns;
    double done = 0;
    for (const auto& [use, share] : shares) {
      done += share;
      const auto upto = static_cast<std::int64_t>(
          static_cast<double>(range.finish_ns - range.start_ns) * std::min(done / sum, 1.0) + 0.5);
      const std::int64_t next = range.start_ns + upto;
      add(use == KernelUse::copy ? step_term::kHost : static_cast<std::size_t>(use), {at, next});
      at = next;
    }
    add(static_cast<std::size_t>(shares.back().first == KernelUse::copy ? use_of(KernelClass::other)
                                                                        : shares.back().first),
        {at, range.finish_ns});
  }

  void list_messages(const ClockRange& window) {
    messages_.clear();
    for (std::size_t s = first_; s < profile_.spans.size(); ++s) {
      const GpuSpan& span = profile_.spans[s];
      if (span.start_ns >= window.finish_ns) break;
      if (!computes(span.use) && span.finish_ns > window.start_ns)
        messages_.push_back(static_cast<std::uint32_t>(s));
    }
    next_ = 0;
    flying_.clear();
  }

  [[nodiscard]] std::size_t dimension_of(const GpuSpan& span) const {
    if (span.use == KernelUse::copy) return static_cast<std::size_t>(Dimension::offload);
    const ProfiledMessage& message = profile_.messages[span.message];
    return message.dimension ? static_cast<std::size_t>(*message.dimension) : kDimensionCount;
  }
  [[nodiscard]] std::uint8_t priority_of(const GpuSpan& span) const {
    const std::size_t dimension = dimension_of(span);
    return dimension < kDimensionCount ? kWaitPriority[dimension] : kDimensionCount;
  }

  /// No kernel computes: communication in flight keeps the GPU waiting, or nothing does.
  void gap(const ClockRange& range) {
    std::int64_t now = range.start_ns;
    while (now < range.finish_ns) {
      for (; next_ < messages_.size() && profile_.spans[messages_[next_]].start_ns <= now; ++next_)
        flying_.push_back(messages_[next_]);
      std::erase_if(flying_, [&](std::uint32_t s) { return profile_.spans[s].finish_ns <= now; });
      std::int64_t end = range.finish_ns;
      if (next_ < messages_.size()) end = std::min(end, profile_.spans[messages_[next_]].start_ns);
      for (const std::uint32_t s : flying_) {
        end = std::min(end, profile_.spans[s].finish_ns);
        if (ready_[s] > now) end = std::min(end, ready_[s]);
      }
      flying_.empty() ? idle({now, end}) : exposed({now, end});
      now = end;
    }
  }

  /// Messages on their way come before those that wait for other ranks.
  void exposed(const ClockRange& range) {
    std::uint32_t best = flying_.front();
    const auto rank = [&](std::uint32_t s) {
      return std::pair{ready_[s] > range.start_ns, priority_of(profile_.spans[s])};
    };
    for (const std::uint32_t s : flying_)
      if (rank(s) < rank(best)) best = s;
    const GpuSpan& span = profile_.spans[best];
    if (ready_[best] <= range.start_ns) return add(step_term::kExposed + dimension_of(span), range);
    add(waits_for_stage(span) ? step_term::kBubble : step_term::kStragglers, range);
  }

  [[nodiscard]] bool waits_for_stage(const GpuSpan& span) const {
    return span.message != GpuSpan::kNothing &&
           (profile_.messages[span.message].collective == Collective::send_recv ||
            profile_.messages[span.message].dimension == Dimension::pipeline);
  }

  /// Nothing runs. While the CPU fetches data and has not launched the next kernel, it waits for these.
  void idle(const ClockRange& range) {
    const std::int64_t launched = std::clamp(launched_ns_, range.start_ns, range.finish_ns);
    std::int64_t now = range.start_ns;
    for (const ClockRange& loading : profile_.loading) {
      const ClockRange part{std::max(loading.start_ns, now), std::min(loading.finish_ns, launched)};
      if (part.finish_ns <= part.start_ns) continue;
      if (part.start_ns > now) idle_without_data({now, part.start_ns});
      add(step_term::kLoading, part);
      now = part.finish_ns;
    }
    if (range.finish_ns > now) idle_without_data({now, range.finish_ns});
  }

  /// Until the next work was launched the host is the cause; after that other ranks are.
  void idle_without_data(const ClockRange& range) {
    const auto next = std::ranges::lower_bound(profile_.spans, range.finish_ns, {}, &GpuSpan::start_ns);
    if (next == profile_.spans.end()) return add(step_term::kBubble, range);
    const std::int64_t launched = std::clamp(next->launched_ns, range.start_ns, range.finish_ns);
    add(step_term::kHost, {range.start_ns, launched});
    const ClockRange rest{launched, range.finish_ns};
    if (next->use == KernelUse::communication)
      return add(waits_for_stage(*next) ? step_term::kBubble : step_term::kStragglers, rest);
    const bool short_gap = rest.finish_ns - rest.start_ns < kLaunchGapNs;
    add(short_gap ? step_term::kHost : step_term::kBubble, rest);
  }

  void count_messages(std::int32_t step) {
    for (const std::uint32_t s : messages_) {
      const GpuSpan& span = profile_.spans[s];
      if (span.message == GpuSpan::kNothing || span.step != step) continue;
      const ProfiledMessage& message = profile_.messages[span.message];
      MessageCount& count = to_.messages[{dimension_of(span), message.collective}];
      ++count.calls;
      count.bytes += static_cast<double>(message.bytes);
      count.transfer_ns += static_cast<double>(span.finish_ns - ready_[s]);
      count.waiting_ns += static_cast<double>(ready_[s] - span.start_ns);
    }
  }

  const Profile& profile_;
  const std::vector<std::int64_t>& ready_;
  RankAccount& to_;
  KernelContention contention_;
  std::int64_t begin_ = 0;
  std::int64_t launched_ns_ = -1;  ///< of the kernel that ends the gap at hand
  std::int64_t shortest_ = 0;      ///< stretch that is told apart
  std::size_t first_ = 0;          ///< the first span that does not end before the window
  std::vector<std::uint32_t> messages_;
  std::size_t next_ = 0;
  std::vector<std::uint32_t> flying_;
};

/// Steps follow each other on the GPU: one begins where the work of the one before ends. The last one ends
/// with its marks if they are later.
std::vector<ClockRange> windows_of(const Profile& profile) {
  std::vector<std::int64_t> ends(profile.steps.size(), std::numeric_limits<std::int64_t>::min());
  std::int64_t begin = profile.steps.front().range.start_ns;
  for (const GpuSpan& span : profile.spans) {
    if (span.step < 0) {
      begin = std::max(begin, span.finish_ns);
    } else {
      std::int64_t& end = ends[static_cast<std::size_t>(span.step)];
      end = std::max(end, span.finish_ns);
    }
  }
  std::vector<ClockRange> windows;
  for (std::size_t k = 0; k < ends.size(); ++k) {
    const std::int64_t marked = profile.steps[k].range.finish_ns;
    const std::int64_t end = std::max({begin, ends[k], k + 1 == ends.size() ? marked : begin});
    windows.push_back({begin, end});
    begin = end;
  }
  return windows;
}

constexpr std::string_view kWaitNames[] = {
    "communication of no known group", "stragglers", "bubble", "host", "data_loading", "contention"};

}  // namespace

std::string name_of_term(std::size_t term) {
  if (term < kComputeUses) return std::string(name_of_use(static_cast<KernelUse>(term)));
  if (term < step_term::kUnknownGroup)
    return "exposed_" + std::string(kDimensionNames[term - step_term::kExposed]);
  if (term == step_term::kUnknownGroup) return "exposed_unknown";
  return std::string(kWaitNames[term - step_term::kUnknownGroup]);
}

RankAccount account_for(const Profile& profile, const std::vector<std::int64_t>& ready_ns) {
  RankAccount account;
  account.rank = profile.rank;
  StepAccountant accountant(profile, ready_ns, account);
  const std::vector<ClockRange> windows = windows_of(profile);
  const std::size_t warm_up = windows.size() > 2 ? 1 : 0;
  for (std::size_t k = warm_up; k < windows.size(); ++k)
    accountant.account(windows[k], static_cast<std::int32_t>(k));
  return account;
}

std::vector<RankAccount> account_for(const std::vector<Profile>& profiles, const LinedUp& lined) {
  std::vector<RankAccount> accounts;
  for (std::size_t p = 0; p < profiles.size(); ++p)
    accounts.push_back(account_for(profiles[p], lined.ready_ns[p]));
  return accounts;
}

}  // namespace orrery
