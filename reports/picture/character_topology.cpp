#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "orrery/cluster.hpp"
#include "reports/picture/character_lines.hpp"
#include "reports/picture/characters.hpp"
#include "reports/picture/svg_text.hpp"
#include "reports/text/text_table.hpp"

namespace orrery {
namespace {

constexpr std::int64_t kMostSquares = 16;  ///< GPUs of a node that are drawn one by one
constexpr std::size_t kNameColumns = 24;
constexpr std::size_t kMostNames = 8;
constexpr int kColumnsOfBars = 70;  ///< narrower lines go without bars
constexpr int kBarCells = 10;

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (; times > 0; --times) out += text;
  return out;
}

/// Returns `text` in the middle of `columns` columns.
std::string centred(std::string_view text, std::size_t columns) {
  const std::size_t spare = columns - std::min(columns, text_width(text));
  return std::string(spare / 2, ' ') + std::string(text) + std::string(spare - spare / 2, ' ');
}

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Three significant digits.
std::string rate_text(std::int64_t bytes_per_s) {
  const double rate = static_cast<double>(bytes_per_s) * 1e-9;
  return rate < 1000 ? fmt::format("{:.3g} GB/s", rate) : fmt::format("{:.0f} GB/s", rate);
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// Boxes of nodes side by side on one wire.
class NodeLines {
 public:
  NodeLines(std::string inside, std::size_t width) : inside_(std::move(inside)), width_(width) {}

  void add(std::int64_t node, bool behind_others) {
    const bool first = wire_.empty();
    const std::size_t left = (width_ - 1) / 2;
    wire_ += (first ? "" : "─") + repeated("─", left) + "┬" + repeated("─", width_ - 1 - left);
    names_ += (first ? "" : " ") + centred(fmt::format("node {}", node), width_);
    tops_ += (first ? "" : " ") + ("┌" + repeated("─", width_ - 2) + "┐");
    boxes_ += std::string(first ? "" : behind_others ? "…" : " ") + "│" + centred(inside_, width_ - 2) + "│";
    bottoms_ += (first ? "" : " ") + ("└" + repeated("─", width_ - 2) + "┘");
  }

  [[nodiscard]] std::string text(bool wired, bool goes_on) const {
    std::string out = wired ? wire_ + (goes_on ? "─…" : "") + "\n" : "";
    out += names_.substr(0, names_.find_last_not_of(' ') + 1);
    return out + "\n" + tops_ + "\n" + boxes_ + "\n" + bottoms_ + "\n";
  }

 private:
  std::string inside_;
  std::size_t width_;  ///< columns
  std::string wire_, names_, tops_, boxes_, bottoms_;
};

class TopologyText {
 public:
  TopologyText(const Cluster& cluster, const RunView& run, int columns)
      : cluster_(cluster), run_(run), columns_(columns) {
    for (const LinkTraffic& links : run.traffic.links)
      counts_ = std::max(counts_, counted_links(links).size());
  }

  std::string text() {
    line(between_nodes());
    if (cluster_.regions) line(sites());
    for (const LinkTraffic& links : run_.traffic.links) {
      if (!is_in_nodes(links.kind)) add_links(links);
    }
    add_nodes();
    line(inside_nodes());
    for (const LinkTraffic& links : run_.traffic.links) {
      if (is_in_nodes(links.kind)) add_links(links);
    }
    for (std::size_t c = 0; c < cluster_.gpu_classes(); ++c) line(gpus_of(c));
    return std::move(out_);
  }

 private:
  void line(const std::string& text) {
    if (!text.empty()) out_ += wrapped(text, columns_);
  }
  [[nodiscard]] std::string name(const std::string& text) const {
    return cut_text(text, std::min(kNameColumns, static_cast<std::size_t>(columns_) - 2));
  }

  static bool is_in_nodes(LinkKind kind) { return kind == LinkKind::nvlink || kind == LinkKind::pcie; }

  [[nodiscard]] std::string between_nodes() const {
    const std::int64_t nodes = run_.topology.gpus() / run_.topology.gpus_per_node();
    if (cluster_.graph) return fmt::format("graph of {} GPUs and switches", run_.topology.vertices());
    if (nodes == 1) return "one node";
    return fmt::format("{} between {} nodes", cluster_.fabric.kind, nodes);
  }

  [[nodiscard]] std::string sites() const {
    const auto& all = cluster_.regions->sites;
    std::string text = counted(static_cast<std::int64_t>(all.size()), "site") + ":";
    for (std::size_t i = 0; i < std::min(all.size(), kMostNames); ++i) {
      text += fmt::format("{} {} ({})", i > 0 ? "," : "", name(all[i].name), counted(all[i].nodes, "node"));
    }
    return all.size() > kMostNames ? text + ", …" : text;
  }

  [[nodiscard]] std::string inside_nodes() const {
    const bool wired = run_.topology.gpus_per_node() * cluster_.node.domain_nodes > 1;
    if (cluster_.graph || !wired || cluster_.node.kind == "none") return "";
    if (cluster_.node.domain_nodes > 1)
      return fmt::format("{} over {} nodes", cluster_.node.kind, cluster_.node.domain_nodes);
    return fmt::format("{} in each node", cluster_.node.kind);
  }

  [[nodiscard]] std::string gpus_of(std::size_t gpu_class) const {
    const Gpu& gpu = cluster_.gpu_of_class(gpu_class);
    std::int64_t nodes = cluster_.groups.empty() ? cluster_.nodes : 0;
    for (const NodeGroup& group : cluster_.groups) nodes += group.gpu_class == gpu_class ? group.nodes : 0;
    const std::int64_t count = cluster_.graph ? run_.topology.gpus() : nodes * cluster_.gpus_per_node;
    return fmt::format("■ {}: {}, {:.3g} GB", counted(count, "GPU"), name(gpu.name), gpu.memory_gb);
  }

  [[nodiscard]] static std::string counted_links(const LinkTraffic& links) {
    const bool unlimited = links.bytes_per_s >= kMaxLinkBytesPerS;
    return fmt::format("{} {} {} {}", links.links, kLinkKindNames[static_cast<std::size_t>(links.kind)],
                       links.links == 1 ? "link" : "links",
                       unlimited ? std::string("without limit") : "of " + rate_text(links.bytes_per_s));
  }

  /// Adds the number of links, their bandwidth and the share of the run in which they carry data.
  void add_links(const LinkTraffic& links) {
    const double room = static_cast<double>(links.bytes_per_s) * to_seconds(run_.timeline.makespan_ps);
    const double mean = static_cast<double>(links.bytes) / static_cast<double>(links.links) / room;
    const double most = static_cast<double>(links.most) / room;
    const std::string load = fmt::format("load {},", percent(mean));
    const std::string busiest = fmt::format("busiest {}", percent(most));
    if (columns_ < kColumnsOfBars) {
      line(fmt::format("{} {} {}", counted_links(links), load, busiest));
      return;
    }
    out_ += fmt::format("  {:<{}} {} {} {}\n", counted_links(links), counts_, load, busiest, load_bar(mean));
  }

  static std::string load_bar(double share) {
    const auto filled = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * kBarCells + 0.5);
    return repeated("█", filled) + repeated("░", kBarCells - filled);
  }

  /// Adds as many nodes as there is room for, and the last.
  void add_nodes() {
    const std::int64_t nodes = run_.topology.gpus() / run_.topology.gpus_per_node();
    const std::int64_t gpus = run_.topology.gpus_per_node();
    const std::string inside =
        gpus <= kMostSquares ? repeated("■", static_cast<std::size_t>(gpus)) : fmt::format("{} x ■", gpus);
    const std::size_t width = std::max(text_width(inside), fmt::format("node {}", nodes - 1).size()) + 2;
    const auto room = std::max<std::int64_t>(1, (columns_ - 3) / static_cast<std::int64_t>(width + 1));
    const std::int64_t drawn = std::min(nodes, room);
    NodeLines lines(inside, width);
    for (std::int64_t i = 0; i < drawn; ++i) {
      const bool skips = drawn < nodes && i + 1 == drawn && drawn > 1;
      lines.add(skips ? nodes - 1 : i, skips);
    }
    out_ += lines.text(nodes > 1, drawn == 1);
  }

  const Cluster& cluster_;
  const RunView& run_;
  int columns_;
  std::size_t counts_ = 0;  ///< columns of the longest counted_links()
  std::string out_;
};

}  // namespace

std::string draw_topology(const Cluster& cluster, const RunView& run, int columns) {
  return TopologyText(cluster, run, columns).text();
}

}  // namespace orrery
