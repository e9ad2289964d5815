// Files of jobs as CSV: our own columns; Helios (Hu et al., SC 21) and Acme (Hu et al., NSDI 24), whose
// loggers are of one family; the tasks and pods of Alibaba's PAI (Weng et al., NSDI 22 and ATC 23).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "config/experiment/job_trace.hpp"
#include "config/text/document.hpp"
#include "config/text/table_text.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

constexpr std::size_t kMostTraceBytes = 512'000'000;

enum class JobColumn : std::uint8_t {
  name,
  arrival,
  gpus,
  length,
  begin,
  end,
  count,
  percent,
  steps,
  rank,
  share
};
constexpr std::size_t kJobColumns = 11;

/// Names of the columns of a kind of trace, by JobColumn; "": it has none.
struct TraceForm {
  std::string_view kind;
  std::array<std::string_view, kJobColumns> names;
  std::vector<std::string_view> marks;  ///< columns that no other kind has together
};

const std::vector<TraceForm>& trace_forms() {
  static const std::vector<TraceForm> forms{
      {"Orrery",
       {"name", "arrival_s", "gpus", "duration_s", "", "", "", "", "steps", "priority", "fabric_share"},
       {"arrival_s", "gpus", "duration_s"}},
      {"Acme",
       {"job_id", "submit_time", "gpu_num", "duration", "", "", "", "", "", "", ""},
       {"gpu_num", "submit_time", "duration", "gpu_time"}},
      {"Helios",
       {"job_id", "submit_time", "gpu_num", "duration", "", "", "", "", "", "", ""},
       {"gpu_num", "submit_time", "duration"}},
      {"PAI",
       {"job_name", "start_time", "", "", "start_time", "end_time", "inst_num", "plan_gpu", "", "", ""},
       {"job_name", "inst_num", "start_time", "end_time", "plan_gpu"}},
      {"PAI pods",
       {"name", "creation_time", "num_gpu", "", "scheduled_time", "deletion_time", "", "", "", "", ""},
       {"num_gpu", "creation_time", "deletion_time", "scheduled_time"}},
  };
  return forms;
}

/// The tasks of PAI come in a file without names, which are in another one.
constexpr std::string_view kPaiTaskNames =
    "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type";

class JobTableReader {
 public:
  JobTableReader(const std::string& file, Findings& findings) : file_(file), findings_(findings) {}

  JobTrace read(std::string_view text) {
    while (sound_ && !text.empty()) {
      const std::size_t end = text.find('\n');
      ++line_;
      take(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    if (sound_ && trace_.jobs.empty()) refuse("found no jobs with GPUs, allowed one at least");
    return sound_ ? std::move(trace_) : JobTrace{};
  }

 private:
  using Cells = std::vector<std::string_view>;

  static constexpr std::size_t at(JobColumn column) { return static_cast<std::size_t>(column); }

  void take(std::string_view line) {
    line_begin_ = line.data();
    if (trimmed_cell(line).empty() || line.starts_with('#')) return;
    split_cells(line, cells_);
    if (form_ == nullptr && find_columns()) return;
    if (!sound_) return;
    if (cells_.size() != columns_)
      return refuse(fmt::format("found {} values, allowed {} as in the first line", cells_.size(), columns_));
    add();
  }

  /// Returns true if the line has names.
  bool find_columns() {
    const Cells line = cells_;
    if (match(cells_)) return true;
    split_cells(kPaiTaskNames, cells_);
    const bool tasks = line.size() == cells_.size() && number_of_cell<double>(line[2]).has_value();
    if (tasks && match(cells_)) {
      cells_ = line;
      return false;
    }
    cells_ = line;
    refuse(
        fmt::format("found no columns of a trace of jobs{}, allowed arrival_s, gpus, duration_s, or those "
                    "of Philly, Helios, Acme or PAI",
                    nearest()));
    return false;
  }

  bool match(const Cells& names) {
    for (const TraceForm& form : trace_forms()) {
      const auto has = [&](std::string_view mark) { return std::ranges::find(names, mark) != names.end(); };
      if (!std::ranges::all_of(form.marks, has)) continue;
      form_ = &form;
      trace_.kind = form.kind;
      columns_ = names.size();
      for (std::size_t c = 0; c < kJobColumns; ++c) {
        const auto found = std::ranges::find(names, form.names[c]);
        if (!form.names[c].empty() && found != names.end())
          at_[c] = static_cast<std::size_t>(found - names.begin());
      }
      return true;
    }
    return false;
  }

  [[nodiscard]] std::string nearest() const {
    constexpr std::array<std::string_view, 6> kKnown{"arrival_s",   "gpus",    "duration_s",
                                                     "submit_time", "gpu_num", "duration"};
    for (const std::string_view cell : cells_)
      if (std::ranges::find(kKnown, cell) == kKnown.end() && !nearest_name(cell, kKnown).empty())
        return fmt::format(", but {}{}", quote(cell), hint(cell, kKnown));
    return {};
  }

  void add() {
    JobSpec job;
    const double amount = gpus_of_row();
    const std::optional<double> from = time(JobColumn::arrival);
    const std::optional<double> seconds = length_of_row();
    if (!sound_) return;
    if (amount == 0 || !from || !seconds || *seconds <= 0) {
      ++trace_.left_out;
      return;
    }
    if (trace_.jobs.size() == kMostJobs) return refuse(fmt::format("found more than {} jobs", kMostJobs));
    job.gpus = static_cast<std::int64_t>(amount);
    job.arrival_s = *from;
    job.steps = static_cast<std::int64_t>(number(JobColumn::steps, 1, 1e12).value_or(1));
    job.step_s = *seconds / static_cast<double>(job.steps);
    job.fabric_share = number(JobColumn::share, 0, 1).value_or(0);
    job.priority = static_cast<std::int64_t>(number(JobColumn::rank, -1e6, 1e6).value_or(0));
    if (at_[at(JobColumn::name)]) job.name = printable(cells_[*at_[at(JobColumn::name)]]);
    trace_.jobs.push_back(std::move(job));
  }

  double gpus_of_row() {
    if (at_[at(JobColumn::gpus)]) return std::ceil(number(JobColumn::gpus, 0, 4e6).value_or(0));
    const double instances = number(JobColumn::count, 0, 4e6).value_or(0);
    return std::ceil(instances * number(JobColumn::percent, 0, 4e6).value_or(0) / 100);
  }

  std::optional<double> length_of_row() {
    if (at_[at(JobColumn::length)]) return number(JobColumn::length, 0, kMostJobSeconds);
    const auto from = time(JobColumn::begin);
    const auto until = time(JobColumn::end);
    if (!from || !until) return std::nullopt;
    if (*until - *from <= kMostJobSeconds) return *until - *from;
    refuse(fmt::format("found a job of {:.4g} s, allowed up to {:.0e}", *until - *from, kMostJobSeconds));
    return std::nullopt;
  }

  /// Nothing where the cell is empty.
  std::optional<double> number(JobColumn column, double least, double most) {
    if (!at_[at(column)]) return std::nullopt;
    const std::string_view cell = cells_[*at_[at(column)]];
    if (is_empty(cell)) return std::nullopt;
    const auto value = number_of_cell<double>(cell);
    if (value && *value >= least && *value <= most) return value;
    refuse(fmt::format("found {} {}, allowed {} to {:g}", form_->names[at(column)], quote(cell), least, most),
           cell);
    return std::nullopt;
  }

  std::optional<double> time(JobColumn column) {
    if (!at_[at(column)]) return std::nullopt;
    const std::string_view cell = cells_[*at_[at(column)]];
    if (is_empty(cell)) return std::nullopt;
    auto seconds = number_of_cell<double>(cell);
    if (!seconds) seconds = seconds_of_date(cell);
    if (seconds && std::abs(*seconds) <= 1e12) return seconds;
    refuse(fmt::format("found {} {}, allowed seconds, or a date and a time", form_->names[at(column)],
                       quote(cell)),
           cell);
    return std::nullopt;
  }

  static bool is_empty(std::string_view cell) {
    return cell.empty() || cell == "None" || cell == "NULL" || cell == "nan" || cell == "NaT";
  }

  void refuse(std::string message, std::string_view cell = {}) {
    const int column = cell.data() == nullptr ? 1 : static_cast<int>(cell.data() - line_begin_) + 1;
    if (sound_) findings_.add_at({file_, line_, column, "", ""}, std::move(message));
    sound_ = false;
  }

  const std::string& file_;
  Findings& findings_;
  bool sound_ = true;
  int line_ = 0;
  const char* line_begin_ = nullptr;
  Cells cells_;
  const TraceForm* form_ = nullptr;
  std::size_t columns_ = 0;
  std::array<std::optional<std::size_t>, kJobColumns> at_{};
  JobTrace trace_;
};

/// Puts the jobs in order of arrival, the first at 0.
void put_in_order(JobTrace& trace) {
  if (trace.jobs.empty()) return;
  std::ranges::stable_sort(trace.jobs, {}, &JobSpec::arrival_s);
  const double first = trace.jobs.front().arrival_s;
  for (JobSpec& job : trace.jobs) job.arrival_s -= first;
}

void check_trace(const JobTrace& trace, const std::string& file, std::int64_t most_gpus, const Path& path,
                 Scope& scope) {
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const JobSpec& job = trace.jobs[i];
    const std::string named = job.name.empty() ? fmt::format("{}", i + 1) : quote(job.name);
    if (job.gpus > most_gpus)
      return scope.findings.add(
          path, fmt::format("{}: found job {} of {} GPUs, allowed up to {}, the cluster", quote(file), named,
                            job.gpus, most_gpus));
    if (job.arrival_s > kMostJobSeconds)
      return scope.findings.add(
          path, fmt::format("{}: found job {} {:.4g} s after the first, allowed up to {:.0e}", quote(file),
                            named, job.arrival_s, kMostJobSeconds));
  }
}

}  // namespace

JobTrace read_job_trace(const std::string& file, std::int64_t most_gpus, const Path& path, Scope& scope) {
  if (file == "-") {
    scope.findings.add(path, "found \"-\", allowed a file");
    return {};
  }
  try {
    const std::string whole = read_text(file, kMostTraceBytes);
    std::string_view text = whole;
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool is_list = first != std::string_view::npos && text[first] == '[';
    JobTrace trace = is_list ? read_philly_log(text, file, scope.findings)
                             : JobTableReader(file, scope.findings).read(text);
    put_in_order(trace);
    check_trace(trace, file, most_gpus, path, scope);
    return trace;
  } catch (const InputError& error) {
    for (const Diagnostic& problem : error.diagnostics())
      scope.findings.add(path, fmt::format("{}: {}", quote(file), problem.message));
  }
  return {};
}

}  // namespace orrery
