// Sweeps spaces into files of results: by threads of this process, or point by point, if the caller asks for
// points and hands back results.
#include "planner/sweep/sweep.hpp"

#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "face/heap.hpp"
#include "planner/sweep/results_file.hpp"
#include "planner/sweep/results_table.hpp"
#include "python/module/bindings.hpp"
#include "python/module/errors.hpp"
#include "python/module/result.hpp"
#include "python/module/shared_simulator.hpp"
#include "python/module/space.hpp"
#include "python/module/threads.hpp"

namespace orrery::python {
namespace {

using Names = std::vector<std::string>;
using Indices = std::vector<std::uint64_t>;
/// Transfers a simulated point between processes: state, reason, figures.
using FarResult = std::tuple<std::uint8_t, std::string, std::vector<ResultScalar>>;

Names keys_or_default(const std::optional<Names>& keys, const Space& space) {
  if (!keys) return default_sweep_keys(space);
  const std::vector<std::string_view> names = row_names(*selected(keys));
  return {names.begin(), names.end()};
}

/// Hands out points of a space that have to be simulated, each content once, and takes their results. Points
/// that the file has already are not handed out.
class FarSweep {
 public:
  FarSweep(const BoundSpace& space, const std::string& file, const std::optional<Names>& keys)
      : space_(space.space()), reader_(space_), file_(file), blocks_(space_, Shard{}) {
    file_.begin(space_, keys_or_default(keys, space_));
    learn();
  }

  [[nodiscard]] const Names& keys() const { return file_.keys(); }
  [[nodiscard]] std::uint64_t points() const { return blocks_.points(); }
  [[nodiscard]] std::uint64_t walked() const { return walked_; }

  /// Up to `most`; fewer at the end of the space, and none behind it. Points of contents that are known or
  /// handed out already go to the file at once.
  Indices next(std::size_t most) {
    while (waiting_.size() < most && block_ < blocks_.count()) walk_block();
    const std::size_t count = std::min(most, waiting_.size());
    Indices indices(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
    return indices;
  }

  /// Stores the results of points that next() handed out, in their order.
  void put(const Indices& indices, std::vector<FarResult> results) {
    std::vector<SweptPoint> points;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      auto& [state, reason, figures] = results.at(i);
      SweptPoint& point = points.emplace_back(std::move(open_.at(indices[i])));
      point.result = PointResult{static_cast<PointState>(state), std::move(reason), std::move(figures)};
    }
    file_.insert(points);
    for (const std::uint64_t index : indices) open_.erase(index);
  }

  SweepSummary finish() {
    SweepSummary summary = summarize_sweep(file_.database(), file_.sweep());
    file_.finish();
    refuse_without_results(space_, file_.database(), summary);
    return summary;
  }

 private:
  void learn() {
    for (const ContentHash& content : file_.new_contents()) claimed_.insert(content);
  }

  void walk_block() {
    const PointRange range = blocks_.range(block_);
    std::vector<SweptPoint> known;
    std::map<std::string, RemovedPoints> removed;
    learn();
    for (std::uint64_t index = range.begin; index < range.end; ++index) {
      PointOrRemoval read = reader_.read(index);
      if (auto* removal = std::get_if<Removal>(&read)) {
        count(std::move(*removal), removed);
        continue;
      }
      auto& point = std::get<Point>(read);
      SweptPoint swept{index, std::move(point.values), point.content, {}};
      if (!claimed_.insert(swept.content).second) {
        known.push_back(std::move(swept));
        continue;
      }
      waiting_.push_back(index);
      open_.emplace(index, std::move(swept));
    }
    std::vector<RemovedPoints> list;
    for (auto& [by, some] : removed) list.push_back(std::move(some));
    if (!known.empty() || !list.empty()) file_.insert(known, list);
    walked_ += range.end - range.begin;
    ++block_;
  }

  void count(Removal removal, std::map<std::string, RemovedPoints>& removed) const {
    const auto [some, is_new] = removed.try_emplace(removal.by);
    if (is_new) some->second = {blocks_.number(block_), std::move(removal.by), std::move(removal.message), 0};
    ++some->second.points;
  }

  const Space& space_;
  PointReader reader_;
  ResultsFile file_;
  ShardBlocks blocks_;
  std::uint64_t block_ = 0;  ///< the next one
  std::uint64_t walked_ = 0;
  std::deque<std::uint64_t> waiting_;         ///< for next()
  std::map<std::uint64_t, SweptPoint> open_;  ///< without results
  std::unordered_set<ContentHash, ContentHasher> claimed_;
};

/// Simulates the points that a remote process was sent.
std::vector<FarResult> simulate_points(BoundSpace& space, const Indices& indices, const Names& keys) {
  const py::gil_scoped_release released;
  const ResultSelection selection(keys);
  PointReader reader(space.space());
  std::vector<FarResult> results;
  for (const std::uint64_t index : indices) {
    const PointOrRemoval read = reader.read(index);
    const auto* point = std::get_if<Point>(&read);
    if (point == nullptr) throw RunError("point " + std::to_string(index) + " is none here");
    PointResult result = simulate_point(point->experiment, selection, *shared_simulator());
    results.emplace_back(static_cast<std::uint8_t>(result.state), std::move(result.reason),
                         std::move(result.figures));
  }
  return results;
}

/// Runs `work` in a thread of its own, while this one looks for Ctrl-C and calls `tell`.
void run_beside(const std::function<void()>& work, std::atomic<bool>& stop,
                const std::function<void()>& tell) {
  std::exception_ptr failure;
  std::atomic<bool> over = false;
  std::jthread thread([&] {
    prepare_heap_of_thread();
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    over = true;
  });
  constexpr std::chrono::milliseconds kBetweenLooks{20};
  const auto leave = [&] {
    stop = true;
    const py::gil_scoped_release released;
    thread.join();
  };
  while (!over) {
    {
      const py::gil_scoped_release released;
      std::this_thread::sleep_for(kBetweenLooks);
    }
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      tell();
    } catch (...) {
      leave();
      throw;
    }
  }
  leave();
  if (failure) std::rethrow_exception(failure);
}

py::dict dict_of(const SweepSummary& summary) {
  py::dict removed;
  for (const auto& [by, some] : summary.removed) removed[text_of(by)] = some.points;
  py::dict dict;
  dict["sweep"] = summary.sweep;
  dict["points"] = summary.points;
  dict["distinct"] = summary.distinct;
  dict["feasible"] = summary.feasible;
  dict["infeasible"] = summary.infeasible;
  dict["failed"] = summary.failed;
  dict["removed"] = removed;
  dict["complete"] = summary.complete();
  return dict;
}

py::dict sweep_here(const BoundSpace& space, const std::string& file, std::int64_t threads,
                    const std::optional<Names>& keys, const py::object& progress) {
  std::atomic<bool> stop = false;
  std::atomic<std::size_t> done = 0;
  SweepOptions options;
  options.file = file;
  options.threads = threads_of(threads);
  options.keys = keys_or_default(keys, space.space());
  options.begin_thread = prepare_heap_of_thread;
  options.progress = [&done](std::size_t, std::size_t) { ++done; };
  options.stop = &stop;
  prepare_heap_as_guest();
  SweepSummary summary;
  const auto tell = [&] {
    if (!progress.is_none()) progress(done.load(), space.space().size());
  };
  run_beside([&] { summary = sweep(space.space(), options, *shared_simulator()); }, stop, tell);
  tell();
  return dict_of(summary);
}

using Rows = std::vector<ResultsTable::Row>;

Rows rows_of(const ResultsTable& table, const std::optional<Indices>& points) {
  Rows rows;
  table.read(points, [&rows](const ResultsTable::Row& row) { rows.push_back(row); });
  return rows;
}

Names columns_of(const ResultsTable& table) {
  Names names;
  for (const ResultsColumn& column : table.columns()) names.push_back(column.name);
  return names;
}

Indices front_of(const ResultsTable& table, const Names& keys) {
  std::vector<Aim> aims;
  for (const std::string& key : keys) aims.push_back(parse_aim(key));
  return table.pareto(aims);
}

}  // namespace

void bind_sweep(py::module_& module) {
  using Released = py::call_guard<py::gil_scoped_release>;
  py::class_<FarSweep>(module, "FarSweep")
      .def(py::init<const BoundSpace&, const std::string&, const std::optional<Names>&>(), py::arg("space"),
           py::arg("file"), py::arg("keys"), py::keep_alive<1, 2>())
      .def_property_readonly("keys", &FarSweep::keys)
      .def_property_readonly("points", &FarSweep::points)
      .def_property_readonly("walked", &FarSweep::walked)
      .def("next", &FarSweep::next, py::arg("most"), Released())
      .def("put", &FarSweep::put, py::arg("indices"), py::arg("results"), Released())
      .def("finish", [](FarSweep& sweep) { return dict_of(sweep.finish()); });
  py::class_<ResultsTable>(module, "ResultsTable")
      .def(py::init<const std::string&, std::int64_t>(), py::arg("file"), py::arg("sweep"))
      .def("summary", [](const ResultsTable& table) { return dict_of(table.summary()); })
      .def("columns", &columns_of)
      .def("rows", &rows_of, py::arg("points"))
      .def(
          "best",
          [](const ResultsTable& table, const std::string& aim, std::uint64_t most) {
            return table.best(parse_aim(aim), most);
          },
          py::arg("aim"), py::arg("most"))
      .def("pareto", &front_of, py::arg("keys"));
  module.def("simulate_points", &simulate_points, py::arg("space"), py::arg("indices"), py::arg("keys"));
  module.def("sweep", &sweep_here, py::arg("space"), py::arg("file"), py::arg("threads"), py::arg("keys"),
             py::arg("progress"));
}

}  // namespace orrery::python
