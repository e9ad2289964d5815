// Families of models on Hugging Face: what their code does that no key of their files says. A family is a row
// of a table; see families.hpp for the tables.
#pragma once

#include <cstdint>
#include <string_view>

namespace orrery::importers::models {

class ModelReading;

/// Names the norms of a layer.
enum class NormKind : std::uint8_t {
  rms,
  layer,
  layer_without_biases,  ///< as many parameters as rms, and taken as such
};

/// Says which products of a layer carry biases.
struct BiasesOf {
  bool qkv = false;
  bool out = false;
  bool mlp = false;
};

/// Says how a layer is made where no key does.
struct BlockTraits {
  bool gated = true;
  NormKind norm = NormKind::rms;
  std::string_view positions = "rotary";
  bool tied = false;
  bool parallel = false;
  bool post_norms = false;
  std::string_view qk_norm = "none";
  bool qk_norm_is_keyed = false;  ///< only where a key such as use_qk_norm says true
  BiasesOf biases{};
  bool keyed_biases = true;     ///< keys such as attention_bias decide over `biases`
  bool output_is_keyed = true;  ///< attention_bias means the product out of attention too
};

struct Family {
  std::string_view types;      ///< values of model_type, with blanks between
  std::string_view classes{};  ///< names of architectures, the same
  BlockTraits block{};
  /// Keys of a model that files leave out, with the values that the configuration class gives them, as JSON.
  std::string_view defaults = "{}";
  /// More of them, which files leave out only in a text_config: there transformers writes what differs.
  std::string_view nested_defaults = "{}";
  void (*before)(ModelReading&) = nullptr;  ///< takes keys that mean something else than elsewhere
  void (*after)(ModelReading&) = nullptr;   ///< corrects and completes what the usual keys gave
};

/// A family that an experiment cannot say.
struct RefusedFamily {
  std::string_view types;
  std::string_view classes;
  std::string_view reason;
};

}  // namespace orrery::importers::models
