#include "importers/importers.hpp"

#include <array>

#include "importers/models/huggingface.hpp"
#include "importers/models/quantization.hpp"
#include "importers/serving/request_trace.hpp"
#include "importers/serving/serving_files.hpp"

namespace orrery::importers {
namespace {

const std::array kImporters{
    serving::kServingCommands, serving::kRequestTrace, serving::kTensorRtOptions, serving::kSglangOptions,
    serving::kVllmOptions,     models::kModelOpt,      models::kHuggingFace,
};

}  // namespace

std::span<const Importer> importers() { return kImporters; }

std::vector<std::string> importer_names() {
  std::vector<std::string> names;
  for (const Importer& importer : importers()) names.emplace_back(importer.name);
  return names;
}

}  // namespace orrery::importers
