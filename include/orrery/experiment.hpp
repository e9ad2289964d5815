// Holds one validated experiment: the input of everything. Made by config/, frozen afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "orrery/accuracy.hpp"
#include "orrery/calibration_domain.hpp"
#include "orrery/cluster.hpp"
#include "orrery/data_parallel_sync.hpp"
#include "orrery/inference.hpp"
#include "orrery/model.hpp"
#include "orrery/plan.hpp"
#include "orrery/problem.hpp"
#include "orrery/software.hpp"

namespace orrery {

enum class Network : std::uint8_t {
  alpha_beta,  ///< latency plus bytes over bandwidth; transfers do not disturb each other
  flow,        ///< transfers share links max-min fairly
};

enum class Folding : std::uint8_t {
  automatic,  ///< simulate ranks that cannot differ once
  off,        ///< simulate every GPU on its own
};

enum class Detail : std::uint8_t {
  layer,  ///< a task is one operation of a layer: compute or communication
  stage,  ///< a task is a whole pass of a micro-batch through a stage, where nothing meets it half-way
};

struct SimulationOptions {
  Network network = Network::flow;
  Folding folding = Folding::automatic;
  Detail detail = Detail::layer;
  std::int64_t steps = 1;
  std::int64_t seed = 0;

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(network, folding, detail, steps, seed);
  }
  friend bool operator==(const SimulationOptions&, const SimulationOptions&) = default;
};

struct LongRun;  // long_run.hpp

/// Says where the samples of a step come from.
enum class DataInput : std::uint8_t {
  synthetic,  ///< made once, on the GPU
  loaded,     ///< read and prepared by the host for every step
};
inline constexpr std::array<std::string_view, 2> kDataInputNames{"synthetic", "loaded"};

/// The whole training run that the step is part of.
struct Training {
  std::int64_t tokens = 0;   ///< to train on; 0 if not given
  std::int64_t samples = 0;  ///< the same in samples
  DataInput data = DataInput::synthetic;

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(tokens, samples, data);
  }
  friend bool operator==(const Training&, const Training&) = default;
};

struct Experiment {
  std::string name;
  Model model;
  Cluster cluster;
  Plan plan;
  DataParallelSync data_parallel_sync;
  SimulationOptions simulation;
  Software software;
  Training training;
  std::optional<Inference> inference;  ///< in place of training steps
  Accuracy accuracy;
  LearningProblem problem;
  std::string stack;  ///< software generation; empty: the catalog has none for such an experiment
  /// The reason for the stack if the experiment names none. It changes no figure, so it is no member of keys
  /// of caches.
  std::string stack_reason;
  std::string plan_reason;  ///< one sentence on the alternatives that its plan was chosen over; "" if it was
                            ///< not chosen
  /// The measured range of the stack. Null: nothing is known about it. It changes no figure but the range of
  /// the step time.
  std::shared_ptr<const CalibrationDomains> domains;
  /// The weeks of training that the step is part of. Null: not asked for. No figure of a step depends on
  /// them, so they are no member of keys of caches.
  std::shared_ptr<const LongRun> run;

  /// Returns true if the host prepares images for every step. Loading tokens costs next to nothing.
  [[nodiscard]] bool loads_images() const {
    return training.data == DataInput::loaded && model.kind == ModelKind::convnet;
  }
  /// Returns Software::jitter, and the jitter that loaders add to it.
  [[nodiscard]] double jitter() const {
    return software.jitter + (loads_images() ? software.image_loading_jitter : 0);
  }

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(name, model, cluster, plan, data_parallel_sync, simulation, software, training, inference,
                 accuracy, problem, stack);
  }
  friend bool operator==(const Experiment& a, const Experiment& b) {
    return a.members([&b](const auto&... of_a) {
      return b.members([&](const auto&... of_b) { return ((of_a == of_b) && ...); });
    });
  }
};

}  // namespace orrery
