// Encoders (BERT and its kin) and encoders with decoders (T5).
#include <array>

#include "importers/models/families.hpp"
#include "importers/models/model_reading.hpp"

namespace orrery::importers::models {
namespace {

/// BERT: tokens attend to all; the norm behind the embeddings stands for the final one, which it has not.
void read_bert(ModelReading& r) {
  const std::int64_t hidden = r.count_or("hidden", 0);
  r.set("causal", false, "tokens attend to those behind them too");
  const std::int64_t kinds = r.keys.integer({"type_vocab_size"}).value_or(2);
  r.ignore(r.keys.take({"type_vocab_size"}), "counted among other parameters");
  r.add_parameters(product_of({kinds, hidden}), "kinds of tokens");
  r.add_parameters(product_of({hidden, hidden + 1}), "pooler");
}

void read_distilbert(ModelReading& r) { r.set("causal", false, "tokens attend to those behind them too"); }

/// GIT makes text as BERT would; its encoder of images is dropped.
void read_git(ModelReading& r) {
  r.add_parameters(r.count_or("vocab", 0), "biases of the output projection");
}

/// T5: an encoder and a decoder of the same widths, with positions by distance.
void read_t5(ModelReading& r) {
  if (const auto layers = r.count("layers")) {
    const Keys decoder = r.keys.take({"num_decoder_layers"});
    const Json behind = decoder.empty() ? r.value("layers") : decoder.front()->value;
    r.set("encoder_layers", *layers, "num_layers are those of the encoder");
    r.set("layers", behind, decoder, "of the decoder");
    r.layers.assign(static_cast<std::size_t>(std::min<std::int64_t>(integer_of(behind).value_or(0), 1000)),
                    LayerRun{});
  }
  const Json feed = r.keys.value({"feed_forward_proj"});
  r.block.gated = feed.is_string() && feed.get<std::string>().starts_with("gated");
  r.ignore(r.keys.take({"feed_forward_proj"}), "model.gated_mlp says it");
}

/// A bias of every score goes through memory.
void store_scores(ModelReading& r) {
  r.set("attention", "core", "scores have biases, which fused attention lacks");
}

constexpr BlockTraits kBert{.gated = false,
                            .norm = NormKind::layer,
                            .positions = "learned",
                            .tied = true,
                            .biases = {true, true, true}};

const std::array kEncoders{
    Family{.types = "bert",
           .classes = "BertModel BertForMaskedLM BertForPreTraining BertForQuestionAnswering "
                      "BertForSequenceClassification",
           .block = kBert,
           .defaults = R"({"launch.context": 512})",
           .before = read_bert},
    Family{.types = "roberta xlm-roberta camembert",
           .classes =
               "RobertaForMaskedLM XLMRobertaForMaskedLM RobertaModel XLMRobertaModel CamembertForMaskedLM",
           .block = kBert,
           .before = read_bert},
    Family{.types = "distilbert",
           .classes = "DistilBertForMaskedLM DistilBertModel",
           .block = kBert,
           .before = read_distilbert},
    Family{.types = "git",
           .classes = "GitForCausalLM",
           .block = {.gated = false,
                     .norm = NormKind::layer,
                     .positions = "learned",
                     .biases = {true, true, true}},
           .before = read_git},
    Family{.types = "t5",
           .classes = "T5ForConditionalGeneration T5Model",
           .block = {.gated = false, .positions = "relative", .tied = true},
           .before = read_t5,
           .after = store_scores},
    Family{.types = "mt5",
           .classes = "MT5ForConditionalGeneration",
           .block = {.gated = true, .positions = "relative"},
           .before = read_t5,
           .after = store_scores},
};

}  // namespace

std::span<const Family> encoder_families() { return kEncoders; }

}  // namespace orrery::importers::models
