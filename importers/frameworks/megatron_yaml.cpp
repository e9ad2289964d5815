#include "importers/frameworks/megatron_yaml.hpp"

#include <string>
#include <string_view>

#include "importers/frameworks/megatron.hpp"
#include "importers/frameworks/template_values.hpp"

namespace orrery::importers::frameworks {
namespace {

constexpr std::string_view kArguments = "MODEL_ARGS.";
constexpr std::string_view kEnvironment = "ENV_VARS.";
constexpr std::string_view kOverrides = ".overrides.";

bool recognises_arguments(const SourceFile& file) {
  return file.text().find("MODEL_ARGS:") != std::string_view::npos;
}

/// A flag that is false is one that is not given.
bool is_off(const SourceKey& key) { return key.value == false || key.value.is_null(); }

void read_yaml(const ImportContext& context, Draft& draft) {
  LaunchArguments all(context, draft);
  const SourceKeys keys(context.file);
  for (SourceKey key : keys.list()) {
    if (key.key.starts_with(kArguments)) {
      key.key = key.key.substr(kArguments.size());
      key.value = filled(key.value, context, draft);
      if (is_off(key))
        draft.ignore(key, "off");
      else
        add_megatron_argument(key, key.key, all);
    } else if (key.key.starts_with(kEnvironment)) {
      draft.ignore(key, "environment of the run, which Orrery cannot say");
    } else {
      draft.ignore(key, "how the case is tested");
    }
  }
  read_megatron_arguments(all, "Megatron-LM");
}

bool recognises_primus(const SourceFile& file) {
  return file.text().find("pre_trainer:") != std::string_view::npos &&
         file.text().find("overrides:") != std::string_view::npos;
}

/// The name of the model: deepseek_v3 of deepseek_v3.yaml.
void read_model_name(const SourceKey& key, Draft& draft) {
  std::string name = text_of(key.value);
  if (name.ends_with(".yaml")) name.resize(name.size() - 5);
  draft.map(key, launch::kModel, name);
}

void read_primus(const ImportContext& context, Draft& draft) {
  LaunchArguments all(context, draft);
  const SourceKeys keys(context.file);
  for (SourceKey key : keys.list()) {
    key.value = filled(key.value, context, draft);
    const std::size_t overrides = key.key.find(kOverrides);
    if (overrides != std::string::npos)
      add_megatron_argument(key, key.key.substr(overrides + kOverrides.size()), all);
    else if (key.key.ends_with(".model"))
      read_model_name(key, draft);
    else
      draft.ignore(key, "how Primus starts the run");
  }
  read_megatron_arguments(all, "Megatron-LM");
}

}  // namespace

const Importer kMegatronYaml{
    {"megatron-yaml", "model_config.yaml of Megatron-LM (MODEL_ARGS)"}, recognises_arguments, read_yaml};
const Importer kPrimus{{"primus", "configuration of Primus for Megatron-LM"}, recognises_primus, read_primus};

}  // namespace orrery::importers::frameworks
