#include "importers/importers.hpp"

#include <array>

#include "importers/machines/nccl_topology.hpp"
#include "importers/models/huggingface.hpp"
#include "importers/models/quantization.hpp"
#include "importers/simulators/calculon.hpp"
#include "importers/simulators/simumax.hpp"

namespace orrery::importers {
namespace {

const std::array kImporters{
    machines::kNcclTopology,        machines::kNcclGraphs,       simulators::kCalculonApplication,
    simulators::kCalculonExecution, simulators::kCalculonSystem, simulators::kSimumaxStrategy,
    simulators::kSimumaxSystem,     simulators::kSimumaxModel,   models::kModelOpt,
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
