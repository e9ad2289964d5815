#include "importers/machines/ibnetdiscover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "importers/common/text_lines.hpp"
#include "importers/machines/fabric_graph.hpp"

namespace orrery::importers::machines {
namespace {

/// Data rates of a lane, in Gb/s (InfiniBand Trade Association, roadmap).
struct LaneRate {
  std::string_view word;
  double gbps;
};
constexpr std::array kLaneRates{
    LaneRate{"SDR", 2},    LaneRate{"DDR", 4},   LaneRate{"QDR", 8},
    LaneRate{"FDR10", 10}, LaneRate{"FDR", 14},  LaneRate{"EDR", 25},
    LaneRate{"HDR", 50},   LaneRate{"NDR", 100}, LaneRate{"XDR", 200},
};

/// One end of a link as a line of a block gives it: [1] "H-guid"[1](guid) # "host hca" lid 7 4xHDR.
struct PortLine {
  std::string_view port;
  std::string_view peer;
  std::string_view peer_port;
  std::string_view label;
  double gbps = 0;
};

bool is_netdiscover(const SourceFile& file) {
  const std::string_view text = file.text();
  return text.find("switchguid=") != std::string_view::npos ||
         (text.find("Switch\t") != std::string_view::npos && text.find("\"S-") != std::string_view::npos);
}

/// The text between the first two quotes from `at` on; sets `at` behind them.
std::string_view quoted(std::string_view text, std::size_t& at) {
  const std::size_t begin = text.find('"', at);
  const std::size_t end = begin == std::string_view::npos ? begin : text.find('"', begin + 1);
  if (end == std::string_view::npos) return {};
  at = end + 1;
  return text.substr(begin + 1, end - begin - 1);
}

std::string_view bracketed(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '[') return {};
  const std::size_t end = text.find(']', at);
  return end == std::string_view::npos ? std::string_view{} : text.substr(at + 1, end - at - 1);
}

/// The rate of "4xHDR", 0 where it is none.
double rate_of(std::string_view word) {
  const std::size_t cross = word.find('x');
  if (cross == std::string_view::npos) return 0;
  const auto width = integer_of(word.substr(0, cross));
  const auto lane = std::ranges::find(kLaneRates, word.substr(cross + 1), &LaneRate::word);
  return width && lane != kLaneRates.end() && *width > 0 && *width <= 12
             ? static_cast<double>(*width) * lane->gbps
             : 0;
}

std::optional<PortLine> port_line(std::string_view line) {
  PortLine port{bracketed(line, 0), {}, {}, {}, 0};
  if (port.port.empty()) return std::nullopt;
  std::size_t at = 0;
  port.peer = quoted(line, at);
  port.peer_port = bracketed(line, at);
  port.label = quoted(line, at);
  for (const std::string_view word : words_of(line.substr(std::min(at, line.size()))))
    port.gbps = std::max(port.gbps, rate_of(word));
  if (port.peer.empty()) return std::nullopt;
  return port;
}

bool is_aggregation(std::string_view label) {
  return label.find("Aggregation Node") != std::string_view::npos;
}

/// Hosts have the name of their node before that of the adapter; adapters without one stand for themselves.
std::string host_name(const PortLine& port) {
  const std::vector<std::string_view> words = words_of(port.label);
  const bool nameless = words.size() < 2 || port.label.find("Mellanox") != std::string_view::npos ||
                        port.label.find("ConnectX") != std::string_view::npos;
  return std::string(nameless && words.size() != 1 ? port.peer : words.front());
}

/// Gathers the links of all blocks, each once though both of its ends have a line.
class Discovery {
 public:
  void begin_switch(std::string_view id) { switch_ = std::string(id); }
  void end_switch() { switch_.clear(); }
  void add(const PortLine& port) {
    if (switch_.empty() || is_aggregation(port.label)) return;
    if (port.peer.starts_with("H-")) return graph_.join_host(host_name(port), switch_, port.gbps);
    if (!port.peer.starts_with("S-")) return;
    const std::string here = fmt::format("{}[{}]", switch_, port.port);
    const std::string there = fmt::format("{}[{}]", port.peer, port.peer_port);
    if (seen_.insert(std::minmax(here, there)).second)
      graph_.join_switches(switch_, std::string(port.peer), port.gbps);
  }
  [[nodiscard]] const FabricGraph& graph() const { return graph_; }

 private:
  std::string switch_;  ///< of the block; "" in a block of a host
  FabricGraph graph_;
  std::set<std::pair<std::string, std::string>> seen_;
};

void read_netdiscover(const ImportContext& context, Draft& draft) {
  Discovery discovery;
  int first_line = 0;
  for (const TextLine& line : lines_of(context.file)) {
    std::size_t at = 0;
    if (line.text.starts_with("Switch")) {
      discovery.begin_switch(quoted(line.text, at));
      if (first_line == 0) first_line = line.number;
    } else if (line.text.starts_with("Ca") || line.text.starts_with("Rt")) {
      discovery.end_switch();
    } else if (const auto port = port_line(line.text)) {
      discovery.add(*port);
    }
  }
  const SourceKey where = key_at(context.file, first_line, "switches", nullptr);
  if (discovery.graph().empty())
    return draft.lack(where,
                      "no host hangs on a switch here: an output of ibnetdiscover has lines such as [1] "
                      "\"H-guid\"[1] # \"host adapter\" lid 1 4xHDR below each Switch");
  map_fabric(discovery.graph().shape(), where, draft);
}

}  // namespace

const Importer kIbnetdiscover{
    {"ibnetdiscover", "InfiniBand fabric as ibnetdiscover prints it"}, is_netdiscover, read_netdiscover};

}  // namespace orrery::importers::machines
