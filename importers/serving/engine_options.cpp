#include "importers/serving/engine_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "importers/common/python_value.hpp"
#include "importers/common/values.hpp"

namespace orrery::importers::serving {
namespace {

std::string key_of(std::string_view option) {
  while (option.starts_with('-')) option.remove_prefix(1);
  std::string key(option);
  std::ranges::replace(key, '-', '_');
  return key;
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && !word_value(word).is_number() &&
         word.find_first_of(" {") == std::string::npos;
}

/// An object in JSON is its members, with dots.
void add_value(SourceKeys& keys, const std::string& key, const Word& word, const std::string& text,
               const FilePlace& place) {
  if (!word.open.empty()) return keys.add({key, "${" + word.open + "}", place});
  if (!text.starts_with('{')) return keys.add({key, word_value(text), place});
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) return keys.add({key, text, place});
  for (const auto& [name, member] : object.items()) keys.add({key + '.' + name, member, place});
}

class OptionReader {
 public:
  OptionReader(const SourceFile& file, const Command& command, std::span<const ShortOption> shorts)
      : file_(file), command_(command), shorts_(shorts) {}

  SourceKeys read(std::size_t first, std::string_view model) {
    for (std::size_t i = first; i < command_.size();) {
      if (is_option(command_[i].text))
        i = take_option(i);
      else
        take_alone(command_[i++], model);
    }
    return std::move(keys_);
  }

 private:
  std::size_t take_option(std::size_t i) {
    const Word& word = command_[i];
    const std::size_t equals = word.text.find('=');
    const std::string key = full_key(word.text.substr(0, equals));
    const FilePlace place = file_.place_at(word.offset);
    if (equals != std::string::npos) {
      add_value(keys_, key, word, word.text.substr(equals + 1), place);
      return i + 1;
    }
    if (i + 1 >= command_.size() || is_option(command_[i + 1].text)) {
      const bool off = key.starts_with("no_");
      keys_.add({off ? key.substr(3) : key, !off, place});
      return i + 1;
    }
    add_value(keys_, key, command_[i + 1], command_[i + 1].text, place);
    return i + 2;
  }

  void take_alone(const Word& word, std::string_view model) {
    if (word.text.empty() && word.open.empty()) return;
    if (std::ranges::any_of(keys_.list(), [model](const SourceKey& k) { return k.key == model; }))
      return keys_.add({"word", word.text, file_.place_at(word.offset)});
    keys_.add({std::string(model), word.open.empty() ? word.text : "${" + word.open + "}",
               file_.place_at(word.offset)});
  }

  [[nodiscard]] std::string full_key(const std::string& option) const {
    const auto found = std::ranges::find(shorts_, option, &ShortOption::spelling);
    return found == shorts_.end() ? key_of(option) : std::string(found->key);
  }

  const SourceFile& file_;
  const Command& command_;
  std::span<const ShortOption> shorts_;
  SourceKeys keys_;
};

/// Numbers as people write them for vLLM: 32k is 32,000, 32K is 32,768.
std::optional<std::int64_t> length_of(const Json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) return std::nullopt;
  std::string text = value.get<std::string>();
  constexpr std::string_view kSuffixes = "kKmM";
  constexpr std::array<double, 4> kFactors{1000, 1024, 1e6, 1048576};
  const std::size_t suffix = kSuffixes.find(text.back());
  if (suffix == std::string_view::npos) return std::nullopt;
  text.pop_back();
  const Json number = word_value(text);
  if (!number.is_number() || !(number >= 0 && number <= 1e6)) return std::nullopt;
  return static_cast<std::int64_t>(number.get<double>() * kFactors[suffix]);
}

bool is_open(const Json& value) {
  return value.is_string() && value.get_ref<const std::string&>().starts_with("${");
}

struct NamedFormat {
  std::string_view name, precision, weights;
};
constexpr std::array<NamedFormat, 20> kNamedFormats{{
    {"fp8", "fp8", ""},           {"w8a8_fp8", "fp8", ""},     {"fbgemm_fp8", "fp8", ""},
    {"modelopt", "fp8", ""},      {"ptpc_fp8", "fp8", ""},     {"modelopt_fp8", "fp8", ""},
    {"modelopt_fp4", "fp4", ""},  {"FP8", "fp8", ""},          {"NVFP4", "fp4", ""},
    {"mxfp4", "", "fp4"},         {"awq", "", "int4"},         {"awq_marlin", "", "int4"},
    {"gptq", "", "int4"},         {"gptq_marlin", "", "int4"}, {"bitsandbytes", "", "int4"},
    {"experts_int8", "", "int8"}, {"w8a8_int8", "", "int8"},   {"W4A16_AWQ", "", "int4"},
    {"quark_fp8", "fp8", ""},     {"fp4", "fp4", ""},
}};

}  // namespace

SourceKeys options_of(const SourceFile& file, const Command& command, std::size_t first,
                      std::string_view model, std::span<const ShortOption> shorts) {
  return OptionReader(file, command, shorts).read(first, model);
}

SourceKeys spelled_with_underscores(const SourceKeys& keys) {
  SourceKeys spelled;
  for (const SourceKey& key : keys.list()) spelled.add({key_of(key.key), key.value, key.place});
  return spelled;
}

void read_options(const SourceKeys& keys, std::span<const ImportRow> rows, std::string_view unknown,
                  Draft& draft) {
  SourceKeys known;
  for (const SourceKey& key : keys.list()) {
    const auto row = std::ranges::find(rows, key.key, &ImportRow::key);
    if (row == rows.end()) {
      draft.ignore(key, std::string(unknown));
    } else if (is_open(key.value) && row->ignored.empty()) {
      const std::string text = key.value.get<std::string>();
      draft.lack(key,
                 fmt::format("nothing gives {}; --set {}=VALUE does", text, text.substr(2, text.size() - 3)));
    } else {
      known.add(key);
    }
  }
  read_rows(known, rows, draft);
}

void read_model_name(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  draft.map(key, launch::kModel, text_of(key.value));
}

void read_dtype(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  const std::string name = text_of(key.value);
  if (name == "auto") return draft.ignore(key, "that of the weights: 16 bits");
  const bool half = name == "half" || name == "float16", full = name == "float" || name == "float32";
  const bool brain = name == "bfloat16";
  if (!half && !full && !brain)
    return draft.contradict(key, "allowed are auto, half, float16, bfloat16, float, float32");
  draft.map(key, "plan.precision", half ? "fp16" : full ? "fp32" : "bf16");
}

void read_quantization_name(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  const std::string name = text_of(key.value);
  const auto format = std::ranges::find(kNamedFormats, name, &NamedFormat::name);
  if (format == kNamedFormats.end())
    return draft.lack(key,
                      "an experiment cannot say this quantisation; --set plan.precision=fp8, or --set "
                      "inference.weight_precision=int4, takes another");
  if (!format->precision.empty()) draft.map(key, "plan.precision", std::string(format->precision));
  if (!format->weights.empty()) draft.map(key, "inference.weight_precision", std::string(format->weights));
}

void read_cache_dtype(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  const std::string name = text_of(key.value);
  if (name == "auto") return draft.ignore(key, "that of the model: 16 bits");
  if (name.starts_with("fp8") || name == "FP8") return draft.map(key, "inference.kv_precision", "fp8");
  if (name == "int8" || name == "fp16" || name == "bf16")
    return draft.map(key, "inference.kv_precision", name);
  if (name == "bfloat16" || name == "float16") return draft.ignore(key, "16 bits, as taken");
  if (name.starts_with("nvfp4") || name.starts_with("fp4"))
    return draft.map(key, "inference.kv_precision", "fp4");
  draft.contradict(key, "allowed are auto, fp8, int8, 16 bits");
}

void read_length(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  const auto length = length_of(key.value);
  const bool context = key.key == "max_model_len" || key.key == "context_length" || key.key == "max_seq_len";
  if (!length) return draft.contradict(key, "allowed are numbers, such as 32768, 32k or 32K");
  if (*length < 0) return draft.ignore(key, "the longest that fits, or the engine's default");
  draft.map(key, context ? "inference.max_model_len" : "inference.max_num_batched_tokens", *length);
}

void read_eager(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  if (key.value == true) return draft.map(key, "plan.cuda_graphs", "none");
  draft.ignore(key, "graphs are launched, as taken");
}

void read_offload(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  if (key.value == 0 || key.value == false) return draft.ignore(key, "nothing is kept in the host's memory");
  draft.lack(key, "an experiment of serving cannot say weights or caches in the host's memory; leave it out");
}

void read_caching(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  draft.ignore(key,
               "what prompts have in common stands in a trace: --set inference.prefix_reuse=SHARE says it");
}

void read_proposed(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  draft.map(key, "inference.speculative.num_speculative_tokens", key.value);
  if (!draft.has("inference.speculative.acceptance_rate"))
    draft.lack("inference.speculative.acceptance_rate",
               "no file says which share of proposed tokens is taken: --set "
               "inference.speculative.acceptance_rate=SHARE");
}

void settle_with_others(const SourceKey& /*key*/, const SourceKeys& /*all*/, Draft& /*draft*/) {}

void default_expert_ranks(Draft& draft, const Json& ranks) {
  const Json& experts = draft.value("plan.expert_parallel");
  if (!ranks.is_number_integer() || !experts.is_number_integer() || experts < 1 || ranks < experts) return;
  draft.default_to("plan.expert_tensor_parallel", ranks.get<std::int64_t>() / experts.get<std::int64_t>(),
                   "ranks over those of experts");
}

void default_degrees(Draft& draft, std::string_view engine) {
  const std::string note = fmt::format("the default of {}", engine);
  for (const char* ours : {"plan.tensor_parallel", "plan.pipeline_parallel", "plan.data_parallel"})
    draft.default_to(ours, 1, note);
}

}  // namespace orrery::importers::serving
