#include "studies/explain/measured/profile_builder.hpp"

#include <algorithm>

#include "orrery/error.hpp"
#include "studies/explain/measured/chrome_profile.hpp"

namespace orrery {

std::uint32_t ProfileBuilder::name(std::string_view text) {
  const auto known = name_numbers_.find(text);
  if (known != name_numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(profile_.names.size());
  profile_.names.emplace_back(text);
  name_numbers_.emplace(std::string(text), number);
  return number;
}

void ProfileBuilder::add(const GpuSpan& span, std::int64_t launch) {
  if (profile_.spans.size() == kMostGpuSpans)
    throw InputError(
        {Diagnostic{profile_.source, 0, 0, "", "has more than 10,000,000 kernels; record fewer steps"}});
  constexpr std::int64_t kLatest = 2'300'000'000'000'000'000;  // ns since 1970: 2042
  constexpr std::int64_t kLongest = 86'400'000'000'000;        // a day
  const bool sound = span.start_ns >= 0 && span.start_ns <= kLatest && span.finish_ns >= span.start_ns &&
                     span.finish_ns - span.start_ns <= kLongest;
  if (!sound)
    throw InputError({Diagnostic{profile_.source, 0, 0, "", "has a kernel with times that no clock shows"}});
  profile_.spans.push_back(span);
  launch_of_.push_back(launch);
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
  std::ranges::stable_sort(profile_.loading, {}, &TimeRange::start_ns);
  find_steps();
  return std::move(profile_);
}

}  // namespace orrery
