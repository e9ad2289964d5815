// Simulation of one experiment and of many, memory, and the resolved experiment.
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/text/wording.hpp"
#include "orrery/explorer_memory.hpp"
#include "orrery/simulate.hpp"
#include "python/module/bindings.hpp"
#include "python/module/errors.hpp"
#include "python/module/json_from_python.hpp"
#include "python/module/many_runs.hpp"
#include "python/module/python_from_json.hpp"
#include "python/module/result.hpp"
#include "python/module/shared_simulator.hpp"
#include "python/module/threads.hpp"
#include "reports/explorer_writers.hpp"
#include "sim/metrics/memory_fit.hpp"
#include "sim/run/prepare.hpp"

namespace orrery::python {
namespace {

using Names = std::vector<std::string>;
using Keys = std::shared_ptr<const ResultSelection>;

void start_afresh() { shared_simulator() = new Simulator; }

/// Holds an experiment with the settings it is read with.
struct Input {
  GivenExperiment given;
  std::shared_ptr<const ReadSetting> setting;
};

Input input_of(py::handle experiment, const Names& overrides, const Names& calibrations) {
  return {given_experiment(experiment, "experiment"), read_setting(overrides, calibrations)};
}

Figures figures_of(const ResultSelection& keys, bool skip_infeasible) {
  Figures figures = keys.figures();
  figures.of_infeasible = !skip_infeasible;
  return figures;
}

py::object result_of(Outcome outcome, const Keys& keys, const std::shared_ptr<const ReadSetting>& setting) {
  if (outcome.failure) return to_python(outcome.failure);
  return py::cast(
      std::make_shared<Result>(std::move(outcome.report), keys, setting, std::move(outcome.given)));
}

[[noreturn]] void raise(const py::object& exception) {
  PyErr_SetObject(py::type::of(exception).ptr(), exception.ptr());
  throw py::error_already_set();
}

py::object simulate_one(py::handle experiment, const Names& overrides, const Names& calibrations,
                        const std::optional<Names>& only, bool skip_infeasible) {
  const Keys keys = selected(only);
  Input input = input_of(experiment, overrides, calibrations);
  Outcome outcome = [&] {
    const py::gil_scoped_release released;
    InputSeries series(*input.setting);
    return simulate_given(std::move(input.given), series, *shared_simulator(),
                          figures_of(*keys, skip_infeasible));
  }();
  const bool failed = outcome.failure != nullptr;
  py::object result = result_of(std::move(outcome), keys, input.setting);
  if (failed) raise(result);
  return result;
}

py::object memory_of(py::handle experiment, const Names& overrides, const Names& calibrations) {
  const Input input = input_of(experiment, overrides, calibrations);
  std::shared_ptr<const Report> report = [&] {
    const py::gil_scoped_release released;
    InputSeries series(*input.setting);
    return series.apply(input.given, [](const Experiment& read, const ExperimentPositions&) {
      return std::make_shared<const Report>(account_memory(read));
    });
  }();
  return py::cast(std::make_shared<Result>(std::move(report), std::make_shared<const ResultSelection>(),
                                           input.setting, input.given));
}

/// JSON of the LLM Parallelism Explorer's accounting.
std::string explorer_memory_text(py::handle experiment, const Names& overrides, const Names& calibrations) {
  const Input input = input_of(experiment, overrides, calibrations);
  InputSeries series(*input.setting);
  return series.apply(input.given, [](const Experiment& read, const ExperimentPositions&) {
    std::string text;
    write_explorer_json(
        {read, explorer_memory(read.model, read.plan), smallest_gpu_memory(read.cluster).whole}, -1,
        [&text](std::string_view part) { text += part; });
    return text;
  });
}

/// JSON with comments, as `orrery simulate --resolved`.
std::string resolved_text(py::handle experiment, const Names& overrides, const Names& calibrations) {
  const Input input = input_of(experiment, overrides, calibrations);
  const py::gil_scoped_release released;
  InputSeries series(*input.setting);
  Memo memo;
  return series.apply(input.given, [&](const Experiment& read, const ExperimentPositions& positions) {
    return positions.resolved(with_resolved_plan(read, memo));
  });
}

py::object value_of_json(const std::string& text) { return from_json_text(text); }

/// Iterates over the results of an iterable's experiments, in order, which are simulated ahead of requests.
class ResultStream {
 public:
  ResultStream(const py::iterable& experiments, unsigned threads, std::shared_ptr<const ReadSetting> setting,
               Keys keys, bool skip_infeasible)
      : source_(py::iter(experiments)),
        setting_(std::move(setting)),
        keys_(std::move(keys)),
        runs_(std::make_unique<ManyRuns>(threads, setting_, figures_of(*keys_, skip_infeasible),
                                         *shared_simulator())) {}
  ~ResultStream() { close(); }
  ResultStream(const ResultStream&) = delete;
  ResultStream& operator=(const ResultStream&) = delete;

  /// A Result, or an exception as a value. @throws py::stop_iteration.
  py::object next() {
    while (ready_.empty()) {
      if (!runs_) throw py::stop_iteration();
      read_ahead();
      if (runs_->open() == 0) end();
      wait();
    }
    Outcome outcome = std::move(ready_.front());
    ready_.pop_front();
    return result_of(std::move(outcome), keys_, setting_);
  }

  void close() {
    const std::unique_ptr<ManyRuns> runs = std::move(runs_);
    const py::gil_scoped_release released;
    if (runs) runs->stop();
  }

 private:
  /// Most that are read before the first of them is asked for, and how long that may take at a time.
  static constexpr std::uint64_t kMostAhead = 2048;
  static constexpr std::chrono::milliseconds kLongestReading{5};

  void read_ahead() {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<GivenExperiment> read;
    while (!exhausted_ && runs_->open() + read.size() < kMostAhead &&
           std::chrono::steady_clock::now() - begin < kLongestReading)
      read_one(read);
    if (!read.empty()) runs_->give(std::move(read));
  }

  void read_one(std::vector<GivenExperiment>& read) {
    const py::object item = py::reinterpret_steal<py::object>(PyIter_Next(source_.ptr()));
    if (!item) {
      exhausted_ = true;
      if (PyErr_Occurred() == nullptr) return;
      if (PyErr_ExceptionMatches(PyExc_Exception) == 0) throw py::error_already_set();  // such as Ctrl-C
      failure_.emplace();
      return;
    }
    read.push_back(given_or_refused(item));
    ++count_;
  }

  /// One that cannot even be a text takes its place in the order, too.
  GivenExperiment given_or_refused(const py::object& item) {
    const std::string source = "experiment " + std::to_string(count_);
    try {
      return given_experiment(item, source);
    } catch (const InputError& error) {
      GivenExperiment refused{GivenExperiment::Form::object, "", source};
      refused.refusal = error.diagnostics();
      return refused;
    }
  }

  [[noreturn]] void end() {
    close();
    if (failure_) throw std::exchange(failure_, std::nullopt).value();
    throw py::stop_iteration();
  }

  void wait() {
    constexpr std::chrono::milliseconds kBetweenSignals{50};
    {
      const py::gil_scoped_release released;
      ready_ = runs_->take(kBetweenSignals);
    }
    if (PyErr_CheckSignals() == 0) return;
    py::error_already_set interrupted;
    close();
    throw interrupted;
  }

  py::iterator source_;
  std::shared_ptr<const ReadSetting> setting_;
  Keys keys_;
  std::unique_ptr<ManyRuns> runs_;
  std::deque<Outcome> ready_;
  std::optional<py::error_already_set> failure_;  ///< of the iterable; raised behind the last result
  bool exhausted_ = false;
  std::uint64_t count_ = 0;
};

std::unique_ptr<ResultStream> simulate_many(const py::iterable& experiments, std::int64_t threads,
                                            const Names& overrides, const Names& calibrations,
                                            const std::optional<Names>& only, bool skip_infeasible) {
  return std::make_unique<ResultStream>(experiments, threads_of(threads),
                                        read_setting(overrides, calibrations), selected(only),
                                        skip_infeasible);
}

}  // namespace

std::shared_ptr<const ResultSelection> selected(const std::optional<std::vector<std::string>>& only) {
  if (!only) return std::make_shared<const ResultSelection>();
  const std::vector<std::string_view> known = ResultSelection::names();
  for (const std::string& name : *only) {
    if (std::ranges::find(known, name) == known.end())
      throw InputError(
          {Diagnostic{"only", 0, 0, "",
                      "found " + quote(name) +
                          ", allowed are keys of the result such as step_time_s, memory.peak_gb and "
                          "breakdown_s" +
                          hint(name, known)}});
  }
  return std::make_shared<const ResultSelection>(*only);
}

Simulator*& shared_simulator() {
  static auto* simulator = new Simulator;
  return simulator;
}

void bind_runs(py::module_& module) {
  py::class_<ResultStream>(module, "ResultStream")
      .def("__iter__", [](py::object self) { return self; })
      .def("__next__", &ResultStream::next)
      .def("close", &ResultStream::close, "Begins no more experiments and waits for those begun.");
  module.def("simulate", &simulate_one, py::arg("experiment"), py::arg("overrides"), py::arg("calibrations"),
             py::arg("only"), py::arg("skip_infeasible"));
  module.def("simulate_many", &simulate_many, py::arg("experiments"), py::arg("threads"),
             py::arg("overrides"), py::arg("calibrations"), py::arg("only"), py::arg("skip_infeasible"));
  module.def("memory", &memory_of, py::arg("experiment"), py::arg("overrides"), py::arg("calibrations"));
  module.def("explorer_memory", &explorer_memory_text, py::arg("experiment"), py::arg("overrides"),
             py::arg("calibrations"));
  module.def("resolved", &resolved_text, py::arg("experiment"), py::arg("overrides"),
             py::arg("calibrations"));
  module.def("parse_json", &value_of_json, py::arg("text"));
  module.def(
      "json_text", [](py::handle value, const std::string& source) { return json_text(value, source); },
      py::arg("value"), py::arg("source"));
  module.def("start_afresh", &start_afresh, "What a process does first after a fork.");
}

}  // namespace orrery::python
