#include "importers/frameworks/command_line.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "importers/common/python_value.hpp"
#include "importers/frameworks/arguments.hpp"

namespace orrery::importers::frameworks {
namespace {

bool names_argument(const std::string& word) {
  const auto letter = [&word](std::size_t i) {
    return word.size() > i && std::isalpha(static_cast<unsigned char>(word[i])) != 0;
  };
  return word.starts_with("--") ? letter(2) : word.starts_with('-') && letter(1);
}

/// Flags that never take a value, by how their names begin.
bool takes_no_value(std::string name) {
  constexpr std::array<std::string_view, 26> kFlags{"use_",
                                                    "overlap_",
                                                    "disable_",
                                                    "no_",
                                                    "sequence_parallel",
                                                    "swiglu",
                                                    "bf16",
                                                    "fp16",
                                                    "group_query_",
                                                    "untie_",
                                                    "log_",
                                                    "apply_",
                                                    "recompute_activations",
                                                    "moe_grouped_gemm",
                                                    "moe_permute_fusion",
                                                    "squared_relu",
                                                    "tp_comm_overlap",
                                                    "finetune",
                                                    "manual_gc",
                                                    "mock_data",
                                                    "qk_layernorm",
                                                    "checkpoint_activations",
                                                    "calculate_per_token_loss",
                                                    "async_save",
                                                    "cross_entropy_loss_fusion",
                                                    "accumulate_"};
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  std::ranges::replace(name, '-', '_');
  return std::ranges::any_of(kFlags, [&name](std::string_view flag) { return name.starts_with(flag); });
}

/// A variable alone, such as ${EXTRA_ARGS}.
bool is_open(const std::string& word) {
  const std::string name = unresolved_variable(Json(word));
  return !name.empty() && word == "${" + name + "}";
}

/// "--fp8-format hybrid" in one word is two.
std::vector<PlacedText> cut(const std::vector<PlacedText>& words) {
  std::vector<PlacedText> all;
  for (const PlacedText& word : words) {
    if (word.text().starts_with("--") && word.text().find_first_of(" \t\n") != std::string::npos)
      for (PlacedText& part : words_in(word)) all.push_back(std::move(part));
    else
      all.push_back(word);
  }
  return all;
}

class ArgumentReader {
 public:
  ArgumentReader(const SourceFile& file, CommandLine& line) : file_(file), line_(line) {}

  void take(const PlacedText& word) {
    const std::string& text = word.text();
    if (names_argument(text)) return begin(word);
    if (text.ends_with(".py")) {
      if (line_.program.empty()) line_.program = text;
      open_ = false;
      return;
    }
    const bool first =
        open_ && line_.arguments.back().value == true && !takes_no_value(line_.arguments.back().key);
    if (is_open(text) && !first) {
      line_.open.push_back(word);
    } else if (open_) {
      add_value(text);
    }
  }

 private:
  void begin(const PlacedText& word) {
    const std::string& text = word.text();
    const std::size_t equals = text.find('=');
    line_.arguments.push_back({text.substr(0, equals), true, file_.place_at(word.offset())});
    open_ = true;
    if (equals == std::string::npos) return;
    line_.arguments.back().value = word_value(text.substr(equals + 1));
    open_ = false;
  }

  void add_value(const std::string& text) {
    Json& value = line_.arguments.back().value;
    const Json next = word_value(text);
    if (value == true)
      value = next;
    else if (value.is_array())
      value.push_back(next);
    else
      value = Json::array({value, next});
  }

  const SourceFile& file_;
  CommandLine& line_;
  bool open_ = false;
};

}  // namespace

CommandLine command_line(const std::vector<PlacedText>& words, const SourceFile& file) {
  CommandLine line;
  ArgumentReader reader(file, line);
  for (const PlacedText& word : cut(words)) reader.take(word);
  return line;
}

}  // namespace orrery::importers::frameworks
