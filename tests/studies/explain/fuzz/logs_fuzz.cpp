// libFuzzer harness of the readers of logs, not part of the build; built like chrome_profile_fuzz.cpp.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "studies/explain/measured/collective_log.hpp"
#include "studies/explain/measured/serving_log.hpp"
#include "studies/explain/measured/training_log.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream text(std::string(reinterpret_cast<const char*>(data), size));
  orrery::TrainingLogReader training("fuzz");
  orrery::CollectiveLogReader collectives("fuzz");
  orrery::ServerLogReader server("fuzz");
  for (std::string line; std::getline(text, line);) {
    training.read(line);
    collectives.read(line);
    server.read(line);
  }
  static_cast<void>(std::move(training).finish());
  static_cast<void>(std::move(collectives).finish());
  if (!server.empty()) static_cast<void>(std::move(server).finish());
  return 0;
}
