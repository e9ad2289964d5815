// The domain of a calibration as its file has it.
#pragma once

#include <nlohmann/json.hpp>

#include "orrery/calibration_domain.hpp"

namespace orrery {

[[nodiscard]] inline nlohmann::ordered_json domain_json(const CalibrationDomain& domain) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < kDomainNames.size(); ++i) out[std::string(kDomainNames[i])] = domain.names[i];
  for (std::size_t i = 0; i < kDomainSpans.size(); ++i) {
    if (domain.spans[i]) out[std::string(kDomainSpans[i])] = {domain.spans[i]->low, domain.spans[i]->high};
  }
  return out;
}

}  // namespace orrery
