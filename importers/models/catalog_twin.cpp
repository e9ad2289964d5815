#include "importers/models/catalog_twin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "config/catalog/spelling.hpp"
#include "config/text/wording.hpp"

namespace orrery::importers::models {
namespace {

/// Holds the sizes by which a model is known.
constexpr std::array<std::string_view, 8> kSizes{
    "layers", "hidden", "heads", "kv_heads", "vocab", "experts", "expert_ffn_hidden", "ffn_hidden"};
constexpr int kMostUnlike = 1;  ///< of those sizes, for a model to be taken for one of the catalog

/// Holds keys that a model has in common with an entry, beside sizes, if it is of its kind.
constexpr std::array<std::string_view, 6> kKinds{"gated_mlp", "normalization", "positions",
                                                 "causal",    "biases",        "parallel_block"};

/// Keys in which a model may differ from the entry.
constexpr std::array<std::string_view, 25> kCompared{"max_positions",
                                                     "latent_attention.kv_rank",
                                                     "indexer.top_k",
                                                     "layers",
                                                     "hidden",
                                                     "ffn_hidden",
                                                     "heads",
                                                     "kv_heads",
                                                     "head_dim",
                                                     "vocab",
                                                     "gated_mlp",
                                                     "tied_embeddings",
                                                     "biases",
                                                     "qkv_biases",
                                                     "qk_norm",
                                                     "post_norms",
                                                     "window",
                                                     "window_pattern",
                                                     "experts",
                                                     "experts_per_token",
                                                     "shared_experts",
                                                     "expert_ffn_hidden",
                                                     "dense_layers",
                                                     "moe_layer_frequency",
                                                     "multi_token_prediction"};

const Json& member(const Json& entry, std::string_view key) {
  static const Json kNone;
  const std::size_t dot = key.find('.');
  const auto found = entry.find(std::string(key.substr(0, dot)));
  if (found == entry.end()) return kNone;
  return dot == std::string_view::npos ? *found : member(*found, key.substr(dot + 1));
}

/// A value, or what an experiment takes where there is none.
Json completed(std::string_view key, const Json& value, const auto& other) {
  if (!value.is_null()) return value;
  if (key == "kv_heads") return other("heads");
  if (key == "head_dim") {
    const auto hidden = integer_of(other("hidden")), heads = integer_of(other("heads"));
    return hidden && heads.value_or(0) > 0 ? Json(*hidden / *heads) : Json();
  }
  if (key == "moe_layer_frequency") return 1;
  if (key == "qk_norm") return "none";
  if (key == "qkv_biases") return other("biases");
  if (key == "max_positions" && other("positions") == "learned") return other("seq_length");
  if (key == "causal") return true;
  constexpr std::array kFlags{"post_norms", "parallel_block", "biases", "gated_mlp", "tied_embeddings"};
  if (std::ranges::find(kFlags, key) != kFlags.end()) return false;
  return 0;
}

Json of_entry(const Json& entry, std::string_view key) {
  return completed(key, member(entry, key), [&entry](std::string_view k) { return member(entry, k); });
}

Json of_reading(const ModelReading& r, std::string_view key) {
  return completed(key, r.value(key), [&r](std::string_view k) { return r.value(k); });
}

bool has_dense_layers(const ModelReading& r) {
  return std::ranges::any_of(r.layers, [](const LayerRun& layer) { return layer.mlp == LayerMlp::dense; });
}

bool is_compared(const ModelReading& r, std::string_view key) {
  const bool latent = !r.value("latent_attention.kv_rank").is_null();
  if (latent && (key == "kv_heads" || key == "head_dim")) return false;
  return key != "ffn_hidden" || has_dense_layers(r);
}

std::string differences(const ModelReading& r, const Json& entry) {
  std::string text;
  for (const std::string_view key : kCompared) {
    if (!is_compared(r, key)) continue;
    const Json here = of_reading(r, key), there = of_entry(entry, key);
    if (here == there) continue;
    text += fmt::format("{}{} {} here, {} there", text.empty() ? "" : "; ", key, described(here),
                        described(there));
  }
  return text;
}

bool is_of_kind(const ModelReading& r, const Json& entry) {
  return std::ranges::all_of(
      kKinds, [&](std::string_view key) { return of_reading(r, key) == of_entry(entry, key); });
}

std::int64_t unlike_sizes(const ModelReading& r, const Json& entry) {
  return std::ranges::count_if(kSizes, [&](std::string_view key) {
    return is_compared(r, key) && of_reading(r, key) != of_entry(entry, key);
  });
}

struct Twin {
  std::string name;
  Json entry;
};

Twin twin_by_sizes(const ModelReading& r, const Catalog& catalog) {
  Twin best;
  std::int64_t least = kMostUnlike + 1;
  for (const std::string& name : catalog.names(CatalogKind::model)) {
    Json entry = Json::parse(catalog.text(CatalogKind::model, name));
    if (of_reading(r, "layers") != of_entry(entry, "layers") || !is_of_kind(r, entry)) continue;
    const std::int64_t unlike = unlike_sizes(r, entry);
    const bool as_sparse = of_reading(r, "indexer.top_k") == of_entry(entry, "indexer.top_k");
    if (unlike >= least || !as_sparse) continue;
    least = unlike;
    best = {name, std::move(entry)};
  }
  return best;
}

/// The last part of a path or of a name on a hub.
std::string_view last_part(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

std::string compare_with_twin(ModelReading& r, const Catalog& catalog, std::string_view called) {
  const std::vector<std::string> names = catalog.names(CatalogKind::model);
  const std::string_view named = spelled_otherwise(last_part(called), views(names));
  Twin twin = twin_by_sizes(r, catalog);
  if (twin.name.empty() && !named.empty())
    twin = {std::string(named), Json::parse(catalog.text(CatalogKind::model, named))};
  if (twin.name.empty()) return "";
  const std::string differs = differences(r, twin.entry);
  if (!differs.empty()) return fmt::format("differs from the catalog's {}: {}", twin.name, differs);
  r.set("name", twin.name, "the catalog has this model");
  return fmt::format("as the catalog's {}", twin.name);
}

}  // namespace orrery::importers::models
