// topology.yaml of Slurm, a list of topologies of which the default one counts; and models of NVIDIA's
// topograph, switches and blocks by name.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "config/text/document.hpp"
#include "config/text/yaml_text.hpp"
#include "importers/common/text_lines.hpp"
#include "importers/machines/slurm_topology.hpp"
#include "importers/machines/slurm_tree.hpp"
#include "orrery/error.hpp"

namespace orrery::importers::machines {
namespace {

bool is_topology_yaml(const SourceFile& file) {
  bool topology = false, switches = false, nodes = false;
  const SourceFile head = head_of(file, kMaxYamlBytes);
  for (const TextLine& line : lines_of(head)) {
    topology = topology || line.text.starts_with("- topology:");
    switches = switches || line.text == "switches:" || line.text.starts_with("switches: ");
    nodes = nodes || line.text.starts_with("nodes:") || line.text.starts_with("blocks:") ||
            line.text.starts_with("capacity_blocks:");
  }
  return topology || (switches && nodes);
}

/// The member `key` of `value`; null where there is none.
const Json& member(const Json& value, const char* key) {
  static const Json kNone;
  const auto found = value.is_object() ? value.find(key) : value.end();
  return value.is_object() && found != value.end() ? *found : kNone;
}

/// A list of names as text: a text stands as it is, elements of a list are joined.
std::string names_in(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (value.is_string()) return value.get<std::string>();
  std::string names;
  if (value.is_array())
    for (const Json& name : value) {
      const std::string text = name.is_string()   ? name.get<std::string>()
                               : name.is_number() ? name.dump()
                                                  : "";
      if (!text.empty()) names += (names.empty() ? "" : ",") + text;
    }
  return names;
}

/// The topology that Slurm takes where a job names none.
const Json& default_topology(const Json& list) {
  const auto is_default = [](const Json& topology) { return member(topology, "cluster_default") == true; };
  const auto found = std::ranges::find_if(list, is_default);
  return found == list.end() ? list.front() : *found;
}

void add_slurm_topology(const Json& topology, const FilePlace& place, SlurmTree& tree) {
  for (const Json& part : member(member(topology, "tree"), "switches"))
    tree.switches.push_back(
        {names_in(part, "switch"), names_in(part, "nodes"), names_in(part, "children"), place});
  for (const Json& block : member(member(topology, "block"), "blocks"))
    tree.blocks.push_back({names_in(block, "block"), names_in(block, "nodes"), place});
}

void add_topograph_blocks(const Json& blocks, const FilePlace& place, SlurmTree& tree) {
  for (const auto& [name, block] : blocks.items()) {
    const std::string nodes = names_in(block, "nodes");
    tree.blocks.push_back({name, nodes, place});
    const std::string above = names_in(block, "switch");
    if (!above.empty()) tree.switches.push_back({above, nodes, "", place});
  }
}

void add_topograph(const Json& model, const FilePlace& place, SlurmTree& tree) {
  for (const auto& [name, part] : member(model, "switches").items())
    tree.switches.push_back({name, names_in(part, "nodes"), names_in(part, "switches"), place});
  for (const char* key : {"blocks", "capacity_blocks"}) add_topograph_blocks(member(model, key), place, tree);
}

void read_topology_yaml(const ImportContext& context, Draft& draft) {
  const Document document = parse_document(context.file.text(), context.file.path());
  const FilePlace place{context.file.path(), 1};
  SlurmTree tree;
  if (document.value.is_array() && !document.value.empty()) {
    const Json& chosen = default_topology(document.value);
    if (!chosen.is_object())
      throw InputError(
          {Diagnostic{place.file, 1, 1, "", "allowed a list of objects with topology and tree or block"}});
    add_slurm_topology(chosen, place, tree);
    if (document.value.size() > 1)
      draft.ignore({"topology", document.value.size() - 1, place},
                   "topologies that are not the default one of the cluster");
  } else if (document.value.is_object()) {
    add_topograph(document.value, place, tree);
  }
  map_slurm(tree, draft);
}

}  // namespace

const Importer kTopologyYaml{
    {"topology-yaml", "Switches and blocks of Slurm (topology.yaml) or of topograph"},
    is_topology_yaml,
    read_topology_yaml};

}  // namespace orrery::importers::machines
