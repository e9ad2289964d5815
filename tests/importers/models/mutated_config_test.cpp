// Files of models that strangers changed: read or refused, never worse.
#include <doctest/doctest.h>

#include <array>
#include <random>
#include <string>

#include "importers/models/imported_model.hpp"
#include "orrery/error.hpp"

namespace orrery::importers {
namespace {

constexpr const char* kHybrid = R"({"model_type": "nemotron_h", "hidden_size": 256, "num_hidden_layers": 4,
  "hybrid_override_pattern": "ME*-", "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64,
  "intermediate_size": 512, "moe_intermediate_size": 128, "n_routed_experts": 8, "num_experts_per_tok": 2,
  "n_shared_experts": 1, "moe_shared_expert_intermediate_size": 256, "mamba_num_heads": 8, "mamba_head_dim": 64,
  "n_groups": 2, "ssm_state_size": 16, "chunk_size": 64, "conv_kernel": 4, "vocab_size": 1000,
  "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})";

/// Holds texts that take the place of a value, or of a few bytes.
constexpr std::array<const char*, 12> kParts{"null", "-1",  "0",    "1e300", "9223372036854775807",
                                             "[]",   "{}",  "\"\"", "true",  "[1,\"x\"]",
                                             "0.5",  "\xff"};

std::string mutated(std::string text, std::mt19937& random) {
  for (int changes = 1 + static_cast<int>(random() % 3); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = random() % text.size();
    const std::size_t colon = text.find(": ", at);
    if (random() % 2 == 0 && colon != std::string::npos) {
      const std::size_t end = std::min(text.find_first_of(",}", colon), text.size());
      text.replace(colon + 2, end - colon - 2, kParts[random() % kParts.size()]);
    } else {
      text.replace(at, std::min<std::size_t>(random() % 8, text.size() - at), random() % 3 == 0 ? "\"" : "");
    }
  }
  return text;
}

}  // namespace

TEST_CASE("mutations of a config.json are read or refused") {
  std::mt19937 random(41);
  for (int i = 0; i < 400; ++i) {
    const std::string text = mutated(kHybrid, random);
    try {
      (void)imported_model(text, {}, i % 2 == 0);
    } catch (const InputError& error) {
      CHECK_FALSE(error.diagnostics().empty());
    }
  }
}

}  // namespace orrery::importers
