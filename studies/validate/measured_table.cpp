#include "studies/validate/measured_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <set>

#include "config/experiment/read_experiment.hpp"
#include "config/schema/experiment_keys.hpp"
#include "config/schema/overrides.hpp"
#include "config/text/document.hpp"
#include "config/text/findings.hpp"
#include "config/text/json.hpp"
#include "config/text/json_text.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "reports/writers.hpp"
#include "studies/validate/csv_text.hpp"

namespace orrery {
namespace {

constexpr std::string_view kMeasured = "measured.";
constexpr std::string_view kRan = "measured.feasible";
constexpr std::size_t kLongestCell = 4'000;
constexpr std::size_t kMostProblems = 100;

constexpr std::string_view kPlannerTime = "planner.step_time_s";
constexpr std::string_view kKeptBack = "kept_back";

std::vector<std::string> names_of(const Report& report) {
  std::vector<std::string> names;
  for (ResultFigure& figure : result_figures(report, {})) names.push_back(std::move(figure.key));
  return names;
}

/// The figures that some result has.
struct KnownFigures {
  std::vector<std::string> of_training, of_requests, all;

  KnownFigures() {
    Report any;
    any.training_tokens = 1;  // training_days is a figure too
    of_training = names_of(any);
    any.serving.emplace();
    any.serving->duration_ps = 1;
    any.serving->arrivals_per_s = 1;  // and so are the keys of queues
    of_requests = names_of(any);
    all = of_training;
    std::ranges::copy_if(of_requests, std::back_inserter(all),
                         [&](const std::string& name) { return !contains(of_training, name); });
  }
  /// Returns true if only results of serving have the figure.
  [[nodiscard]] bool needs_requests(const std::string& name) const { return !contains(of_training, name); }

 private:
  [[nodiscard]] static bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  }
};

enum class Use { experiment, measured, about };

struct Column {
  Use use = Use::experiment;
  std::string key;      ///< dotted, of the experiment or of the result
  std::string pointer;  ///< of an experiment's key
  std::size_t cell = 0;
};

std::string pointer_of(std::string_view key) {
  std::string pointer = "/" + pointer_token(key);
  std::ranges::replace(pointer, '.', '/');
  return pointer;
}

bool is_at_or_below(std::string_view pointer, std::string_view ancestor) {
  return pointer.starts_with(ancestor) &&
         (pointer.size() == ancestor.size() || pointer[ancestor.size()] == '/');
}

/// Numbers, flags, lists and objects as JSON has them, within the limits of every document; everything else
/// is text.
Json value_of(const std::string& text) {
  try {
    Json value = parse_json(text);
    if (!value.is_null() && !value.is_string()) return value;
  } catch (const DocumentError&) {  // a text
  }
  return text;
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) && !std::filesystem::is_directory(path, ignored);
}

class TableReader {
 public:
  TableReader(const std::string& source, const TableContext& context) : source_(source), context_(context) {
    table_.name = source == "-" ? "standard input" : std::filesystem::path(source).stem().string();
    table_.source = source;
  }

  MeasuredTable read(std::string_view text) {
    const std::vector<CsvRow> rows = read_csv(text, source_);
    if (rows.size() < 2) {
      throw InputError(
          {Diagnostic{source_, 1, 1, "", "found no rows, allowed a line of keys and a line per run"}});
    }
    read_header(rows.front());
    stop_if_wrong();
    for (std::size_t i = 1; i < rows.size() && diagnostics_.size() < kMostProblems; ++i) read_row(rows[i]);
    stop_if_wrong();
    return std::move(table_);
  }

 private:
  void add(const CsvCell& cell, std::string pointer, std::string message) {
    diagnostics_.push_back({source_, cell.line, cell.column, std::move(pointer), std::move(message)});
  }

  void stop_if_wrong() {
    if (!diagnostics_.empty()) throw InputError(std::move(diagnostics_));
  }

  void read_header(const CsvRow& header) {
    const std::vector<std::string> known = experiment_keys();
    std::set<std::string> seen;
    for (std::size_t i = 0; i < header.size(); ++i) {
      const CsvCell& cell = header[i];
      if (!seen.insert(cell.text).second) add(cell, "", fmt::format("found {} twice", quote(cell.text)));
      add_column(cell, i, known);
    }
    cells_ = header.size();
    if (diagnostics_.empty() && table_.keys.empty()) {
      add(header.front(), "", "found no measured column, such as measured.step_time_s");
    }
    // Objects come before their members: model before model.layers.
    std::ranges::stable_sort(columns_, {}, [](const Column& column) {
      return column.use != Use::experiment ? 0 : std::ranges::count(column.key, '.');
    });
  }

  void add_column(const CsvCell& cell, std::size_t index, const std::vector<std::string>& known) {
    const std::string& key = cell.text;
    if (key == "source" || key == "note") return;
    if (key == "case" || key == "planner" || key == kPlannerTime || key == kKeptBack)
      return columns_.push_back({Use::about, key, "", index});
    const bool measured = key.starts_with(kMeasured);
    if (key == kRan) return columns_.push_back({Use::measured, "feasible", "", index});
    const std::string name = measured ? key.substr(kMeasured.size()) : key;
    const std::vector<std::string>& allowed = measured ? figures_.all : known;
    if (std::ranges::find(allowed, name) == allowed.end()) {
      add(cell, "",
          measured
              ? fmt::format("found {}, allowed measured. and a figure of the result{}", quote(key),
                            hint(name, views(allowed)))
              : fmt::format("found {}, allowed a key of an experiment, measured.KEY, case, planner, {}, {}, "
                            "source, note{}",
                            quote(key), kPlannerTime, kKeptBack, hint(name, views(allowed))));
      return;
    }
    columns_.push_back({measured ? Use::measured : Use::experiment, name, pointer_of(name), index});
    if (measured) table_.keys.push_back(name);
  }

  void read_row(const CsvRow& cells) {
    if (cells.size() != cells_) {
      add(cells.front(), "",
          fmt::format("found {} cells, allowed {}, as in the first line", cells.size(), cells_));
      return;
    }
    MeasuredRow row;
    row.line = cells.front().line;
    row.name = fmt::format("row {}", row.line);
    const std::size_t before = diagnostics_.size();
    Json document = Json::object();
    for (const Column& column : columns_) read_cell(column, cells[column.cell], row, document);
    if (diagnostics_.size() != before) return;
    if (const auto model = document.find("model"); model != document.end()) row.model_key = model->dump();
    read_experiment(document, cells, row);
    check_figures(cells, row);
    if (row.measured.empty() && !row.failed && row.skipped_because.empty())
      row.skipped_because = "nothing was measured";
    table_.rows.push_back(std::move(row));
  }

  void read_cell(const Column& column, const CsvCell& cell, MeasuredRow& row, Json& document) {
    if (cell.text.empty()) return;
    if (cell.text.size() > kLongestCell) {
      return add(cell, "",
                 fmt::format("found a cell of {} bytes, allowed {}", cell.text.size(), kLongestCell));
    }
    if (column.use == Use::measured) return read_measurement(column, cell, row);
    if (column.use == Use::about) return read_about(column, cell, row);
    if (column.key == "name") row.name = cell.text;
    try {
      set_key(document, column.key, column.key == "name" ? Json(cell.text) : value_of(cell.text));
    } catch (const OverrideError& error) {
      add(cell, column.pointer, error.message);
    }
  }

  void read_about(const Column& column, const CsvCell& cell, MeasuredRow& row) {
    if (column.key == "case") row.case_name = cell.text;
    if (column.key == "planner") row.planner = cell.text;
    if (column.key == kKeptBack) row.kept_back = flag(cell, kKeptBack, "true", "false");
    if (column.key == kPlannerTime) row.planner_step_s = positive(cell, column.key);
  }

  void read_measurement(const Column& column, const CsvCell& cell, MeasuredRow& row) {
    if (column.key == "feasible") {
      row.failed = !flag(cell, kRan, "1", "0");
      return;
    }
    if (const auto value = positive(cell, std::string(kMeasured) + column.key))
      row.measured.push_back({column.key, *value});
  }

  std::optional<double> positive(const CsvCell& cell, const std::string& key) {
    double value = 0;
    const char* end = cell.text.data() + cell.text.size();
    const auto [stop, error] = std::from_chars(cell.text.data(), end, value);
    if (error == std::errc() && stop == end && std::isfinite(value) && value > 0) return value;
    add(cell, "", fmt::format("found {} for {}, allowed a number above 0", quote(cell.text), key));
    return std::nullopt;
  }

  /// Returns true if the cell says `yes`.
  bool flag(const CsvCell& cell, std::string_view key, std::string_view yes, std::string_view no) {
    if (cell.text != yes && cell.text != no)
      add(cell, "", fmt::format("found {} for {}, allowed {} or {}", quote(cell.text), key, no, yes));
    return cell.text == yes;
  }

  void read_experiment(const Json& document, const CsvRow& cells, MeasuredRow& row) {
    const std::string here = fmt::format("{}:{}", source_, row.line);
    try {
      row.experiment =
          read_experiment_text(document.dump(), here, context_.overrides, context_.catalog, context_.menus)
              .experiment;
    } catch (const InputError& error) {
      const bool later = std::ranges::all_of(error.diagnostics(), &Diagnostic::not_modelled);
      if (later) {
        row.skipped_because =
            error.diagnostics().front().pointer + ": " + error.diagnostics().front().message;
        return;
      }
      for (const Diagnostic& diagnostic : error.diagnostics()) blame(diagnostic, cells);
    }
  }

  /// Checks that figures of requests are measured only on rows that serve requests.
  void check_figures(const CsvRow& cells, const MeasuredRow& row) {
    if (!row.skipped_because.empty() || row.experiment.inference) return;
    for (const Column& column : columns_) {
      const CsvCell& cell = cells[column.cell];
      if (column.use != Use::measured || cell.text.empty() || column.key == "feasible") continue;
      if (figures_.needs_requests(column.key))
        add(cell, "",
            fmt::format("found measured.{} in a row without inference, allowed where requests are served",
                        column.key));
    }
  }

  /// Puts a diagnostic of a row's experiment at the cell it comes from; one of an override, once.
  void blame(const Diagnostic& diagnostic, const CsvRow& cells) {
    if (diagnostic.source == kCommandLine) {
      const auto same = [&](const Diagnostic& other) { return other.text() == diagnostic.text(); };
      if (std::ranges::none_of(diagnostics_, same)) diagnostics_.push_back(diagnostic);
      return;
    }
    const CsvCell* best = &cells.front();
    std::size_t length = 0;
    for (const Column& column : columns_) {
      const bool related = is_at_or_below(diagnostic.pointer, column.pointer);
      if (column.use != Use::experiment || !related || column.pointer.size() <= length) continue;
      best = &cells[column.cell];
      length = column.pointer.size();
    }
    add(*best, diagnostic.pointer, diagnostic.message);
  }

  const std::string& source_;
  const TableContext& context_;
  const KnownFigures figures_;
  std::vector<Diagnostic> diagnostics_;
  std::vector<Column> columns_;
  std::size_t cells_ = 0;
  MeasuredTable table_;
};

}  // namespace

MeasuredTable read_measured_table(std::string_view text, const std::string& source,
                                  const TableContext& context) {
  return TableReader(source, context).read(text);
}

TableText load_table_text(const std::string& name) {
  if (name == "-" || name.ends_with(".csv") || is_file(name)) return {name, read_text(name)};
  const CatalogFiles shipped = embedded_measurements();
  if (const auto found = shipped.find(name); found != shipped.end()) return {name + ".csv", found->second};
  std::vector<std::string> names;
  for (const auto& [known, text] : shipped) names.push_back(known);
  throw InputError({Diagnostic{kCommandLine, 0, 0, "",
                               fmt::format("found table {}, allowed a file or {}{}", quote(name),
                                           joined(views(names)), hint(name, views(names)))}});
}

MeasuredTable load_measured_table(const std::string& name, const TableContext& context) {
  const TableText table = load_table_text(name);
  return read_measured_table(table.text, table.source, context);
}

std::vector<ShippedTable> shipped_tables() {
  std::vector<ShippedTable> tables;
  for (const auto& [name, text] : embedded_measurements()) {
    tables.push_back({name, read_csv(text, name + ".csv").size() - 1});
  }
  return tables;
}

}  // namespace orrery
