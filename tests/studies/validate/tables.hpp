// Tables for the tests of validation/.
#pragma once

#include <string>
#include <vector>

#include "config/schema/menus.hpp"
#include "orrery/error.hpp"
#include "sim/run/run.hpp"
#include "studies/validate/measured_table.hpp"

namespace orrery::validation_test {

inline const TableContext& context() {
  static const TableContext made{Catalog::embedded(), menus(), {}};
  return made;
}

inline MeasuredTable read(const std::string& text, const TableContext& with = context()) {
  return read_measured_table(text, "folder/t.csv", with);
}

/// All diagnostics, one line each; "" where there are none.
inline std::string diagnostics(const std::string& text, const TableContext& with = context()) {
  try {
    read(text, with);
    return "";
  } catch (const InputError& error) {
    std::string out;
    for (const Diagnostic& diagnostic : error.diagnostics())
      out += (out.empty() ? "" : "\n") + diagnostic.text();
    return out;
  }
}

}  // namespace orrery::validation_test
