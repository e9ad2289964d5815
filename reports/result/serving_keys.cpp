// The keys of a result that served requests. Others have none of them.
#include <array>

#include "reports/result/result_key.hpp"

namespace orrery {
namespace {

using Json = ResultJson;
using R = Report;
using S = Serving;

/// Returns `value` of the serving report; null without one.
template <class Value>
Json of_served(const R& report, Value value) {
  if (!report.serving) return absent();
  return report.serving->duration_ps > 0 ? Json(value(*report.serving)) : Json();
}

template <class Value>
Json of(const R& report, Value S::*value) {
  return of_served(report, [value](const S& serving) { return serving.*value; });
}

Json of(const R& report, double (S::*value)() const) {
  return of_served(report, [value](const S& serving) { return (serving.*value)(); });
}

Json per_gpu(const R& report, double (S::*value)() const) {
  const auto gpus = static_cast<double>(report.gpus);
  return of_served(report, [value, gpus](const S& serving) { return (serving.*value)() / gpus; });
}

Json of(const R& report, Distribution S::*figure, double Distribution::*part) {
  return of_served(report, [figure, part](const S& serving) { return serving.*figure.*part; });
}

/// Time per output token, which requests with more than one have.
Json of_outputs(const R& report, double Distribution::*part) {
  return of_served(report, [part](const S& serving) {
    return serving.output_tokens > serving.requests ? Json(serving.tpot_s.*part) : Json();
  });
}

Json of_gaps(const R& report, double Distribution::*part) {
  return of_served(report, [part](const S& serving) {
    return serving.output_tokens > serving.requests ? Json(serving.inter_token_latency_s.*part) : Json();
  });
}

/// A part of the time of all stages.
Json time_share(const R& report, Int128 ServingTimes::*part) {
  return of_served(report, [part](const S& serving) {
    return static_cast<double>(serving.times.*part) / static_cast<double>(serving.times.total_ps());
  });
}

/// Returns the share of a GPU activity in the time of stages.
Json work_share(const R& report, Int128 (*part)(const ServingWork&)) {
  return of_served(report, [part](const S& serving) {
    return static_cast<double>(part(serving.work)) / static_cast<double>(serving.work.total_ps());
  });
}

template <Int128 ServingWork::*part>
Json work_share(const R& report) {
  return work_share(report, [](const ServingWork& work) { return work.*part; });
}

template <Dimension dimension>
Json message_share(const R& report) {
  return work_share(
      report, [](const ServingWork& work) { return work.messages_ps[static_cast<std::size_t>(dimension)]; });
}

/// Returns a figure that exists only if requests arrive at a rate.
template <class Value>
Json of_queue(const R& report, Value S::*value) {
  return of_served(report, [value](const S& serving) {
    return serving.arrivals_per_s > 0 ? Json(serving.*value) : Json();
  });
}

/// Null where too few requests arrive to tell.
Json unstable(const R& report) {
  return of_served(report, [](const S& serving) {
    return serving.arrivals_per_s > 0 && serving.unstable ? Json(*serving.unstable) : Json();
  });
}

Json gigabytes_of(const R& report, Bytes S::*bytes) {
  return report.serving ? Json(static_cast<double>((*report.serving).*bytes) / 1e9) : absent();
}

Json cost_of_tokens(const R& report) {
  return of_served(report, [&report](const S& serving) {
    const double tokens_per_hour = 3600 * serving.output_tokens_per_s();
    return report.usd_per_hour > 0 ? Json(report.usd_per_hour / tokens_per_hour * 1e6) : Json();
  });
}

/// Returns the cost per million tokens, prompts and outputs together.
Json per_million_tokens(const R& report, double per_hour) {
  return of_served(report, [per_hour](const S& serving) {
    return per_hour > 0 ? Json(per_hour / (3600 * serving.tokens_per_s()) * 1e6) : Json();
  });
}

/// Absent where it was not asked for.
template <class Value>
Json of_capacity(const R& report, Value value) {
  if (!report.serving || !report.serving->capacity) return absent();
  return Json(value(*report.serving->capacity));
}

Json requests_per_usd(const R& report) {
  return of_capacity(report, [&report](const Capacity& capacity) {
    return report.usd_per_hour > 0 ? Json(3600 * capacity.requests_per_s / report.usd_per_hour) : Json();
  });
}

Json broken_keys(const R& report) {
  return of_served(report, [&report](const S& serving) {
    if (report.slo == ServiceLevel{}) return Json();
    Json keys = Json::array();
    for (const ServiceLimit& limit : broken_limits(report.slo, serving)) keys.push_back(limit.key);
    return keys;
  });
}

Json cache_use(const R& report) {
  if (!report.serving) return absent();
  Json times = Json::array();
  Json shares = Json::array();
  for (const CacheUse& use : report.serving->cache_use) {
    times.push_back(to_seconds(use.until_ps));
    shares.push_back(use.share);
  }
  return {{"until_s", std::move(times)}, {"share", std::move(shares)}};
}

/// Absent where all replicas are alike.
Json groups(const R& report) {
  if (!report.serving || report.serving->groups.empty()) return absent();
  Json list = Json::array();
  for (const ReplicaGroup& group : report.serving->groups)
    list.push_back({{"gpus", group.gpus},
                    {"replicas", group.replicas},
                    {"requests", group.requests},
                    {"ttft_s", group.ttft_s > 0 ? Json(group.ttft_s) : Json()},
                    {"tpot_s", group.tpot_s > 0 ? Json(group.tpot_s) : Json()},
                    {"busy_share", group.busy_share()},
                    {"cache_tokens", group.cache_tokens}});
  return list;
}

Json ranges(const R& report) {
  if (!report.serving || report.serving->ranges.empty()) return absent();
  Json out = Json::object();
  for (const ServingRange& range : report.serving->ranges)
    out[range.figure] = Json{{"low", range.low}, {"high", range.high}};
  return out;
}

using D = Distribution;
using Times = ServingTimes;
using Work = ServingWork;

const ResultKey kServingKeys[] = {
    {"ttft_s", [](const R& r) { return of(r, &S::ttft_s, &D::mean); }},
    {"ttft_s_p50", [](const R& r) { return of(r, &S::ttft_s, &D::p50); }},
    {"ttft_s_p90", [](const R& r) { return of(r, &S::ttft_s, &D::p90); }},
    {"ttft_s_p95", [](const R& r) { return of(r, &S::ttft_s, &D::p95); }},
    {"ttft_s_p99", [](const R& r) { return of(r, &S::ttft_s, &D::p99); }},
    {"tpot_s", [](const R& r) { return of_outputs(r, &D::mean); }},
    {"tpot_s_p50", [](const R& r) { return of_outputs(r, &D::p50); }},
    {"tpot_s_p90", [](const R& r) { return of_outputs(r, &D::p90); }},
    {"tpot_s_p95", [](const R& r) { return of_outputs(r, &D::p95); }},
    {"tpot_s_p99", [](const R& r) { return of_outputs(r, &D::p99); }},
    {"inter_token_latency_s", [](const R& r) { return of_gaps(r, &D::mean); }},
    {"inter_token_latency_s_p50", [](const R& r) { return of_gaps(r, &D::p50); }},
    {"inter_token_latency_s_p90", [](const R& r) { return of_gaps(r, &D::p90); }},
    {"inter_token_latency_s_p95", [](const R& r) { return of_gaps(r, &D::p95); }},
    {"inter_token_latency_s_p99", [](const R& r) { return of_gaps(r, &D::p99); }},
    {"end_to_end_s", [](const R& r) { return of(r, &S::end_to_end_s, &D::mean); }},
    {"end_to_end_s_p50", [](const R& r) { return of(r, &S::end_to_end_s, &D::p50); }},
    {"end_to_end_s_p90", [](const R& r) { return of(r, &S::end_to_end_s, &D::p90); }},
    {"end_to_end_s_p95", [](const R& r) { return of(r, &S::end_to_end_s, &D::p95); }},
    {"end_to_end_s_p99", [](const R& r) { return of(r, &S::end_to_end_s, &D::p99); }},
    {"queue_s", [](const R& r) { return of(r, &S::queue_s, &D::mean); }},
    {"queue_s_p50", [](const R& r) { return of(r, &S::queue_s, &D::p50); }},
    {"queue_s_p90", [](const R& r) { return of(r, &S::queue_s, &D::p90); }},
    {"queue_s_p95", [](const R& r) { return of(r, &S::queue_s, &D::p95); }},
    {"queue_s_p99", [](const R& r) { return of(r, &S::queue_s, &D::p99); }},
    {"requests_per_s", [](const R& r) { return of(r, &S::requests_per_s); }},
    {"output_tokens_per_s", [](const R& r) { return of(r, &S::output_tokens_per_s); }},
    {"output_tokens_per_s_per_gpu", [](const R& r) { return per_gpu(r, &S::output_tokens_per_s); }},
    {"tokens_per_s_per_gpu", [](const R& r) { return per_gpu(r, &S::tokens_per_s); }},
    {"goodput_requests_per_s", [](const R& r) { return of(r, &S::goodput_requests_per_s); }},
    {"usd_per_million_output_tokens", cost_of_tokens},
    {"usd_per_million_tokens", [](const R& r) { return per_million_tokens(r, r.usd_per_hour); }},
    {"kwh_per_million_tokens", [](const R& r) { return per_million_tokens(r, r.power_w / 1000); }},
    {"max_requests_per_s",
     [](const R& r) { return of_capacity(r, [](const Capacity& c) { return c.requests_per_s; }); },
     ResultKey::Needs::capacity},
    {"max_requests_per_s_per_gpu",
     [](const R& r) {
       return of_capacity(r,
                          [&r](const Capacity& c) { return c.requests_per_s / static_cast<double>(r.gpus); });
     },
     ResultKey::Needs::capacity},
    {"max_requests_per_usd", requests_per_usd, ResultKey::Needs::capacity},
    {"max_requests_limited_by",
     [](const R& r) { return of_capacity(r, [](const Capacity& c) { return c.broken; }); },
     ResultKey::Needs::capacity},
    {"serving.broken_limits", broken_keys, ResultKey::Needs::nothing, true},
    {"serving.requests", [](const R& r) { return of(r, &S::requests); }},
    {"serving.replicas", [](const R& r) { return of(r, &S::replicas); }},
    {"serving.prompt_tokens", [](const R& r) { return of(r, &S::prompt_tokens); }},
    {"serving.output_tokens", [](const R& r) { return of(r, &S::output_tokens); }},
    {"serving.duration_s", [](const R& r) { return of(r, &S::duration_s); }},
    {"serving.good_requests", [](const R& r) { return of(r, &S::good_requests); }},
    {"serving.arrivals_per_s", [](const R& r) { return of_queue(r, &S::arrivals_per_s); }},
    {"serving.queue_growth_per_s", [](const R& r) { return of_queue(r, &S::queue_growth_per_s); }},
    {"serving.unstable", unstable},
    {"serving.iterations", [](const R& r) { return of(r, &S::iterations); }},
    {"serving.batch_mean", [](const R& r) { return of(r, &S::batch_mean); }},
    {"serving.batch_max", [](const R& r) { return of(r, &S::batch_most); }},
    {"serving.preemptions", [](const R& r) { return of(r, &S::preemptions); }},
    {"serving.recomputed_tokens", [](const R& r) { return of(r, &S::recomputed_tokens); }},
    {"serving.time_share.prefill", [](const R& r) { return time_share(r, &Times::prefill_ps); }},
    {"serving.time_share.decode", [](const R& r) { return time_share(r, &Times::decode_ps); }},
    {"serving.time_share.mixed", [](const R& r) { return time_share(r, &Times::mixed_ps); }},
    {"serving.time_share.host", [](const R& r) { return time_share(r, &Times::host_ps); }},
    {"serving.time_share.bubble", [](const R& r) { return time_share(r, &Times::bubble_ps); }},
    {"serving.time_share.idle", [](const R& r) { return time_share(r, &Times::idle_ps); }},
    {"serving.work_share.products", work_share<&Work::products_ps>},
    {"serving.work_share.attention", work_share<&Work::attention_ps>},
    {"serving.work_share.other_kernels", work_share<&Work::kernels_ps>},
    {"serving.work_share.drafts", work_share<&Work::drafts_ps>},
    {"serving.work_share.launches", work_share<&Work::launch_ps>},
    {"serving.work_share.tensor", message_share<Dimension::tensor>},
    {"serving.work_share.context", message_share<Dimension::context>},
    {"serving.work_share.expert", message_share<Dimension::expert>},
    {"serving.work_share.pipeline", message_share<Dimension::pipeline>},
    {"serving.work_share.host", work_share<&Work::host_ps>},
    {"serving.work_share.bubble", work_share<&Work::bubble_ps>},
    {"serving.work_share.idle", work_share<&Work::idle_ps>},
    {"serving.weights_gb", [](const R& r) { return gigabytes_of(r, &S::weights_bytes); }},
    {"serving.workspace_gb", [](const R& r) { return gigabytes_of(r, &S::workspace_bytes); }},
    {"serving.cache_gb", [](const R& r) { return gigabytes_of(r, &S::cache_bytes); }},
    {"serving.cache_tokens", [](const R& r) { return of(r, &S::cache_tokens); }},
    {"serving.cache_mean", [](const R& r) { return of(r, &S::cache_mean); }},
    {"serving.cache_peak", [](const R& r) { return of(r, &S::cache_peak); }},
    {"serving.replica_groups", groups, ResultKey::Needs::nothing, true},
    {"serving.cache_use", cache_use, ResultKey::Needs::nothing, true},
    {"serving.ranges", ranges, ResultKey::Needs::range, true},
};

}  // namespace

std::span<const ResultKey> serving_keys() { return kServingKeys; }

}  // namespace orrery
