#include "planner/sweep/column_kind.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace orrery {

ColumnKind column_kind(std::string_view name) {
  const auto found = std::ranges::find(kColumnKindNames, name);
  return found == kColumnKindNames.end() ? ColumnKind::unknown
                                         : static_cast<ColumnKind>(found - kColumnKindNames.begin());
}

ColumnKind kind_of(const ResultScalar& value) { return static_cast<ColumnKind>(value.index()); }

ColumnKind common_kind(ColumnKind a, ColumnKind b) {
  if (a == b || b == ColumnKind::unknown) return a;
  if (a == ColumnKind::unknown) return b;
  const auto is_number = [](ColumnKind kind) {
    return kind == ColumnKind::count || kind == ColumnKind::number;
  };
  return is_number(a) && is_number(b) ? ColumnKind::number : ColumnKind::text;
}

ResultScalar scalar_of_text(const std::string& text) {
  const nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (text.empty()) return {};
  return text;
}

ColumnKind kind_of_texts(const std::vector<std::string>& texts) {
  ColumnKind kind = ColumnKind::unknown;
  for (const std::string& text : texts) kind = common_kind(kind, kind_of(scalar_of_text(text)));
  return kind;
}

ResultScalar scalar_of_text(const std::string& text, ColumnKind kind) {
  const bool plain = kind == ColumnKind::text && !text.empty() && !text.starts_with('"');
  return plain ? ResultScalar(text) : scalar_of_text(text);
}

}  // namespace orrery
