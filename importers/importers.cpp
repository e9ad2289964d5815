#include "importers/importers.hpp"

#include <array>

#include "importers/frameworks/accelerate.hpp"
#include "importers/frameworks/deepspeed.hpp"
#include "importers/frameworks/gpt_neox.hpp"
#include "importers/frameworks/hf_trainer.hpp"
#include "importers/frameworks/launch_script.hpp"
#include "importers/frameworks/llm_foundry.hpp"
#include "importers/frameworks/megatron_log.hpp"
#include "importers/frameworks/megatron_yaml.hpp"
#include "importers/frameworks/nemo.hpp"
#include "importers/frameworks/torchtitan.hpp"
#include "importers/frameworks/verl.hpp"
#include "importers/machines/ibnetdiscover.hpp"
#include "importers/machines/infragraph.hpp"
#include "importers/machines/nccl_tests.hpp"
#include "importers/machines/nccl_topology.hpp"
#include "importers/machines/slurm_topology.hpp"
#include "importers/machines/smi_matrix.hpp"
#include "importers/models/huggingface.hpp"
#include "importers/models/quantization.hpp"
#include "importers/serving/request_trace.hpp"
#include "importers/serving/serving_files.hpp"
#include "importers/simulators/astra_sim.hpp"
#include "importers/simulators/calculon.hpp"
#include "importers/simulators/chakra.hpp"
#include "importers/simulators/simai.hpp"
#include "importers/simulators/simumax.hpp"

namespace orrery::importers {
namespace {

const std::array kImporters{
    // reinforcement learning, whose files name engines of servers too
    frameworks::kVerl,
    // requests that are served
    serving::kServingCommands,
    serving::kRequestTrace,
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
    // training
    frameworks::kMegatronLog,
    frameworks::kMegatronYaml,
    frameworks::kPrimus,
    frameworks::kLaunchScript,
    frameworks::kTorchtitan,
    frameworks::kGptNeox,
    frameworks::kLlmFoundry,
    frameworks::kAccelerate,
    frameworks::kNemo,
    frameworks::kTrainer,
    frameworks::kDeepSpeed,
    // options of servers, which are told by few keys
    serving::kTensorRtOptions,
    serving::kSglangOptions,
    serving::kVllmOptions,
    // models
    models::kModelOpt,
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
