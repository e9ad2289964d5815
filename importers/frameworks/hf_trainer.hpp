// Reads arguments of trainers of Hugging Face: LLaMA-Factory's YAML, and command lines of scripts.
#pragma once

#include "importers/common/importer.hpp"
#include "importers/frameworks/command_line.hpp"

namespace orrery::importers::frameworks {

extern const Importer kTrainer;

/// Returns true for a command of a trainer of Hugging Face.
[[nodiscard]] bool is_trainer_command(const CommandLine& line);
void read_trainer_command(const CommandLine& line, const ImportContext& context, Draft& draft);

}  // namespace orrery::importers::frameworks
