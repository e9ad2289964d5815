#include "importers/importers.hpp"

#include <array>

#include "importers/machines/ibnetdiscover.hpp"
#include "importers/machines/infragraph.hpp"
#include "importers/machines/nccl_tests.hpp"
#include "importers/machines/nccl_topology.hpp"
#include "importers/machines/slurm_topology.hpp"
#include "importers/machines/smi_matrix.hpp"
#include "importers/models/huggingface.hpp"
#include "importers/simulators/astra_sim.hpp"
#include "importers/simulators/calculon.hpp"
#include "importers/simulators/chakra.hpp"
#include "importers/simulators/simai.hpp"
#include "importers/simulators/simumax.hpp"

namespace orrery::importers {
namespace {

const std::array kImporters{
    // machines
    machines::kNcclTopology,
    machines::kNcclGraphs,
    machines::kSmiMatrix,
    machines::kIbnetdiscover,
    machines::kSlurmTopology,
    machines::kTopologyYaml,
    machines::kNcclTests,
    machines::kInfragraph,
    // other simulators
    simulators::kCalculonApplication,
    simulators::kCalculonExecution,
    simulators::kCalculonSystem,
    simulators::kSimumaxStrategy,
    simulators::kSimumaxSystem,
    simulators::kSimumaxModel,
    simulators::kSimaiTopology,
    simulators::kSimaiWorkload,
    simulators::kAstraNetwork,
    simulators::kAstraSystem,
    simulators::kChakraJson,
    simulators::kChakraTrace,
    // models
    models::kHuggingFace,
};

}  // namespace

std::span<const Importer> importers() { return kImporters; }

std::vector<std::string> importer_names() {
  std::vector<std::string> names;
  for (const Importer& importer : importers()) names.emplace_back(importer.name);
  return names;
}

}  // namespace orrery::importers
