#include "importers/models/quantization.hpp"

#include <array>
#include <optional>
#include <string>

#include "config/text/wording.hpp"

namespace orrery::importers::models {
namespace {

/// Formats of numbers as served: what products compute in, and what weights are kept in where that is
/// narrower.
struct ServedFormat {
  std::string_view name;       ///< as tools call it
  std::string_view precision;  ///< of products; "": 16 bits
  std::string_view weights;    ///< kept so, and widened on the way into a product; "": as computed
};
constexpr std::array<ServedFormat, 18> kFormats{{
    {"FP8", "fp8", ""},
    {"FP8_PER_CHANNEL_PER_TOKEN", "fp8", ""},
    {"FP8_PB_WO", "fp8-blockwise", ""},
    {"FP8_BLOCK_SCALES", "fp8-blockwise", ""},
    {"NVFP4", "fp4", ""},
    {"W4A16_AWQ", "", "int4"},
    {"W4A8_AWQ", "fp8", "int4"},
    {"W8A16", "", "int8"},
    {"W4A16", "", "int4"},
    {"W4A8_MXFP4_FP8", "fp8", "fp4"},
    {"fp8", "fp8", ""},
    {"fbgemm_fp8", "fp8", ""},
    {"mxfp4", "", "fp4"},
    {"mxfp8", "mxfp8", ""},
    {"modelopt", "fp8", ""},
    {"modelopt_fp4", "fp4", ""},
    {"awq", "", "int4"},
    {"gptq", "", "int4"},
}};

constexpr const char* kServedNote = "where requests are served; training computes in what the plan says";

void take_format(const SourceKey& key, const ServedFormat& format, Draft& draft) {
  if (!format.precision.empty())
    draft.map(key, launch::kServedPrecision, std::string(format.precision), kServedNote);
  if (!format.weights.empty())
    draft.map(key, launch::kServedWeights, std::string(format.weights), kServedNote);
}

std::optional<ServedFormat> format_named(const Json& name) {
  if (!name.is_string()) return std::nullopt;
  for (const ServedFormat& format : kFormats)
    if (format.name == name.get_ref<const std::string&>()) return format;
  return std::nullopt;
}

/// Formats whose name leaves the bits to another key.
ServedFormat with_bits(ServedFormat format, const Json& method, const Json& bits, bool in_blocks) {
  if (method == "fp8" && in_blocks) format.precision = "fp8-blockwise";
  if ((method == "gptq" || method == "awq") && bits == 8) format.weights = "int8";
  return format;
}

/// compressed-tensors describes weights and activations of groups of layers; the first group decides.
std::optional<ServedFormat> compressed_format(const Json& bits, const Json& type, bool narrow_activations) {
  const bool floats = type == "float";
  if (bits == 8 && floats && narrow_activations) return ServedFormat{"", "fp8", ""};
  if (bits == 8) return ServedFormat{"", "", floats ? "fp8" : "int8"};
  if (bits == 4 && floats && narrow_activations) return ServedFormat{"", "fp4", ""};
  if (bits == 4) return ServedFormat{"", "", floats ? "fp4" : "int4"};
  return std::nullopt;
}

std::optional<ServedFormat> format_of(const SourceKeys& keys) {
  const Json& method = keys.value("quant_method");
  if (const auto named = format_named(keys.value("quant_algo"))) return named;
  if (const auto named = format_named(method))
    return with_bits(*named, method, keys.contains("bits") ? keys.value("bits") : keys.value("w_bit"),
                     keys.contains("weight_block_size"));
  if (method == "bitsandbytes")
    return ServedFormat{"", "", keys.value("load_in_4bit") == true ? "int4" : "int8"};
  const std::string group = "config_groups.group_0.";
  return compressed_format(keys.value(group + "weights.num_bits"), keys.value(group + "weights.type"),
                           keys.contains(group + "input_activations.num_bits"));
}

bool is_scheme(std::string_view key) {
  constexpr std::array<std::string_view, 2> kNames{"quant_method", "quant_algo"};
  return key == kNames[0] || key == kNames[1];
}

/// Reports keys of one quantisation: the scheme is taken, and all others follow from it.
void read_scheme(const SourceKeys& keys, Draft& draft) {
  const auto format = format_of(keys);
  bool taken = false;
  for (const SourceKey& key : keys.list()) {
    if (key.key == "kv_cache_quant_algo" && !key.value.is_null()) {
      draft.map(key, launch::kServedCache, "fp8", kServedNote);
    } else if (format && !taken && is_scheme(key.key) && !key.value.is_null()) {
      take_format(key, *format, draft);
      taken = true;
    } else {
      draft.ignore(key, format ? "details of the quantisation" : "a quantisation that no experiment can say");
    }
  }
}

bool is_modelopt(const SourceFile& file) {
  return file.text().find("\"quant_algo\"") != std::string_view::npos &&
         file.text().find("\"model_type\"") == std::string_view::npos;
}

void read_modelopt(const ImportContext& context, Draft& draft) {
  const SourceKeys all(context.file);
  const SourceKeys below = all.below("quantization");
  for (const SourceKey& key : all.list())
    if (!key.key.starts_with("quantization.")) draft.ignore(key, "names the tool that wrote it");
  read_scheme(below, draft);
}

}  // namespace

void read_quantization(ConfigKeys& keys, Draft& draft) {
  SourceKeys scheme;
  for (const SourceKey* key : keys.take_part("quantization_config")) {
    SourceKey inner = *key;
    inner.key = inner.key.substr(inner.key.find("quantization_config.") + 20);
    scheme.add(std::move(inner));
  }
  read_scheme(scheme, draft);
}

const Importer kModelOpt{
    {"hf-quantization", "hf_quant_config.json: how the weights of a model are quantised"},
    is_modelopt,
    read_modelopt};

}  // namespace orrery::importers::models
