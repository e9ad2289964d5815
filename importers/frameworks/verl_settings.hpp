// Settings of a launch of verl, whatever file they stand in.
#pragma once

#include <string>

#include "importers/common/importer.hpp"
#include "importers/common/source_keys.hpp"

namespace orrery::importers::frameworks {

struct VerlSettings {
  SourceKeys keys;      ///< by their full names, such as actor_rollout_ref.rollout.n
  std::string program;  ///< the module that runs, such as verl.trainer.main_ppo; "" of YAML
};

[[nodiscard]] bool is_verl(const SourceFile& file);
/// Reads the overrides of the command that trains, or all keys of YAML with interpolations in place. Words of
/// the command without a value are reported in `draft`.
[[nodiscard]] VerlSettings verl_settings(const ImportContext& context, Draft& draft);

}  // namespace orrery::importers::frameworks
