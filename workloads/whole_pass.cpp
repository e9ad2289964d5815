#include "workloads/whole_pass.hpp"

#include <algorithm>
#include <utility>

#include "workloads/step_builder.hpp"

namespace orrery {
namespace {

bool communicates(const Step& step) { return step.kind == Op::Kind::communicate; }
bool waits_for_input(const Step& step) { return step.after == kBlockInput; }

/// Cuts what can stand alone off the ends of a pass. Steps that waited for something cut off wait for the
/// input of what is left.
class PassCutter {
 public:
  explicit PassCutter(std::vector<Step> steps) : steps_(std::move(steps)) {}

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

  void cut_first(WholePass& pass) {
    while (steps_.size() > 1 && communicates(steps_.front())) {
      const bool alone = std::none_of(steps_.begin() + 1, steps_.end(), waits_for_input);
      const std::size_t beside = compute_beside();
      if (!alone && (beside == 0 || beside + 1 == steps_.size())) return;
      pass.first.push_back(cut(1).front());
      if (alone) {
        pass.first_before_start = pass.first.size();
        continue;
      }
      beside_ = beside;
      return;
    }
  }

  void cut_last(WholePass& pass) {
    const auto follows = [this] {
      return steps_.back().after == static_cast<std::int32_t>(steps_.size()) - 2;
    };
    while (steps_.size() > beside_ + 1 && communicates(steps_.back()) && (pass.last.empty() || follows())) {
      pass.last.insert(pass.last.begin(), steps_.back());
      steps_.pop_back();
    }
  }

  /// The compute that can begin beside the last of the first collectives, else what comes before the
  /// next one, if any.
  std::vector<Step> cut_start() {
    if (beside_ > 0) return cut(beside_);
    const auto collective = std::ranges::find_if(steps_, communicates);
    if (collective == steps_.end()) return {};
    return cut(static_cast<std::size_t>(collective - steps_.begin()));
  }

 private:
  /// Compute steps right after the first step that do not wait for it.
  [[nodiscard]] std::size_t compute_beside() const {
    std::size_t count = 0;
    while (count + 1 < steps_.size() && !communicates(steps_[count + 1]) && steps_[count + 1].after != 0)
      ++count;
    return count;
  }

  std::vector<Step> cut(std::size_t count) {
    const auto end = steps_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<Step> front(steps_.begin(), end);
    steps_.erase(steps_.begin(), end);
    for (Step& step : steps_)
      step.after = std::max(step.after - static_cast<std::int32_t>(count), kBlockInput);
    return front;
  }

  std::vector<Step> steps_;
  std::size_t beside_ = 0;  ///< compute steps at the front that begin beside the last of the first
};

}  // namespace

WholePass add_whole_pass(std::vector<Step> steps, Workload& workload) {
  using Extent = PassWork::Extent;
  const auto add = [&workload](const std::vector<Step>& from, Extent extent) {
    PassWork work{{}, extent};
    for (const Step& step : from) work.steps.push_back({communicates(step), step.work, step.after});
    return add_pass(workload, std::move(work));
  };
  WholePass pass;
  PassCutter cutter(std::move(steps));
  cutter.cut_first(pass);
  cutter.cut_last(pass);
  const std::vector<Step> start = cutter.cut_start();
  if (!start.empty()) pass.start = add(start, Extent::whole);
  const bool open = pass.last.empty() && std::ranges::any_of(cutter.steps(), communicates);
  pass.body = add(cutter.steps(), open ? Extent::collectives : Extent::whole);
  if (open) pass.rest = add(cutter.steps(), Extent::rest);
  return pass;
}

}  // namespace orrery
