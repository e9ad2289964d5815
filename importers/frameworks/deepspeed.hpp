// Reads DeepSpeed's JSON. Most sizes may be "auto": the trainer's file fills them in.
#pragma once

#include <string>

#include "importers/common/importer.hpp"
#include "importers/frameworks/arguments.hpp"

namespace orrery::importers::frameworks {

extern const Importer kDeepSpeed;

/// Reads keys of DeepSpeed's file, named by their path: zero_optimization.stage.
void read_deepspeed_keys(LaunchArguments& all);
/// Reads a file of DeepSpeed that stands in another one, at `place`.
void read_deepspeed_text(const std::string& text, const ImportContext& context, const FilePlace& place,
                         Draft& draft);
/// Returns why a key of DeepSpeed changes nothing here; "" for an unknown one.
[[nodiscard]] std::string_view reason_in_deepspeed(std::string_view name);

}  // namespace orrery::importers::frameworks
