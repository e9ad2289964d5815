#include "sim/serving/requests.hpp"

#include <algorithm>
#include <cmath>

#include "orrery/units.hpp"
#include "sim/serving/random_stream.hpp"

namespace orrery {
namespace {

/// Numbers of one kind are a stream of their own, so that other outputs leave prompts and arrivals as they
/// are.
enum DrawStream : std::uint64_t { kArrivals, kPrompts, kOutputs };

class LengthSource {
 public:
  LengthSource(const TokenLengths& lengths, std::uint64_t seed, DrawStream stream)
      : lengths_(lengths), draws_(seed, stream) {
    if (lengths.kind != LengthKind::log_normal) return;
    const double variation = lengths.deviation / static_cast<double>(lengths.mean);
    // Computes the variance of the logarithm. The logarithm of 1 may come out a rounding error below 0.
    const double variance = std::max(0.0, portable_log(1 + variation * variation));
    scale_ = std::sqrt(variance);
    shift_ = -variance / 2;
  }

  /// The shortest there is.
  [[nodiscard]] std::int64_t least() const {
    return lengths_.kind == LengthKind::fixed ? lengths_.mean : lengths_.least;
  }

  /// From the least length to the greatest one, where there is one, and then to `room` at most.
  std::int64_t next(std::int64_t room) {
    constexpr std::int64_t kNoMost = std::int64_t{1} << 40;
    const std::int64_t most = lengths_.most > 0 ? lengths_.most : kNoMost;
    const std::int64_t length = std::clamp(drawn(lengths_.least, most), std::min(lengths_.least, most), most);
    was_cut_ = length > room;
    return std::min(length, room);
  }
  /// The latest one.
  [[nodiscard]] bool was_cut() const { return was_cut_; }

 private:
  std::int64_t drawn(std::int64_t least, std::int64_t most) {
    if (lengths_.kind == LengthKind::fixed) return lengths_.mean;
    if (lengths_.kind == LengthKind::uniform) return draws_.integer(least, most);
    constexpr double kFarthest = 600;  // e^600 and beyond is cut anyway
    const double logarithm = std::clamp(shift_ + scale_ * draws_.normal(), -kFarthest, kFarthest);
    const double tokens = static_cast<double>(lengths_.mean) * portable_exp(logarithm);
    return tokens < static_cast<double>(most) ? static_cast<std::int64_t>(tokens + 0.5) : most;
  }

  const TokenLengths& lengths_;
  RandomStream draws_;
  double scale_ = 0;
  double shift_ = 0;
  bool was_cut_ = false;
};

}  // namespace

std::int64_t reused_tokens(const Inference& inference, std::int64_t prompt_tokens) {
  const auto there = static_cast<std::int64_t>(inference.prefix_reuse * static_cast<double>(prompt_tokens));
  return std::min(there, prompt_tokens - 1) / inference.page_tokens * inference.page_tokens;
}

MadeRequests make_requests(const Inference& inference, std::int64_t context, std::int64_t count,
                           std::uint64_t seed) {
  if (inference.trace.has_value()) return {*inference.trace};
  LengthSource prompts(inference.prompt, seed, kPrompts);
  LengthSource outputs(inference.output, seed, kOutputs);
  RandomStream arrivals(seed, kArrivals);
  MadeRequests made;
  made.requests.resize(static_cast<std::size_t>(count));
  Picoseconds now = 0;
  for (RequestSpec& request : made.requests) {
    request.arrival_ps = now;
    request.prompt_tokens = prompts.next(std::max<std::int64_t>(1, context - outputs.least()));
    request.output_tokens = outputs.next(context - request.prompt_tokens);
    if (prompts.was_cut() || outputs.was_cut()) ++made.cut;
    if (inference.is_closed_loop()) continue;
    const double gap_s = arrivals.exponential() / inference.requests_per_s;  // a Poisson process
    now += static_cast<Picoseconds>(gap_s * 1e12 + 0.5);
  }
  return made;
}

}  // namespace orrery
