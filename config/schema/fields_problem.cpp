#include "config/schema/fields.hpp"

namespace orrery {

const std::vector<Field<LearningProblem>>& problem_fields() {
  using P = LearningProblem;
  using T = FieldTable<P>;
  static const std::vector<Field<P>> fields{
      T::choice(
          "kind", {kProblemKindNames, nullptr, {}},
          +[](P& p, std::size_t i) { p.kind = static_cast<ProblemKind>(i); }, "logistic",
          "what is learnt: logistic regression, the same with a non-convex regulariser, a two-layer network"),
      T::integer("workers", 1, kMaxProblemWorkers, &P::workers, "those of the plan", "that learn"),
      T::integer("dimension", 1, 1e5, &P::dimension, "10", "features of a sample"),
      T::integer("hidden", 1, 1e4, &P::hidden, "8", "network: neurons"),
      T::integer("samples_per_worker", 1, 1e6, &P::samples_per_worker, "200", "samples each worker has"),
      T::integer("batch", 1, 1e6, &P::batch, "32",
                 "samples of a gradient; samples_per_worker or more: all of them"),
      T::number("heterogeneity", "", 0, 1, &P::heterogeneity, "0",
                "0: all workers draw samples alike, 1: each in its own way"),
      T::number("noise", "", 0, 1e6, &P::noise, "0", "standard deviation added to every gradient component"),
      T::number("regularization", "", 0, 1e6, &P::regularization, "0.001", "strength of the regulariser"),
      T::number("learning_rate", "", 0, 1e6, &P::learning_rate, "0.02", "at the start"),
      T::integer("halve_every", 1, 1e12, &P::halve_every, "never",
                 "iterations from one halving of it to the next"),
      T::number("momentum", "", 0, 0.9999, &P::momentum, "0", "of sgd"),
      T::choice(
          "optimizer", {kLocalOptimizerNames, nullptr, {}},
          +[](P& p, std::size_t i) { p.optimizer = static_cast<LocalOptimizer>(i); }, "sgd",
          "of every worker"),
      T::number("outer_learning_rate", "", 0, 1e6, &P::outer_learning_rate, "0.7; 1 for slowmo, sparse-loco",
                "diloco, slowmo, noloco, sparse-loco"),
      T::number("outer_momentum", "", 0, 0.9999, &P::outer_momentum, "0.9; 0.7 for slowmo, 0.5 for noloco",
                "diloco (Nesterov), slowmo, noloco"),
      T::number("consensus_step", "", 0, 1, &P::consensus_step, "what the compressor keeps",
                "compressed gossip: share of a difference that is taken over; 0: the default"),
      T::number("initial_spread", "", 0, 1e6, &P::initial_spread, "0",
                "standard deviation of the workers' first models"),
      T::integer("iterations", 1, 1e12, &P::iterations, "1000", "steps of the run"),
      T::integer("evaluate_every", 1, 1e12, &P::evaluate_every, "iterations / 200",
                 "iterations from one figure to the next"),
      T::nested("changes", "a list of objects with iteration and leaves or joins: workers that come and go"),
  };
  return fields;
}

const std::vector<Field<WorkerChange>>& worker_change_fields() {
  using W = WorkerChange;
  using T = FieldTable<W>;
  static const std::vector<Field<W>> fields{
      T::integer("iteration", 0, 1e12, &W::iteration, "", "before which it happens"),
      T::integer("leaves", 0, kMaxProblemWorkers - 1, &W::leaves, "none", "the worker that learns no more"),
      T::integer("joins", 0, kMaxProblemWorkers - 1, &W::joins, "none", "the worker that learns from now on"),
  };
  return fields;
}

}  // namespace orrery
