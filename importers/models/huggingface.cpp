#include "importers/models/huggingface.hpp"

#include <array>

#include "importers/common/import_rows.hpp"

namespace orrery::importers::models {
namespace {

constexpr std::array<ImportRow, 8> kRows{{
    {"hidden_size", "model.hidden"},
    {"num_hidden_layers", "model.layers"},
    {"num_attention_heads", "model.heads"},
    {"num_key_value_heads", "model.kv_heads"},
    {"intermediate_size", "model.ffn_hidden"},
    {"vocab_size", "model.vocab"},
    {"tie_word_embeddings", "model.tied_embeddings"},
    {"max_position_embeddings", launch::kContext},
}};

bool recognises(const SourceFile& file) {
  return file.text().find("\"model_type\"") != std::string_view::npos;
}

void read(const ImportContext& context, Draft& draft) { read_rows(SourceKeys(context.file), kRows, draft); }

}  // namespace

const Importer kHuggingFace{{"huggingface", "config.json of a model on Hugging Face"}, recognises, read};

}  // namespace orrery::importers::models
