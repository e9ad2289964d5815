// Options of serving engines as keys: of their commands, and of their files.
#pragma once

#include <span>
#include <string_view>

#include "importers/common/import_rows.hpp"
#include "importers/common/importer.hpp"
#include "importers/serving/commands.hpp"

namespace orrery::importers::serving {

/// A short spelling of an option of a command.
struct ShortOption {
  std::string_view spelling;
  std::string_view key;
};

/// Returns options of words from `first` on as keys: --max-model-len 8192 is max_model_len, --no-x is x with
/// false, an option without a value is true. A word that belongs to none is the model.
/// @param model  the key that such a word is
[[nodiscard]] SourceKeys options_of(const SourceFile& file, const Command& command, std::size_t first,
                                    std::string_view model, std::span<const ShortOption> shorts);

/// Returns keys of a file with - spelled as _.
[[nodiscard]] SourceKeys spelled_with_underscores(const SourceKeys& keys);

/// Hands keys to their rows; reports what is open, and what no row has, with `unknown` as the reason.
void read_options(const SourceKeys& keys, std::span<const ImportRow> rows, std::string_view unknown,
                  Draft& draft);

// Readers of options that engines have in common:
void read_model_name(const SourceKey& key, const SourceKeys& all, Draft& draft);
void read_dtype(const SourceKey& key, const SourceKeys& all, Draft& draft);
void read_quantization_name(const SourceKey& key, const SourceKeys& all, Draft& draft);
void read_cache_dtype(const SourceKey& key, const SourceKeys& all, Draft& draft);
void read_length(const SourceKey& key, const SourceKeys& all, Draft& draft);
void read_eager(const SourceKey& key, const SourceKeys& all, Draft& draft);
void read_offload(const SourceKey& key, const SourceKeys& all, Draft& draft);
void read_caching(const SourceKey& key, const SourceKeys& all, Draft& draft);
void read_proposed(const SourceKey& key, const SourceKeys& all, Draft& draft);

/// Leaves an option to complete() of its engine.
void settle_with_others(const SourceKey& key, const SourceKeys& all, Draft& draft);

/// Experts of an engine are cut over `ranks` / expert_parallel, where it is given.
void default_expert_ranks(Draft& draft, const Json& ranks);

/// Writes the degrees that no option gives: one rank of each kind, as engines do by default.
void default_degrees(Draft& draft, std::string_view engine);

}  // namespace orrery::importers::serving
