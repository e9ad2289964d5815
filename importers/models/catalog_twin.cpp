#include "importers/models/catalog_twin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "config/catalog/spelling.hpp"
#include "config/text/wording.hpp"

namespace orrery::importers::models {
namespace {

/// Sizes that make a model what it is.
constexpr std::array<std::string_view, 8> kSizes{
    "layers", "hidden", "heads", "kv_heads", "vocab", "experts", "expert_ffn_hidden", "ffn_hidden"};
constexpr int kEnough = 6;  ///< of those sizes, for a model to be the one of the catalog

/// Keys in which a model may differ from the entry.
constexpr std::array<std::string_view, 22> kCompared{"layers",
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
  const auto found = entry.find(std::string(key));
  return found == entry.end() ? kNone : *found;
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
  constexpr std::array kFlags{"post_norms", "biases", "gated_mlp", "tied_embeddings"};
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

int likeness(const ModelReading& r, const Json& entry) {
  if (of_reading(r, "layers") != of_entry(entry, "layers")) return 0;
  if (of_reading(r, "hidden") != of_entry(entry, "hidden")) return 0;
  return static_cast<int>(std::ranges::count_if(kSizes, [&](std::string_view key) {
    return !is_compared(r, key) || of_reading(r, key) == of_entry(entry, key);
  }));
}

struct Twin {
  std::string name;
  Json entry;
};

Twin twin_by_sizes(const ModelReading& r, const Catalog& catalog) {
  Twin best;
  int most = kEnough - 1;
  for (const std::string& name : catalog.names(CatalogKind::model)) {
    Json entry = Json::parse(catalog.text(CatalogKind::model, name));
    const int alike = likeness(r, entry);
    if (alike <= most) continue;
    most = alike;
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

void name_after_twin(ModelReading& r, const Catalog& catalog, std::string_view called) {
  const std::vector<std::string> names = catalog.names(CatalogKind::model);
  const std::string_view named = spelled_otherwise(last_part(called), views(names));
  Twin twin = twin_by_sizes(r, catalog);
  if (twin.name.empty() && !named.empty())
    twin = {std::string(named), Json::parse(catalog.text(CatalogKind::model, named))};
  if (twin.name.empty()) return;
  const std::string differs = differences(r, twin.entry);
  const std::string likeness_note =
      differs.empty() ? fmt::format("as the catalog's {}", twin.name)
                      : fmt::format("differs from the catalog's {}: {}", twin.name, differs);
  r.set("name", differs.empty() ? twin.name : fmt::format("{} of the file", twin.name), likeness_note);
}

}  // namespace orrery::importers::models
