// Writes the arguments of slices: details that their names leave out.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "reports/trace/slices.hpp"

namespace orrery {

enum class Argument : std::uint8_t { layer, microbatch, step, group, chunk, ranks, bytes, times };
inline constexpr std::array<std::string_view, 8> kArgumentNames{"layer", "microbatch", "step",  "group",
                                                                "chunk", "ranks",      "bytes", "times"};

class Arguments {
 public:
  /// `detailed`: with arguments that long traces leave out.
  Arguments(const TracePlan& plan, const TraceSlice& slice, bool detailed);

  struct Value {
    Argument argument{};
    std::int64_t value = 0;
  };
  [[nodiscard]] const Value* begin() const { return values_.data(); }
  [[nodiscard]] const Value* end() const { return values_.data() + size_; }

 private:
  void add(Argument argument, std::int64_t value) { values_[size_++] = {argument, value}; }
  void add_operation(const TracePlan& plan, std::uint32_t rank, const Op& op);
  void add_details(const TracePlan& plan, std::uint32_t rank, const Op& op);
  void add_pass(const TracePlan& plan, const PassOps& pass);

  std::array<Value, kArgumentNames.size()> values_;
  std::size_t size_ = 0;
};

}  // namespace orrery
