// Prices of passes that are kept from run to run: plans that differ in batch or in how replicas keep in step
// have the same.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/cost/pass_price.hpp"
#include "sim/cost/signature.hpp"

namespace orrery {

class KeptPasses {
 public:
  /// The passes of a run, whose workload and prices of works it refers to.
  void begin(const Workload& workload, std::span<const ComputePrice> works);

  /// messages_of() each pass of the run.
  [[nodiscard]] std::span<const std::span<const PassMessage>> messages() const { return messages_; }
  /// A number for a pass where its messages take so long.
  /// @param messages_ps  as price_pass()
  std::uint32_t number(std::uint32_t pass, std::span<const Picoseconds> messages_ps);
  /// By number.
  [[nodiscard]] const PassPrice& price(std::uint32_t number) const { return prices_[number]; }

 private:
  /// What a list of steps refers to.
  struct Steps {
    std::vector<PassMessage> messages;
    std::vector<std::uint32_t> works;  ///< each once
  };
  const Steps& steps_of(const PassWork& pass, Signature& signature);

  SignatureTable steps_table_;
  std::vector<Steps> steps_;
  SignatureTable price_table_;
  std::vector<PassPrice> prices_;

  const Workload* workload_ = nullptr;  ///< of the run at hand, as all that follows
  std::span<const ComputePrice> works_;
  std::vector<std::span<const PassMessage>> messages_;
  std::vector<Signature> signatures_;  ///< per pass: all that its price depends on but for `messages_ps`
};

}  // namespace orrery
