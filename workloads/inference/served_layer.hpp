// Computes sizes of the layers of a transformer on one rank of a serving replica: weights and the KV cache of
// a token.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/inference.hpp"
#include "workloads/models/expert_shape.hpp"
#include "workloads/models/recurrence.hpp"
#include "workloads/models/transformer_shape.hpp"

namespace orrery {

/// Bytes of matrices of layers as they lie in memory, rounded up. Groups of 128 values of int4 share a scale
/// of 16 bits and a zero of 4 (Frantar et al. 2023, "GPTQ"); the one scale a column of int8 and fp8 is left
/// out.
[[nodiscard]] Bytes stored_bytes(std::int64_t values, const Inference& inference, Precision precision);
/// Returns the bytes of one stored weight.
[[nodiscard]] double stored_width(const Inference& inference, Precision precision);
/// Returns the bytes of one key or value in the KV cache.
[[nodiscard]] double cached_width(const Inference& inference);

/// A kind of layer: all with the same content.
class ServedLayer {
 public:
  ServedLayer(const Experiment& experiment, const LayerContent& content);

  [[nodiscard]] const LayerContent& content() const { return content_; }
  /// The model as if all its layers were like this one.
  [[nodiscard]] const Model& model() const { return model_; }
  /// Returns the shape that a rank computes with for `tokens` tokens.
  [[nodiscard]] TransformerShape shape(std::int64_t tokens) const;
  [[nodiscard]] ExpertShape experts(const TransformerShape& shape) const { return {model_, plan_, shape}; }
  [[nodiscard]] Heads heads() const { return heads_; }
  /// Widths of the cache of a token: keys and values of the heads of a rank, or the latent vector, whole.
  [[nodiscard]] std::int64_t cached_values() const;
  /// Returns the bytes of state that a sequence keeps on a rank in a recurrent layer, whatever its length.
  [[nodiscard]] Bytes state_bytes() const;
  /// Returns the recurrence of a recurrent layer.
  [[nodiscard]] Recurrence recurrence() const {
    return recurrence_of(content_.mixer, model_, plan_.tensor_parallel);
  }
  /// Returns the parameters of matrices on a rank; other parameters (norms, biases, router) keep 16 bits.
  [[nodiscard]] std::int64_t matrix_parameters() const;
  [[nodiscard]] std::int64_t other_parameters() const;
  /// Returns true if the ranks that share experts are all or some of the ranks of a tensor group. Each of
  /// them then has all tokens, and their results are summed; otherwise tokens travel to the experts.
  [[nodiscard]] bool experts_in_tensor_group() const;

 private:
  [[nodiscard]] std::int64_t parameters() const;

  LayerContent content_;
  Model model_;
  const Plan& plan_;
  Heads heads_;
};

/// Experts of a rank that at least one of `tokens` tokens chooses, where each chooses K of E, all equally
/// likely: E_rank (1 - (1 - K/E)^tokens), rounded, at least one.
[[nodiscard]] std::int64_t experts_hit(const Model& model, std::int64_t experts_of_rank, double tokens);

/// Describes the layers that a pipeline rank holds.
struct ServedStage {
  std::vector<std::int64_t> layers;  ///< by kind
  bool embeds = false;
  bool has_head = false;
};

/// A transformer cut over the ranks of a replica.
class ServedModel {
 public:
  /// Keeps a reference. The plan leaves nothing open, and serving_obstacle() finds nothing.
  explicit ServedModel(const Experiment& experiment);

  [[nodiscard]] const std::vector<ServedLayer>& kinds() const { return kinds_; }
  [[nodiscard]] const std::vector<ServedStage>& stages() const { return stages_; }

 private:
  std::vector<ServedLayer> kinds_;
  std::vector<ServedStage> stages_;
};

}  // namespace orrery
