#include "importers/common/import_rows.hpp"

#include <algorithm>
#include <string>

namespace orrery::importers {
namespace {

constexpr const char* kUnknown = "Orrery does not know this key";

void read_row(const ImportRow& row, const SourceKey& key, const SourceKeys& all, Draft& draft) {
  if (!row.ignored.empty()) return draft.ignore(key, std::string(row.ignored));
  if (row.read != nullptr) return row.read(key, all, draft);
  if (key.value.is_null()) return draft.ignore(key, "no value");
  draft.map(key, row.ours);
}

}  // namespace

void read_rows(const SourceKeys& keys, std::span<const ImportRow> rows, Draft& draft) {
  for (const SourceKey& key : keys.list()) {
    const auto row = std::ranges::find(rows, key.key, &ImportRow::key);
    if (row == rows.end())
      draft.ignore(key, kUnknown);
    else
      read_row(*row, key, keys, draft);
  }
}

}  // namespace orrery::importers
