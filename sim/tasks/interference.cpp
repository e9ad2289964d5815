#include "sim/tasks/interference.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/tasks/host_lag.hpp"

namespace orrery {
namespace {

bool communicates(const Op& op) { return op.kind == Op::Kind::communicate; }
bool computes(const Op& op) { return !communicates(op) && op.stream == Stream::compute; }

/// Returns true if `op` receives from another stage. The message is assumed to arrive no earlier than the end
/// of the pass before it here, so that its consequences overlap only communication of their own pass.
bool arrives(const Op& op) {
  return communicates(op) && op.part == Part::stage && op.dep_begin == op.dep_end;
}

/// Returns true for tensor, data and expert traffic, and messages to and from gossip neighbours. Gathers of
/// messages that a stage received in parts do not count: their arrival is not known here.
bool is_beside(const Op& op) {
  if (!communicates(op) || op.part == Part::stage) return false;
  constexpr std::array kBeside{Stream::tensor,  Stream::data,   Stream::expert,
                               Stream::workers, Stream::gather, Stream::copies};
  return std::ranges::find(kBeside, op.stream) != kBeside.end() || op.stream >= send_stream(0);
}

/// An activation that leaves for another stage.
bool leaves(const Op& op) {
  return communicates(op) && (op.stream == Stream::send_forward || op.stream == Stream::reverse_send_forward);
}

/// Per operation of a program: of a gradient that comes from another stage, the activation of the same
/// micro-batch that was sent there, without which it cannot be; kNone of others. So a rank gets no further
/// ahead of its own traffic than the schedule has micro-batches in flight, however many there are.
std::vector<std::uint32_t> sent_before(const Program& program) {
  std::int32_t chunks = 1;
  std::int32_t micro_batches = 0;
  for (const Op& op : program.ops) {
    chunks = std::max(chunks, op.chunk + 1);
    micro_batches = std::max(micro_batches, op.micro_batch + 1);
  }
  std::vector<std::uint32_t> latest(
      static_cast<std::size_t>(chunks) * static_cast<std::size_t>(micro_batches), kNone);
  std::vector<std::uint32_t> sent(program.ops.size(), kNone);
  for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (op.micro_batch < 0) continue;
    std::uint32_t& of_pass =
        latest[static_cast<std::size_t>(op.micro_batch) * static_cast<std::size_t>(chunks) +
               static_cast<std::size_t>(op.chunk)];
    if (leaves(op)) of_pass = i;
    if (arrives(op) && op.phase == Phase::backward) sent[i] = of_pass;
  }
  return sent;
}

InterferenceOrder order_of(const Program& program, std::size_t streams) {
  const auto begin = static_cast<std::uint32_t>(program.ops.size());
  InterferenceOrder order;
  order.first.assign(program.ops.size() + 1, kNone);
  order.next.assign(program.ops.size(), kNone);
  order.sent = sent_before(program);
  std::vector<std::uint32_t> last(program.ops.size() + 1, kNone);
  std::vector<std::uint32_t> ready(program.ops.size(), begin);  // after which compute operation
  std::vector<std::uint32_t> ready_stream(streams, begin);      // of the latest on a stream
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

}  // namespace

std::size_t InterferenceOrders::bytes() const {
  std::size_t sum = sizeof *this;
  for (const InterferenceOrder& order : of_program)
    sum += (order.first.size() + order.next.size() + order.sent.size()) * sizeof(std::uint32_t);
  return sum;
}

InterferenceOrders interference_orders(const Workload& workload) {
  InterferenceOrders orders;
  for (const Program& program : workload.programs)
    orders.of_program.push_back(order_of(program, workload.streams));
  return orders;
}

Interference::Interference(const Workload& workload, const Channels& channels, const PriceList& prices,
                           std::shared_ptr<const InterferenceOrders> orders)
    : workload_(workload), channels_(channels), prices_(prices), orders_(std::move(orders)) {}

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

/// Returns the share of its pace that an operation loses. A pass loses nothing while it communicates, and the
/// slowdown by its own traffic is not counted twice.
double Interference::share(const Op& op, Picoseconds duration) const {
  if (op.kind != Op::Kind::pass || duration == 0) return prices_.interference;
  const auto compute = static_cast<double>(prices_.passes[op.work].duration_ps);
  const auto slowed = static_cast<double>(prices_.slowed_ps[op.work]);
  const double loses = prices_.interference * compute - slowed;
  return std::clamp(loses / static_cast<double>(duration), 0.0, prices_.interference);
}

std::vector<Picoseconds> Interference::delays(const Program& program, const InterferenceOrder& order,
                                              std::span<const Picoseconds> durations) const {
  std::vector<Picoseconds> result(program.ops.size(), 0);
  std::vector<Picoseconds> finish(program.ops.size(), 0);
  std::vector<Picoseconds> stream_free(workload_.streams, 0);
  BusyTimes busy;
  const auto start_of = [&](std::size_t at) {
    const Op& op = program.ops[at];
    Picoseconds start = stream_free[static_cast<std::size_t>(op.stream)];
    if (arrives(op)) start = std::max(start, stream_free[static_cast<std::size_t>(Stream::compute)]);
    if (order.sent[at] != kNone) start = std::max(start, finish[order.sent[at]]);
    for (const std::uint32_t dep : program.dependencies(op)) start = std::max(start, finish[dep]);
    return start;
  };
  const auto run_ready = [&](std::size_t after) {
    for (std::uint32_t i = order.first[after]; i != kNone; i = order.next[i]) {
      const Op& op = program.ops[i];
      const Picoseconds start = start_of(i);
      finish[i] = stream_free[static_cast<std::size_t>(op.stream)] = capped_sum(start, durations[i]);
      if (is_beside(op)) busy.add(start, finish[i]);
    }
  };
  run_ready(program.ops.size());
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (!computes(op)) continue;
    const Picoseconds start = start_of(i);
    finish[i] = busy.finish(start, durations[i], share(op, durations[i]));
    result[i] = finish[i] - start - durations[i];
    stream_free[static_cast<std::size_t>(op.stream)] = finish[i];
    run_ready(i);
  }
  return result;
}

std::span<const Picoseconds> Interference::of(std::uint32_t rank) {
  const std::uint32_t program = workload_.program_of_rank[rank];
  const InterferenceOrder& order = orders_->of_program[program];
  if (!order.beside) return {};
  const std::vector<Picoseconds> own = durations(rank);
  ContentHash key;
  key.append(program);
  for (const Picoseconds duration : own) key.append(static_cast<std::uint64_t>(duration));
  const std::uint32_t kind = kinds_.number(key);
  if (kind == delays_.size()) delays_.push_back(delays(workload_.programs[program], order, own));
  return delays_[kind];
}

}  // namespace orrery
