// Switches and blocks of Slurm, whatever file has them.
#pragma once

#include <string>
#include <vector>

#include "importers/common/draft.hpp"

namespace orrery::importers::machines {

struct SlurmSwitch {
  std::string name;
  std::string nodes;     ///< a list of hosts, "" for none
  std::string switches;  ///< a list of switches, "" for none
  FilePlace place;
};

struct SlurmBlock {
  std::string name;
  std::string nodes;
  FilePlace place;
};

struct SlurmTree {
  std::vector<SlurmSwitch> switches;
  std::vector<SlurmBlock> blocks;
};

/// Maps nodes, the tree of switches, and blocks as NVLink domains. @throws InputError where a list of hosts
/// is wrong
void map_slurm(const SlurmTree& tree, Draft& draft);

}  // namespace orrery::importers::machines
