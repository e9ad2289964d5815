// Traces a serving run: a process per replica with a thread per pipeline stage, on which its iterations lie,
// and with its KV cache and its requests as counters; and a process in which requests lie on lanes from
// arrival to end, with their phases below.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "orrery/serving_record.hpp"
#include "reports/trace/source.hpp"

namespace orrery {

class ServingTrace final : public TraceSource {
 public:
  /// Requests that lie side by side at most; of more at a time the later ones are left out.
  static constexpr std::uint32_t kMostLanes = 256;

  /// Keeps a reference. Iterations and requests have half of the spans each, or the rest of the other's half.
  ServingTrace(const ServingRecord& record, std::uint64_t max_spans);

  [[nodiscard]] std::size_t processes() const override { return record_.replicas + (lanes_ > 0 ? 1U : 0U); }
  [[nodiscard]] TraceProcess process(std::size_t at) const override;
  [[nodiscard]] std::vector<TraceCounter> counters(std::size_t at) const override;
  [[nodiscard]] std::uint32_t threads() const override { return std::max(record_.stages, lanes_); }
  [[nodiscard]] std::uint32_t series() const override { return 3; }
  [[nodiscard]] std::vector<const TraceLabel*> labels() const override;
  [[nodiscard]] std::span<const std::string_view> argument_names() const override;
  [[nodiscard]] Nanoseconds end() const override { return record_.duration_ps / 1000; }
  void tell(TraceReader& reader) override;
  void tell_thread(std::uint32_t process, std::uint32_t thread, TraceReader& reader) override;

  /// Returns the number of recorded iterations and requests that are not shown.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  enum class Kind : std::uint8_t { prefill, decode, mixed, request, queued, prompt, transfer, output, state };
  struct Item {
    Span span;
    Nanoseconds apart = 0;  ///< finish of SourceSlice::apart
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::uint32_t index = 0;  ///< of the iteration, the request or the state
    Kind kind{};

    [[nodiscard]] std::uint32_t depth() const { return kind > Kind::request && kind != Kind::state ? 1 : 0; }
  };

  void add_iterations(std::uint64_t most);
  void add_requests(std::uint64_t most);
  void add_request(std::uint32_t request, std::uint32_t lane);
  void add_states(std::uint64_t most);
  void part(std::size_t at);
  void tell(const Item& item, TraceReader& reader);
  void tell_iteration(const Item& item, SourceSlice& slice);
  void tell_request(const Item& item, SourceSlice& slice);

  const ServingRecord& record_;
  std::vector<TraceLabel> labels_;  ///< by kind, without that of states
  TraceCounter cache_;
  TraceCounter requests_;
  std::uint32_t lanes_ = 0;
  std::uint64_t left_out_ = 0;
  std::vector<Item> items_;           ///< thread by thread, each in order of time
  std::vector<std::uint32_t> order_;  ///< all of them in order of time
  std::string name_;
  std::vector<TraceArgument> arguments_;
};

}  // namespace orrery
