// The dialect of PyTorch's profiler (Kineto), as Holistic Trace Analysis reads it
// (hta/common/trace_parser.py, trace_file.py and analyzers/ of its sources): kernels with stream, device and
// correlation; a launch for each on the thread of the CPU; the steps of the profiler around the launches;
// communication by names that begin with ncclKernel, which old and new versions take for it.
#include "reports/trace/kineto.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "reports/trace/labels.hpp"
#include "reports/trace/slices.hpp"
#include "reports/trace/text_buffer.hpp"
#include "reports/trace/walk.hpp"

namespace orrery {
namespace {

/// Names by Collective: of NCCL's kernels, and as PyTorch's process groups record them.
constexpr std::array<std::string_view, kCollectiveCount> kKernelNames{
    "ncclKernel_AllReduce", "ncclKernel_AllGather", "ncclKernel_ReduceScatter",
    "ncclKernel_Broadcast", "ncclKernel_AllToAll",  "ncclKernel_SendRecv"};
constexpr std::array<std::string_view, kCollectiveCount> kRecordedNames{
    "allreduce", "_allgather_base", "_reduce_scatter_base", "broadcast", "all_to_allv", "send"};

/// Longer lists of ranks are written as their beginning and their last.
constexpr std::size_t kMostRanks = 30;
/// Process of a rank's CPU threads, apart from devices, which are few.
constexpr std::int64_t kFirstCpuProcess = 100'000;

/// Elements of one byte that go into a collective on one rank, and come out.
struct Elements {
  std::int64_t in = 0;
  std::int64_t out = 0;
};
Elements elements_of(const Message& message, std::size_t ranks) {
  const std::int64_t bytes = message.bytes * message.times;
  const std::int64_t share = bytes / static_cast<std::int64_t>(ranks);
  if (message.collective == Collective::all_gather) return {share, bytes};
  if (message.collective == Collective::reduce_scatter) return {bytes, share};
  return {bytes, bytes};
}

/// The operations of a rank as its host issues them, one after the other: after its own operations, which
/// wait for the GPU, and as long as each takes to issue. No launch ends after its kernel has begun.
class Launches {
 public:
  Launches(const TracePlan& plan, std::uint32_t rank) : plan_(plan), rank_(rank) {}

  [[nodiscard]] Span next(std::uint32_t index) {
    const Op& op = plan_.op(rank_, index);
    const Span kernel = plan_.span(rank_, index);
    if (op.stream == Stream::host) {
      clock_ps_ = std::max(clock_ps_, plan_.run.timeline.finish_ps[plan_.task(rank_, index)]);
      return kernel;
    }
    const Picoseconds begin_ps = clock_ps_;
    clock_ps_ += issue_time(op);
    const Nanoseconds begin = std::min(begin_ps / 1000, kernel.start);
    return {begin, std::max(begin, std::min(clock_ps_ / 1000, kernel.start))};
  }

 private:
  [[nodiscard]] Picoseconds issue_time(const Op& op) const {
    const Workload& workload = plan_.run.workload;
    if (op.kind == Op::Kind::compute) return workload.kernel_sequences[op.work].host_ps;
    if (op.kind == Op::Kind::communicate) return workload.messages[op.work].host_ps;
    Picoseconds sum = 0;
    for (const PassStep& step : workload.passes[op.work])
      sum += step.communicates ? workload.messages[step.work].host_ps
                               : workload.kernel_sequences[step.work].host_ps;
    return sum;
  }

  const TracePlan& plan_;
  std::uint32_t rank_;
  Picoseconds clock_ps_ = 0;
};

class KinetoWriter {
 public:
  KinetoWriter(const TracePlan& plan, std::uint32_t rank, const Sink& sink)
      : plan_(plan),
        rank_(rank),
        out_(sink),
        device_(rank % plan.run.topology.gpus_per_node()),
        cpu_(kFirstCpuProcess + rank),
        calls_(plan.run.workload.slots) {}

  std::uint64_t write(std::string_view metadata_json) {
    write_head(metadata_json);
    write_names();
    write_launches();
    for (const std::uint32_t stream : traced_streams(plan_, rank_)) {
      for (SliceCursor thread(plan_, rank_, stream); thread.slice().span.start != kNoTime; thread.advance()) {
        if (thread.slice().is_operation()) write_operation(thread.slice());
      }
    }
    out_.make_room();
    out_.text("\n]}\n");
    out_.flush();
    return kernels_;
  }

 private:
  /// Readers look for `"rank":` with a blank behind it, before the events.
  void write_head(std::string_view metadata_json) {
    out_.make_room();
    out_.text(R"({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": )");
    out_.integer(rank_);
    out_.text(R"(, "world_size": )");
    out_.integer(plan_.run.workload.ranks());
    out_.text(R"(}, "displayTimeUnit": "ms", "baseTimeNanoseconds": 0, "orrery": )");
    out_.long_text(metadata_json);
    out_.text(", \"traceEvents\": [");
  }

  void name(std::string_view what, std::int64_t process, std::int64_t thread, std::string_view key,
            std::string_view text) {
    begin(R"({"ph": "M", "name": ")", what);
    place(process, thread);
    out_.text(R"(, "ts": 0, "args": {")");
    out_.text(key);
    out_.text("\": \"");
    out_.text(text);
    out_.text("\"}}");
  }
  void write_names() {
    name("process_name", cpu_, 0, "name", "rank " + std::to_string(rank_));
    name("process_labels", cpu_, 0, "labels", "CPU");
    name("thread_name", cpu_, cpu_, "name", "host");
    name("process_name", device_, 0, "name", "rank " + std::to_string(rank_));
    name("process_labels", device_, 0, "labels", "GPU " + std::to_string(device_));
    for (const std::uint32_t stream : traced_streams(plan_, rank_)) {
      if (is_of_host(stream)) continue;
      name("thread_name", device_, thread_of(stream), "name", stream_name(static_cast<Stream>(stream)));
    }
  }

  static bool is_of_host(std::uint32_t stream) {
    return static_cast<Stream>(stream) == Stream::host ||
           static_cast<Stream>(stream) == Stream::host_optimizer;
  }
  /// Returns the thread of a CUDA stream; 0 has a meaning of its own in some readers.
  static std::int64_t thread_of(std::uint32_t stream) { return std::int64_t{stream} + 1; }

  void begin(std::string_view head, std::string_view name) {
    out_.make_room();
    out_.text(first_ ? "\n" : ",\n");
    first_ = false;
    out_.text(head);
    out_.text(name);
  }
  void key(std::string_view name, std::int64_t value) {
    out_.text(name);
    out_.integer(value);
  }
  void place(std::int64_t process, std::int64_t thread) {
    key(R"(", "pid": )", process);
    key(R"(, "tid": )", thread);
  }
  void times(const Span& span) {
    out_.text(R"(, "ts": )");
    out_.thousandths(span.start);
    out_.text(R"(, "dur": )");
    out_.thousandths(span.finish - span.start);
  }
  void cpu_event(std::string_view head, std::string_view name, std::int64_t thread, const Span& span) {
    begin(head, name);
    place(cpu_, thread);
    times(span);
  }

  /// Launches in the order of issue, and around them the steps, numbered from 1.
  void write_launches() {
    Launches launches(plan_, rank_);
    std::int32_t step = -1;
    Nanoseconds step_begin = 0;
    const Program& program = plan_.run.workload.programs[plan_.program_of(rank_)];
    for (std::uint32_t index = 0; index < program.ops.size(); ++index) {
      const Op& op = program.ops[index];
      const Span launch = launches.next(index);
      if (!plan_.shows_step(op.step)) continue;
      if (op.step > step) {
        if (step >= 0) write_step(step, {step_begin, std::max(step_begin, launch.start)});
        step = op.step;
        step_begin = launch.start;
      }
      if (!is_of_host(static_cast<std::uint32_t>(op.stream))) write_launch(op, index, launch);
    }
    if (step >= 0) write_step(step, {step_begin, plan_.run.timeline.makespan_ps / 1000});
  }
  void write_step(std::int32_t step, const Span& span) {
    cpu_event(R"({"ph": "X", "cat": "user_annotation", "name": ")",
              "ProfilerStep#" + std::to_string(std::int64_t{step} + 1), cpu_, span);
    out_.text("}");
  }
  void write_launch(const Op& op, std::uint32_t index, const Span& span) {
    cpu_event(R"({"ph": "X", "cat": "cuda_runtime", "name": ")",
              is_offload(op.stream) ? "cudaMemcpyAsync" : "cudaLaunchKernel", cpu_, span);
    key(R"(, "args": {"External id": )", std::int64_t{index} + 1);
    key(R"(, "correlation": )", std::int64_t{index} + 1);
    out_.text("}}");
  }

  void write_operation(const TraceSlice& slice) {
    const Op& op = plan_.op(rank_, slice.op);
    if (is_of_host(slice.stream)) {
      const std::int64_t thread = op.stream == Stream::host ? cpu_ : cpu_ + 1;
      cpu_event(R"({"ph": "X", "cat": "cpu_op", "name": ")", labels_.of(plan_, slice).name, thread,
                slice.span);
      out_.text("}");
      return;
    }
    ++kernels_;
    begin(is_offload(op.stream) ? R"({"ph": "X", "cat": "gpu_memcpy", "name": ")"
                                : R"({"ph": "X", "cat": "kernel", "name": ")",
          kernel_name(slice, op));
    place(device_, thread_of(slice.stream));
    times(slice.span);
    write_arguments(op, slice.op, slice.stream);
    if (op.kind == Op::Kind::communicate) write_message(op);
    if (op.stream == Stream::compute && op.kind == Op::Kind::compute) write_kernels(op, slice.op);
    out_.text("}}");
  }

  [[nodiscard]] std::string_view kernel_name(const TraceSlice& slice, const Op& op) const {
    if (op.stream == Stream::copy_to_host) return "Memcpy DtoH (Device -> Pinned)";
    if (op.stream == Stream::copy_from_host) return "Memcpy HtoD (Pinned -> Device)";
    if (op.kind != Op::Kind::communicate) return labels_.of(plan_, slice).name;
    return kKernelNames[static_cast<std::size_t>(plan_.run.workload.messages[op.work].collective)];
  }

  void write_arguments(const Op& op, std::uint32_t index, std::uint32_t stream) {
    key(R"(, "args": {"External id": )", std::int64_t{index} + 1);
    key(R"(, "device": )", device_);
    key(R"(, "context": 1, "stream": )", thread_of(stream));
    key(R"(, "correlation": )", std::int64_t{index} + 1);
    if (op.layer >= 0) key(R"(, "layer": )", op.layer);
    if (op.micro_batch >= 0) key(R"(, "microbatch": )", op.micro_batch);
  }

  /// The operation is one kernel here; this is how long those of each class in it take, and the gaps between.
  /// Operations with the same number have the same kernels.
  void write_kernels(const Op& op, std::uint32_t index) {
    const RunView& run = plan_.run;
    out_.make_room();
    key(R"(, "kernels": )", op.work);
    if (run.kernels.kernel_sequences.empty()) return;
    const std::uint32_t task = plan_.task(rank_, index);
    const Picoseconds all = run.timeline.finish_ps[task] - run.timeline.start_ps[task];
    const Picoseconds gaps = std::min(run.compute_prices[op.work].launch_ps, all);
    std::vector<Picoseconds> times;
    run.kernels.of(op).split(all - gaps, times);
    for (std::size_t k = 0; k < times.size(); ++k)
      if (times[k] > 0) write_time(kKernelClassNames[k], times[k]);
    if (gaps > 0) write_time("launch_gaps", gaps);
  }
  void write_time(std::string_view name, Picoseconds time) {
    out_.make_room();
    out_.text(", \"us of ");
    out_.text(name);
    out_.text("\": ");
    out_.thousandths(time / 1000);
  }

  void write_message(const Op& op) {
    const Workload& workload = plan_.run.workload;
    const Message& message = workload.messages[op.work];
    const auto members = plan_.members(rank_, op);
    const bool pair = message.collective == Collective::send_recv;
    const bool receives = pair && members[0] != rank_;
    const Elements elements = elements_of(message, members.size());
    out_.text(R"(, "Collective name": ")");
    out_.text(receives ? "recv" : kRecordedNames[static_cast<std::size_t>(message.collective)]);
    key(R"(", "In msg nelems": )", elements.in);
    key(R"(, "Out msg nelems": )", elements.out);
    key(R"(, "Group size": )", static_cast<std::int64_t>(members.size()));
    key(R"(, "dtype": "Byte", "Seq": )", ++calls_[op.slot]);
    key(R"(, "Process Group Name": ")", workload.group(rank_, op.slot));
    out_.text(R"(", "Process Group Description": ")");
    out_.text(kDimensionNames[static_cast<std::size_t>(message.dimension)]);
    write_ranks(members);
    if (!pair) return;
    key(R"(, "Src Rank": )", members.front());
    key(R"(, "Dst Rank": )", members.back());
  }
  void write_ranks(std::span<const std::uint32_t> ranks) {
    out_.text(R"(", "Process Group Ranks": "[)");
    const bool all = ranks.size() <= kMostRanks;
    const std::size_t shown = all ? ranks.size() : kMostRanks - 1;
    for (std::size_t i = 0; i < shown; ++i) key(i == 0 ? "" : ", ", ranks[i]);
    if (!all) key(", ..., ", ranks.back());
    out_.text("]\"");
  }

  const TracePlan& plan_;
  std::uint32_t rank_;
  TextBuffer out_;
  std::int64_t device_;
  std::int64_t cpu_;  ///< process and thread
  TraceLabels labels_;
  std::vector<std::int64_t> calls_;  ///< of each of the rank's communicators, so far
  std::uint64_t kernels_ = 0;
  bool first_ = true;
};

}  // namespace

std::uint64_t write_kineto_rank(const TracePlan& plan, std::uint32_t rank, std::string_view metadata_json,
                                const Sink& sink) {
  return KinetoWriter(plan, rank, sink).write(metadata_json);
}

}  // namespace orrery
