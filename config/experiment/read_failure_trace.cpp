// A file of failures that a run replays: CSV with a row each and a line of names before them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/experiment/read_long_run.hpp"
#include "config/text/document.hpp"
#include "config/text/table_text.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

constexpr double kMostHours = 1e7;
constexpr std::size_t kMostRows = 1'000'000;
constexpr std::array<std::string_view, 4> kColumns{"time_hours", "component", "node", "repair_hours"};

class FailureTraceReader {
 public:
  FailureTraceReader(const std::string& file, Findings& findings) : file_(file), findings_(findings) {}

  std::vector<RecordedFailure> read(std::string_view text) {
    while (sound_ && !text.empty()) {
      const std::size_t end = text.find('\n');
      ++line_;
      const std::string_view line = text.substr(0, end);
      if (!trimmed_cell(line).empty() && !line.starts_with('#')) {
        split_cells(line, cells_);
        take(cells_);
      }
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    if (sound_ && failures_.empty()) refuse("found no failures, allowed one at least");
    return sound_ ? std::move(failures_) : std::vector<RecordedFailure>();
  }

 private:
  using Cells = std::vector<std::string_view>;

  void take(const Cells& cells) {
    if (columns_ == 0) return find_columns(cells);
    if (cells.size() != columns_)
      return refuse(fmt::format("found {} values, allowed {} as in the first line", cells.size(), columns_));
    if (failures_.size() == kMostRows) return refuse(fmt::format("found more than {} failures", kMostRows));
    RecordedFailure failure;
    failure.at_hours = number(cells, 0, 0).value_or(0);
    failure.node = static_cast<std::int64_t>(number(cells, 2, -1).value_or(-1));
    failure.repair_hours = number(cells, 3, 0).value_or(0);
    const std::string_view name = cells[*at_[1]];
    const auto known = std::ranges::find(kFailureComponentNames, name);
    if (known == kFailureComponentNames.end())
      return refuse(fmt::format("found component {}, allowed {}{}", quote(name),
                                joined(kFailureComponentNames), hint(name, kFailureComponentNames)));
    failure.component = static_cast<FailureComponent>(known - kFailureComponentNames.begin());
    if (!failures_.empty() && failure.at_hours < failures_.back().at_hours)
      return refuse("found a failure before the one above, allowed in order of time");
    failures_.push_back(failure);
  }

  void find_columns(const Cells& cells) {
    columns_ = cells.size();
    for (std::size_t c = 0; c < columns_; ++c) {
      const auto known = std::ranges::find(kColumns, cells[c]);
      if (known == kColumns.end())
        return refuse(fmt::format("found column {}, allowed {}{}", quote(cells[c]), joined(kColumns),
                                  hint(cells[c], kColumns)));
      at_[static_cast<std::size_t>(known - kColumns.begin())] = c;
    }
    if (!at_[0] || !at_[1]) refuse("found no column time_hours or component, allowed both");
  }

  /// The number of a column, or `otherwise` where the file has none or leaves it empty.
  std::optional<double> number(const Cells& cells, std::size_t column, double otherwise) {
    if (!at_[column] || (cells[*at_[column]].empty() && column > 1)) return otherwise;
    const std::string_view cell = cells[*at_[column]];
    const auto value = number_of_cell<double>(cell);
    if (value && *value >= 0 && *value <= kMostHours) return value;
    refuse(fmt::format("found {} {}, allowed 0 to {}", kColumns[column], quote(cell), kMostHours));
    return std::nullopt;
  }

  void refuse(std::string message) {
    if (sound_) findings_.add_at({file_, line_, 1, "", ""}, std::move(message));
    sound_ = false;
  }

  const std::string& file_;
  Findings& findings_;
  bool sound_ = true;
  int line_ = 0;
  Cells cells_;
  std::size_t columns_ = 0;
  std::array<std::optional<std::size_t>, kColumns.size()> at_{};
  std::vector<RecordedFailure> failures_;
};

}  // namespace

std::vector<RecordedFailure> read_failure_trace(const std::string& file, const Path& path, Scope& scope) {
  if (file == "-") {
    scope.findings.add(path, "found \"-\", allowed a file");
    return {};
  }
  try {
    return FailureTraceReader(file, scope.findings).read(read_text(file));
  } catch (const InputError& error) {
    for (const Diagnostic& problem : error.diagnostics())
      scope.findings.add(path, fmt::format("{}: {}", quote(file), problem.message));
  }
  return {};
}

}  // namespace orrery
