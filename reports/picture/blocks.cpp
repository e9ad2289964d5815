#include "reports/picture/blocks.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace orrery {
namespace {

constexpr std::int64_t kLeastVisible = 80;   ///< hundredths of a pixel
constexpr std::int64_t kNeighbourhood = 16;  ///< pixels within which spans of a lane are drawn together

using Spans = std::span<const ActivitySpan>;

/// Times of activities, in the order in which they came first.
class Mixture {
 public:
  void add(const ActivitySpan& span) {
    const auto known = std::ranges::find(parts_, span.activity, &std::pair<Activity, Picoseconds>::first);
    if (known == parts_.end()) {
      parts_.emplace_back(span.activity, span.length_ps());
    } else {
      known->second += span.length_ps();
    }
    total_ += span.length_ps();
  }
  [[nodiscard]] bool empty() const { return parts_.empty(); }
  [[nodiscard]] Picoseconds total() const { return total_; }
  [[nodiscard]] const std::vector<std::pair<Activity, Picoseconds>>& parts() const { return parts_; }

 private:
  std::vector<std::pair<Activity, Picoseconds>> parts_;
  Picoseconds total_ = 0;
};

class BlockMaker {
 public:
  /// @param visible  least width of a merged block, in hundredths of a pixel
  BlockMaker(const PixelScale& scale, std::int64_t detail, std::int64_t visible)
      : scale_(scale),
        detail_(scale.time_of(detail)),
        visible_(visible),
        gap_(visible > 0 ? std::max(detail_, scale.time_of(kNeighbourhood)) : detail_) {}

  /// Spans between which nothing shows.
  void add(Spans spans) {
    const Picoseconds start = spans.front().start_ps;
    const Picoseconds finish = spans.back().finish_ps;
    if (finish - start < detail_) {
      gather(spans, start, finish);
      return;
    }
    draw_gathered();
    const bool wide = (finish - start) / static_cast<Picoseconds>(spans.size()) >= detail_;
    if (wide || spans.size() == 1) {
      draw_each(spans);
    } else {
      draw_mixed(mixture_of(spans), start, finish - start);
    }
  }

  [[nodiscard]] std::vector<DrawnBlock> finish() {
    draw_gathered();
    return std::move(blocks_);
  }

 private:
  static Mixture mixture_of(Spans spans) {
    Mixture mixture;
    for (const ActivitySpan& span : spans) mixture.add(span);
    return mixture;
  }

  void draw_each(Spans spans) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const Picoseconds until = i + 1 < spans.size() ? spans[i + 1].start_ps : spans[i].finish_ps;
      draw(spans[i].activity, spans[i].start_ps, until);
    }
  }

  /// Each activity's share of `length`.
  void draw_mixed(const Mixture& mixture, Picoseconds start, Picoseconds length) {
    Picoseconds before = 0;
    const auto at = [&](Picoseconds time) {
      return start + static_cast<Picoseconds>(Int128{time} * length / mixture.total());
    };
    for (const auto& [activity, time] : mixture.parts()) {
      draw(activity, at(before), at(before + time));
      before += time;
    }
  }

  /// Up to a gap, or where there is enough to see.
  void gather(Spans spans, Picoseconds start, Picoseconds finish) {
    if (!gathered_.empty() && start - gathered_until_ >= gap_) draw_gathered();
    if (gathered_.empty()) gathered_from_ = start;
    for (const ActivitySpan& span : spans) gathered_.add(span);
    gathered_until_ = finish;
    const bool shows = scale_.at(gathered_from_ + gathered_.total()) - scale_.at(gathered_from_) >= visible_;
    if (shows && finish - gathered_from_ >= detail_) draw_gathered();
  }

  void draw_gathered() {
    if (gathered_.empty()) return;
    const Mixture mixture = std::exchange(gathered_, {});
    draw_mixed(mixture, gathered_from_, mixture.total());
    if (visible_ == 0) return;
    DrawnBlock& last = blocks_.back();
    last.right = std::max(last.right, last.left + visible_);
  }

  void draw(Activity activity, Picoseconds from, Picoseconds to) {
    const std::int64_t left = scale_.at(from);
    const std::int64_t right = scale_.at(to);
    if (left == right && visible_ == 0) return;
    if (!blocks_.empty() && blocks_.back().activity == activity && blocks_.back().right == left) {
      blocks_.back().right = right;
    } else {
      blocks_.push_back({activity, left, right});
    }
  }

  const PixelScale& scale_;
  Picoseconds detail_;
  std::int64_t visible_;
  Picoseconds gap_;  ///< over which nothing is gathered
  std::vector<DrawnBlock> blocks_;
  Mixture gathered_;
  Picoseconds gathered_from_ = 0;
  Picoseconds gathered_until_ = 0;
};

}  // namespace

std::vector<DrawnBlock> blocks_of_passes(const std::vector<DrawnPass>& passes, const PixelScale& scale,
                                         std::int64_t detail) {
  BlockMaker maker(scale, detail, 0);
  const Picoseconds seen = scale.time_of(1);  // the least wait that shows
  for (const DrawnPass& pass : passes) {
    const Spans spans(pass.spans);
    std::size_t first = 0;
    for (std::size_t i = 1; i <= spans.size(); ++i) {
      if (i < spans.size() && spans[i].start_ps - spans[i - 1].finish_ps < seen) continue;
      maker.add(spans.subspan(first, i - first));
      first = i;
    }
  }
  return maker.finish();
}

std::vector<DrawnBlock> blocks_of_lane(const std::vector<ActivitySpan>& lane, const PixelScale& scale,
                                       std::int64_t detail) {
  BlockMaker maker(scale, detail, kLeastVisible);
  for (const ActivitySpan& span : lane) maker.add({&span, 1});
  return maker.finish();
}

}  // namespace orrery
