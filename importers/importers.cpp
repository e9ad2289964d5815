#include "importers/importers.hpp"

#include <array>

#include "importers/models/huggingface.hpp"
#include "importers/models/quantization.hpp"

namespace orrery::importers {
namespace {

const std::array kImporters{
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
