#include "sim/long_run/failure_stream.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {
namespace {

constexpr double kLatest = 1e33;  // ps; no run gets there

/// x^p for x > 0, from portable_log(), which takes numbers from 1 on.
double power(double x, double p) {
  const double logarithm = x >= 1 ? portable_log(x) : -portable_log(1 / x);
  return portable_exp(std::clamp(p * logarithm, -690.0, 690.0));
}

/// A time as whole picoseconds.
LongPicoseconds whole_ps(double ps) { return static_cast<LongPicoseconds>(std::min(ps, kLatest) + 0.5); }

}  // namespace

double portable_gamma(double x) {
  constexpr double kG = 7;
  constexpr std::array kCoefficients{0.99999999999980993,  676.5203681218851,     -1259.1392167224028,
                                     771.32342877765313,   -176.61502916214059,   12.507343278686905,
                                     -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
  const double z = x - 1;
  double sum = kCoefficients[0];
  for (std::size_t i = 1; i < kCoefficients.size(); ++i)
    sum += kCoefficients[i] / (z + static_cast<double>(i));
  const double t = z + kG + 0.5;
  return 2.5066282746310002 * power(t, z + 0.5) * portable_exp(-t) * sum;
}

FailureStream::FailureStream(const FailureKind& kind, std::size_t number, std::uint64_t seed,
                             std::uint64_t stream)
    : kind_(kind), number_(number), random_(seed, stream) {
  if (kind.law == FailureLaw::weibull) {
    scale_ = kind.mean_ps / portable_gamma(1 + 1 / kind.shape);
    first_left_ = kind.units;
    if (kind.age_ps > 0) hazard_ = power(kind.age_ps / scale_, kind.shape);
    population_ = lifetime_of_hazard(hazard_ += random_.exponential() / static_cast<double>(first_left_));
    next_ = whole_ps(population_);
  } else {
    advance();
  }
}

/// Returns the time since the begin of the run after which a component of the first generation has had that
/// much hazard in all its life.
double FailureStream::lifetime_of_hazard(double hazard) const {
  return std::max(0.0, scale_ * power(hazard, 1 / kind_.shape) - kind_.age_ps);
}

void FailureStream::advance() {
  const auto units = static_cast<double>(kind_.units);
  switch (kind_.law) {
    case FailureLaw::weibull:
      return advance_aging();
    case FailureLaw::exponential:
      next_ += std::max<LongPicoseconds>(1, whole_ps(random_.exponential() * kind_.mean_ps / units));
      return;
    case FailureLaw::fixed:
      next_ += std::max<LongPicoseconds>(1, whole_ps(kind_.mean_ps / units));
      return;
    case FailureLaw::empirical: {
      const auto last = static_cast<std::int64_t>(kind_.gaps_ps.size()) - 1;
      const auto drawn = static_cast<std::size_t>(random_.integer(0, last));
      next_ += std::max<LongPicoseconds>(1, whole_ps(kind_.gaps_ps[drawn]));
      return;
    }
  }
}

/// The component that has failed at next_ is replaced by a new one.
void FailureStream::advance_aging() {
  const auto now = static_cast<double>(next_);
  if (!replaced_.empty() && (first_left_ == 0 || replaced_.top() <= population_)) {
    replaced_.pop();
  } else if (--first_left_ > 0) {
    population_ = lifetime_of_hazard(hazard_ += random_.exponential() / static_cast<double>(first_left_));
  }
  replaced_.push(now + scale_ * power(random_.exponential() + 1e-300, 1 / kind_.shape));
  const double earliest = first_left_ > 0 ? std::min(population_, replaced_.top()) : replaced_.top();
  next_ = std::max(next_ + 1, whole_ps(earliest));
}

FailureStreams::FailureStreams(const RunModel& model, std::uint64_t seed, std::uint64_t repetition)
    : model_(model), nodes_(seed, repetition * (model.kinds.size() + 1)) {
  for (std::size_t k = 0; k < model.kinds.size(); ++k) {
    const FailureKind& kind = model.kinds[k];
    if (kind.mean_ps > 0 || !kind.gaps_ps.empty())
      streams_.emplace_back(kind, k, seed, repetition * (model.kinds.size() + 1) + k + 1);
  }
  find_next();
}

void FailureStreams::find_next() {
  next_ = traced_ < model_.trace.size() ? model_.trace[traced_].at : kNever;
  which_ = streams_.size();
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    if (streams_[s].next() >= next_) continue;
    next_ = streams_[s].next();
    which_ = s;
  }
}

FailureEvent FailureStreams::take() {
  FailureEvent event{next_, 0, 0, 0};
  if (which_ == streams_.size()) {
    const TracedFailure& traced = model_.trace[traced_++];
    event.kind = traced.kind;
    event.repair_ps = traced.repair_ps;
    event.node = traced.node >= 0 ? traced.node : nodes_.integer(0, model_.nodes - 1);
  } else {
    event.kind = streams_[which_].number();
    event.repair_ps = model_.kinds[event.kind].repair_ps;
    event.node = nodes_.integer(0, model_.nodes - 1);
    streams_[which_].advance();
  }
  find_next();
  return event;
}

double RunModel::stops_per_ps() const {
  double sum = 0;
  for (const FailureKind& kind : kinds) {
    if (kind.effect == FailureKind::Effect::slows) continue;
    double mean = kind.mean_ps / static_cast<double>(kind.units);
    if (!kind.gaps_ps.empty()) {
      double all = 0;
      for (const double gap : kind.gaps_ps) all += gap;
      mean = all / static_cast<double>(kind.gaps_ps.size());
    }
    if (mean > 0) sum += 1 / mean;
  }
  return sum;
}

}  // namespace orrery
