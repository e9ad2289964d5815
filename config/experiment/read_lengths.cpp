// Lengths of prompts and outputs: a number, or an object with a distribution.
#include <fmt/format.h>

#include <string_view>

#include "config/experiment/read_parts.hpp"
#include "config/schema/fields.hpp"

namespace orrery {
namespace {

std::string_view name_of_kind(LengthKind kind) { return kLengthKindNames[static_cast<std::size_t>(kind)]; }

/// Checks that a length distribution has its own keys only.
void check_lengths(const Json& given, TokenLengths& lengths, const Path& path, Scope& scope) {
  const auto wants = [&](std::string_view key, bool wanted) {
    if (wanted && !given.contains(key)) {
      report_missing(field_named(token_lengths_fields(), key),
                     fmt::format("{} lengths", name_of_kind(lengths.kind)), Path(path, key), scope);
    } else if (!wanted && given.contains(key)) {
      scope.findings.add(Path(path, key),
                         fmt::format("found with {} lengths, which have none", name_of_kind(lengths.kind)),
                         Anchor::key);
    }
  };
  const bool uniform = lengths.kind == LengthKind::uniform;
  const bool fixed = lengths.kind == LengthKind::fixed;
  wants("mean", !uniform);
  wants("deviation", lengths.kind == LengthKind::log_normal);
  if (fixed) wants("min", false);
  if (fixed || uniform) wants("max", uniform);
  if (lengths.most > 0 && lengths.least > lengths.most)
    scope.findings.add(Path(path, "min"),
                       fmt::format("found {}, allowed at most max {}", lengths.least, lengths.most));
  if (uniform) lengths.mean = lengths.least + (lengths.most - lengths.least) / 2;
}

}  // namespace

void read_token_lengths(const Json& owner, const FieldInfo& field, std::string_view why,
                        TokenLengths& lengths, const Path& path, Scope& scope) {
  const Path here(path, field.name);
  const auto given = owner.find(field.name);
  if (given == owner.end()) return report_missing(field, why, here, scope);
  if (!given->is_object())
    return read_field(*given, field_named(token_lengths_fields(), "mean"), lengths, here, scope);
  read_fields(*given, token_lengths_fields(), lengths, here, scope);
  check_lengths(*given, lengths, here, scope);
}

}  // namespace orrery
