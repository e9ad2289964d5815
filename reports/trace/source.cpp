#include "reports/trace/source.hpp"

#include <fmt/format.h>

namespace orrery {

TraceLabel trace_label(std::string_view name, std::string_view category) {
  return {std::string(name), category, fmt::format(R"("name":"{}","cat":"{}")", name, category)};
}

std::int64_t first_process(std::uint32_t threads) {
  std::int64_t first = 10;
  while (first <= threads) first *= 10;
  return first;
}

}  // namespace orrery
