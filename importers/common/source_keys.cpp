#include "importers/common/source_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/text/document.hpp"
#include "config/text/findings.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"

namespace orrery::importers {
namespace {

/// A scalar of a document on its way to a key.
struct Leaf {
  std::string key;
  std::string pointer;
  const Json* value;
};

void collect(const Json& value, const std::string& key, const std::string& pointer,
             std::vector<Leaf>& leaves) {
  if (!value.is_object() || value.empty()) return leaves.push_back({key, pointer, &value});
  for (const auto& [name, member] : value.items())
    collect(member, key.empty() ? name : fmt::format("{}.{}", key, name),
            fmt::format("{}/{}", pointer, pointer_token(name)), leaves);
}

}  // namespace

SourceKeys::SourceKeys(const SourceFile& file) {
  const Document document = parse_document(file.text(), file.path());
  if (!document.value.is_object())
    throw InputError(
        {Diagnostic{file.path(), 1, 1, "",
                    fmt::format("found {}, allowed keys with values", described(document.value))}});
  std::vector<Leaf> leaves;
  collect(document.value, "", "", leaves);
  PositionTable table;
  for (const Leaf& leaf : leaves) table.want(leaf.pointer);
  find_positions(document, table);
  const auto offset_of = [&table](const Leaf& leaf) { return table.at(leaf.pointer).value; };
  std::ranges::stable_sort(leaves, {}, offset_of);
  for (const Leaf& leaf : leaves) add({leaf.key, *leaf.value, file.place_at(offset_of(leaf))});
}

const SourceKey* SourceKeys::find(std::string_view key) const {
  const auto found =
      std::find_if(list_.rbegin(), list_.rend(), [key](const SourceKey& s) { return s.key == key; });
  return found == list_.rend() ? nullptr : &*found;
}

const Json& SourceKeys::value(std::string_view key) const {
  static const Json kNone;
  const SourceKey* found = find(key);
  return found == nullptr ? kNone : found->value;
}

SourceKeys SourceKeys::below(std::string_view part) const {
  const std::string prefix = std::string(part) + '.';
  SourceKeys below;
  for (const SourceKey& key : list_)
    if (key.key.starts_with(prefix)) below.add({key.key.substr(prefix.size()), key.value, key.place});
  return below;
}

}  // namespace orrery::importers
