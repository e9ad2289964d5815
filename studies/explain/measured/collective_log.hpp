// Reads the output of nccl-tests (all_reduce_perf and the others): sizes and times of one collective.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/plan.hpp"
#include "studies/explain/measured/byte_source.hpp"

namespace orrery {

struct MeasuredCollective {
  std::int64_t bytes = 0;  ///< as Message::bytes
  double time_s = 0;       ///< the shorter of out-of-place and in-place
  double bus_gb_per_s = 0;
};

struct CollectiveLog {
  std::string source;
  std::optional<Collective> collective;  ///< none where nothing says it
  std::int64_t ranks = 0;
  std::int64_t nodes = 0;
  std::vector<MeasuredCollective> rows;  ///< in the order of the log
};

class CollectiveLogReader {
 public:
  explicit CollectiveLogReader(std::string source);
  void read(std::string_view line);
  [[nodiscard]] CollectiveLog finish() &&;

 private:
  void read_row(const std::vector<std::string_view>& words);

  CollectiveLog log_;
  std::set<std::string, std::less<>> hosts_;
  std::int64_t gpus_of_thread_ = 0;
  bool reduces_ = false;
  double bus_share_ = 0;  ///< bus bandwidth over algorithm bandwidth, of the largest message
};

}  // namespace orrery
