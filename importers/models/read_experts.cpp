// Mixtures of experts in files of Hugging Face: how many, how wide, and in which layers.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "importers/models/decoder.hpp"

namespace orrery::importers::models {
namespace {

const Names kExperts{"num_local_experts", "num_experts",        "n_routed_experts",
                     "moe_num_experts",   "num_routed_experts", "ffn_config.moe_num_experts"};
const Names kChosen{
    "num_experts_per_tok", "num_experts_per_token", "experts_per_token",   "moe_top_k", "moe_topk", "moe_k",
    "top_k_experts",       "num_selected_experts",  "ffn_config.moe_top_k"};
const Names kExpertWidth{"moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size",
                         "expert_intermediate_size"};
const Names kSharedNumber{"n_shared_experts", "num_shared_experts", "num_shared_expert",
                          "moe_num_shared_experts"};
const Names kSharedWidth{"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                         "share_expert_dim", "shared_intermediate_size"};

Keys joined_keys(Keys keys, const Keys& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

/// A number that some files give for each layer, always alike: that of the first.
void flatten(ModelReading& r, std::string_view ours) {
  const Json value = r.value(ours);
  if (!value.is_array() || value.empty()) return;
  const bool alike = std::ranges::all_of(value, [&value](const Json& each) { return each == value.front(); });
  const Json first = value.front();
  if (alike || r.cannot(r.facts().at(std::string(ours)).keys, "layers with other numbers of experts",
                        "that of the first layer"))
    r.set(ours, first, "the same in every layer");
}

/// Shared experts by number, or by their width together.
void read_shared(ModelReading& r) {
  const auto width = r.keys.integer(kSharedWidth);
  const std::int64_t number = r.keys.integer(kSharedNumber).value_or(width.value_or(0) > 0 ? 1 : 0);
  const std::int64_t each =
      std::max<std::int64_t>(1, r.count_or("expert_ffn_hidden", r.count_or("ffn_hidden", 1)));
  const Keys keys = joined_keys(r.keys.take(kSharedNumber), r.keys.take(kSharedWidth));
  if (keys.empty()) return;
  const std::int64_t whole = product_of({number, width.value_or(each)});
  if (width == 0 || whole == 0) return r.set("shared_experts", 0, keys);
  if (whole % each == 0) return r.set("shared_experts", whole / each, keys);
  const std::int64_t nearest = std::max<std::int64_t>(1, (whole + each / 2) / each);
  if (r.cannot(keys, fmt::format("a shared expert of width {} beside others of {}", whole, each),
               fmt::format("{} of {}", nearest, each)))
    r.set("shared_experts", nearest, keys);
}

/// Groups of experts of which a token chooses some: only where they divide what a token chooses.
void read_groups(ModelReading& r) {
  const auto groups = r.keys.integer({"n_group", "num_expert_group", "n_groups_of_experts"});
  const auto chosen = r.keys.integer({"topk_group"});
  const Keys of = r.keys.take({"num_expert_group"});
  const Keys keys = joined_keys(joined_keys(r.keys.take({"n_group"}), of), r.keys.take({"topk_group"}));
  if (groups.value_or(1) <= 1 || chosen.value_or(0) < 1) return r.ignore(keys, "experts are in one group");
  if (*chosen == *groups) return r.ignore(keys, "a token chooses from all groups");
  if (r.count_or("experts_per_token", 0) % *chosen != 0 || r.count_or("experts", 0) % *groups != 0)
    return r.ignore(keys, "groups that do not divide what a token chooses: any expert may be chosen");
  const std::size_t first = keys.size() > 1 ? keys.size() - 1 : 0;
  r.set("expert_groups", *groups, Keys(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(first)));
  r.set("groups_per_token", *chosen, Keys(keys.begin() + static_cast<std::ptrdiff_t>(first), keys.end()));
}

using IsExpert = bool (*)(std::int64_t layer, std::int64_t number);

void place(ModelReading& r, LayerMlp mlp, std::int64_t number, IsExpert is) {
  r.each_layer([&](std::int64_t at, LayerRun& layer) {
    if (layer.mlp != LayerMlp::none && is(at, number)) layer.mlp = mlp;
  });
}

/// A list of 0 and 1, or of "dense" and "sparse", one for each layer.
void place_by_list(ModelReading& r, const Json& list) {
  r.each_layer([&list](std::int64_t at, LayerRun& layer) {
    const auto index = static_cast<std::size_t>(at);
    if (index >= list.size()) return;
    const bool dense = list[index] == 0 || list[index] == false || list[index] == "dense";
    layer.mlp = dense ? LayerMlp::dense : LayerMlp::experts;
  });
}

/// Layers of a list of numbers.
void place_in(ModelReading& r, LayerMlp mlp, const Json& list) {
  for (const Json& entry : list)
    if (const auto layer = integer_of(entry); layer && *layer < static_cast<std::int64_t>(r.layers.size()))
      r.layers[static_cast<std::size_t>(*layer)].mlp = mlp;
}

}  // namespace

bool read_experts(ModelReading& r) {
  const bool any =
      r.keys.integer(kExperts).value_or(r.count_or("experts", 0)) > 1 || r.keys.value(kExperts).is_array();
  if (!any) {
    for (const Names& names : {kExperts, kChosen, kExpertWidth, kSharedNumber, kSharedWidth})
      r.ignore(r.keys.take(names), "the model has no experts");
    return false;
  }
  r.set("kind", "moe-transformer", "some layers have experts");
  r.set_from("experts", kExperts);
  r.set_from("experts_per_token", kChosen);
  if (!r.set_from("expert_ffn_hidden", kExpertWidth) && !r.value("ffn_hidden").is_null() &&
      r.value("expert_ffn_hidden").is_null())
    r.set("expert_ffn_hidden", r.value("ffn_hidden"), "the file has one width, that of experts");
  for (const std::string_view ours : {"experts", "experts_per_token", "expert_ffn_hidden"}) flatten(r, ours);
  if (r.value("ffn_hidden").is_null() && !r.value("expert_ffn_hidden").is_null())
    r.set("ffn_hidden", r.value("expert_ffn_hidden"), "no layer is dense: the width of an expert");
  read_shared(r);
  read_groups(r);
  return true;
}

void place_experts(ModelReading& r) {
  place(r, LayerMlp::experts, 0, [](std::int64_t, std::int64_t) { return true; });
  const Json frequency = r.keys.value({"moe_layer_freq", "mlp_layer_types", "moe_layers_pattern"});
  const auto every =
      r.keys.integer({"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval"});
  if (every && *every > 1)
    place(r, LayerMlp::dense, *every,
          [](std::int64_t layer, std::int64_t n) { return (layer + 1) % n != 0; });
  if (every == 0) place(r, LayerMlp::dense, 0, [](std::int64_t, std::int64_t) { return true; });
  if (const auto n = integer_of(frequency); n && *n > 1)
    place(r, LayerMlp::dense, *n, [](std::int64_t layer, std::int64_t of) { return layer % of != 0; });
  if (frequency.is_array()) place_by_list(r, frequency);
  if (const auto n = r.keys.integer({"first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"}))
    place(r, LayerMlp::dense, *n, [](std::int64_t layer, std::int64_t first) { return layer < first; });
  if (const auto n = r.keys.integer({"moe_layer_end_index"}))
    place(r, LayerMlp::dense, *n, [](std::int64_t layer, std::int64_t last) { return layer > last; });
  place_in(r, LayerMlp::dense, r.keys.value({"mlp_only_layers"}));
}

}  // namespace orrery::importers::models
