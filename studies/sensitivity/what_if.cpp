#include "studies/sensitivity/what_if.hpp"

#include <algorithm>

#include "config/catalog/price_keys.hpp"
#include "sim/run/sensitivity.hpp"

namespace orrery {
namespace {

WhatIf ask(Sensitivity& sensitivity, const Experiment& experiment, const PriceKey& key) {
  Experiment own = experiment;
  WhatIf answer = sensitivity.of(
      {key.is_rate, key.in(own), key.best(), [&key](Experiment& e, double value) { key.in(e) = value; }});
  answer.key = key.key;
  answer.unit = key.unit;
  return answer;
}

constexpr const char* kExactClaim =
    "what-if: shares are derivatives along the critical path, and up to \"holds to\" no other chain of "
    "operations is longer; step times at twice the rate or half the time are simulated";
constexpr const char* kEstimate =
    "what-if: shares are derivatives along the critical path, on which transfers that wait for links count "
    "as if "
    "they kept their share of these; up to \"holds to\" simulations agree to a thousandth; step times at "
    "twice the "
    "rate or half the time are simulated";

}  // namespace

WhatIfs what_if(const Experiment& experiment, const std::vector<std::string>& keys) {
  const std::vector<PriceKey> asked =
      keys.empty() ? price_keys(experiment) : price_keys_named(experiment, keys);
  Sensitivity sensitivity(experiment);
  WhatIfs result;
  for (const PriceKey& key : asked) {
    WhatIf answer = ask(sensitivity, experiment, key);
    if (!keys.empty() || answer.share != 0) result.list.push_back(std::move(answer));
  }
  std::ranges::stable_sort(result.list, std::ranges::greater(), &WhatIf::share);
  result.claim = sensitivity.exact() ? kExactClaim : kEstimate;
  return result;
}

}  // namespace orrery
