#include "importers/simulators/chakra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "config/text/document.hpp"
#include "importers/common/text_lines.hpp"
#include "importers/simulators/proto_reader.hpp"

namespace orrery::importers::simulators {
namespace {

// Fields of GlobalMetadata, Node and AttributeProto (mlcommons/chakra, schema/protobuf/et_def.proto).
constexpr std::uint32_t kNodeType = 3, kNodeDuration = 7, kNodeAttribute = 10;
constexpr std::uint32_t kAttributeName = 1;

constexpr std::array<std::string_view, 11> kTypes{
    "INVALID_NODE",   "METADATA_NODE",  "MEM_LOAD_NODE", "MEM_STORE_NODE", "COMP_NODE",      "COMM_SEND_NODE",
    "COMM_RECV_NODE", "COMM_COLL_NODE", "STORAGE_NODE",  "BATCH_NODE",     "CHECKPOINT_NODE"};
constexpr std::array<std::string_view, 10> kCollectives{
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};

/// Sums of the nodes of one type.
struct NodeSums {
  std::uint64_t nodes = 0;
  double duration_us = 0;
  double bytes = 0;
};

/// Sums by type of node, and of messages by kind.
class Summary {
 public:
  void add(std::string_view type, std::uint64_t collective, bool communicates, double duration_us,
           double bytes) {
    std::string name(type);
    if (communicates && collective < kCollectives.size())
      name += fmt::format(" {}", kCollectives[collective]);
    NodeSums& sums = sums_[name];
    ++sums.nodes;
    sums.duration_us += duration_us;
    sums.bytes += bytes;
  }
  void report(const SourceFile& file, Draft& draft) const {
    for (const auto& [name, sums] : sums_)
      draft.ignore(key_at(file, 0, name, sums.nodes), fmt::format("nodes of {:.6g} ms and {:.6g} MB together",
                                                                  sums.duration_us / 1e3, sums.bytes / 1e6));
    draft.lack(
        key_at(file, 0, "execution trace", nullptr),
        "a graph of operations names neither the model nor the plan behind it, and Orrery makes its own: "
        "give the files of both, and compare the figures above with those of orrery simulate");
  }

 private:
  std::map<std::string, NodeSums> sums_;
};

/// Attributes of a node that say what it sends.
struct Message {
  std::uint64_t collective = kCollectives.size();
  double bytes = 0;
};

void read_attribute(std::string_view attribute, Message& message) {
  ProtoReader reader(attribute);
  std::string_view name;
  while (const auto field = reader.next()) {
    if (field->number == kAttributeName) name = field->bytes;
    if (field->type == 2) continue;
    if (name == "comm_type") message.collective = field->value;
    if (name == "comm_size") message.bytes = static_cast<double>(field->value);
  }
}

/// Returns false where the bytes are no node.
bool add_node(std::string_view bytes, Summary& summary) {
  ProtoReader reader(bytes);
  std::uint64_t type = 0;
  double duration_us = 0;
  Message message;
  while (const auto field = reader.next()) {
    if (field->number == kNodeType) type = field->value;
    if (field->number == kNodeDuration) duration_us = static_cast<double>(field->value);
    if (field->number == kNodeAttribute) read_attribute(field->bytes, message);
  }
  const bool known = !reader.broken() && type < kTypes.size();
  if (known)
    summary.add(kTypes[type], message.collective, kTypes[type] == "COMM_COLL_NODE", duration_us,
                message.bytes);
  return known;
}

/// Binary traces begin with the metadata, whose first field is the version of the schema as a text.
bool is_trace(const SourceFile& file) {
  ProtoReader reader(file.text());
  const auto metadata = reader.next_message();
  if (!metadata || metadata->empty() || metadata->size() > 65536) return false;
  ProtoReader inside(*metadata);
  const auto version = inside.next();
  if (!version || version->number != 1 || version->type != 2 || version->bytes.size() > 32) return false;
  const bool printed = std::ranges::all_of(version->bytes, [](char c) {
    return (c >= '0' && c <= '9') || c == '.' || (c >= 'a' && c <= 'z') || c == '-';
  });
  const auto node = reader.next_message();
  Summary summary;
  return printed && (node ? add_node(*node, summary) : reader.done());
}

void read_trace(const ImportContext& context, Draft& draft) {
  ProtoReader reader(context.file.text());
  Summary summary;
  const bool metadata = reader.next_message().has_value();
  std::uint64_t nodes = 0;
  while (const auto node = reader.next_message()) {
    if (!add_node(*node, summary))
      draft.lack(key_at(context.file, 0, fmt::format("node {}", nodes), nullptr),
                 "no node of a Chakra trace");
    if (draft.stopped()) return;
    ++nodes;
  }
  if (!metadata || !reader.done())
    return draft.lack(key_at(context.file, 0, "execution trace", nodes), "the file ends within a node");
  summary.report(context.file, draft);
}

bool is_trace_json(const SourceFile& file) {
  const auto has = [&file](std::string_view key) { return file.text().find(key) != std::string_view::npos; };
  return (has("\"workload_graph\"") && has("\"NodeType\"")) || has("\"COMM_COLL_NODE\"") ||
         (has("\"COMP_NODE\"") && has("durationMicros")) || (has("\"ctrl_deps\"") && has("\"schema\""));
}

double number_of_json(const Json& value) {
  if (value.is_number()) return value.get<double>();
  return value.is_string() ? number_of(value.get<std::string>()).value_or(0) : 0;
}

const Json& field_of(const Json& node, std::initializer_list<const char*> names) {
  static const Json kNone;
  for (const char* name : names)
    if (const auto found = node.find(name); found != node.end()) return *found;
  return kNone;
}

std::string type_in(const Json& node) {
  const Json& type = field_of(node, {"NodeType", "type"});
  if (type.is_string()) return type.get<std::string>();
  const bool number = type.is_number_integer() && type >= 0 && type < kTypes.size();
  return number ? std::string(kTypes[type.get<std::size_t>()]) : "node";
}

Message message_in(const Json& node) {
  Message message;
  const Json& attributes = field_of(node, {"attr"});
  if (!attributes.is_array()) return message;
  for (const Json& attribute : attributes) {
    if (!attribute.is_object()) continue;
    const Json& value = field_of(attribute, {"uint64Val", "int64Val", "int32Val", "uint64_val", "int64_val"});
    const double number = number_of_json(value);
    if (attribute.value("name", Json()) == "comm_size") message.bytes = number;
    if (attribute.value("name", Json()) == "comm_type" && number >= 0 && number < 10)
      message.collective = static_cast<std::uint64_t>(number);
  }
  return message;
}

const Json& nodes_in(const Json& document) {
  static const Json kNone = Json::array();
  if (document.is_array()) return document;
  if (!document.is_object()) return kNone;
  for (const char* name : {"workload_graph", "nodes", "node"})
    if (const auto found = document.find(name); found != document.end() && found->is_array()) return *found;
  return kNone;
}

void read_trace_json(const ImportContext& context, Draft& draft) {
  const Document document = parse_document(context.file.text(), context.file.path());
  Summary summary;
  for (const Json& node : nodes_in(document.value)) {
    if (!node.is_object()) continue;
    const Message message = message_in(node);
    const std::string type = type_in(node);
    summary.add(type, message.collective, type == "COMM_COLL_NODE",
                number_of_json(field_of(node, {"runtime", "durationMicros", "duration_micros"})),
                message.bytes);
  }
  summary.report(context.file, draft);
}

}  // namespace

const Importer kChakraTrace{
    {"chakra", "Execution trace of Chakra, as protocol buffers: summed up"}, is_trace, read_trace};
const Importer kChakraJson{
    {"chakra-json", "Execution trace of Chakra, as JSON: summed up"}, is_trace_json, read_trace_json};

}  // namespace orrery::importers::simulators
