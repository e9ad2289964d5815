// Reads what nearly all language models have in common: sizes, attention, MLP, experts, kinds of layers.
#pragma once

#include "importers/models/model_reading.hpp"

namespace orrery::importers::models {

/// Reads a model by the keys that families share, with before() and after() of its own around them.
void read_decoder(ModelReading& reading);

/// Reads widths, numbers of layers and heads, vocabulary and context.
void read_sizes(ModelReading& reading);
/// Reads latent attention, norms of queries and keys, the indexer.
void read_attention(ModelReading& reading);
/// Reads biases, norms, gates and what else a layer is made of.
void read_block(ModelReading& reading);
/// Reads numbers and widths of experts. @returns true if there are any
bool read_experts(ModelReading& reading);
/// Reads which layers have experts.
void place_experts(ModelReading& reading);
/// Reads windows, and which layers have them.
void read_windows(ModelReading& reading);
/// Says what the layers are in the shortest way: by window_pattern, dense_layers and moe_layer_frequency, or
/// as a layer_pattern.
void write_layers(ModelReading& reading);

}  // namespace orrery::importers::models
