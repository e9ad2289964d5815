// The ranges of figures of requests that calibrations state are those of the rows kept back in the shipped
// tables. Where they are not, the message has the text for the calibration's file.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>
#include <tuple>

#include "studies/calibrate/short_value.hpp"
#include "studies/validate/statistics.hpp"
#include "studies/validate/validate.hpp"
#include "tests/sanitized.hpp"
#include "tests/studies/validate/tables.hpp"

using namespace orrery;
using orrery::validation_test::context;

namespace {

struct Kind {
  std::string stack;
  std::string figure;
  bool experts = false;

  friend auto operator<=>(const Kind&, const Kind&) = default;
};

struct Rows {
  std::set<std::string> gpus;
  std::vector<double> errors;         ///< measured over predicted, less one
  std::vector<ServingErrors> stated;  ///< of all kinds of the stack
};

std::map<Kind, Rows> rows_kept_back() {
  std::vector<MeasuredTable> tables;
  for (const ShippedTable& table : shipped_tables())
    if (table.name.starts_with("inference-")) tables.push_back(load_measured_table(table.name, context()));
  const auto results = validate(tables, std::max(1U, std::thread::hardware_concurrency()));
  std::map<Kind, Rows> out;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    std::map<std::string, const Experiment*> kept;
    for (const MeasuredRow& row : tables[t].rows)
      if (row.kept_back) kept[row.experiment.name] = &row.experiment;
    for (const ComparedFigure& figure : results[t].figures) {
      const auto found = kept.find(figure.row);
      if (found == kept.end()) continue;
      const Experiment& e = *found->second;
      Rows& rows = out[{e.stack, figure.key, e.model.experts > 0}];
      if (e.domains != nullptr) rows.stated = e.domains->serving;
      rows.gpus.insert(e.cluster.gpu.name);
      rows.errors.push_back(figure.pair.measured / figure.pair.predicted - 1);
    }
  }
  return out;
}

/// Returns the errors as the file of a calibration writes them.
std::string text_of(const ServingErrors& errors) {
  std::string gpus;
  for (const std::string& gpu : errors.gpus) gpus += fmt::format("{}\"{}\"", gpus.empty() ? "" : ", ", gpu);
  return fmt::format(R"({{ "figure": "{}", "experts": {}, "gpus": [{}], "rows": {}, "p10": {}, "p90": {} }})",
                     errors.figure, errors.experts, gpus, errors.rows, short_value(errors.p10, 3),
                     short_value(errors.p90, 3));
}

}  // namespace

TEST_CASE("calibrations state how far rows kept back were off") {
  if (test::kSanitized) {
    MESSAGE("sanitizer build: left to the others, which compute the same");
    return;
  }
  std::map<std::string, std::vector<std::string>> measured, stated;
  for (const auto& [kind, rows] : rows_kept_back()) {
    const auto range = deciles(rows.errors);
    if (!range) continue;
    const auto count = static_cast<std::int64_t>(rows.errors.size());
    measured[kind.stack].push_back(
        text_of({kind.figure, kind.experts, rows.gpus, count, range->p10, range->p90}));
    stated[kind.stack].clear();
    for (const ServingErrors& errors : rows.stated) stated[kind.stack].push_back(text_of(errors));
  }
  CHECK(measured.size() >= 4);
  for (const auto& entry : measured) {
    std::string text;
    for (const std::string& line : entry.second) text += fmt::format("\n    {},", line);
    CHECK_MESSAGE(stated[entry.first] == entry.second, entry.first, ": \"serving_errors\": [", text, "\n  ]");
  }
}
