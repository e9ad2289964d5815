// The three files of SimuMax (Moore Threads): model, strategy and system. Its models are of LLaMA's kind:
// RMSNorm, rotary positions, no biases, an output projection of its own.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::simulators {

extern const Importer kSimumaxModel;
extern const Importer kSimumaxStrategy;
extern const Importer kSimumaxSystem;

}  // namespace orrery::importers::simulators
