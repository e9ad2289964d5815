#include "studies/explain/line_up.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace orrery {
namespace {

/// One side of a message.
struct Side {
  std::uint32_t profile = 0;
  std::uint32_t span = 0;
};

/// The k-th message of a communicator in a step is the same on all of its ranks.
struct MeetingKey {
  std::uint32_t group = 0;
  std::int64_t step = 0;
  std::uint32_t number = 0;
  friend auto operator<=>(const MeetingKey&, const MeetingKey&) = default;
};

class Aligner {
 public:
  explicit Aligner(const std::vector<Profile>& profiles) : profiles_(profiles) {
    out_.clock_ahead_ns.assign(profiles.size(), 0);
    for (const Profile& profile : profiles) {
      std::vector<std::int64_t>& ready = out_.ready_ns.emplace_back();
      ready.reserve(profile.spans.size());
      for (const GpuSpan& span : profile.spans) ready.push_back(span.start_ns);
      met_.emplace_back(profile.spans.size(), false);
    }
  }

  LinedUp run() {
    for (std::uint32_t p = 0; p < profiles_.size(); ++p) find_meetings(p);
    if (profiles_.size() > 1) align_clocks();
    for (const auto& [key, sides] : meetings_) find_ready(sides);
    for (std::uint32_t p = 0; p < profiles_.size(); ++p) estimate_pairs(p);
    return std::move(out_);
  }

 private:
  [[nodiscard]] const GpuSpan& span(const Side& side) const {
    return profiles_[side.profile].spans[side.span];
  }

  void find_meetings(std::uint32_t p) {
    const Profile& profile = profiles_[p];
    std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> counts;
    for (std::uint32_t s = 0; s < profile.spans.size(); ++s) {
      const GpuSpan& span = profile.spans[s];
      if (span.message == GpuSpan::kNothing || span.step < 0) continue;
      const std::string& name = profile.messages[span.message].group;
      if (name.empty()) continue;
      const auto [group, is_new] = groups_.try_emplace(name, static_cast<std::uint32_t>(groups_.size()));
      const std::int64_t step = profile.steps[static_cast<std::size_t>(span.step)].number;
      meetings_[{group->second, step, counts[{group->second, step}]++}].push_back({p, s});
    }
  }

  /// The ranks of a message finish together, so clocks differ by the median difference of their finishes.
  void align_clocks() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::int64_t>> differences;
    for (const auto& [key, sides] : meetings_)
      for (std::size_t i = 1; i < sides.size(); ++i)
        differences[{sides[0].profile, sides[i].profile}].push_back(span(sides[i]).finish_ns -
                                                                    span(sides[0]).finish_ns);
    std::vector<bool> known(profiles_.size(), false);
    known[0] = true;
    for (bool more = true; more;) {
      more = false;
      for (auto& [pair, list] : differences) {
        if (known[pair.first] == known[pair.second]) continue;
        std::ranges::nth_element(list, list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2));
        const std::int64_t ahead = list[list.size() / 2];
        std::vector<std::int64_t>& clocks = out_.clock_ahead_ns;
        if (known[pair.first]) clocks[pair.second] = clocks[pair.first] + ahead;
        if (known[pair.second]) clocks[pair.first] = clocks[pair.second] - ahead;
        known[pair.first] = known[pair.second] = more = true;
      }
    }
  }

  void find_ready(const std::vector<Side>& sides) {
    if (sides.size() < 2) {
      ++out_.unmatched;
      return;
    }
    ++out_.met;
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (const Side& side : sides)
      last = std::max(last, span(side).start_ns - out_.clock_ahead_ns[side.profile]);
    for (const Side& side : sides) {
      const GpuSpan& own = span(side);
      met_[side.profile][side.span] = true;
      out_.ready_ns[side.profile][side.span] =
          std::clamp(last + out_.clock_ahead_ns[side.profile], own.start_ns, own.finish_ns);
    }
  }

  /// A message between two ranks of which one is unknown takes as long as the shortest of its kind,
  /// and the rest is a wait for the other rank.
  void estimate_pairs(std::uint32_t p) {
    const Profile& profile = profiles_[p];
    using Kind = std::tuple<std::string, std::int64_t, std::int64_t>;
    std::map<Kind, std::int64_t> shortest;
    const auto kind_of = [&](const GpuSpan& span) {
      const ProfiledMessage& message = profile.messages[span.message];
      return Kind{message.group, message.bytes, message.ranks};
    };
    const auto is_pair = [&](const GpuSpan& span) {
      return span.message != GpuSpan::kNothing &&
             profile.messages[span.message].collective == Collective::send_recv;
    };
    for (std::size_t s = 0; s < profile.spans.size(); ++s) {
      const GpuSpan& span = profile.spans[s];
      if (!is_pair(span)) continue;
      const std::int64_t length = span.finish_ns - out_.ready_ns[p][s];
      const auto [known, is_new] = shortest.try_emplace(kind_of(span), length);
      known->second = std::min(known->second, length);
    }
    for (std::size_t s = 0; s < profile.spans.size(); ++s) {
      const GpuSpan& span = profile.spans[s];
      if (is_pair(span) && !met_[p][s]) out_.ready_ns[p][s] = span.finish_ns - shortest[kind_of(span)];
    }
  }

  const std::vector<Profile>& profiles_;
  LinedUp out_;
  std::map<std::string, std::uint32_t> groups_;
  std::map<MeetingKey, std::vector<Side>> meetings_;
  std::vector<std::vector<bool>> met_;  ///< per profile and span: of a message that two ranks have
};

}  // namespace

LinedUp line_up(const std::vector<Profile>& profiles) { return Aligner(profiles).run(); }

}  // namespace orrery
