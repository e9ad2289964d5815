#include "sim/serving/measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

namespace orrery {
namespace {

/// The value at rank ceil(share * n) of sorted ones; share * n in whole percent is exact.
double at_percent(const std::vector<double>& sorted, std::size_t percent) {
  return sorted[(percent * sorted.size() + 99) / 100 - 1];
}

double tpot_s(const ServedRequest& request) {
  return to_seconds(request.end_ps - request.first_token_ps) /
         static_cast<double>(request.spec.output_tokens - 1);
}

bool is_good(const Inference& inference, const ServedRequest& request) {
  const double ttft = to_seconds(request.first_token_ps - request.spec.arrival_ps);
  if (inference.ttft_target_s > 0 && ttft > inference.ttft_target_s) return false;
  return inference.tpot_target_s == 0 || request.spec.output_tokens == 1 ||
         tpot_s(request) <= inference.tpot_target_s;
}

void measure_requests(const FinishedRun& run, Serving& serving) {
  std::vector<double> ttft;
  std::vector<double> tpot;
  std::vector<double> end_to_end;
  std::vector<double> queue;
  for (const ServedRequest& request : run.requests) {
    serving.prompt_tokens += request.spec.prompt_tokens;
    serving.output_tokens += request.spec.output_tokens;
    serving.good_requests += is_good(run.inference, request) ? 1 : 0;
    ttft.push_back(to_seconds(request.first_token_ps - request.spec.arrival_ps));
    if (request.spec.output_tokens > 1) tpot.push_back(tpot_s(request));
    end_to_end.push_back(to_seconds(request.end_ps - request.spec.arrival_ps));
    queue.push_back(to_seconds(request.start_ps - request.spec.arrival_ps));
  }
  serving.ttft_s = distribution_of(std::move(ttft));
  serving.tpot_s = distribution_of(std::move(tpot));
  serving.end_to_end_s = distribution_of(std::move(end_to_end));
  serving.queue_s = distribution_of(std::move(queue));
  serving.inter_token_latency_s = run.gaps.distribution();
}

/// Decides if a number of requests, `mean` on average, grows, given that `came` were added and `growth` more
/// came than ended. A stable number is a Poisson count at its begin and at its end, so `growth` stays below
/// three standard deviations of their difference (below one of `came`, since overload fills the service), or
/// is a negligible share of `came`. A number that grows by more than chance does so beyond three standard
/// deviations of `came`. Between these limits there are too few requests to tell, and nullopt is returned.
std::optional<bool> grows(double growth, double came, double mean) {
  constexpr double kNegligible = 0.02;
  const double level = std::max(kNegligible * came, std::min(3 * std::sqrt(2 * mean), std::sqrt(came)));
  if (growth <= level) return false;
  return growth > 3 * std::sqrt(came) ? std::optional(true) : std::nullopt;
}

/// The second half of the arrivals tells, when the system is no longer filling.
void measure_queue(const FinishedRun& run, Serving& serving) {
  const std::vector<ServedRequest>& requests = run.requests;
  const Picoseconds last = requests.back().spec.arrival_ps;
  const auto seconds_from = [&](std::size_t r) { return to_seconds(last - requests[r].spec.arrival_ps); };
  if (run.inference.is_closed_loop() || seconds_from(0) <= 0) return;
  serving.arrivals_per_s = static_cast<double>(requests.size() - 1) / seconds_from(0);
  const std::size_t half = requests.size() / 2;
  if (seconds_from(half) <= 0) return;
  const Picoseconds begin = requests[half].spec.arrival_ps;
  const auto came = static_cast<double>(requests.size() - 1 - half);
  const auto ended = static_cast<double>(std::ranges::count_if(
      requests, [&](const ServedRequest& r) { return r.end_ps > begin && r.end_ps <= last; }));
  serving.late_ends_per_s = ended / seconds_from(half);
  serving.queue_growth_per_s = (came - ended) / seconds_from(half);
  serving.unstable = grows(came - ended, came, serving.arrivals_per_s * serving.end_to_end_s.mean);
}

void measure_replicas(const FinishedRun& run, Serving& serving) {
  ReplicaCounts counts;
  std::int64_t pages = 0;
  for (const Replica* replica : run.replicas) {
    counts.iterations += replica->counts().iterations;
    counts.rows += replica->counts().rows;
    counts.most_rows = std::max(counts.most_rows, replica->counts().most_rows);
    const SchedulerCounts schedulers = replica->scheduler_counts();
    serving.preemptions += schedulers.preemptions;
    serving.recomputed_tokens += schedulers.recomputed_tokens;
    const ServingTimes times = replica->times(run.duration_ps);
    serving.times.prefill_ps += times.prefill_ps;
    serving.times.decode_ps += times.decode_ps;
    serving.times.mixed_ps += times.mixed_ps;
    serving.times.host_ps += times.host_ps;
    serving.times.bubble_ps += times.bubble_ps;
    serving.times.idle_ps += times.idle_ps;
    serving.work += replica->work(run.duration_ps);
    pages += replica->pages().pages();
    const double peak =
        static_cast<double>(replica->pages().most_used()) / static_cast<double>(replica->pages().pages());
    serving.cache_peak = std::max(serving.cache_peak, peak);
  }
  serving.iterations = counts.iterations;
  serving.batch_mean = static_cast<double>(counts.rows) / static_cast<double>(counts.iterations);
  serving.batch_most = counts.most_rows;
  const auto pages_of = [](const Replica* replica) { return replica->pages().pages(); };
  serving.cache_tokens =
      pages_of(*std::ranges::min_element(run.replicas, {}, pages_of)) * run.inference.page_tokens;
  serving.cache_mean = static_cast<double>(run.meter.total()) / static_cast<double>(run.duration_ps) /
                       static_cast<double>(pages);
  serving.cache_use = run.meter.use(pages, run.duration_ps);
}

/// Computes the mean of the added values; 0 if there are none.
class Mean {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  [[nodiscard]] double value() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

 private:
  double sum_ = 0;
  std::int64_t count_ = 0;
};

void measure_groups(const FinishedRun& run, Serving& serving) {
  if (run.kind_of_replica.empty()) return;
  serving.groups.resize(1 + *std::ranges::max_element(run.kind_of_replica));
  std::vector<Mean> ttft(serving.groups.size());
  std::vector<Mean> tpot(serving.groups.size());
  for (const ServedRequest& request : run.requests) {
    const bool travelled = request.transfer_start_ps != ServedRequest::kNotYet;
    const std::uint32_t began = run.kind_of_replica[request.replica];
    const std::uint32_t ended = travelled ? run.kind_of_replica[request.decode_replica] : began;
    ++serving.groups[ended].requests;
    ttft[began].add(to_seconds(request.first_token_ps - request.spec.arrival_ps));
    if (request.spec.output_tokens > 1) tpot[ended].add(tpot_s(request));
  }
  for (std::size_t r = 0; r < run.replicas.size(); ++r) {
    ReplicaGroup& group = serving.groups[run.kind_of_replica[r]];
    ++group.replicas;
    group.cache_tokens = run.replicas[r]->pages().pages() * run.inference.page_tokens;
    group.busy_ps += run.replicas[r]->times(run.duration_ps).busy_ps();
    group.total_ps += run.replicas[r]->times(run.duration_ps).total_ps();
  }
  for (std::size_t g = 0; g < serving.groups.size(); ++g) {
    serving.groups[g].ttft_s = ttft[g].value();
    serving.groups[g].tpot_s = tpot[g].value();
  }
}

}  // namespace

ServingWork& ServingWork::operator+=(const ServingWork& more) {
  for (Int128 ServingWork::*part :
       {&ServingWork::products_ps, &ServingWork::attention_ps, &ServingWork::kernels_ps,
        &ServingWork::drafts_ps, &ServingWork::launch_ps, &ServingWork::host_ps, &ServingWork::bubble_ps,
        &ServingWork::idle_ps})
    this->*part += more.*part;
  for (std::size_t d = 0; d < kDimensionCount; ++d) messages_ps[d] += more.messages_ps[d];
  return *this;
}

Distribution distribution_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  double sum = 0;
  for (const double value : values) sum += value;
  return {sum / static_cast<double>(values.size()), at_percent(values, 50), at_percent(values, 90),
          at_percent(values, 95), at_percent(values, 99)};
}

std::vector<ServiceLimit> broken_limits(const ServiceLevel& slo, const Serving& serving) {
  std::vector<ServiceLimit> broken;
  for (const ServiceLimit& limit : kServiceLimits) {
    const double most_s = slo.*limit.most_s;
    if (most_s > 0 && serving.*limit.figure.*limit.part > most_s) broken.push_back(limit);
  }
  return broken;
}

Serving measure(const FinishedRun& run) {
  Serving serving;
  serving.requests = static_cast<std::int64_t>(run.requests.size());
  serving.replicas = static_cast<std::int64_t>(run.replicas.size());
  serving.duration_ps = run.duration_ps;
  measure_requests(run, serving);
  measure_queue(run, serving);
  measure_replicas(run, serving);
  measure_groups(run, serving);
  return serving;
}

}  // namespace orrery
