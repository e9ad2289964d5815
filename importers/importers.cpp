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
#include "importers/models/huggingface.hpp"

namespace orrery::importers {
namespace {

const std::array kImporters{
    frameworks::kMegatronLog, frameworks::kMegatronYaml, frameworks::kPrimus,     frameworks::kLaunchScript,
    frameworks::kTorchtitan,  frameworks::kGptNeox,      frameworks::kLlmFoundry, frameworks::kAccelerate,
    frameworks::kNemo,        frameworks::kTrainer,      frameworks::kDeepSpeed,  models::kHuggingFace,
};

}  // namespace

std::span<const Importer> importers() { return kImporters; }

std::vector<std::string> importer_names() {
  std::vector<std::string> names;
  for (const Importer& importer : importers()) names.emplace_back(importer.name);
  return names;
}

}  // namespace orrery::importers
