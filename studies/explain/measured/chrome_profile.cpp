#include "studies/explain/measured/chrome_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "orrery/error.hpp"
#include "studies/explain/measured/profile_builder.hpp"

namespace orrery {
namespace {

using MeasuredJson = nlohmann::json;

/// Stands for times that are written and are none: beyond every clock, before all of them.
constexpr std::int64_t kNoClock = -2'400'000'000'000'000'000;

/// Microseconds as written, to whole nanoseconds: a double does not hold today's date to the nanosecond.
std::int64_t nanoseconds(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (text.find_first_of("eE") != std::string_view::npos) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return std::abs(value) < 2.3e15 ? std::llround(value * 1000) : kNoClock;
  }
  std::int64_t whole = 0;
  const auto read = std::from_chars(text.data(), text.data() + std::min(dot, text.size()), whole);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4000;
  if (read.ec == std::errc::result_out_of_range || whole > kMost || whole < -kMost) return kNoClock;
  std::int64_t part = 0;
  const std::string_view digits =
      dot == std::string_view::npos ? std::string_view{} : text.substr(dot + 1).substr(0, 3);
  std::from_chars(digits.data(), digits.data() + digits.size(), part);
  for (std::size_t i = digits.size(); i < 3; ++i) part *= 10;
  return whole * 1000 + (text.starts_with('-') ? -part : part);
}

std::int64_t bytes_of_type(std::string_view type) {
  constexpr std::pair<std::string_view, std::int64_t> kSizes[] = {
      {"Half", 2}, {"BFloat16", 2}, {"Float8", 1}, {"Float", 4}, {"Double", 8},
      {"Int", 4},  {"Long", 8},     {"Byte", 1},   {"Char", 1},  {"Bool", 1}};
  for (const auto& [name, size] : kSizes)
    if (type.starts_with(name)) return size;
  return 0;
}

/// Holds what is wanted of an event.
struct Event {
  std::string ph, cat, name;
  std::int64_t ts = 0, dur = 0, correlation = 0;
  std::string collective, dtype, group, description, ranks;
  std::int64_t in = 0, out = 0, group_size = 0, stream = 0;
  std::uint32_t shape = 0;
  bool has_group = false;
  KernelParts parts;
};

bool is_gpu_work(std::string_view cat) {
  constexpr std::string_view kCategories[] = {"kernel", "Kernel",     "gpu_memcpy", "Memcpy",
                                              "Memset", "gpu_memset", "gpu_op"};
  return std::ranges::find(kCategories, cat) != std::end(kCategories);
}

bool is_copy(std::string_view cat) {
  return cat.find("mem") != std::string_view::npos || cat.find("Mem") != std::string_view::npos;
}

bool is_launch(std::string_view cat) {
  constexpr std::string_view kCategories[] = {"cuda_runtime", "cuda_driver", "Runtime", "hip_runtime",
                                              "privateuse1_runtime"};
  return std::ranges::find(kCategories, cat) != std::end(kCategories);
}

class TraceHandler : public nlohmann::json_sax<MeasuredJson> {
 public:
  explicit TraceHandler(const std::string& source) : builder_(source, "PyTorch profiler"), source_(source) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return number(value, std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return number(static_cast<std::int64_t>(std::min(value, kMost)), std::to_string(value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    const double most = 9e18;
    return number(static_cast<std::int64_t>(std::clamp(value, -most, most)), text, value);
  }
  bool string(string_t& value) override {
    if (depth_ == event_depth_) event_text(value);
    if (depth_ == event_depth_ + 1 && event_key_ == "args") argument_text(value);
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return deeper(false); }
  bool start_array(std::size_t) override { return deeper(true); }
  bool key(string_t& value) override {
    if (depth_ == 1) root_key_ = value;
    if (depth_ == 2) inner_key_ = value;
    if (depth_ == event_depth_) event_key_ = value;
    if (depth_ == event_depth_ + 1) argument_ = value;
    if (depth_ == 1 && value == "orrery") builder_.profile().writer = "orrery";
    return true;
  }
  bool end_object() override {
    if (depth_ == event_depth_ && in_events()) take();
    --depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const MeasuredJson::exception&) override {
    throw InputError({Diagnostic{
        source_, 0, 0, "", "the trace breaks off, or is no JSON, at byte " + std::to_string(position)}});
  }

  Profile finish() && { return std::move(builder_).finish(); }

 private:
  static constexpr std::size_t kDeepest = 200;

  bool deeper(bool list) {
    if (depth_ == 0 && list) event_depth_ = 2;
    ++depth_;
    if (depth_ > kDeepest)
      throw InputError({Diagnostic{source_, 0, 0, "", "is nested deeper than 200 levels"}});
    if (depth_ == event_depth_ && !list) event_ = {};
    return true;
  }
  [[nodiscard]] bool in_events() const { return event_depth_ == 2 || root_key_ == "traceEvents"; }

  bool number(std::int64_t value, const std::string& text, double exact = 0) {
    if (depth_ == 2 && event_depth_ == 3 && root_key_ == "distributedInfo") world(value);
    if (depth_ == event_depth_) {
      if (event_key_ == "ts") event_.ts = nanoseconds(text);
      if (event_key_ == "dur") event_.dur = nanoseconds(text);
    }
    if (depth_ == event_depth_ + 1 && event_key_ == "args")
      argument_number(value, exact != 0 ? exact : static_cast<double>(value));
    if (depth_ == event_depth_ + 2 && event_key_ == "args" && (argument_ == "grid" || argument_ == "block"))
      add_shape(value);
    return true;
  }
  void world(std::int64_t value) {
    if (inner_key_ != "rank" && inner_key_ != "world_size") return;
    constexpr std::int64_t kMostRanks = 100'000'000;
    if (value < 0 || value > kMostRanks)
      throw InputError({Diagnostic{
          source_, 0, 0, "",
          fmt::format("distributedInfo: found a {} of {}, allowed 0 to {}", inner_key_, value, kMostRanks)}});
    if (inner_key_ == "rank") builder_.profile().rank = value;
    if (inner_key_ == "world_size") builder_.profile().world = value;
  }
  void event_text(const std::string& value) {
    if (event_key_ == "ph") event_.ph = value;
    if (event_key_ == "cat") event_.cat = value;
    if (event_key_ == "name") event_.name = value;
    if (event_key_ == "ts") event_.ts = nanoseconds(value);
    if (event_key_ == "dur") event_.dur = nanoseconds(value);
  }
  void argument_text(const std::string& value) {
    if (argument_ == "Collective name") event_.collective = value;
    if (argument_ == "dtype") event_.dtype = value;
    if (argument_ == "Process Group Name") event_.group = value, event_.has_group = true;
    if (argument_ == "Process Group Description") event_.description = value;
    if (argument_ == "Process Group Ranks") event_.ranks = value;
  }
  void argument_number(std::int64_t value, double exact) {
    if (argument_ == "correlation") event_.correlation = value;
    if (argument_ == "stream") event_.stream = value;
    if (argument_ == "kernels") add_shape(value);
    if (argument_ == "In msg nelems") event_.in = value;
    if (argument_ == "Out msg nelems") event_.out = value;
    if (argument_ == "Group size") event_.group_size = value;
    if (argument_.starts_with("us of ") && event_.parts.shares.size() < kComputeUses)
      add_part(std::string_view(argument_).substr(6), exact);
  }
  void add_shape(std::int64_t value) {
    event_.shape = event_.shape * 0x9e3779b1U + static_cast<std::uint32_t>(value) + 1;
  }
  /// Parts of an operation as our own traces say them; gaps between launches are the host's, which
  /// KernelUse::copy stands for.
  void add_part(std::string_view name, double share) {
    for (std::size_t k = 0; k < kKernelClassCount; ++k)
      if (name == kKernelClassNames[k]) event_.parts.shares.emplace_back(static_cast<KernelUse>(k), share);
    if (name == "launch_gaps") event_.parts.shares.emplace_back(KernelUse::copy, share);
  }

  void take() {
    if (event_.ph != "X") return;
    const bool known = event_.ts != kNoClock && event_.dur != kNoClock;
    const ClockRange range{event_.ts, known ? event_.ts + event_.dur : kNoClock};
    if (is_gpu_work(event_.cat)) return take_work(range);
    if (is_launch(event_.cat)) {
      if (event_.correlation != 0) builder_.add_launch(event_.correlation, range);
      return;
    }
    if (event_.cat.starts_with("gpu_")) return;
    constexpr std::string_view kStep = "ProfilerStep#";
    if (event_.name.starts_with(kStep)) {
      ProfiledStep step{0, range};
      std::from_chars(event_.name.data() + kStep.size(), event_.name.data() + event_.name.size(),
                      step.number);
      builder_.add_step(step);
    }
    if (event_.name.find("DataLoader") != std::string::npos) builder_.add_loading(range);
  }

  void take_work(const ClockRange& range) {
    GpuSpan span{range.start_ns, range.finish_ns};
    span.name = builder_.name(event_.name);
    span.stream = static_cast<std::int32_t>(std::clamp<std::int64_t>(event_.stream, 0, 1'000'000));
    span.shape = event_.shape;
    span.use = is_copy(event_.cat) ? KernelUse::copy : use_by_name(event_.name);
    if (span.use == KernelUse::communication) take_message(span);
    if (!event_.parts.shares.empty() && event_.name != "optimizer") {
      span.parts = builder_.add_parts(std::move(event_.parts));
    }
    builder_.add(span, event_.correlation);
  }

  void take_message(GpuSpan& span) {
    ProfiledMessage message;
    const std::string& said = event_.collective.empty() ? event_.name : event_.collective;
    message.collective =
        collective_by_name(said).value_or(collective_by_name(event_.name).value_or(Collective::all_reduce));
    message.dimension = dimension_by_name(event_.description.empty() ? event_.group : event_.description);
    if (event_.has_group) message.group = event_.ranks + "/" + event_.group + "/" + event_.description;
    message.ranks = event_.group_size;
    const std::int64_t elements =
        message.collective == Collective::all_gather ? event_.out : std::max(event_.in, event_.out);
    const std::int64_t size = bytes_of_type(event_.dtype);
    if (elements > 0 && elements < std::numeric_limits<std::int64_t>::max() / 16)
      message.bytes = elements * size;
    span.message = builder_.add_message(std::move(message));
  }

  ProfileBuilder builder_;
  std::string source_;
  std::size_t depth_ = 0;
  std::size_t event_depth_ = 3;
  std::string root_key_, inner_key_, event_key_, argument_;
  Event event_;
};

}  // namespace

Profile read_chrome_profile(std::streambuf& bytes, const std::string& source) {
  std::istream stream(&bytes);
  TraceHandler handler(source);
  MeasuredJson::sax_parse(stream, &handler);
  return std::move(handler).finish();
}

}  // namespace orrery
