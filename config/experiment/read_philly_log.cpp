// Philly's cluster_job_log (Jeon et al., ATC 19): a list of jobs with their attempts, read event by event, so
// that the file is never held as a tree.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "config/experiment/job_trace.hpp"
#include "config/text/document.hpp"
#include "config/text/json.hpp"
#include "config/text/table_text.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

/// Sums up a job while its parts go by. Depths: 1 the list, 2 a job, 3 its attempts, 4 one of them, 5 its
/// servers, 6 one of them, 7 its GPUs.
class PhillyEvents final : public nlohmann::json_sax<Json> {
 public:
  explicit PhillyEvents(JobTrace& trace) : trace_(trace) { trace_.kind = "Philly"; }

  /// The obstacle, and the byte at which it was met; "": none.
  std::string problem;
  std::size_t problem_at = 0;

  bool null() override { return scalar({}); }
  bool boolean(bool) override { return scalar({}); }
  bool number_integer(number_integer_t) override { return scalar({}); }
  bool number_unsigned(number_unsigned_t) override { return scalar({}); }
  bool number_float(number_float_t, const string_t&) override { return scalar({}); }
  bool string(string_t& text) override { return scalar(text); }
  bool binary(binary_t&) override { return scalar({}); }
  bool key(string_t& name) override {
    if (depth_ < kDepths) keys_[depth_] = name;
    return true;
  }

  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    if (depth_ == 3 && in_attempts()) end_attempt();
    return depth_ != 1 || end_job();
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception& error) override {
    problem = error.what();
    problem_at = position;
    return false;
  }

 private:
  static constexpr std::size_t kDepths = 8;

  [[nodiscard]] bool in_attempts() const { return keys_[2] == "attempts"; }

  bool open(bool object) {
    ++depth_;
    if (depth_ > kDepths) return refuse("found values nested deeper than Philly's");
    if (depth_ == 1 && object) return refuse("found an object, allowed a list of jobs");
    if (depth_ == 2) {
      if (!object) return refuse("found a list, allowed an object");
      job_ = JobSpec{};
      seconds_ = 0;
      submitted_.reset();
    }
    if (depth_ == 4 && in_attempts()) {
      begin_.reset();
      end_.reset();
      gpus_ = 0;
    }
    return true;
  }

  bool scalar(const std::string& text) {
    if (depth_ < 2) return refuse("found a value, allowed an object");
    if (depth_ == 2 && keys_[2] == "jobid") job_.name = printable(text);
    if (depth_ == 2 && keys_[2] == "submitted_time") return take(text, submitted_);
    if (!in_attempts()) return true;
    if (depth_ == 4 && keys_[4] == "start_time") return take(text, begin_);
    if (depth_ == 4 && keys_[4] == "end_time") return take(text, end_);
    if (depth_ == 7 && keys_[4] == "detail" && keys_[6] == "gpus") ++gpus_;
    return true;
  }

  bool take(const std::string& text, std::optional<double>& time) {
    time = seconds_of_date(text);
    if (time || text.empty() || text == "None") return true;
    return refuse(fmt::format("found time {}, allowed a date and a time", quote(text)));
  }

  /// Attempts follow each other; a job asks for as many GPUs in each.
  void end_attempt() {
    job_.gpus = std::max(job_.gpus, gpus_);
    if (begin_ && end_ && *end_ > *begin_) seconds_ += *end_ - *begin_;
  }

  bool end_job() {
    ++number_;
    if (job_.gpus == 0 || !submitted_ || seconds_ <= 0) {
      ++trace_.left_out;
      return true;
    }
    if (seconds_ > kMostJobSeconds)
      return refuse(fmt::format("found {:.4g} s, allowed up to {:.0e}", seconds_, kMostJobSeconds));
    if (trace_.jobs.size() == kMostJobs) return refuse(fmt::format("found more than {} jobs", kMostJobs));
    job_.arrival_s = *submitted_;
    job_.step_s = seconds_;
    trace_.jobs.push_back(std::move(job_));
    return true;
  }

  bool refuse(const std::string& message) {
    problem = fmt::format("job {}: {}", number_ + 1, message);
    return false;
  }

  JobTrace& trace_;
  std::size_t depth_ = 0;
  std::int64_t number_ = 0;
  std::array<std::string, kDepths> keys_;
  JobSpec job_;
  double seconds_ = 0;
  std::int64_t gpus_ = 0;
  std::optional<double> submitted_, begin_, end_;
};

}  // namespace

JobTrace read_philly_log(std::string_view text, const std::string& file, Findings& findings) {
  JobTrace trace;
  PhillyEvents events(trace);
  const bool sound = Json::sax_parse(text, &events);
  Diagnostic place{file, 0, 0, "", ""};
  if (events.problem_at > 0) set_position(place, text, std::min(events.problem_at, text.size()));
  if (sound && trace.jobs.empty()) events.problem = "found no jobs with GPUs, allowed one at least";
  if (events.problem.empty()) return trace;
  findings.add_at(place, events.problem);
  return {};
}

}  // namespace orrery
