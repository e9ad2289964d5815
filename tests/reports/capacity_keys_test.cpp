// Checks that the capacity of a service, which takes runs of its own, is computed only on request.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "orrery/write.hpp"
#include "reports/result/result_row.hpp"

TEST_CASE("capacity is measured where its keys are named, and by no default") {
  using namespace orrery;
  CHECK_FALSE(ResultSelection().figures().capacity);
  CHECK_FALSE(ResultSelection(lasting_row_names()).figures().capacity);
  const std::vector<std::string> named{"step_time_s", "max_requests_per_s"};
  CHECK(ResultSelection(named).figures().capacity);
}
