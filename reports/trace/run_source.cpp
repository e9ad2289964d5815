#include "reports/trace/run_source.hpp"

#include <array>

namespace orrery {
namespace {

std::uint32_t bits_of(const LinkCounter& uses) {
  std::uint32_t bits = 0;
  for (std::size_t d = 0; d < kDimensionCount; ++d)
    if (uses.uses(d)) bits |= 1U << d;
  return bits;
}

/// GB with six decimals.
TraceCounter memory_counter() { return {"memory GB", {{"total", "memory", 0}}, 1000, 1, true, {}}; }

/// GB/s with three decimals.
TraceCounter link_counter(std::uint32_t dimensions) {
  TraceCounter counter{"link GB/s", {}, 1'000'000, 1000, false, "B/s"};
  for (std::uint32_t d = 0; d < kDimensionCount; ++d) {
    if ((dimensions >> d & 1U) != 0)
      counter.series.push_back({kDimensionNames[d], "link " + std::string(kDimensionNames[d]), 1 + d});
  }
  return counter;
}

}  // namespace

RunTrace::RunTrace(const TracePlan& plan, const RankGrid& grid)
    : plan_(plan), grid_(grid), detailed_(is_detailed(plan)), memory_(memory_counter()) {}

TraceProcess RunTrace::process(std::size_t at) const {
  const std::uint32_t rank = plan_.ranks[at];
  TraceProcess process{rank, process_name(plan_, grid_, rank), {}};
  for (const std::uint32_t stream : traced_streams(plan_, rank))
    process.threads.push_back({stream, std::string(stream_name(static_cast<Stream>(stream)))});
  return process;
}

std::vector<TraceCounter> RunTrace::counters(std::size_t at) const {
  return {memory_, link_counter(bits_of(LinkCounter(plan_, plan_.ranks[at], 0)))};
}

void RunTrace::tell(TraceReader& reader) {
  reader_ = &reader;
  walk(plan_, *this);
}

void RunTrace::tell_thread(std::uint32_t process, std::uint32_t thread, TraceReader& reader) {
  reader_ = &reader;
  for (SliceCursor cursor(plan_, process, thread); cursor.slice().span.start != kNoTime; cursor.advance())
    slice(cursor.slice());
}

void RunTrace::slice(const TraceSlice& slice) {
  std::array<TraceArgument, kArgumentNames.size()> arguments;
  std::size_t count = 0;
  for (const auto& [argument, value] : Arguments(plan_, slice, detailed_))
    arguments[count++] = {static_cast<std::uint32_t>(argument), value};
  reader_->read({slice.rank,
                 slice.stream,
                 static_cast<std::uint32_t>(slice.level),
                 &labels_.of(plan_, slice),
                 {},
                 slice.span,
                 slice.apart,
                 {arguments.data(), count},
                 arrow_of(plan_, slice)});
}

void RunTrace::memory(std::uint32_t rank, Nanoseconds time, Bytes bytes) {
  const std::int64_t value = bytes;
  reader_->read(rank, memory_, time, {&value, 1});
}

void RunTrace::links(std::uint32_t rank, Nanoseconds time, const LinkCounter::Rates& rates,
                     const LinkCounter& uses) {
  const std::uint32_t bits = bits_of(uses);
  const auto [counter, is_new] = links_.try_emplace(bits);
  if (is_new) counter->second = link_counter(bits);
  LinkCounter::Rates values{};
  std::size_t count = 0;
  for (std::size_t d = 0; d < kDimensionCount; ++d)
    if (uses.uses(d)) values[count++] = rates[d];
  reader_->read(rank, counter->second, time, {values.data(), count});
}

}  // namespace orrery
