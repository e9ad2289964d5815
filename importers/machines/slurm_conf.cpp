// topology.conf: a line a switch or a block, such as SwitchName=leaf1 Nodes=srv[01-16].
#include <algorithm>
#include <string>
#include <string_view>

#include "importers/common/text_lines.hpp"
#include "importers/machines/slurm_topology.hpp"
#include "importers/machines/slurm_tree.hpp"

namespace orrery::importers::machines {
namespace {

constexpr std::size_t kHeadOfConf = 65536;

bool begins_with(std::string_view line, std::string_view key) {
  return small(trimmed(line).substr(0, key.size())) == key;
}

bool is_slurm_conf(const SourceFile& file) {
  const SourceFile head = head_of(file, kHeadOfConf);
  return std::ranges::any_of(lines_of(head), [](const TextLine& line) {
    return begins_with(line.text, "switchname=") || begins_with(line.text, "blockname=");
  });
}

/// The value of `key` in a line of KEY=VALUE words, "" where it has none.
std::string value_in(std::string_view line, std::string_view key) {
  for (const std::string_view word : words_of(line))
    if (const std::size_t equals = word.find('='); equals != std::string_view::npos)
      if (small(word.substr(0, equals)) == key) return std::string(word.substr(equals + 1));
  return "";
}

void read_line(std::string_view line, const SourceKey& key, SlurmTree& tree, Draft& draft) {
  if (begins_with(line, "switchname="))
    tree.switches.push_back(
        {value_in(line, "switchname"), value_in(line, "nodes"), value_in(line, "switches"), key.place});
  else if (begins_with(line, "blockname="))
    tree.blocks.push_back({value_in(line, "blockname"), value_in(line, "nodes"), key.place});
  else if (begins_with(line, "blocksizes="))
    draft.ignore({"BlockSizes", value_in(line, "blocksizes"), key.place},
                 "sizes of allocations: jobs here take nodes side by side");
  else if (!trimmed(line).empty())
    draft.ignore({std::string(words_of(line).front()), nullptr, key.place},
                 "says neither a switch nor a block");
}

void read_slurm_conf(const ImportContext& context, Draft& draft) {
  SlurmTree tree;
  std::string joined;
  for (const TextLine& line : lines_of(context.file)) {
    joined += line.text.substr(0, line.text.find('#'));
    if (joined.ends_with('\\')) {
      joined.back() = ' ';
      continue;
    }
    read_line(joined, key_at(context.file, line.number, "", nullptr), tree, draft);
    joined.clear();
  }
  map_slurm(tree, draft);
}

}  // namespace

const Importer kSlurmTopology{
    {"slurm-topology", "Switches and blocks of Slurm (topology.conf)"}, is_slurm_conf, read_slurm_conf};

}  // namespace orrery::importers::machines
