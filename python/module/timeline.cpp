// The operations of a run as rows of a NumPy structured array that owns no copy of them.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "face/recorded_state.hpp"
#include "orrery/require_training.hpp"
#include "python/module/errors.hpp"
#include "python/module/result.hpp"

namespace orrery::python {
namespace {

/// One operation of one rank, as in OperationSpan; `name` counts in TraceLabels::names().
struct TimelineRow {
  std::int64_t start_ps;
  std::int64_t finish_ps;
  std::int64_t bytes;
  std::uint32_t rank;
  std::int32_t step;
  std::int32_t layer;
  std::int32_t micro_batch;
  std::int16_t chunk;
  std::uint16_t name;
  std::uint16_t stream;
  std::uint8_t kind;
  std::uint8_t phase;
};

using Timeline = std::vector<TimelineRow>;

class TimelineWriter {
 public:
  TimelineWriter(const RecordedStep& step, const TraceOptions& options)
      : step_(step), plan_(plan_operations(step.view, step.grid, options)) {}

  Timeline write() {
    Timeline rows;
    rows.reserve(plan_.spans);
    for (const std::uint32_t rank : plan_.ranks) {
      for (const auto& stream : plan_.streams[plan_.program_of(rank)]) {
        for (const std::uint32_t op : stream) rows.push_back(row_of(rank, op));
      }
    }
    return rows;
  }

 private:
  TimelineRow row_of(std::uint32_t rank, std::uint32_t index) {
    const Op& op = plan_.op(rank, index);
    const std::uint32_t task = plan_.task(rank, index);
    const bool sends = op.kind == Op::Kind::communicate;
    return {step_.view.timeline.start_ps[task],
            step_.view.timeline.finish_ps[task],
            sends ? step_.view.workload.messages[op.work].bytes : 0,
            rank,
            op.step,
            op.layer,
            op.micro_batch,
            static_cast<std::int16_t>(op.chunk),
            name_of(op),
            static_cast<std::uint16_t>(op.stream),
            static_cast<std::uint8_t>(op.kind),
            static_cast<std::uint8_t>(op.phase)};
  }

  std::uint16_t name_of(const Op& op) {
    const std::string& name = step_.labels.of(step_.view.workload, op).name;
    const auto [known, is_new] = numbers_.try_emplace(&name, std::uint16_t{0});
    if (is_new) known->second = static_cast<std::uint16_t>(std::ranges::find(names_, name) - names_.begin());
    return known->second;
  }

  const RecordedStep& step_;
  TracePlan plan_;
  std::vector<std::string> names_ = step_.labels.names();
  std::unordered_map<const std::string*, std::uint16_t> numbers_;  ///< of labels, which stay where they are
};

Timeline record_timeline(const Result& result, const TraceOptions& options) {
  const py::gil_scoped_release released;
  InputSeries series(result.setting());
  return series.apply(result.given(), [&](const Experiment& experiment, const ExperimentPositions&) {
    require_training(experiment, "operations one by one");
    const RecordedRun run = record(experiment);
    return TimelineWriter(*run.state().step, options).write();
  });
}

/// Tells NumPy of the rows' fields, once. Not on import, which needs no NumPy.
void describe_rows() {
  static const bool described = [] {
    PYBIND11_NUMPY_DTYPE(TimelineRow, rank, stream, kind, phase, name, step, layer, micro_batch, chunk, bytes,
                         start_ps, finish_ps);
    return true;
  }();
  static_cast<void>(described);
}

/// The array keeps the rows alive.
py::array timeline_of(const Result& result, const std::vector<std::uint32_t>& ranks,
                      const std::vector<std::int32_t>& steps, std::uint64_t most_rows) {
  describe_rows();
  TraceOptions options;
  options.ranks = ranks;
  options.steps = steps;
  options.max_spans = most_rows;
  auto timeline = std::make_unique<Timeline>(record_timeline(result, options));
  const Timeline& rows = *timeline;
  const py::capsule owner(timeline.release(),
                          [](void* held) { std::unique_ptr<Timeline>(static_cast<Timeline*>(held)); });
  py::array_t<TimelineRow> array(static_cast<py::ssize_t>(rows.size()), rows.data(), owner);
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

constexpr std::uint64_t kMostRows = 1'000'000;

constexpr const char* kRecordHelp =
    R"(The operations of a run, one row each: a read-only NumPy structured array.

It views the memory that the simulator wrote; nothing is copied. The experiment is simulated once more.

ranks      ranks (GPUs) to show, from 0; None: all where that stays within most_rows, else those of the first
           data-parallel replica, else one of each pipeline stage
steps      training steps to show, from 0; None: all
most_rows  bounds the choice of ranks where none are named

Shape (operations,), by rank, then stream, then time. Fields:
  rank u4         GPU of the cluster
  stream u2       orrery.stream_name(stream), such as "compute" or "tensor comm"
  kind u1         index in orrery.OPERATION_KINDS
  phase u1        index in orrery.PHASES
  name u2         index in orrery.OPERATION_NAMES, such as "forward attention"
  step i4         training step
  layer i4        layer of the model, -1: of no single one
  micro_batch i4  of the step, -1: of no single one
  chunk i2        virtual stage on its rank
  bytes i8        of a communication's message, else 0
  start_ps i8, finish_ps i8   picoseconds from the beginning of the run)";

}  // namespace

void bind_timeline(py::class_<Result, std::shared_ptr<Result>>& result) {
  const auto record = [](const Result& self, const std::optional<std::vector<std::uint32_t>>& ranks,
                         const std::optional<std::vector<std::int32_t>>& steps, std::uint64_t most_rows) {
    return timeline_of(self, ranks.value_or(std::vector<std::uint32_t>{}),
                       steps.value_or(std::vector<std::int32_t>{}), most_rows);
  };
  result.def("record", record, py::arg("ranks") = py::none(), py::arg("steps") = py::none(),
             py::arg("most_rows") = kMostRows, kRecordHelp);
  const auto timeline = [](Result& self) {
    if (!self.timeline) self.timeline = timeline_of(self, {}, {}, kMostRows);
    return self.timeline;
  };
  result.def_property_readonly("timeline", timeline, "What record() returns, made when first asked for.");
}

}  // namespace orrery::python
