// The tables of families of models on Hugging Face. A family is a row; the files beside this one hold the
// rows and the few lines of code that some need.
#pragma once

#include <span>
#include <string_view>

#include "importers/models/family.hpp"

namespace orrery::importers::models {

[[nodiscard]] std::span<const Family> llama_families();    ///< dense, gated, RMSNorm, rotary
[[nodiscard]] std::span<const Family> dense_families();    ///< the other dense decoders
[[nodiscard]] std::span<const Family> expert_families();   ///< mixtures of experts
[[nodiscard]] std::span<const Family> hybrid_families();   ///< layers of several kinds
[[nodiscard]] std::span<const Family> encoder_families();  ///< encoders, and encoders with decoders

[[nodiscard]] std::span<const RefusedFamily> refused_families();

/// Returns true if `name` is one of the names in `list`, which have blanks between them.
[[nodiscard]] bool is_among(std::string_view list, std::string_view name);

}  // namespace orrery::importers::models
