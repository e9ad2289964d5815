#include "reports/page/run_course.hpp"

#include <algorithm>
#include <array>

#include "reports/activity.hpp"
#include "sim/metrics/breakdown.hpp"
#include "sim/metrics/memory_moment.hpp"

namespace orrery {
namespace {

/// A stage has no more points than this; of several in a row the highest stands for all.
constexpr std::size_t kMostMemoryPoints = 4000;

Activity activity_of(WaitCause cause) {
  if (cause == WaitCause::bubble) return Activity::bubble;
  if (cause == WaitCause::host) return Activity::host;
  return activity_of(static_cast<Dimension>(cause));
}

/// GPU time by moment and activity.
class Course {
 public:
  explicit Course(Picoseconds makespan)
      : length_(std::max(1.0, static_cast<double>(makespan) / kMoments)), sums_(kMoments * kActivityCount) {}

  void add(Activity activity, Picoseconds start, Picoseconds finish, double times) {
    const auto begin = static_cast<double>(start);
    const auto end = static_cast<double>(finish);
    for (std::size_t moment = moment_of(begin); moment < kMoments; ++moment) {
      const double from = std::max(begin, length_ * static_cast<double>(moment));
      const double to =
          moment + 1 == kMoments ? end : std::min(end, length_ * static_cast<double>(moment + 1));
      if (to > from)
        sums_[moment * kActivityCount + static_cast<std::size_t>(activity)] += (to - from) * times;
      if (to >= end) break;
    }
  }
  [[nodiscard]] std::vector<float> take() const { return {sums_.begin(), sums_.end()}; }

 private:
  [[nodiscard]] std::size_t moment_of(double time) const {
    return std::min<std::size_t>(kMoments - 1, static_cast<std::size_t>(time / length_));
  }

  double length_;
  std::vector<double> sums_;
};

/// A compute operation; of a fused pass also its collectives, and launch gaps where the host leaves them.
void add_work(const RunView& run, std::uint32_t of, std::uint32_t index, double times, Course& course) {
  const Op& op = run.workload.programs[run.expanded.program[of]].ops[index];
  const std::uint32_t task = run.expanded.task(of, index);
  const Picoseconds start = run.timeline.start_ps[task];
  Picoseconds finish = run.timeline.finish_ps[task];
  const bool pass = op.kind == Op::Kind::pass;
  const ComputePrice& price = pass ? run.pass_prices[op.work] : run.compute_prices[op.work];
  if (pass) {
    const Picoseconds computed = std::min(finish, start + price.duration_ps);
    course.add(Activity::tensor, computed, finish, times);
    finish = computed;
  }
  const Picoseconds launch = std::min(price.launch_ps, finish - start);
  course.add(Activity::host, start, start + launch, times);
  course.add(activity_of(run.workload, op), start + launch, finish, times);
}

MemoryTimeline thinned(const MemoryTimeline& points) {
  const std::size_t group = (points.size() + kMostMemoryPoints - 1) / kMostMemoryPoints;
  if (group <= 1) return points;
  MemoryTimeline out;
  for (std::size_t first = 0; first < points.size(); first += group) {
    out.push_back(points[first]);
    for (std::size_t i = first; i < std::min(points.size(), first + group); ++i)
      out.back().bytes = std::max(out.back().bytes, points[i].bytes);
  }
  return out;
}

}  // namespace

void add_course(const RunView& run, Page& page) {
  Course course(run.timeline.makespan_ps);
  for (std::uint32_t c = 0; c < run.expanded.classes(); ++c) {
    const double times = run.expanded.representatives.multiplicity[c];
    const ProgramLayout& layout = run.layout.programs[run.expanded.program[c]];
    for (const std::uint32_t op : layout.streams[static_cast<std::size_t>(Stream::compute)])
      add_work(run, c, op, times, course);
    for (const Wait& wait : waits_of(run, c))
      course.add(activity_of(wait.cause), wait.start_ps, wait.finish_ps, times);
  }
  page.add_column("course", course.take());
}

void add_memory(const RunView& run, std::size_t stages, Page& page) {
  std::vector<std::uint32_t> stage;
  std::vector<double> at, bytes;
  const std::vector<MemoryTimeline> timelines = memory_of_stages(run, stages);
  for (std::uint32_t s = 0; s < timelines.size(); ++s) {
    for (const MemoryPoint& point : thinned(timelines[s])) {
      stage.push_back(s);
      at.push_back(static_cast<double>(point.at_ps));
      bytes.push_back(static_cast<double>(point.bytes));
    }
  }
  page.add_column("memory.stage", stage);
  page.add_column("memory.at", at);
  page.add_column("memory.bytes", bytes);
}

void write_links(const RunView& run, JsonText& text) {
  text.key("links");
  text.begin('[');
  const double seconds = to_seconds(run.timeline.makespan_ps);
  for (const LinkTraffic& of : run.traffic.links) {
    const double capacity = static_cast<double>(of.bytes_per_s) * seconds;
    const auto share = [capacity](double bytes) { return capacity > 0 ? bytes / capacity : 0; };
    text.element();
    text.begin('{');
    text.key("kind");
    text.value(kLinkKindNames[static_cast<std::size_t>(of.kind)]);
    text.key("links");
    text.value(of.links);
    text.key("bytes_per_s");
    text.value(of.bytes_per_s);
    text.key("bytes");
    text.value(static_cast<double>(of.bytes));
    text.key("mean");
    text.value(of.links > 0 ? share(static_cast<double>(of.bytes) / static_cast<double>(of.links)) : 0.0);
    text.key("peak");
    text.value(share(static_cast<double>(of.most)));
    text.end('}');
  }
  text.end(']');
}

}  // namespace orrery
