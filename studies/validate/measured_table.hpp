// Reads tables of measured runs: one experiment a row, with its measured figures. Used by `validate`, and by
// fits of constants to measured rows; knows nothing of predictions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalog/catalog.hpp"
#include "config/schema/menus.hpp"
#include "orrery/experiment.hpp"

namespace orrery {

/// Holds one measured figure of a run.
struct Measurement {
  std::string key;   ///< of the result, such as step_time_s or memory.peak_gb
  double value = 0;  ///< above 0, in the key's unit
};

struct MeasuredRow {
  std::string name;       ///< the cell `name`, else "row" and the line
  int line = 0;           ///< in the table's text
  std::string model_key;  ///< equal for rows of the same model
  std::string
      case_name;        ///< the cell `case`: plans that were all tried on one cluster; "" where none is given
  std::string planner;  ///< the cell `planner`: the source of `planner_step_s`
  std::optional<double> planner_step_s;  ///< step time that a planner predicted, s
  Experiment experiment;                 ///< validated; empty in a skipped row
  std::vector<Measurement> measured;
  bool failed = false;          ///< it ran out of memory: `measured.feasible` is 0
  bool kept_back = false;       ///< the cell `kept_back`: no constant may be fitted to it
  std::string skipped_because;  ///< "" for a row that can be simulated
};

struct MeasuredTable {
  std::string name;               ///< the file's name without folder and .csv
  std::string source;             ///< as it stands in error messages
  std::vector<std::string> keys;  ///< the measured figures, in the order of the columns
  std::vector<MeasuredRow> rows;
};

/// Holds the inputs of reading beside the text. `overrides` are KEY=VALUE and apply to every row.
struct TableContext {
  Catalog catalog;
  Menus menus;
  std::vector<std::string> overrides;
};

/// Reads CSV text. A header cell is a dotted experiment key, `measured.` and a key of the result, `case`,
/// `planner`, `planner.step_time_s`, `kept_back`, `source` or `note`; an empty cell leaves its key at the
/// default. Lines in front of the header that begin with # are remarks. `measured.feasible` is 0 or 1,
/// `kept_back` true or false. Rows with features that are not modelled yet are kept as skipped ones. Throws
/// InputError with all other problems found, each with line and column of its cell.
MeasuredTable read_measured_table(std::string_view text, const std::string& source,
                                  const TableContext& context);

/// Holds a table's text and its name in error messages.
struct TableText {
  std::string source;
  std::string text;
};

/// The text of the file `name`, or of the table of that name that is built in; "-" is standard input.
TableText load_table_text(const std::string& name);

/// The table that `load_table_text` finds.
MeasuredTable load_measured_table(const std::string& name, const TableContext& context);

/// A built-in table and the number of its rows.
struct ShippedTable {
  std::string name;
  std::size_t rows = 0;
};
std::vector<ShippedTable> shipped_tables();

}  // namespace orrery
