#include "sim/serving/serving_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "orrery/error.hpp"
#include "orrery/serving_reach.hpp"
#include "sim/serving/requests.hpp"

namespace orrery {
namespace {

bool is_drawn(const Inference& inference) {
  return inference.prompt.kind != LengthKind::fixed || inference.output.kind != LengthKind::fixed;
}

void check_tokens(double requests, const Inference& inference) {
  const double tokens = requests * static_cast<double>(inference.output.mean);
  if (requests > kMostServedRequests || tokens > kMostServedTokens)
    throw InputError(
        "/inference/requests",
        fmt::format("found none, and full batches of every replica are {:.3g} requests with {:.3g} "
                    "tokens to make, allowed {:.0e} with {:.0e}: give requests or a smaller "
                    "batch_size",
                    requests, tokens, kMostServedRequests, kMostServedTokens));
}

void check_arrivals(std::int64_t requests, double per_s) {
  const double seconds = static_cast<double>(requests) / per_s;
  if (seconds > kMostServedArrivalSeconds)
    throw InputError(
        "/inference/requests_per_s",
        fmt::format("found {:.3g}, at which {} requests take {:.3g} s to arrive, allowed {:.0e} s", per_s,
                    requests, seconds, kMostServedArrivalSeconds));
}

/// Requests to serve where the experiment does not say: a full batch of every replica; ten of them where
/// lengths are drawn, since a batch alone mostly waits for its longest, or at a rate; and at a rate 1000 at
/// least, to see whether the queue grows.
std::int64_t usual_count(const Inference& inference, std::int64_t in_flight, std::int64_t lengthened) {
  constexpr std::int64_t kLeastAtRate = 1000;
  const bool at_rate = !inference.is_closed_loop();
  const std::int64_t batches = is_drawn(inference) || at_rate ? 10 : 1;
  const double full = static_cast<double>(in_flight) * static_cast<double>(batches);
  check_tokens(full, inference);
  const std::int64_t count =
      lengthened * std::max(at_rate ? kLeastAtRate : std::int64_t{1}, static_cast<std::int64_t>(full));
  if (at_rate) check_arrivals(count, inference.requests_per_s);
  return count;
}

std::int64_t count_of(const Inference& inference, std::int64_t in_flight, std::int64_t lengthened) {
  if (inference.requests > 0 || inference.trace.has_value()) return lengthened * inference.requests;
  return usual_count(inference, in_flight, lengthened);
}

}  // namespace

ServingLoad load_of(const ServingSetup& setup) {
  const Inference& inference = setup.inference;

  // The room is known before the requests are, except for their needs.
  ServingLoad load;
  for (std::size_t kind = 0; kind < setup.kinds(); ++kind)
    load.kinds.push_back({max_num_seqs(inference, cache_room(setup, kind, {})), {}});
  for (std::int64_t r = setup.prompt_replicas(); r < setup.replicas; ++r)
    load.in_flight += load.kinds[setup.kind_of(r)].limit;
  const std::int64_t count = count_of(inference, load.in_flight, setup.lengthened);
  MadeRequests made = make_requests(inference, setup.context_tokens, count, setup.seed);
  load.requests = std::move(made.requests);
  load.cut = made.cut;
  for (std::size_t kind = 0; kind < setup.kinds(); ++kind)
    load.kinds[kind].room = cache_room(setup, kind, load.requests);
  return load;
}

std::string ServingLoad::obstacle() const {
  for (const Kind& kind : kinds)
    if (!kind.room.obstacle.empty()) return kind.room.obstacle;
  return "";
}

}  // namespace orrery
