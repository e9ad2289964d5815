#include "sim/tasks/interference.hpp"

#include <algorithm>
#include <array>

#include "sim/tasks/host_lag.hpp"

namespace orrery {
namespace {

bool communicates(const Op& op) { return op.kind == Op::Kind::communicate; }
bool computes(const Op& op) { return !communicates(op) && op.stream == Stream::compute; }

/// What a pass gets from another stage, which comes when that one is done: taken to be not before the pass
/// ahead of it ends here, so that what it brings about is beside none but its own.
bool arrives(const Op& op) {
  return communicates(op) && op.part == Part::stage && op.dep_begin == op.dep_end;
}

/// Tensor, data and expert traffic, and messages to and from gossip neighbours. Not what a stage gathers that
/// it received in parts: when it arrives is not known here.
bool is_beside(const Op& op) {
  if (!communicates(op) || op.part == Part::stage) return false;
  constexpr std::array kBeside{Stream::tensor,  Stream::data,   Stream::expert,
                               Stream::workers, Stream::gather, Stream::copies};
  return std::ranges::find(kBeside, op.stream) != kBeside.end() || op.stream >= send_stream(0);
}

}  // namespace

Interference::Interference(const Workload& workload, const Channels& channels, const PriceList& prices)
    : workload_(workload), channels_(channels), prices_(prices) {
  if (!any()) return;
  for (const Program& program : workload.programs) orders_.push_back(order_of(program));
}

Interference::Order Interference::order_of(const Program& program) const {
  const auto begin = static_cast<std::uint32_t>(program.ops.size());
  Order order;
  order.first.assign(program.ops.size() + 1, kNone);
  order.next.assign(program.ops.size(), kNone);
  std::vector<std::uint32_t> last(program.ops.size() + 1, kNone);
  std::vector<std::uint32_t> ready(program.ops.size(), begin);        // after which compute operation
  std::vector<std::uint32_t> ready_stream(workload_.streams, begin);  // of the latest on a stream
  const auto later = [begin](std::uint32_t a, std::uint32_t b) {
    return a == begin ? b : b == begin ? a : std::max(a, b);
  };
  std::uint32_t computed = begin;
  for (std::uint32_t i = 0; i < begin; ++i) {
    const Op& op = program.ops[i];
    if (computes(op)) {
      ready[i] = computed = i;
      continue;
    }
    std::uint32_t& stream = ready_stream[static_cast<std::size_t>(op.stream)];
    ready[i] = later(arrives(op) ? computed : begin, stream);
    for (const std::uint32_t dep : program.dependencies(op)) ready[i] = later(ready[i], ready[dep]);
    stream = ready[i];
    (last[ready[i]] == kNone ? order.first[ready[i]] : order.next[last[ready[i]]]) = i;
    last[ready[i]] = i;
    order.beside = order.beside || is_beside(op);
  }
  return order;
}

std::vector<Picoseconds> Interference::durations(std::uint32_t rank) const {
  const std::uint32_t program = workload_.program_of_rank[rank];
  std::vector<Picoseconds> result;
  for (const Op& op : workload_.programs[program].ops) {
    if (op.stream == Stream::host) {
      result.push_back(0);
    } else if (op.kind == Op::Kind::compute) {
      const Picoseconds duration = prices_.kernel_sequences[op.work].duration_ps;
      result.push_back(prices_.rank_speeds.even()
                           ? duration
                           : prices_.rank_speeds.duration(op.work, duration, rank, op.step));
    } else {
      const std::uint32_t channel = channels_.channel_of[program * workload_.slots + op.slot];
      const std::uint32_t call = channels_.call(channel, request_of(op));
      const std::uint32_t place = channels_.group_place[workload_.group(rank, op.slot)];
      result.push_back(prices_.calls[call].cost(place).duration_ps);
    }
  }
  return result;
}

/// Of its pace that an operation loses: a pass loses nothing while it communicates, and not twice what its
/// own traffic takes.
double Interference::share(const Op& op, Picoseconds duration) const {
  if (op.kind != Op::Kind::pass || duration == 0) return prices_.interference;
  const auto compute = static_cast<double>(prices_.passes[op.work].duration_ps);
  const auto slowed = static_cast<double>(prices_.slowed_ps[op.work]);
  const double loses = prices_.interference * compute - slowed;
  return std::clamp(loses / static_cast<double>(duration), 0.0, prices_.interference);
}

std::vector<Picoseconds> Interference::delays(const Program& program, const Order& order,
                                              std::span<const Picoseconds> durations) const {
  std::vector<Picoseconds> result(program.ops.size(), 0);
  std::vector<Picoseconds> finish(program.ops.size(), 0);
  std::vector<Picoseconds> stream_free(workload_.streams, 0);
  BusyTimes busy;
  const auto start_of = [&](const Op& op) {
    Picoseconds start = stream_free[static_cast<std::size_t>(op.stream)];
    if (arrives(op)) start = std::max(start, stream_free[static_cast<std::size_t>(Stream::compute)]);
    for (const std::uint32_t dep : program.dependencies(op)) start = std::max(start, finish[dep]);
    return start;
  };
  const auto run_ready = [&](std::size_t after) {
    for (std::uint32_t i = order.first[after]; i != kNone; i = order.next[i]) {
      const Op& op = program.ops[i];
      const Picoseconds start = start_of(op);
      finish[i] = stream_free[static_cast<std::size_t>(op.stream)] = capped_sum(start, durations[i]);
      if (is_beside(op)) busy.add(start, finish[i]);
    }
  };
  run_ready(program.ops.size());
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (!computes(op)) continue;
    const Picoseconds start = start_of(op);
    finish[i] = busy.finish(start, durations[i], share(op, durations[i]));
    result[i] = finish[i] - start - durations[i];
    stream_free[static_cast<std::size_t>(op.stream)] = finish[i];
    run_ready(i);
  }
  return result;
}

std::span<const Picoseconds> Interference::of(std::uint32_t rank) {
  const std::uint32_t program = workload_.program_of_rank[rank];
  if (!orders_[program].beside) return {};
  const std::vector<Picoseconds> own = durations(rank);
  ContentHash key;
  key.append(program);
  for (const Picoseconds duration : own) key.append(static_cast<std::uint64_t>(duration));
  const std::uint32_t kind = kinds_.number(key);
  if (kind == delays_.size()) delays_.push_back(delays(workload_.programs[program], orders_[program], own));
  return delays_[kind];
}

}  // namespace orrery
