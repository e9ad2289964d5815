#include "studies/post_training/generation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "orrery/serving_record.hpp"
#include "sim/run/prepare.hpp"
#include "sim/run/serving_run.hpp"

namespace orrery {
namespace {

/// Each prompt is computed by the first sample of its group; the others find it in the cache. The engine
/// knows one share for all requests: that of a whole group.
double reused_share(const PostTraining& section) {
  if (!section.prefix_sharing) return 0;
  return static_cast<double>(section.samples_per_prompt - 1) /
         static_cast<double>(section.samples_per_prompt);
}

Experiment with_requests(const Experiment& rollout, const PostTraining& section,
                         const std::vector<Sample>& samples, const std::vector<Picoseconds>& arrivals_ps) {
  std::vector<RequestSpec> requests(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i)
    requests[i] = {arrivals_ps.empty() ? 0 : arrivals_ps[i], samples[i].prompt_tokens,
                   samples[i].response_tokens};
  Experiment experiment = rollout;
  experiment.inference->trace = RequestTrace(std::move(requests), "post_training");
  experiment.inference->prefix_reuse = reused_share(section);
  return experiment;
}

}  // namespace

Generation generate(const Experiment& rollout, const PostTraining& section,
                    const std::vector<Sample>& samples, const std::vector<Picoseconds>& arrivals_ps,
                    Memo& memo) {
  const PreparedExperiment prepared = prepare(with_requests(rollout, section, samples, arrivals_ps), memo);
  ServingRecord record;
  record.most = 1;  // requests alone are of interest
  ServingObserver observer;
  observer.record = &record;
  constexpr Figures kFigures{false, false, false, true, false, false};
  const Report report = report_on_serving(prepared, kFigures, memo, observer);
  Generation generation;
  if (!report.feasible) {
    generation.obstacle = report.reasons.empty() ? "rollouts do not fit" : report.reasons.front();
    return generation;
  }
  generation.serving = *report.serving;
  generation.duration_ps = generation.serving.duration_ps;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const RequestMoments& request = record.requests[i];
    generation.samples.push_back({samples[i], request.replica, request.start_ps, request.end_ps});
  }
  return generation;
}

void stop_early(Generation& generation, const PostTraining& section) {
  const auto group_size = static_cast<std::size_t>(section.samples_per_prompt);
  const auto needed = static_cast<std::size_t>(
      std::ceil(static_cast<double>(section.prompts_per_step) / section.kept_groups - 1e-9));
  std::vector<std::pair<Picoseconds, std::size_t>> ends;  // of groups
  for (std::size_t first = 0; first < generation.samples.size(); first += group_size) {
    Picoseconds end = 0;
    for (std::size_t i = first; i < first + group_size; ++i)
      end = std::max(end, generation.samples[i].end_ps);
    ends.emplace_back(end, first);
  }
  if (ends.size() <= needed) return;
  std::ranges::sort(ends);
  ends.resize(needed);
  std::vector<GeneratedSample> kept;
  for (const auto& [end, first] : ends) {
    const auto begin = generation.samples.begin() + static_cast<std::ptrdiff_t>(first);
    kept.insert(kept.end(), begin, begin + static_cast<std::ptrdiff_t>(group_size));
  }
  generation.samples = std::move(kept);
  generation.duration_ps = ends.back().first;
}

Picoseconds verified_ps(const Generation& generation, const PostTraining& section) {
  if (section.reward != RewardKind::verifier) return generation.duration_ps;
  std::vector<Picoseconds> ends;
  for (const GeneratedSample& sample : generation.samples) ends.push_back(sample.end_ps);
  std::ranges::sort(ends);
  const Picoseconds latency = from_microseconds(section.verifier_latency_s * 1e6);
  const auto width =
      section.verifier_width > 0 ? static_cast<std::size_t>(section.verifier_width) : ends.size();
  std::priority_queue<Picoseconds, std::vector<Picoseconds>, std::greater<>> busy_until;
  Picoseconds last = generation.duration_ps;
  for (Picoseconds begin : ends) {
    if (busy_until.size() == width) {
      begin = std::max(begin, busy_until.top());
      busy_until.pop();
    }
    busy_until.push(begin + latency);
    last = std::max(last, begin + latency);
  }
  return last;
}

}  // namespace orrery
