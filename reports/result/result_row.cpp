#include "reports/result/result_row.hpp"

#include <algorithm>
#include <array>

#include "reports/result/result_key.hpp"

namespace orrery {
namespace {

ResultScalar scalar_of(const ResultJson& value) {
  if (value.is_discarded() || value.is_null()) return {};
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  return cell_of(value);
}

/// The experiment's own name, and sentences.
constexpr std::array<std::string_view, 4> kNoFigures{"name", "reasons", "assumptions", "warnings"};

}  // namespace

std::vector<std::string_view> row_names(const ResultSelection& keys) {
  std::vector<std::string_view> names;
  for (const ResultKey* key : keys.keys())
    if (!key->is_list) names.push_back(key->path);
  return names;
}

std::vector<ResultScalar> result_row(const Report& report, const ResultSelection& keys) {
  std::vector<ResultScalar> row;
  for (const ResultKey* key : keys.keys())
    if (!key->is_list) row.push_back(scalar_of(key->value(report)));
  return row;
}

std::vector<std::string> lasting_row_names() {
  std::vector<std::string> names;
  for (const ResultKey* key : all_keys()) {
    const bool lasts = !key->is_list && !key->path.starts_with("stats.") &&
                       key->needs != ResultKey::Needs::capacity &&  // a dozen runs more
                       key->needs != ResultKey::Needs::long_run;    // a hundred
    if (lasts && std::ranges::find(kNoFigures, key->path) == kNoFigures.end()) names.emplace_back(key->path);
  }
  return names;
}

}  // namespace orrery
