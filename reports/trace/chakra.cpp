#include "reports/trace/chakra.hpp"

#include <fmt/format.h>

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/trace/labels.hpp"
#include "reports/trace/proto_message.hpp"

namespace orrery {
namespace {

// Fields of GlobalMetadata, Node and AttributeProto.
constexpr ProtoMessage::Field kMetadataVersion = 1;
constexpr ProtoMessage::Field kNodeId = 1, kNodeName = 2, kNodeType = 3, kNodeDataDependency = 5,
                              kNodeStart = 6, kNodeDuration = 7, kNodeAttribute = 10;
constexpr ProtoMessage::Field kAttributeName = 1, kInt32Value = 7, kInt64Value = 9, kBoolValue = 27,
                              kStringValue = 29;
constexpr std::string_view kSchemaVersion = "0.0.4";

enum class NodeType : std::uint8_t { compute = 4, send = 5, receive = 6, collective = 7 };

/// CollectiveCommType by Collective; a pair sends and receives, and has none.
constexpr std::array<std::uint64_t, kCollectiveCount> kCollectiveTypes{0, 2, 7, 5, 6, 0};

/// Bytes that go into a collective on one rank: ASTRA-sim's algorithms begin with these.
Bytes bytes_into(const Message& message, std::size_t ranks) {
  const Bytes bytes = message.bytes * message.times;
  return message.collective == Collective::all_gather ? bytes / static_cast<Bytes>(ranks) : bytes;
}

/// ASTRA-sim's communicators are numbered from 1.
std::uint64_t group_number(std::uint32_t group) { return std::uint64_t{group} + 1; }

class ChakraWriter {
 public:
  ChakraWriter(const TracePlan& plan, std::uint32_t rank, const Sink& sink)
      : plan_(plan),
        rank_(rank),
        sink_(sink),
        program_(plan.run.workload.programs[plan.program_of(rank)]),
        streams_(plan.run.workload.streams),
        calls_(plan.run.workload.slots) {}

  std::uint64_t write() {
    ProtoMessage metadata;
    metadata.text(kMetadataVersion, kSchemaVersion);
    metadata.append_delimited(out_);
    for (std::uint32_t index = 0; index < program_.ops.size(); ++index) {
      const Op& op = program_.ops[index];
      const std::uint32_t call = op.kind == Op::Kind::communicate ? calls_[op.slot]++ : 0;
      if (plan_.shows_step(op.step)) write_node(op, index, call);
    }
    flush();
    return nodes_;
  }

 private:
  /// Holds what is known of the operations on a stream so far.
  struct StreamState {
    std::uint64_t last_id = 0;
    Picoseconds time_ps = 0;  ///< of its operations
    std::uint64_t time_us = 0;
  };

  void write_node(const Op& op, std::uint32_t index, std::uint32_t call) {
    StreamState& stream = streams_[static_cast<std::size_t>(op.stream)];
    const std::uint32_t task = plan_.task(rank_, index);
    const Picoseconds start = plan_.run.timeline.start_ps[task];
    node_.clear();
    node_.integer(kNodeId, id_of(index));
    node_.text(kNodeName, labels_.of(plan_.run.workload, op).name);
    node_.integer(kNodeType, static_cast<std::uint64_t>(type_of(op)));
    write_dependencies(op, stream);
    node_.integer(kNodeStart, static_cast<std::uint64_t>(start / kPicosecondsOfMicrosecond));
    node_.integer(kNodeDuration, whole_microseconds(stream, plan_.run.timeline.finish_ps[task] - start));
    attribute("is_cpu_op", kBoolValue, is_of_host(op) ? 1 : 0);
    if (op.kind == Op::Kind::communicate) write_message(op, call);
    node_.append_delimited(out_);
    stream.last_id = id_of(index);
    ++nodes_;
    if (out_.size() > kBlock) flush();
  }

  static constexpr Picoseconds kPicosecondsOfMicrosecond = 1'000'000;
  static constexpr std::size_t kBlock = 1 << 20;

  static std::uint64_t id_of(std::uint32_t index) { return std::uint64_t{index} + 1; }
  static bool is_of_host(const Op& op) {
    return op.stream == Stream::host || op.stream == Stream::host_optimizer;
  }
  [[nodiscard]] NodeType type_of(const Op& op) const {
    if (op.kind != Op::Kind::communicate) return NodeType::compute;
    if (plan_.run.workload.messages[op.work].collective != Collective::send_recv) return NodeType::collective;
    return plan_.members(rank_, op).front() == rank_ ? NodeType::send : NodeType::receive;
  }

  void write_dependencies(const Op& op, const StreamState& stream) {
    std::set<std::uint64_t> ids;
    if (stream.last_id > 0) ids.insert(stream.last_id);
    for (const std::uint32_t before : program_.dependencies(op))
      if (plan_.shows_step(program_.ops[before].step)) ids.insert(id_of(before));
    for (const std::uint64_t id : ids) node_.integer(kNodeDataDependency, id);
  }

  /// Durations of a stream are rounded so that their sum is never off by a microsecond.
  static std::uint64_t whole_microseconds(StreamState& stream, Picoseconds duration) {
    stream.time_ps += duration;
    const auto until = static_cast<std::uint64_t>(stream.time_ps / kPicosecondsOfMicrosecond);
    const std::uint64_t whole = until - stream.time_us;
    stream.time_us = until;
    return whole;
  }

  void write_message(const Op& op, std::uint32_t call) {
    const Message& message = plan_.run.workload.messages[op.work];
    const auto members = plan_.members(rank_, op);
    const std::uint32_t group = plan_.run.workload.group(rank_, op.slot);
    attribute("comm_size", kInt64Value, static_cast<std::uint64_t>(bytes_into(message, members.size())));
    if (message.collective != Collective::send_recv) {
      attribute("comm_type", kInt64Value, kCollectiveTypes[static_cast<std::size_t>(message.collective)]);
      attribute_.clear();
      attribute_.text(kAttributeName, "pg_name");
      attribute_.text(kStringValue, std::to_string(group_number(group)));
      return node_.message(kNodeAttribute, attribute_);
    }
    attribute("comm_src", kInt32Value, members.front());
    attribute("comm_dst", kInt32Value, members.back());
    attribute("comm_tag", kInt32Value, tag_of(group, call));
  }
  /// The k-th messages of a communicator are one on both sides. A tag is a positive int32.
  static std::uint64_t tag_of(std::uint32_t group, std::uint32_t call) {
    constexpr std::uint32_t kGroups = 2048, kCalls = 1 << 20;
    return std::uint64_t{group % kGroups} * kCalls + call % kCalls;
  }

  void attribute(std::string_view name, ProtoMessage::Field field, std::uint64_t value) {
    attribute_.clear();
    attribute_.text(kAttributeName, name);
    attribute_.integer(field, value);
    node_.message(kNodeAttribute, attribute_);
  }
  void flush() {
    if (!out_.empty()) sink_(out_);
    out_.clear();
  }

  const TracePlan& plan_;
  std::uint32_t rank_;
  const Sink& sink_;
  const Program& program_;
  std::vector<StreamState> streams_;
  std::vector<std::uint32_t> calls_;  ///< of each of the rank's communicators, so far
  TraceLabels labels_;
  ProtoMessage node_, attribute_;
  std::string out_;
  std::uint64_t nodes_ = 0;
};

/// The communicators in which the plan's ranks meet.
std::set<std::uint32_t> groups_of(const TracePlan& plan) {
  std::set<std::uint32_t> groups;
  const Workload& workload = plan.run.workload;
  for (const std::uint32_t rank : plan.ranks)
    for (const Op& op : workload.programs[plan.program_of(rank)].ops)
      if (op.kind == Op::Kind::communicate && workload.messages[op.work].collective != Collective::send_recv)
        groups.insert(workload.group(rank, op.slot));
  return groups;
}

}  // namespace

std::uint64_t write_chakra_rank(const TracePlan& plan, std::uint32_t rank, const Sink& sink) {
  return ChakraWriter(plan, rank, sink).write();
}

void write_chakra_groups(const TracePlan& plan, const Sink& sink) {
  std::string text = "{";
  for (const std::uint32_t group : groups_of(plan)) {
    const auto members = plan.run.workload.members(group);
    text += fmt::format("{}\n  \"{}\": [{}]", text.size() == 1 ? "" : ",", group_number(group),
                        fmt::join(members, ", "));
  }
  sink(text + "\n}\n");
}

}  // namespace orrery
