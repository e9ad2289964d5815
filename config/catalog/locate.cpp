#include "config/catalog/locate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/schema/aliases.hpp"
#include "config/schema/overrides.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

bool is_at_or_below(std::string_view pointer, std::string_view ancestor) {
  return pointer.starts_with(ancestor) &&
         (pointer.size() == ancestor.size() || ancestor.empty() || pointer[ancestor.size()] == '/');
}

bool has(const Json& value, const std::string& pointer) {
  try {
    return value.contains(Json::json_pointer(pointer));
  } catch (const Json::exception&) {  // an index no list can have
    return false;
  }
}

std::string parent_of(const std::string& pointer) { return pointer.substr(0, pointer.rfind('/')); }

/// Returns true if the part at `pointer` is a wiring that names its own kind, and so takes nothing from a
/// base.
bool starts_afresh(const std::string& pointer, const Origins& origins) {
  if (pointer != "/cluster/node" && pointer != "/cluster/fabric") return false;
  if (!has(origins.given, pointer)) return false;
  const Json& wiring = origins.given.at(Json::json_pointer(pointer));
  return wiring.is_string() || wiring.contains("kind");
}

/// The catalog entry that gave the value at `pointer`, or that should have.
const CatalogUse* giver(const std::string& pointer, const Origins& origins) {
  const std::string parent = parent_of(pointer);
  const bool afresh = starts_afresh(parent, origins);
  const CatalogUse* best = nullptr;
  bool best_has = false;
  for (const CatalogUse& use : origins.uses) {
    if (!is_at_or_below(pointer, use.pointer)) continue;
    const CatalogEntry* entry = origins.catalog.find(use.kind, use.name);
    const bool holds = entry != nullptr && has(entry->value, pointer.substr(use.pointer.size()));
    const bool calibration = use.kind == CatalogKind::calibration;
    if (calibration ? !holds : afresh) continue;  // a calibration may lack any key
    const bool nearer = best == nullptr || use.pointer.size() > best->pointer.size();
    if ((holds && !best_has) || (holds == best_has && nearer)) {
      best = &use;
      best_has = holds;
    }
  }
  const bool entry_lacks_it = best != nullptr && (best->pointer == parent || !has(origins.given, parent));
  return best_has || entry_lacks_it ? best : nullptr;
}

void want_with_ancestors(PositionTable& table, std::string pointer) {
  for (const std::string& other : other_pointers(pointer)) table.want(other);
  for (; !pointer.empty(); pointer = parent_of(pointer)) table.want(pointer);
  table.want("");
}

std::size_t offset_of(const PositionTable& table, const Finding& finding) {
  const TokenOffsets exact = table.at(finding.pointer);
  if (finding.anchor == Anchor::key && exact.key != kNoOffset) return exact.key;
  if (exact.value == kNoOffset)
    for (const std::string& other : other_pointers(finding.pointer))
      if (const std::size_t value = table.at(other).value; value != kNoOffset) return value;
  for (std::string pointer = finding.pointer;; pointer = parent_of(pointer)) {
    const TokenOffsets found = table.at(pointer);
    if (found.value != kNoOffset || pointer.empty()) return found.value;
  }
}

/// Returns true if the command line set the value at `pointer`, a value around it, or made it by setting one
/// inside.
bool is_set(const std::string& pointer, const PositionTable& table, const Origins& origins) {
  const bool in_text = table.at(pointer).value != kNoOffset;
  return std::ranges::any_of(origins.overridden, [&](const std::string& set) {
    return is_at_or_below(pointer, set) || (!in_text && !pointer.empty() && is_at_or_below(set, pointer));
  });
}

Diagnostic diagnostic_of(const Finding& finding, const PositionTable& table, const Origins& origins) {
  if (!finding.place.source.empty()) {
    Diagnostic diagnostic = finding.place;
    diagnostic.message = finding.message;
    return diagnostic;
  }
  Diagnostic diagnostic{origins.source,       0,           0, finding.pointer, finding.message,
                        finding.not_modelled, finding.idle};
  const bool given = has(origins.given, finding.pointer);
  const CatalogUse* use = given ? nullptr : giver(finding.pointer, origins);
  if (use != nullptr) {
    diagnostic.message += fmt::format(" (in catalog {} {})", to_string(use->kind), quote(use->name));
  }
  if (is_set(finding.pointer, table, origins)) {
    diagnostic.source = kCommandLine;
    return diagnostic;
  }
  const std::size_t offset = offset_of(table, finding);
  if (offset != kNoOffset) set_position(diagnostic, origins.document.text, offset);
  return diagnostic;
}

}  // namespace

std::string origin_of(const std::string& pointer, const PositionTable& table, const Origins& origins) {
  if (has(origins.given, pointer)) {
    if (is_set(pointer, table, origins)) return kCommandLine;
    Diagnostic at{origins.source, 0, 0, "", ""};
    const std::size_t offset = table.at(pointer).value;
    if (offset != kNoOffset) set_position(at, origins.document.text, offset);
    return at.line > 0 ? fmt::format("{}:{}", at.source, at.line) : at.source;
  }
  const CatalogUse* use = giver(pointer, origins);
  if (use == nullptr) return "";
  const CatalogEntry* entry = origins.catalog.find(use->kind, use->name);
  if (entry == nullptr || !has(entry->value, pointer.substr(use->pointer.size()))) return "";
  return fmt::format("catalog {} {}", to_string(use->kind), use->name);
}

std::vector<Diagnostic> located(const Findings& findings, const Origins& origins) {
  PositionTable table;
  for (const Finding& finding : findings.list()) want_with_ancestors(table, finding.pointer);
  find_positions(origins.document, table);
  std::vector<Diagnostic> diagnostics;
  for (const Finding& finding : findings.list())
    diagnostics.push_back(diagnostic_of(finding, table, origins));
  std::stable_sort(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  if (findings.left_out() > 0)
    diagnostics.push_back(
        {origins.source, 0, 0, "", fmt::format("{} more mistakes are left out", findings.left_out())});
  return diagnostics;
}

}  // namespace orrery
