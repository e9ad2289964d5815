// Tables of the keys of a kind of file: a row says what a key becomes.
#pragma once

#include <span>
#include <string_view>

#include "importers/common/draft.hpp"
#include "importers/common/source_keys.hpp"

namespace orrery::importers {

struct ImportRow {
  std::string_view key;   ///< as the file calls it
  std::string_view ours;  ///< the dotted key that takes the value as it stands; "" where `read` knows better
  void (*read)(const SourceKey& key, const SourceKeys& all, Draft& draft) = nullptr;
  std::string_view ignored{};  ///< the reason why the key changes nothing; "" where it does
};

/// Hands every key to its row. Keys without a row are ignored as unknown.
void read_rows(const SourceKeys& keys, std::span<const ImportRow> rows, Draft& draft);

}  // namespace orrery::importers
