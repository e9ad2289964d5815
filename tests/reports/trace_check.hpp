// A strict reader of Chrome traces: the rules under which every known viewer shows the same picture.
// Throws std::runtime_error that names the first event that breaks one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace orrery::test {

/// What a valid trace holds.
struct TraceContents {
  std::uint64_t slices = 0;
  std::uint64_t flows = 0;
  std::uint64_t counters = 0;
  std::set<std::int64_t> processes;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> ns;  ///< by (pid, tid): sum of durations
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
    Json event;
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
    slices_[thread(event)].push_back(
        {ts, ts + duration, start, start + event.at("dur").get<double>(), event});
    contents_.ns[{event.at("pid"), event.at("tid")}] += duration;
    ++contents_.names[event.at("name")];
    ++contents_.slices;
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

  /// Slices of a thread do not touch, in whole ns and for a reader that takes the thread's first time
  /// off before it adds in double.
  void slices() const {
    for (const auto& [thread, slices] : slices_) {
      const double base = slices.front().double_start;
      for (std::size_t i = 1; i < slices.size(); ++i) {
        const Slice& before = slices[i - 1];
        const bool empty = before.finish == before.start;
        require(before.finish + (empty ? 0 : 1) <= slices[i].start, "apart", slices[i].event);
        require(before.double_sum <= slices[i].double_start, "disjoint in double", slices[i].event);
        const double rebased = before.double_start - base + (before.double_sum - before.double_start);
        require(rebased <= slices[i].double_start - base, "disjoint when rebased", slices[i].event);
      }
    }
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

  void inside(const FlowEnd& end) const {
    const auto& slices = slices_.at(end.thread);
    bool found = false;
    for (auto slice = first_ending_after(slices, end.ts); slice != slices.end() && slice->start < end.ts;
         ++slice) {
      found = found || (slice->start < end.ts && end.ts < slice->finish);
    }
    require(found, "flow strictly inside its slice", end.event);
  }
  static std::vector<Slice>::const_iterator first_ending_after(const std::vector<Slice>& slices,
                                                               std::int64_t ts) {
    return std::upper_bound(slices.begin(), slices.end(), ts,
                            [](std::int64_t t, const Slice& s) { return t < s.finish; });
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
