// A strict reader of Chrome traces: the rules under which every known viewer shows the same picture.
// Throws std::runtime_error that names the first event that breaks one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace orrery::test {

/// Counts the contents of a valid trace.
struct TraceContents {
  std::uint64_t slices = 0;
  std::uint64_t passes = 0;  ///< of those
  std::uint64_t steps = 0;
  std::uint64_t flows = 0;
  std::uint64_t counters = 0;
  std::set<std::int64_t> processes;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> ns;  ///< by (pid, tid): sum of operations
  std::map<std::string, std::uint64_t> names;                        ///< slices by name
  std::map<std::pair<std::int64_t, std::string>, double> highest;    ///< by (pid, counter name + series)
  nlohmann::json json;
};

class TraceCheck {
 public:
  static TraceContents run(const std::string& text) {
    TraceCheck check;
    check.decimals(text);
    check.contents_.json = nlohmann::json::parse(text);
    const auto& json = check.contents_.json;
    require(json.at("displayTimeUnit") == "ms", "displayTimeUnit", json);
    require(json.at("metadata").is_object(), "metadata", json);
    for (const auto& event : json.at("traceEvents")) check.event(event);
    check.slices();
    check.flows();
    return std::move(check.contents_);
  }

 private:
  using Json = nlohmann::json;
  using Thread = std::pair<std::int64_t, std::int64_t>;
  struct Slice {
    std::int64_t start, finish;       // ns
    double double_start, double_sum;  // us, as a reader adds them
    int depth;                        // 0: step; 1: pass; 2: operation
    Json event;

    [[nodiscard]] bool empty() const { return start == finish; }
    /// The end for a reader that takes `base` off the start before it adds in double.
    [[nodiscard]] double rebased_end(double base) const {
      return double_start - base + (double_sum - double_start);
    }
  };

  static void require(bool good, const std::string& rule, const Json& event) {
    if (!good) throw std::runtime_error("trace rule '" + rule + "' broken by " + event.dump().substr(0, 300));
  }
  static std::int64_t nanoseconds(const Json& us) { return std::llround(us.get<double>() * 1000); }

  /// Every time in the text has exactly three decimals.
  void decimals(const std::string& text) const {
    for (const std::string key : {"\"ts\":", "\"dur\":"}) {
      for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
        const std::size_t end = text.find_first_not_of("0123456789.", at + key.size());
        const std::string number = text.substr(at + key.size(), end - at - key.size());
        const bool good = number.size() > 4 && number.find('.') == number.size() - 4;
        require(good, "three decimals", number);
      }
    }
  }

  void event(const Json& event) {
    const std::string phase = event.at("ph");
    require(event.at("pid").get<std::int64_t>() >= 1, "pid >= 1", event);
    if (event.contains("tid")) require(event.at("tid").get<std::int64_t>() >= 1, "tid >= 1", event);
    require(!event.contains("cname"), "no cname", event);
    if (phase == "M") return metadata(event);
    const std::int64_t ts = nanoseconds(event.at("ts"));
    require(ts >= last_, "sorted by ts", event);
    last_ = ts;
    require(contents_.processes.count(event.at("pid")) == 1, "named process", event);
    if (phase == "X") return slice(event, ts);
    if (phase == "s" || phase == "f") return flow(event, ts);
    require(phase == "C", "known phase", event);
    counter(event);
  }

  void metadata(const Json& event) {
    const std::string name = event.at("name");
    require(last_ < 0, "metadata first", event);
    if (name == "process_name") contents_.processes.insert(event.at("pid").get<std::int64_t>());
    if (name == "thread_name") threads_.insert(thread(event));
    const bool known = name == "process_name" || name == "process_sort_index" || name == "thread_name" ||
                       name == "thread_sort_index";
    require(known, "known metadata", event);
  }

  static Thread thread(const Json& event) { return {event.at("pid"), event.at("tid")}; }

  void slice(const Json& event, std::int64_t ts) {
    require(threads_.count(thread(event)) == 1, "named thread", event);
    require(event.at("name").get<std::string>().find_first_of("0123456789") == std::string::npos,
            "no digits in names", event);
    const std::int64_t duration = nanoseconds(event.at("dur"));
    require(duration >= 0, "dur >= 0", event);
    const double start = event.at("ts");
    const int depth = event.at("cat") == "step" ? 0 : event.at("cat") == "pass" ? 1 : 2;
    slices_[thread(event)].push_back(
        {ts, ts + duration, start, start + event.at("dur").get<double>(), depth, event});
    if (depth == 2) contents_.ns[{event.at("pid"), event.at("tid")}] += duration;
    ++contents_.names[event.at("name")];
    ++contents_.slices;
    if (depth == 0) ++contents_.steps;
    if (depth == 1) ++contents_.passes;
  }

  void flow(const Json& event, std::int64_t ts) {
    const bool sends = event.at("ph") == "s";
    if (!sends) require(event.at("bp") == "e", "bp e", event);
    const auto key = std::make_tuple(event.at("id").get<std::int64_t>(), event.at("cat").get<std::string>(),
                                     event.at("name").get<std::string>());
    auto& ends = flows_[key];
    if (!sends) require(!ends.first.empty() && ends.first[0].ts < ts, "arrow starts before it ends", event);
    (sends ? ends.first : ends.second).push_back({thread(event), ts, event});
  }

  void counter(const Json& event) {
    for (const auto& [series, value] : event.at("args").items()) {
      require(value.is_number() && value.get<double>() >= 0, "counter >= 0", event);
      const std::string name = event.at("name").get<std::string>() + " " + series;
      double& highest = contents_.highest[{event.at("pid"), name}];
      highest = std::max(highest, value.get<double>());
    }
    ++contents_.counters;
  }

  /// Slices of a thread lie in each other, operations in passes in steps, or do not touch: in whole ns and
  /// for a reader that takes the thread's first time off before it adds in double.
  void slices() const {
    for (const auto& [thread, slices] : slices_) {
      std::vector<const Slice*> open;
      for (const Slice& slice : slices) {
        for (; !open.empty() && open.back()->depth >= slice.depth; open.pop_back())
          apart(*open.back(), slice, slices.front().double_start);
        if (!open.empty()) within(*open.back(), slice, slices.front().double_start);
        const bool in_parent = slice.depth == 0 || (!open.empty() && open.back()->depth + 1 == slice.depth);
        require(in_parent || thread.second != 1, "in its pass or step", slice.event);
        open.push_back(&slice);
      }
    }
  }
  static void apart(const Slice& before, const Slice& slice, double base) {
    require(before.finish + (before.empty() ? 0 : 1) <= slice.start, "apart", slice.event);
    require(before.double_sum <= slice.double_start, "disjoint in double", slice.event);
    require(before.rebased_end(base) <= slice.double_start - base, "disjoint when rebased", slice.event);
  }
  static void within(const Slice& parent, const Slice& slice, double base) {
    require(parent.start <= slice.start, "begins in its parent", slice.event);
    require(slice.finish + (parent.empty() ? 0 : 1) <= parent.finish, "ends in its parent", slice.event);
    require(slice.double_sum <= parent.double_sum, "ends in its parent in double", slice.event);
    require(slice.rebased_end(base) <= parent.rebased_end(base), "ends in it when rebased", slice.event);
  }

  struct FlowEnd {
    Thread thread;
    std::int64_t ts;
    Json event;
  };

  void flows() {
    for (const auto& [key, ends] : flows_) {
      const Json& event = (ends.first.empty() ? ends.second : ends.first).front().event;
      require(ends.first.size() == 1 && ends.second.size() == 1, "flow has two ends", event);
      require(ends.first[0].thread != ends.second[0].thread, "flow joins two threads", event);
      inside(ends.first[0]);
      inside(ends.second[0]);
      ++contents_.flows;
    }
  }

  /// Viewers bind an arrow to the innermost slice: the last one to begin before it.
  void inside(const FlowEnd& end) const {
    const auto& slices = slices_.at(end.thread);
    const auto next = std::partition_point(slices.begin(), slices.end(),
                                           [&end](const Slice& slice) { return slice.start < end.ts; });
    require(next != slices.begin(), "flow after the first slice", end.event);
    const Slice& slice = *std::prev(next);
    require(end.ts < slice.finish, "flow strictly inside its slice", end.event);
    require(slice.depth == 2, "flow of an operation", end.event);
  }

  TraceContents contents_;
  std::int64_t last_ = -1;
  std::set<Thread> threads_;
  std::map<Thread, std::vector<Slice>> slices_;
  std::map<std::tuple<std::int64_t, std::string, std::string>,
           std::pair<std::vector<FlowEnd>, std::vector<FlowEnd>>>
      flows_;
};

}  // namespace orrery::test
