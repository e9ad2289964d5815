#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "config/experiment/read_parts.hpp"
#include "config/schema/fields.hpp"

namespace orrery {
namespace {

class BatchCompletion {
 public:
  BatchCompletion(Plan& plan, const Json& given, const ReportProblem& complain)
      : plan_(plan),
        given_(given),
        complain_(complain),
        smallest_(plan.data_parallel * plan.micro_batch_size) {}

  bool run() {
    if (static_cast<double>(smallest_) > kMaxBatch)
      return refuse("micro_batch_size", product() + " samples", fmt::format("at most {}", kMaxBatch));
    if (!plan_.replica_batch_sizes.empty()) return add_up_replicas();
    if (!given_.contains("global_batch_size")) plan_.global_batch_size = smallest_;
    if (plan_.balance_replica_batches) return check_shared();
    if (plan_.global_batch_size % smallest_ == 0) return true;
    return refuse("global_batch_size", std::to_string(plan_.global_batch_size), "a multiple of " + product());
  }

 private:
  bool refuse(std::string_view key, const std::string& found, const std::string& allowed) {
    complain_({key}, fmt::format("found {}, allowed {}", found, allowed));
    return false;
  }

  [[nodiscard]] std::string product() const {
    return fmt::format("data_parallel {} x micro_batch_size {} = {}", plan_.data_parallel,
                       plan_.micro_batch_size, smallest_);
  }

  /// Batches that are equal after all are those of any plan.
  bool add_up_replicas() {
    constexpr std::string_view kKey = "replica_batch_sizes";
    std::vector<std::int64_t>& sizes = plan_.replica_batch_sizes;
    if (std::ssize(sizes) != plan_.data_parallel)
      return refuse(kKey, fmt::format("{} entries", sizes.size()),
                    fmt::format("one for each of data_parallel {}", plan_.data_parallel));
    for (const std::int64_t samples : sizes) {
      if (samples % plan_.micro_batch_size != 0)
        return refuse(kKey, std::to_string(samples),
                      fmt::format("multiples of micro_batch_size {}", plan_.micro_batch_size));
    }
    const std::int64_t sum = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    const std::string found = fmt::format("a sum of {}", sum);
    if (given_.contains("global_batch_size") && sum != plan_.global_batch_size)
      return refuse(kKey, found, fmt::format("global_batch_size {}", plan_.global_batch_size));
    if (static_cast<double>(sum) > kMaxBatch)
      return refuse(kKey, found, fmt::format("at most {}", kMaxBatch));
    plan_.global_batch_size = sum;
    if (std::ranges::count(sizes, sizes.front()) == std::ssize(sizes)) sizes.clear();
    return true;
  }

  /// Each replica gets a micro-batch at least.
  bool check_shared() {
    if (plan_.global_batch_size % plan_.micro_batch_size == 0 && plan_.global_batch_size >= smallest_)
      return true;
    return refuse("global_batch_size", std::to_string(plan_.global_batch_size),
                  fmt::format("a multiple of micro_batch_size {} from {} on, a micro-batch for each replica",
                              plan_.micro_batch_size, smallest_));
  }

  Plan& plan_;
  const Json& given_;
  const ReportProblem& complain_;
  std::int64_t smallest_;  ///< batch of all replicas
};

}  // namespace

bool complete_batch(Plan& plan, const Json& given, const ReportProblem& complain) {
  return BatchCompletion(plan, given, complain).run();
}

}  // namespace orrery
