#include "studies/calibrate/domain_json.hpp"

#include <nlohmann/json.hpp>

namespace orrery {

std::string domain_text(const CalibrationDomain& domain) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < kDomainNames.size(); ++i) out[std::string(kDomainNames[i])] = domain.names[i];
  for (std::size_t i = 0; i < kDomainSpans.size(); ++i) {
    if (domain.spans[i]) out[std::string(kDomainSpans[i])] = {domain.spans[i]->low, domain.spans[i]->high};
  }
  return out.dump();
}

}  // namespace orrery
