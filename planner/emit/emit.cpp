#include "planner/emit/emit.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "orrery/require_training.hpp"
#include "planner/emit/export_report.hpp"

namespace orrery {

std::span<const Framework> frameworks() {
  static constexpr std::array<Framework, 4> kFrameworks{{
      {{"megatron", "Megatron-LM: a shell script with the arguments of pretrain_gpt.py."},
       "launch.sh",
       write_megatron},
      {{"torchtitan", "torchtitan: its TOML file."}, "train.toml", write_torchtitan},
      {{"deepspeed", "Megatron-DeepSpeed: a shell script with arguments and DeepSpeed's JSON file."},
       "launch.sh",
       write_deepspeed},
      {{"nemo", "NeMo's Megatron-Bridge: YAML that overrides a recipe."}, "overrides.yaml", write_nemo},
  }};
  return kFrameworks;
}

std::vector<std::string> framework_names() {
  std::vector<std::string> names;
  for (const Framework& framework : frameworks()) names.emplace_back(framework.name);
  return names;
}

std::string emit(std::string_view framework, const Experiment& experiment) {
  const auto found = std::ranges::find(frameworks(), framework, &Framework::name);
  if (found == frameworks().end()) {
    std::vector<std::string_view> names;
    for (const Framework& row : frameworks()) names.push_back(row.name);
    throw InputError(
        "", "found framework " + quote(framework) + ", allowed " + joined(names) + hint(framework, names));
  }
  require_training(experiment, "settings of a training framework");
  if (!experiment.model.attends()) {
    const std::string_view kind = kModelKindNames[static_cast<std::size_t>(experiment.model.kind)];
    throw InputError("/model/kind", "found " + quote(kind) +
                                        ", allowed transformer or moe-transformer: frameworks for language "
                                        "models train no other");
  }
  return found->write(experiment);
}

}  // namespace orrery
