#include "sim/run/kept_passes.hpp"

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

constexpr std::size_t kMostPrices = 1 << 14;

std::vector<std::uint32_t> works_of(const PassWork& pass) {
  std::vector<std::uint32_t> works;
  for (const PassStep& step : pass) {
    if (!step.communicates && std::ranges::find(works, step.work) == works.end()) works.push_back(step.work);
  }
  return works;
}

void append(const ComputeWork& work, const ComputePrice& price, Signature& signature) {
  signature.append(work.kernels.size());
  signature.append(static_cast<std::uint64_t>(work.host_ps));
  signature.append(static_cast<std::uint64_t>(price.duration_ps));
  signature.append(static_cast<std::uint64_t>(price.launch_ps));
}

}  // namespace

void KeptPasses::begin(const Workload& workload, std::span<const ComputePrice> works) {
  if (prices_.size() > kMostPrices) *this = {};
  workload_ = &workload;
  works_ = works;
  messages_.clear();
  signatures_.clear();
  for (const PassWork& pass : workload.passes) {
    Signature& signature = signatures_.emplace_back();
    const Steps& steps = steps_of(pass, signature);
    for (const std::uint32_t work : steps.works) append(workload.works[work], works[work], signature);
    for (const PassMessage& message : steps.messages)
      signature.append(static_cast<std::uint64_t>(workload.messages[message.message].host_ps));
    messages_.emplace_back(steps.messages);
  }
}

const KeptPasses::Steps& KeptPasses::steps_of(const PassWork& pass, Signature& signature) {
  for (const PassStep& step : pass) {
    const auto after = static_cast<std::uint32_t>(step.after);
    signature.append(std::uint64_t{step.work} << 32 | after << 1 | (step.communicates ? 1U : 0U));
  }
  const std::uint32_t number = steps_table_.number(signature);
  if (number == steps_.size()) steps_.push_back({messages_of(pass), works_of(pass)});
  return steps_[number];
}

std::uint32_t KeptPasses::number(std::uint32_t pass, std::span<const Picoseconds> messages_ps) {
  Signature key = signatures_[pass];
  for (const PassMessage& message : messages_[pass])
    key.append(static_cast<std::uint64_t>(messages_ps[message.message]));
  const std::uint32_t number = price_table_.number(key);
  if (number == prices_.size())
    prices_.push_back(price_pass(workload_->passes[pass], *workload_, works_, messages_ps));
  return number;
}

}  // namespace orrery
