// Reads arguments of Megatron-LM, whatever file they stand in: a log, YAML, a script, or the configuration of
// a framework around Megatron Core. Names are those of megatron/training/arguments.py with underscores.
#pragma once

#include <string>
#include <string_view>

#include "importers/frameworks/arguments.hpp"

namespace orrery::importers::frameworks {

/// Adds a key of a file to `all` under the name of the table here: older spellings, --no-... and arguments of
/// Megatron-DeepSpeed included. `name`: as the file calls it, with hyphens or underscores.
void add_megatron_argument(const SourceKey& key, std::string_view name, LaunchArguments& all);

/// Puts all arguments into the draft, with the defaults of `framework`, such as "Megatron-LM", where nothing
/// gives a value.
void read_megatron_arguments(LaunchArguments& all, const std::string& framework);

/// Puts what it knows into the draft, and leaves the rest to the caller.
void read_megatron_parts(LaunchArguments& all, const std::string& framework);

/// Puts how a part of a job is laid out, and its memory, into the draft: the plan without a model or a batch.
void read_megatron_plan(LaunchArguments& all, const std::string& framework);

/// Returns true for a name that arguments.py has for model or plan, which tells a command that trains.
[[nodiscard]] bool is_megatron_argument(std::string_view name);

// Parts of it, each in a file.
void read_megatron_model(LaunchArguments& all, const std::string& framework);
void read_megatron_experts(LaunchArguments& all, const std::string& framework);
void read_megatron_dispatch(LaunchArguments& all);  ///< how tokens get to experts
void read_megatron_pattern(LaunchArguments& all);
void read_megatron_pipeline(LaunchArguments& all);
void read_megatron_batch(LaunchArguments& all);
void read_megatron_memory(LaunchArguments& all, const std::string& framework);
void read_megatron_precision(LaunchArguments& all, const std::string& framework);
/// GPUs of the job, as launchers and schedulers are told.
void read_launcher_arguments(LaunchArguments& all);
/// Returns why an argument changes nothing here, or that Orrery cannot say it; "" for an unknown one.
[[nodiscard]] std::string_view reason_to_ignore(std::string_view name);

}  // namespace orrery::importers::frameworks
