#include "apps/key_selection.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "apps/option_checks.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

[[noreturn]] void refuse_only(const std::string& because) {
  throw InputError({Diagnostic{"command line", 0, 0, "", "--only" + because}});
}

}  // namespace

CLI::Option* add_only(CLI::App& app, KeySelection& selection) {
  return app
      .add_option("--only", selection.only, "Keys of the result to write, such as step_time_s,memory.peak_gb")
      ->type_name(kKeys);
}

ResultSelection selected_keys(const KeySelection& selection, bool json_or_csv, bool csv) {
  if (!selection.only) return {};
  if (!json_or_csv) refuse_only(" needs --json, --csv or --batch");
  const std::vector<std::string_view> known = ResultSelection::names();
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= selection.only->size();) {
    const std::size_t comma = std::min(selection.only->find(',', begin), selection.only->size());
    const std::string name = ResultSelection::key_of(selection.only->substr(begin, comma - begin));
    if (std::ranges::find(known, name) == known.end()) {
      refuse_only(": found " + quote(name) +
                  ", allowed are keys of the result with commas between them, such as "
                  "step_time_s,memory.peak_gb,breakdown_s" +
                  hint(name, known));
    }
    names.push_back(name);
    begin = comma + 1;
  }
  ResultSelection keys(names);
  if (csv && !keys.has_row()) refuse_only(": a row of CSV has none of these keys");
  return keys;
}

}  // namespace orrery
