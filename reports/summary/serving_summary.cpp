// The part of the summary about requests that a model serves.
#include "reports/summary/serving_summary.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "reports/summary/figure_text.hpp"

namespace orrery {
namespace {

class ServingSummary {
 public:
  ServingSummary(const Report& report, SummaryText& text)
      : report_(report), serving_(*report.serving), text_(text) {}

  void write() {
    if (serving_.capacity) capacity(*serving_.capacity);
    if (serving_.duration_ps > 0) {
      served();
      latencies();
      times();
    }
    memory();
    if (!serving_.groups.empty()) replica_groups();
  }

 private:
  void memory() {
    text_.heading("Memory per GPU", "GB, of the stage that holds most");
    const auto gb = [](Bytes bytes) { return static_cast<double>(bytes) / 1e9; };
    std::string held =
        fmt::format("weights {:.3f}, activations {:.3f}, cache {:.3f} for {} tokens a replica",
                    gb(serving_.weights_bytes), gb(serving_.workspace_bytes), gb(serving_.cache_bytes),
                    scaled(static_cast<double>(serving_.cache_tokens)));
    if (serving_.duration_ps > 0)
      held += fmt::format("; of it held {:.1f} %, at most {:.1f} %", 100 * serving_.cache_mean,
                          100 * serving_.cache_peak);
    text_.wrapped("  ", held);
  }

  void capacity(const Capacity& c) {
    text_.heading("Capacity", "what follows is at this rate");
    std::string most = fmt::format("{} requests/s, {} per GPU", three_digits(c.requests_per_s),
                                   three_digits(c.requests_per_s / static_cast<double>(report_.gpus)));
    if (report_.usd_per_hour > 0)
      most +=
          fmt::format(", {} per US dollar of rent", scaled(3600 * c.requests_per_s / report_.usd_per_hour));
    text_.wrapped("  ", most);
    if (c.offered_per_s > 0)
      text_.wrapped("  ", fmt::format("at {} requests/s {}", three_digits(c.offered_per_s),
                                      c.broken == "queue" ? "the queue grows, or nobody can tell"
                                                          : c.broken + " is beyond its limit"));
  }

  void replica_groups() {
    text_.heading("Replicas", "by their GPUs");
    for (const ReplicaGroup& group : serving_.groups) {
      std::string text = fmt::format("{} on {}: {} requests", group.replicas, group.gpus, group.requests);
      if (group.ttft_s > 0) text += fmt::format(", first token {}", duration(group.ttft_s));
      if (group.tpot_s > 0) text += fmt::format(", further ones {} each", duration(group.tpot_s));
      text_.wrapped("  ", text + fmt::format("; busy {:.1f} %, cache for {} tokens", 100 * group.busy_share(),
                                             scaled(static_cast<double>(group.cache_tokens))));
    }
  }

  void served() {
    text_.blank_line();
    text_.line("  {:<11}{:>13}   {} requests, {} tokens read and {} made", "served in",
               duration(serving_.duration_s()), serving_.requests,
               scaled(static_cast<double>(serving_.prompt_tokens)),
               scaled(static_cast<double>(serving_.output_tokens)));
    text_.line("  {:<11}{:>13}   {} output tokens/s ({} per GPU)   {} tokens/s", "throughput",
               fmt::format("{}/s", three_digits(serving_.requests_per_s())),
               scaled(serving_.output_tokens_per_s()),
               scaled(serving_.output_tokens_per_s() / static_cast<double>(report_.gpus)),
               scaled(serving_.tokens_per_s()));
    if (serving_.good_requests < serving_.requests)
      text_.line("  {:<11}{:>13}   {:.1f} % of the requests kept their targets", "goodput",
                 fmt::format("{}/s", three_digits(serving_.goodput_requests_per_s())),
                 100 * static_cast<double>(serving_.good_requests) / static_cast<double>(serving_.requests));
    if (serving_.arrivals_per_s > 0)
      text_.line("  {:<11}{:>13}   {}", "arrivals",
                 fmt::format("{}/s", three_digits(serving_.arrivals_per_s)), queue_state());
    if (serving_.preemptions > 0)
      text_.wrapped("  ",
                    fmt::format("{} times a request lost its place in the cache: {} tokens computed again",
                                serving_.preemptions, serving_.recomputed_tokens));
  }

  [[nodiscard]] std::string queue_state() const {
    if (!serving_.unstable) return "too few to tell whether the queue grows";
    if (!*serving_.unstable) return "the queue is stable";
    return text_.painted(
        "1;31", fmt::format("UNSTABLE: the queue grows by {:.3g} requests/s", serving_.queue_growth_per_s));
  }

  void latencies() {
    text_.heading("Latency");
    text_.line("  {:<24}{:>12}{:>12}{:>12}{:>12}", "", "mean", "p50", "p90", "p99");
    const auto row = [this](std::string_view name, const Distribution& d) {
      std::string cells = fmt::format("{:>12}{:>12}{:>12}{:>12}", duration(d.mean), duration(d.p50),
                                      duration(d.p90), duration(d.p99));
      cells.erase(cells.find_last_not_of(' ') + 1);
      text_.line("  {:<24}{}", name, cells);
    };
    row("time to first token", serving_.ttft_s);
    if (serving_.output_tokens > serving_.requests) row("time per output token", serving_.tpot_s);
    if (serving_.output_tokens > serving_.requests) row("between tokens", serving_.inter_token_latency_s);
    row("end to end", serving_.end_to_end_s);
    row("in the queue", serving_.queue_s);
    limits();
  }

  /// Writes the experiment's limits, each beside the figure it limits.
  void limits() {
    for (const ServiceLimit& limit : kServiceLimits) {
      const double most_s = report_.slo.*limit.most_s;
      if (most_s == 0) continue;
      const double value_s = serving_.*limit.figure.*limit.part;
      text_.line("  {:<28}{:>12} of at most {}: {}", limit.key, duration(value_s), duration(most_s),
                 value_s <= most_s ? "kept" : text_.painted("1;31", "BROKEN"));
    }
  }

  void times() {
    text_.heading("Where the time goes", "mean over GPUs");
    const ServingTimes& t = serving_.times;
    const double stages = static_cast<double>(t.total_ps()) / static_cast<double>(serving_.duration_ps);
    const auto row = [&](std::string_view name, Int128 sum, std::string_view code) {
      text_.part(name, static_cast<double>(sum) * 1e-12 / stages, serving_.duration_s(), code);
    };
    row("prefill", t.prefill_ps, kComputes);
    row("decode", t.decode_ps, kDecodes);
    row("prefill and decode", t.mixed_ps, kMixes);
    row("host", t.host_ps, kHost);
    row("pipeline bubble", t.bubble_ps, kWaits);
    row("idle", t.idle_ps, kWaits);
    work();
    text_.wrapped("  ", fmt::format("{} iterations of {:.4g} requests, at most {}", serving_.iterations,
                                    serving_.batch_mean, serving_.batch_most));
  }

  /// Writes how GPUs spend their busy time.
  void work() {
    const auto share = [this](Int128 part) {
      return 100 * static_cast<double>(part) / static_cast<double>(serving_.work.total_ps());
    };
    std::string text = fmt::format("of it products {:.1f} %, attention {:.1f} %, other kernels {:.1f} %",
                                   share(serving_.work.products_ps), share(serving_.work.attention_ps),
                                   share(serving_.work.kernels_ps));
    const auto add = [&](std::string_view name, Int128 part) {
      if (part > 0) text += fmt::format(", {} {:.1f} %", name, share(part));
    };
    add("drafts", serving_.work.drafts_ps);
    add("launches", serving_.work.launch_ps);
    for (std::size_t d = 0; d < kDimensionCount; ++d)
      add(fmt::format("{} communication", kDimensionNames[d]), serving_.work.messages_ps[d]);
    text_.wrapped("  ", text);
  }

  const Report& report_;
  const Serving& serving_;
  SummaryText& text_;
};

}  // namespace

void write_serving(const Report& report, SummaryText& text) { ServingSummary(report, text).write(); }

}  // namespace orrery
