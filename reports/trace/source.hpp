// Declares a trace as every format reads it, for any kind of run: processes with threads of slices and with
// counters. Times are whole nanoseconds, start and finish both rounded down, so that slices that touch in ps
// touch in ns.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

using Nanoseconds = std::int64_t;
inline constexpr Nanoseconds kNoTime = std::numeric_limits<Nanoseconds>::max();

struct Span {
  Nanoseconds start = 0;
  Nanoseconds finish = 0;
};

/// Names a kind of slice; viewers sum and colour by it. The name needs no escapes in JSON.
struct TraceLabel {
  std::string name;  ///< "forward attention"
  std::string_view category;
  std::string json;          ///< `"name":"forward attention","cat":"forward"`
  std::uint32_t number = 0;  ///< place in TraceSource::labels()
};
[[nodiscard]] TraceLabel trace_label(std::string_view name, std::string_view category);

/// Describes one graph of a counter. Native forms have a track for each.
struct CounterSeries {
  std::string_view key;     ///< beside others of the same counter
  std::string track;        ///< alone
  std::uint32_t place = 0;  ///< among all series of a process, below TraceSource::series()
};

/// Values that change together.
struct TraceCounter {
  std::string_view name;  ///< with its unit, such as "memory GB"
  std::vector<CounterSeries> series;
  /// Each whole `grain` of a value counts as `millionths` millionths of the unit in the name.
  std::int64_t grain = 1;
  std::int64_t millionths = 1'000'000;
  bool is_bytes = false;
  std::string_view unit;  ///< of values, where they are not bytes
};

struct TraceThread {
  std::uint32_t number = 0;  ///< below TraceSource::threads()
  std::string name;          ///< safe in JSON as it is
};

struct TraceProcess {
  std::uint32_t number = 0;
  std::string name;  ///< safe in JSON as it is
  std::vector<TraceThread> threads;
};

struct TraceArgument {
  std::uint32_t name = 0;  ///< place in TraceSource::argument_names()
  std::int64_t value = 0;
};

/// An arrow to or from a slice; id 0: none. The two ends of a message have the same id.
struct Arrow {
  std::uint64_t id = 0;
  bool sends = false;
};

struct SourceSlice {
  std::uint32_t process = 0;  ///< number
  std::uint32_t thread = 0;   ///< number
  std::uint32_t depth = 0;    ///< a slice lies in the one of less depth that is open on its thread
  const TraceLabel* label = nullptr;
  std::string_view name;  ///< in place of the label's, where a format shows slices one by one; empty: none
  Span span;
  /// The span for readers that add start and duration in double, and may miss the sum by less than 1 ns: it
  /// ends 1 ns before the next slice of its kind if they touch, and 1 ns before the slice that contains it. A
  /// slice too short for that has no length.
  Span apart;
  std::span<const TraceArgument> arguments;
  Arrow arrow;
};

class TraceReader {
 public:
  virtual ~TraceReader() = default;
  virtual void read(const SourceSlice& slice) = 0;
  /// Receives a value for each series, which holds from that time on.
  virtual void read(std::uint32_t process, const TraceCounter& counter, Nanoseconds time,
                    std::span<const std::int64_t> values) = 0;
};

class TraceSource {
 public:
  virtual ~TraceSource() = default;
  [[nodiscard]] virtual std::size_t processes() const = 0;
  /// Returns the processes in the order in which viewers show them.
  [[nodiscard]] virtual TraceProcess process(std::size_t at) const = 0;
  [[nodiscard]] virtual std::vector<TraceCounter> counters(std::size_t at) const = 0;
  [[nodiscard]] virtual std::uint32_t threads() const = 0;
  /// Returns the number of threads up to the last one that has slices.
  [[nodiscard]] virtual std::uint32_t used_threads() const { return threads(); }
  [[nodiscard]] virtual std::uint32_t series() const = 0;
  [[nodiscard]] virtual std::vector<const TraceLabel*> labels() const = 0;
  [[nodiscard]] virtual std::span<const std::string_view> argument_names() const = 0;
  [[nodiscard]] virtual Nanoseconds end() const = 0;
  /// Reports all slices and counters in order of time, slices that contain others before these.
  virtual void tell(TraceReader& reader) = 0;
  /// The slices of one thread of a process.
  virtual void tell_thread(std::uint32_t process, std::uint32_t thread, TraceReader& reader) = 0;
};

/// Process ids are numbers plus this, a power of ten above every thread id, which is the thread plus 1: some
/// viewers take thread 0, or a thread with its process's id, for the main thread.
[[nodiscard]] std::int64_t first_process(std::uint32_t threads);

}  // namespace orrery
