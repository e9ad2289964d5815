// Reads an experiment with a section `post_training`: the section itself, and for each of its roles an
// experiment of its own, which the usual reader makes of the role's plan, stack and share of the GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalog/catalog.hpp"
#include "config/schema/menus.hpp"
#include "orrery/experiment.hpp"
#include "orrery/post_training.hpp"

namespace orrery {

/// Describes the micro-batches of an update on one replica.
struct TrainingShape {
  std::int64_t sequence_tokens = 1;  ///< of a sequence
  std::int64_t sample_tokens = 0;    ///< of each of the samples packed into it; 0: it is one sample
  std::int64_t sequences = 1;        ///< of a micro-batch
  std::int64_t micro_batches = 1;    ///< of a replica
  bool operator==(const TrainingShape&) const = default;
};

class PostTrainingExperiment {
 public:
  /// @throws InputError with all errors found, as read_experiment_text() does
  PostTrainingExperiment(std::string_view text, const std::string& source,
                         const std::vector<std::string>& overrides, const Catalog& catalog, Menus menus);

  [[nodiscard]] const PostTraining& section() const;
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] std::uint64_t seed() const;
  /// Returns true if a model plays the role.
  [[nodiscard]] bool has(PostTrainingRole role) const;
  /// Returns the GPUs of a role, and of all of them together.
  [[nodiscard]] std::int64_t gpus(PostTrainingRole role) const;
  [[nodiscard]] std::int64_t gpus() const;
  /// The whole cluster, or the part of it that is not of rollouts with a cluster of their own.
  [[nodiscard]] const Cluster& cluster() const;
  /// Longest prompt and output together.
  [[nodiscard]] std::int64_t longest_sample() const;
  /// Tokens of a micro-batch at most, where forward passes run alone or not.
  [[nodiscard]] std::int64_t micro_batch_tokens(bool forward_alone) const;
  /// The least number by which tokens of a sequence can be divided among ranks of the role.
  [[nodiscard]] std::int64_t tokens_divisor(PostTrainingRole role) const;

  /// The plan of a role, complete but for its batch.
  [[nodiscard]] const Experiment& role(PostTrainingRole role) const;
  /// The experiment in which a role trains on micro-batches of that shape. @throws InputError
  [[nodiscard]] Experiment training(PostTrainingRole role, const TrainingShape& shape) const;
  /// The experiment in which rollouts are generated, but for its requests.
  [[nodiscard]] const Experiment& rollout() const;

  struct State;

 private:
  std::shared_ptr<const State> state_;
};

/// Returns true if the text, or an override, has a section `post_training`.
[[nodiscard]] bool has_post_training(std::string_view text, const std::string& source,
                                     const std::vector<std::string>& overrides);

}  // namespace orrery
