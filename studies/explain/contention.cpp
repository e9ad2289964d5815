#include "studies/explain/contention.hpp"

#include <algorithm>
#include <map>

namespace orrery {
namespace {

constexpr std::size_t kFewAlone = 2;  ///< fewer spans of a kernel tell nothing of how long it takes alone
constexpr double kAlone = 0.01;       ///< of a span: it counts as alone if no more of it is beside messages

bool disturbs(const Profile& profile, const GpuSpan& span) {
  if (span.message == GpuSpan::kNothing) return false;
  const ProfiledMessage& message = profile.messages[span.message];
  return message.collective != Collective::send_recv && message.dimension != Dimension::pipeline;
}

/// Returns when any message is on its way, as ranges apart from each other, in order.
std::vector<ClockRange> busy_ranges(const Profile& profile, const std::vector<std::int64_t>& ready_ns) {
  std::vector<ClockRange> all;
  for (std::size_t s = 0; s < profile.spans.size(); ++s)
    if (disturbs(profile, profile.spans[s])) all.push_back({ready_ns[s], profile.spans[s].finish_ns});
  std::ranges::sort(all, {}, &ClockRange::start_ns);
  std::vector<ClockRange> apart;
  for (const ClockRange& range : all) {
    if (apart.empty() || range.start_ns > apart.back().finish_ns) {
      apart.push_back(range);
    } else {
      apart.back().finish_ns = std::max(apart.back().finish_ns, range.finish_ns);
    }
  }
  return apart;
}

class ContentionFinder {
 public:
  ContentionFinder(const Profile& profile, const std::vector<std::int64_t>& ready_ns) : profile_(profile) {
    const std::size_t spans = profile.spans.size();
    out_.beside_ns.assign(spans, 0);
    out_.lost_ns.assign(spans, 0);
    out_.unknown_ns.assign(spans, 0);
    find_beside(busy_ranges(profile, ready_ns));
  }

  KernelContention run() {
    for (std::size_t s = 0; s < profile_.spans.size(); ++s) {
      const GpuSpan& span = profile_.spans[s];
      if (!computes(span.use)) continue;
      const auto beside = static_cast<double>(out_.beside_ns[s]);
      Kernel& kernel = kernels_[std::uint64_t{span.name} << 32 | span.shape];
      if (beside <= kAlone * static_cast<double>(length_of(s))) {
        kernel.alone_ns.push_back(length_of(s));
      } else {
        kernel.beside.push_back(static_cast<std::uint32_t>(s));
      }
    }
    for (auto& [key, kernel] : kernels_) share_out(kernel);
    estimate_others();
    return std::move(out_);
  }

 private:
  /// Holds the spans of kernels with one name and one shape.
  struct Kernel {
    std::vector<std::int64_t> alone_ns;
    std::vector<std::uint32_t> beside;
  };

  [[nodiscard]] std::int64_t length_of(std::size_t s) const {
    return profile_.spans[s].finish_ns - profile_.spans[s].start_ns;
  }

  void find_beside(const std::vector<ClockRange>& busy) {
    std::size_t first = 0;
    for (std::size_t s = 0; s < profile_.spans.size(); ++s) {
      const GpuSpan& span = profile_.spans[s];
      while (first < busy.size() && busy[first].finish_ns <= span.start_ns) ++first;
      if (!computes(span.use)) continue;
      for (std::size_t b = first; b < busy.size() && busy[b].start_ns < span.finish_ns; ++b)
        out_.beside_ns[s] +=
            std::min(span.finish_ns, busy[b].finish_ns) - std::max(span.start_ns, busy[b].start_ns);
    }
  }

  /// All that spans beside messages take beyond the median of those alone is dealt to them by the time that
  /// they spent beside messages.
  void share_out(Kernel& kernel) {
    if (kernel.beside.empty()) return;
    if (kernel.alone_ns.size() < kFewAlone) {
      for (const std::uint32_t s : kernel.beside) out_.unknown_ns[s] = out_.beside_ns[s];
      return;
    }
    const auto middle = kernel.alone_ns.begin() + static_cast<std::ptrdiff_t>(kernel.alone_ns.size() / 2);
    std::ranges::nth_element(kernel.alone_ns, middle);
    double lost = 0;
    double beside = 0;
    for (const std::uint32_t s : kernel.beside) {
      lost += static_cast<double>(length_of(s) - *middle);
      beside += static_cast<double>(out_.beside_ns[s]);
    }
    const double share = std::clamp(lost / beside, 0.0, 1.0);
    known_beside_ns_ += beside;
    known_lost_ns_ += share * beside;
    for (const std::uint32_t s : kernel.beside)
      out_.lost_ns[s] = static_cast<std::int64_t>(static_cast<double>(out_.beside_ns[s]) * share);
  }

  /// Kernels that never ran alone are taken to lose as much of their pace as the others do.
  void estimate_others() {
    if (known_beside_ns_ == 0) return;
    const double share = known_lost_ns_ / known_beside_ns_;
    for (std::size_t s = 0; s < out_.unknown_ns.size(); ++s)
      if (out_.unknown_ns[s] > 0)
        out_.lost_ns[s] = static_cast<std::int64_t>(static_cast<double>(out_.beside_ns[s]) * share);
  }

  const Profile& profile_;
  KernelContention out_;
  double known_beside_ns_ = 0, known_lost_ns_ = 0;
  std::map<std::uint64_t, Kernel> kernels_;
};

}  // namespace

KernelContention contention_of(const Profile& profile, const std::vector<std::int64_t>& ready_ns) {
  return ContentionFinder(profile, ready_ns).run();
}

}  // namespace orrery
