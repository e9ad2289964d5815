#include "studies/explain/measured/profile_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "orrery/error.hpp"
#include "studies/explain/measured/chrome_profile.hpp"

namespace orrery {
namespace {

constexpr std::size_t kMostNames = 200'000;
constexpr std::size_t kLongestName = 20'000;  ///< CUTLASS's have thousands
constexpr std::size_t kMostNameBytes = 100'000'000;
constexpr std::size_t kMostGroups = 100'000;
constexpr std::size_t kMostMessages = 2'000'000;  ///< each has a name of its group
constexpr std::size_t kMostMarks = 1'000'000;     ///< of steps, and of loading

/// Long lists of ranks are told apart by a hash (FNV-1a) of all of the text.
std::string short_group(const std::string& text) {
  constexpr std::size_t kLongestGroup = 500;
  if (text.size() <= kLongestGroup) return text;
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return text.substr(0, kLongestGroup) + "#" + std::to_string(hash);
}

}  // namespace

void ProfileBuilder::refuse(const std::string& message) const {
  throw InputError({Diagnostic{profile_.source, 0, 0, "", message}});
}

void ProfileBuilder::require_room(std::size_t size, std::size_t most, std::string_view things) const {
  if (size >= most)
    refuse("has more than " + std::to_string(most) + " " + std::string(things) + "; record fewer steps");
}

std::uint32_t ProfileBuilder::add_message(ProfiledMessage message) {
  require_room(profile_.messages.size(), kMostMessages, "messages");
  message.group = short_group(message.group);
  if (!groups_.contains(message.group)) {
    require_room(groups_.size(), kMostGroups, "communicators");
    groups_.insert(message.group);
  }
  profile_.messages.push_back(std::move(message));
  return static_cast<std::uint32_t>(profile_.messages.size() - 1);
}

std::uint32_t ProfileBuilder::add_parts(KernelParts parts) {
  require_room(profile_.parts.size(), kMostMessages, "operations");
  profile_.parts.push_back(std::move(parts));
  return static_cast<std::uint32_t>(profile_.parts.size() - 1);
}

void ProfileBuilder::add_launch(std::int64_t launch, const ClockRange& call) {
  require_room(launches_.size(), kMostGpuSpans, "launches");
  launches_[launch] = call;
}

void ProfileBuilder::add_step(const ProfiledStep& step) {
  require_room(profile_.steps.size(), kMostMarks, "steps");
  profile_.steps.push_back(step);
}

void ProfileBuilder::add_loading(const ClockRange& range) {
  require_room(profile_.loading.size(), kMostMarks, "marks of a loader");
  profile_.loading.push_back(range);
}

std::uint32_t ProfileBuilder::name(std::string_view text) {
  const auto known = name_numbers_.find(text);
  if (known != name_numbers_.end()) return known->second;
  require_room(profile_.names.size(), kMostNames, "different kernels");
  if (text.size() > kLongestName)
    refuse(fmt::format("kernel {}: found a name of {} bytes, allowed up to {}", profile_.spans.size() + 1,
                       text.size(), kLongestName));
  name_bytes_ += text.size();
  if (name_bytes_ > kMostNameBytes)
    refuse(fmt::format("has different names of kernels of more than {} bytes together", kMostNameBytes));
  const auto number = static_cast<std::uint32_t>(profile_.names.size());
  profile_.names.emplace_back(text);
  name_numbers_.emplace(std::string(text), number);
  return number;
}

void ProfileBuilder::add(const GpuSpan& span, std::int64_t launch) {
  require_room(profile_.spans.size(), kMostGpuSpans, "kernels");
  constexpr std::int64_t kLatest = 2'300'000'000'000'000'000;  // ns since 1970: 2042
  constexpr std::int64_t kLongest = 86'400'000'000'000;        // a day
  const bool sound = span.start_ns >= 0 && span.start_ns <= kLatest && span.finish_ns >= span.start_ns &&
                     span.finish_ns - span.start_ns <= kLongest;
  if (!sound)
    refuse(fmt::format(
        "kernel {}, \"{}\": found times that no clock shows, {} ns at {} ns, allowed up to a day "
        "between the years 1970 and 2042",
        profile_.spans.size() + 1, shown_name(span.name), span.finish_ns - span.start_ns, span.start_ns));
  profile_.spans.push_back(span);
  launch_of_.push_back(launch);
}

std::string ProfileBuilder::shown_name(std::uint32_t name) const {
  constexpr std::size_t kShown = 80;
  return name < profile_.names.size() ? profile_.names[name].substr(0, kShown) : "";
}

void ProfileBuilder::find_launches() {
  for (std::size_t i = 0; i < launch_of_.size(); ++i) {
    const auto launch = launches_.find(launch_of_[i]);
    GpuSpan& span = profile_.spans[i];
    if (launch_of_[i] != 0 && launch != launches_.end()) {
      span.launched_ns = launch->second.finish_ns;
    } else {
      ++profile_.unlaunched;
    }
  }
}

/// A span belongs to the last step that had begun when it was launched, or started where its launch is
/// unknown.
void ProfileBuilder::find_steps() {
  std::vector<ProfiledStep>& steps = profile_.steps;
  const std::int64_t begin = profile_.spans.front().start_ns;
  std::int64_t end = begin;
  for (const GpuSpan& span : profile_.spans) end = std::max(end, span.finish_ns);
  // Marks that lie a day and more apart from all kernels are none.
  constexpr std::int64_t kDay = 86'400'000'000'000;
  std::erase_if(steps, [&](const ProfiledStep& step) {
    return step.range.start_ns < begin - kDay || step.range.finish_ns > end + kDay ||
           step.range.finish_ns < step.range.start_ns;
  });
  std::ranges::stable_sort(steps, {}, [](const ProfiledStep& step) { return step.range.start_ns; });
  if (steps.empty()) {
    steps.push_back({0, {begin, end}});
    profile_.remarks.push_back(profile_.source + ": no steps are marked; all of it counts as one");
  }
  for (GpuSpan& span : profile_.spans) {
    const std::int64_t when = span.launched_ns >= 0 ? span.launched_ns : span.start_ns;
    const auto after = std::ranges::upper_bound(steps, when, {},
                                                [](const ProfiledStep& step) { return step.range.start_ns; });
    span.step = static_cast<std::int32_t>(after - steps.begin()) - 1;
  }
}

Profile ProfileBuilder::finish() && {
  if (profile_.spans.empty())
    throw InputError({Diagnostic{profile_.source, 0, 0, "",
                                 "found a trace without kernels of a GPU: record CUDA activities, too"}});
  find_launches();
  std::ranges::stable_sort(profile_.spans, {}, &GpuSpan::start_ns);
  std::ranges::stable_sort(profile_.loading, {}, &ClockRange::start_ns);
  find_steps();
  return std::move(profile_);
}

}  // namespace orrery
