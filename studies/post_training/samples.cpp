#include "studies/post_training/samples.hpp"

#include <algorithm>
#include <cmath>

#include "sim/serving/random_stream.hpp"

namespace orrery {
namespace {

/// Streams of random numbers that no other part of a run draws from.
constexpr std::uint64_t kFirstStream = 1000;

std::int64_t in_range(const TokenLengths& lengths, double tokens) {
  const double most = static_cast<double>(lengths.most);
  if (tokens >= most) return lengths.most;
  return std::max(lengths.least, static_cast<std::int64_t>(tokens + 0.5));
}

/// The factors by which log-normal lengths differ from each other.
std::vector<double> log_normal_factors(const TokenLengths& lengths, std::size_t count, RandomStream& random) {
  const double variation = lengths.deviation / static_cast<double>(lengths.mean);
  const double scale = std::sqrt(std::max(0.0, portable_log(1 + variation * variation)));
  constexpr double kFarthest = 300;
  std::vector<double> factors(count);
  for (double& factor : factors)
    factor = portable_exp(std::clamp(scale * random.normal(), -kFarthest, kFarthest));
  return factors;
}

/// Halves an interval of factors until the lengths that are cut have the mean.
std::vector<std::int64_t> log_normal_lengths(const TokenLengths& lengths, double mean, std::size_t count,
                                             RandomStream& random) {
  const std::vector<double> factors = log_normal_factors(lengths, count, random);
  std::vector<std::int64_t> drawn(count);
  const auto sum_at = [&](double unit) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += drawn[i] = in_range(lengths, unit * factors[i]);
    return static_cast<double>(sum);
  };
  constexpr int kHalvings = 100;
  double low = 1e-6;
  double high = 1e15;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = std::sqrt(low * high);
    (sum_at(middle) < mean * static_cast<double>(count) ? low : high) = middle;
  }
  static_cast<void>(sum_at(high));
  return drawn;
}

std::vector<std::int64_t> draw_lengths(const TokenLengths& lengths, double mean, std::size_t count,
                                       RandomStream random) {
  if (lengths.kind == LengthKind::log_normal) return log_normal_lengths(lengths, mean, count, random);
  std::vector<std::int64_t> drawn(count, lengths.mean);
  if (lengths.kind == LengthKind::fixed) return drawn;
  for (std::int64_t& one : drawn) one = random.integer(lengths.least, lengths.most);
  return drawn;
}

std::vector<Sample> samples_of_trace(const PostTraining& section, std::uint64_t draw, std::int64_t prompts) {
  const std::vector<RequestSpec>& trace = *section.trace;
  const auto count = static_cast<std::size_t>(prompts * section.samples_per_prompt);
  std::vector<Sample> samples(count);
  std::size_t next = static_cast<std::size_t>(draw) * count % trace.size();
  for (Sample& sample : samples) {
    sample = {trace[next].prompt_tokens, trace[next].output_tokens};
    next = (next + 1) % trace.size();
  }
  return samples;
}

}  // namespace

double mean_response_of(const PostTraining& section, std::int64_t step) {
  const double mean =
      static_cast<double>(section.response.mean) + section.growth_tokens_per_step * static_cast<double>(step);
  return section.response.most > 0 ? std::min(mean, static_cast<double>(section.response.most)) : mean;
}

std::vector<Sample> draw_samples(const PostTraining& section, std::uint64_t seed, std::uint64_t draw,
                                 std::int64_t prompts, double mean_response) {
  if (section.trace.has_value()) return samples_of_trace(section, draw, prompts);
  const std::int64_t of_prompt = section.samples_per_prompt;
  const auto prompt_lengths =
      draw_lengths(section.prompt, static_cast<double>(section.prompt.mean),
                   static_cast<std::size_t>(prompts), RandomStream(seed, kFirstStream + 2 * draw));
  const auto responses =
      draw_lengths(section.response, mean_response, static_cast<std::size_t>(prompts * of_prompt),
                   RandomStream(seed, kFirstStream + 2 * draw + 1));
  std::vector<Sample> samples(responses.size());
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = {prompt_lengths[i / static_cast<std::size_t>(of_prompt)], responses[i]};
  return samples;
}

}  // namespace orrery
