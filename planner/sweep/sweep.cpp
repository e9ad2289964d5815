#include "planner/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "config/text/document.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "planner/space/points.hpp"
#include "planner/sweep/block_shares.hpp"
#include "planner/sweep/result_writer.hpp"

namespace orrery {
namespace {

[[noreturn]] void refuse_sweep(const std::string& source, const std::string& message) {
  throw InputError({Diagnostic{source, 0, 0, "", message}});
}

/// A sweep while it goes on.
class SweepRun {
 public:
  SweepRun(const Space& space, const SweepOptions& options, Simulator& simulator, ResultsFile& file)
      : space_(space),
        options_(options),
        simulator_(simulator),
        keys_(file.keys()),
        blocks_(space, options.shard),
        threads_(std::max(options.threads, 1U)),
        shares_(blocks_.count(), threads_),
        writer_(file),
        total_(blocks_.points()) {}

  void run() {
    {
      std::vector<std::jthread> others;
      for (unsigned thread = 1; thread < threads_; ++thread)
        others.emplace_back([this, thread] {
          if (options_.begin_thread) options_.begin_thread();
          work(thread);
        });
      work(0);
    }
    writer_.finish();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void work(unsigned thread) {
    try {
      PointReader reader(space_);
      while (const auto block = shares_.next(thread)) {
        if (!finish_block(*block, reader)) return;
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      if (!error_) error_ = std::current_exception();
    }
  }

  [[nodiscard]] bool stops() {
    return stopped_ || writer_.failed() || (options_.stop != nullptr && *options_.stop);
  }

  /// False where it has stopped before.
  bool finish_block(std::uint64_t block, PointReader& reader) {
    const PointRange range = blocks_.range(block);
    std::map<std::string, RemovedPoints> removed;
    for (std::uint64_t index = range.begin; index < range.end; ++index) {
      if (stops()) return false;
      PointOrRemoval read = reader.read(index);
      if (auto* point = std::get_if<Point>(&read))
        finish_point(std::move(*point));
      else
        count(std::get<Removal>(std::move(read)), blocks_.number(block), removed);
      const std::size_t done = ++done_;
      if (options_.progress) options_.progress(done, total_);
    }
    std::vector<RemovedPoints> list;
    for (auto& [by, some] : removed) list.push_back(std::move(some));
    if (!list.empty()) writer_.add(std::move(list));
    return true;
  }

  static void count(Removal removal, std::uint64_t block, std::map<std::string, RemovedPoints>& removed) {
    const auto [some, is_new] = removed.try_emplace(removal.by);
    if (is_new) some->second = {block, std::move(removal.by), std::move(removal.message), 0};
    ++some->second.points;
  }

  void finish_point(Point point) {
    SweptPoint swept{point.index, std::move(point.values), point.content, {}};
    if (writer_.claim(swept.content)) swept.result = simulate_point(point.experiment, keys_, simulator_);
    writer_.add(std::move(swept));
  }

  const Space& space_;
  const SweepOptions& options_;
  Simulator& simulator_;
  const ResultSelection keys_;
  const ShardBlocks blocks_;
  const unsigned threads_;
  BlockShares shares_;
  ResultWriter writer_;
  const std::size_t total_;
  std::atomic<std::size_t> done_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;
};

void check_keys(const std::vector<std::string>& keys) {
  const std::vector<std::string_view> known = row_names({});
  for (const std::string& key : keys) {
    if (std::ranges::find(known, key) != known.end()) continue;
    refuse_sweep("command line",
                 fmt::format("--only: found {}, allowed are scalars of the result with commas between them, "
                             "such as step_time_s,memory.peak_gb{}",
                             quote(key), hint(key, known)));
  }
}

/// Returns true if the points have a section `run`.
bool lasts_weeks(const Space& space) {
  const auto begins = [](std::string_view text) {
    return text.starts_with("run.") || text.starts_with("run=");
  };
  const BaseExperiment& base = space.base();
  if (std::ranges::any_of(base.overrides, begins)) return true;
  if (std::ranges::any_of(space.keys(), begins, &SpaceKey::key)) return true;
  const Json root = parse_document(base.text, base.source).value;
  return root.is_object() && root.contains("run");
}

std::string removed_in_words(const SweepSummary& summary) {
  std::vector<std::pair<std::string, Removed>> list(summary.removed.begin(), summary.removed.end());
  std::ranges::stable_sort(list, std::greater<>(), [](const auto& entry) { return entry.second.points; });
  std::string text;
  for (const auto& [by, removed] : list) {
    text += fmt::format("{}{} removed by {}", text.empty() ? "" : ", ", removed.points, by);
    if (!removed.message.empty()) text += fmt::format(" ({})", removed.message);
  }
  return text;
}

/// Says why the points of a sweep without results fail, the most frequent reason first.
std::string faults_in_words(const Database& database, std::int64_t sweep) {
  Statement rows = database.prepare(
      "SELECT r.reason, count(*) FROM points p JOIN sweeps s ON s.id = p.sweep JOIN results r ON r.content = "
      "p.content AND r.version = s.version WHERE p.sweep = ? GROUP BY r.reason ORDER BY 2 DESC, 1");
  rows.bind(1, sweep);
  std::string text;
  while (rows.step())
    text += fmt::format("{}{} fail ({})", text.empty() ? "" : ", ", rows.integer(1), rows.text(0));
  return text;
}

}  // namespace

void refuse_without_results(const Space& space, const Database& database, const SweepSummary& summary) {
  if (!summary.complete() || summary.feasible + summary.infeasible > 0) return;
  const std::string removed = removed_in_words(summary);
  if (summary.failed == 0)
    refuse_sweep(space.base().source, fmt::format("none of the {} points of the space is an experiment: {}",
                                                  summary.points, removed));
  refuse_sweep(space.base().source,
               fmt::format("none of the {} points of the space can be simulated: {}{}{}", summary.points,
                           faults_in_words(database, summary.sweep), removed.empty() ? "" : ", ", removed));
}

Shard parse_shard(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto number = [](const std::string& digits) -> std::uint64_t {
    constexpr std::size_t kMostDigits = 9;
    const bool fits = !digits.empty() && digits.size() <= kMostDigits &&
                      digits.find_first_not_of("0123456789") == std::string::npos;
    return fits ? std::stoull(digits) : 0;
  };
  const Shard shard{number(text.substr(0, slash)), slash < text.size() ? number(text.substr(slash + 1)) : 0};
  if (shard.index == 0 || shard.index > shard.count)
    refuse_sweep("command line",
                 fmt::format("--shard: found {}, allowed I/N with I from 1 to N, such as 2/4", quote(text)));
  return shard;
}

ShardBlocks::ShardBlocks(const Space& space, Shard shard)
    : size_(space.size()), per_block_(points_per_block(space)), shard_(shard) {
  const std::uint64_t all = (size_ + per_block_ - 1) / per_block_;
  count_ = (all + shard.count - shard.index) / shard.count;
}

PointRange ShardBlocks::range(std::uint64_t block) const {
  const std::uint64_t begin = number(block) * per_block_;
  return {begin, std::min(begin + per_block_, size_)};
}

std::uint64_t ShardBlocks::points() const {
  if (count_ == 0) return 0;
  const PointRange last = range(count_ - 1);
  return (count_ - 1) * per_block_ + last.end - last.begin;
}

std::uint64_t SweepSummary::removed_points() const {
  return std::accumulate(removed.begin(), removed.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& entry) { return sum + entry.second.points; });
}

std::vector<std::string> default_sweep_keys(const Space& space) {
  std::vector<std::string> keys = lasting_row_names();
  if (!lasts_weeks(space)) return keys;
  const std::vector<std::string> weeks{"run"};
  for (const std::string_view key : row_names(ResultSelection(weeks))) keys.emplace_back(key);
  return keys;
}

PointResult simulate_point(const Experiment& experiment, const ResultSelection& keys, Simulator& simulator) {
  Figures figures = keys.figures();
  figures.of_infeasible = false;
  PointResult result{PointState::feasible, "", {}};
  try {
    Report report = simulator.simulate(experiment, figures);
    result.figures = result_row(report, keys);
    if (report.feasible) return result;
    result.state = PointState::infeasible;
    if (!figures.origin) report.reasons = account_memory(experiment).reasons;
    for (const std::string& reason : report.reasons)
      result.reason += (result.reason.empty() ? "" : "; ") + reason;
  } catch (const InputError& error) {
    result.state = PointState::failed;
    result.reason = error.diagnostics().front().text();
    result.figures.assign(row_names(keys).size(), {});
  }
  return result;
}

SweepSummary sweep(const Space& space, const SweepOptions& options, Simulator& simulator) {
  const std::vector<std::string> keys = options.keys.empty() ? default_sweep_keys(space) : options.keys;
  check_keys(keys);
  ResultsFile file(options.file, options.lock_wait);
  file.begin(space, keys);
  SweepRun(space, options, simulator, file).run();
  SweepSummary summary = summarize_sweep(file.database(), file.sweep());
  file.finish();
  refuse_without_results(space, file.database(), summary);
  return summary;
}

SweepSummary summarize_sweep(const Database& database, std::int64_t sweep) {
  Statement about =
      database.prepare("SELECT id, points FROM sweeps WHERE id = ?1 OR ?1 = 0 ORDER BY id DESC LIMIT 1");
  if (!about.bind(1, sweep).step())
    refuse_sweep(database.path(), sweep == 0 ? "found no sweep in the file"
                                             : fmt::format("found no sweep {} in the file", sweep));
  SweepSummary summary;
  summary.sweep = about.integer(0);
  summary.points = static_cast<std::uint64_t>(about.integer(1));
  Statement states = database.prepare(
      "SELECT r.state, count(*) FROM points p JOIN sweeps s ON s.id = p.sweep JOIN results r ON r.content = "
      "p.content AND r.version = s.version WHERE p.sweep = ? GROUP BY r.state");
  states.bind(1, summary.sweep);
  while (states.step()) {
    const std::string state = states.text(0);
    (state == kPointStateNames[0]   ? summary.feasible
     : state == kPointStateNames[1] ? summary.infeasible
                                    : summary.failed) = static_cast<std::uint64_t>(states.integer(1));
  }
  Statement distinct = database.prepare("SELECT count(DISTINCT content) FROM points WHERE sweep = ?");
  if (distinct.bind(1, summary.sweep).step())
    summary.distinct = static_cast<std::uint64_t>(distinct.integer(0));
  Statement removed =
      database.prepare("SELECT because, sum(points), message FROM removed WHERE sweep = ? GROUP BY because");
  removed.bind(1, summary.sweep);
  while (removed.step())
    summary.removed[removed.text(0)] = {static_cast<std::uint64_t>(removed.integer(1)), removed.text(2)};
  return summary;
}

}  // namespace orrery
