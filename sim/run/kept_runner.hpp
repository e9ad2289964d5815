// Runs that share what they have in common with those before them: see kept_store.hpp.
//
// A run is known whose experiment equals one that was written before, as that of a plan that differs in its
// batch alone. What is left for others: what their stages hold, programs of a few micro-batches, to see what
// they share and which messages they send, prices of works and passes, a sweep over the tasks and the
// figures. These are those of a fresh run, to the bit.
//
// Programs treat all micro-batches alike but for the first and the last, and inner stages that hold the same
// alike. So programs of few micro-batches and of one stage of each kind stand for all of them, and hold the
// same works, messages and passes in the same order. Where a schedule should not keep to that, the whole
// programs are written for each run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "orrery/experiment.hpp"
#include "sim/run/call_pricer.hpp"
#include "sim/run/kept_store.hpp"
#include "sim/run/runner.hpp"
#include "workloads/programs/lower.hpp"

namespace orrery {

/// Not to be used again after it has thrown.
class KeptRunner : public Runner {
 public:
  /// Takes from `store` what it has and adds the rest. Refers to it.
  explicit KeptRunner(kept::Store& store);

  /// Whether runs of the experiment can share anything: transfers do not slow each other or compute down,
  /// ranks are even and fold, and replicas keep in step all together.
  [[nodiscard]] static bool takes(const Experiment& experiment);

  const Workload& outline(const Experiment& experiment) override;
  void write(std::int64_t micro_batches) override;
  const Periods& periods() override;
  const std::optional<WholeAndPart>& run(std::int64_t more, const Figures& figures) override;
  [[nodiscard]] RunView view() const override;
  /// Gives back what the run at hand was taken from, so that others can use it. There is no run at hand then.
  void put_back();

 private:
  void swap_parts();
  [[nodiscard]] bool follow(const kept::Trail& trail);
  [[nodiscard]] Workload write_few();
  void take_order(Workload few);
  void make_order(Workload& whole, const Workload& few);
  void take_cut();
  [[nodiscard]] kept::Meetings& meetings_of(const Signature& communicators);
  [[nodiscard]] kept::Folds& folds_of(const Signature& pattern);
  [[nodiscard]] const Folded& folded_of(const Signature& pattern);
  [[nodiscard]] kept::Tasks& tasks_of(const Signature& shape, const Folded& folded);
  void count_calls(std::int64_t more);
  void stand_for(const kept::Folds& folds);
  [[nodiscard]] const std::optional<WholeAndPart>* known_run(bool repeats);
  [[nodiscard]] std::unique_ptr<std::optional<WholeAndPart>> simulate(bool repeats);
  [[nodiscard]] std::optional<WholeAndPart> measure_repeats();
  [[nodiscard]] Signature sign_costs() const;
  [[nodiscard]] Signature key_of_run(Signature costs, bool repeats) const;

  kept::Store& store_;
  CallPricer pricer_;

  const Experiment* experiment_ = nullptr;  ///< of the run at hand, as all that follows
  std::optional<SyncLayout> layout_;
  Outline outlined_;
  Experiment written_;                ///< with the micro-batches of its programs
  Experiment few_;                    ///< with a few of them
  std::optional<kept::Trail> trail_;  ///< of one that was written before and is equal
  bool followed_ = false;             ///< to its end; works, messages and passes are not there yet
  std::shared_ptr<const kept::Place> place_;
  Signature cut_key_;
  Signature order_key_;
  Signature communicators_;
  std::unique_ptr<kept::Cut> cut_;
  std::unique_ptr<kept::Order> order_;
  kept::Meetings* meetings_ = nullptr;
  Workload workload_;  ///< has the programs of the order and the communicators of the cut while it is at hand
  kept::Tasks* tasks_ = nullptr;
  Figures figures_;
  std::vector<TransferTime> transfers_;  ///< per StandIns::transfers
  std::vector<Picoseconds> lags_;        ///< of HostLags
  Timeline timeline_;                    ///< of the latest run that was not known
  Traffic traffic_;
};

}  // namespace orrery
