#include "importers/serving/serving_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "importers/serving/benchmark_client.hpp"
#include "importers/serving/engines.hpp"
#include "orrery/error.hpp"

namespace orrery::importers::serving {
namespace {

/// Describes a command by the engine that it starts, and where its options begin. Without an engine it sends
/// requests.
struct Meaning {
  const Engine* engine = nullptr;
  std::size_t first = 0;  ///< 0: it is neither
};

bool is_program(const Word& word, std::string_view name) {
  const std::string_view text = word.text;
  return text == name || (text.ends_with(name) && text[text.size() - name.size() - 1] == '/');
}

bool follows(const Command& command, std::size_t at, std::string_view word) {
  return at + 1 < command.size() && command[at + 1].text == word;
}

/// Returns the meaning that the word at `at` gives to the command.
Meaning meaning_at(const Command& command, std::size_t at) {
  const Word& word = command[at];
  const std::string& text = word.text;
  if (is_program(word, "vllm") && follows(command, at, "serve")) return {&vllm(), at + 2};
  if (is_program(word, "vllm") && follows(command, at, "bench")) return {nullptr, at + 3};
  if (text.starts_with("vllm.entrypoints.")) return {&vllm(), at + 1};
  if (text.find("vllm/vllm-openai") != std::string::npos) return {&vllm(), at + 1};
  if (is_program(word, "benchmark_serving.py")) return {nullptr, at + 1};
  if (text == "sglang.launch_server") return {&sglang(), at + 1};
  if (is_program(word, "sglang") && follows(command, at, "serve")) return {&sglang(), at + 2};
  if (text == "sglang.bench_serving") return {nullptr, at + 1};
  if (is_program(word, "trtllm-serve"))
    return {&tensorrt_llm(), at + (follows(command, at, "serve") ? 2U : 1U)};
  return {};
}

Meaning meaning_of(const Command& command) {
  for (std::size_t at = 0; at < command.size(); ++at)
    if (const Meaning meaning = meaning_at(command, at); meaning.first > 0) return meaning;
  return {};
}

bool recognises_commands(const SourceFile& file) {
  constexpr std::array<std::string_view, 8> kTells{
      "vllm serve",   "vllm.entrypoints.", "vllm/vllm-openai", "sglang.launch_server",
      "sglang serve", "trtllm-serve",      "vllm bench serve", "sglang.bench_serving"};
  const std::string_view text = file.text();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] == '{' || text[first] == '<') return false;
  return std::ranges::any_of(
      kTells, [text](std::string_view tell) { return text.find(tell) != std::string_view::npos; });
}

void read_server(const ImportContext& context, const Command& command, const Meaning& meaning, Draft& draft) {
  read_engine(
      *meaning.engine,
      options_of(context.file, command, meaning.first, meaning.engine->model_key, meaning.engine->shorts),
      draft);
}

/// The first server counts; the client's requests are its.
void read_commands(const ImportContext& context, Draft& draft) {
  const std::vector<Command> commands = commands_in(context.file, context.options.variables);
  bool served = false;
  std::vector<std::pair<const Command*, std::size_t>> clients;
  for (const Command& command : commands) {
    const Meaning meaning = meaning_of(command);
    if (meaning.first == 0) continue;
    if (meaning.engine == nullptr) {
      clients.emplace_back(&command, std::min(meaning.first, command.size()));
    } else if (served) {
      draft.ignore({"command", command.front().text, context.file.place_at(command.front().offset)},
                   "another server: the first of the file is read");
    } else {
      read_server(context, command, meaning, draft);
      served = true;
    }
  }
  for (const auto& [command, first] : clients)
    read_client(options_of(context.file, *command, first, "word", {}), draft);
  if (!served && clients.empty())
    throw InputError({Diagnostic{context.file.path(), 0, 0, "",
                                 "found no command of vLLM, SGLang or TensorRT-LLM, allowed one at least"}});
}

/// Returns true if the list, with blanks between, has the name.
bool has_name(std::string_view list, std::string_view name) {
  for (std::size_t at = list.find(name); at != std::string_view::npos; at = list.find(name, at + 1)) {
    const bool begins = at == 0 || list[at - 1] == ' ';
    const std::size_t end = at + name.size();
    if (begins && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

/// The key of an unindented line of YAML, with _ for -; "" where there is none.
std::string key_of_line(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || line[0] == ' ' || line[0] == '#') return "";
  std::string key(line.substr(0, colon));
  std::ranges::replace(key, '-', '_');
  return key;
}

/// Returns true if the file has keys of the engine at its top, without those of a model.
bool has_options_of(const SourceFile& file, const Engine& engine) {
  std::string_view text = file.text();
  if (text.find("\"model_type\"") != std::string_view::npos) return false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string key = key_of_line(text.substr(0, end));
    if (!key.empty() && has_name(engine.telling, key)) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

void read_file(const ImportContext& context, const Engine& engine, Draft& draft) {
  read_engine(engine, spelled_with_underscores(SourceKeys(context.file)), draft);
}

}  // namespace

const Importer kServingCommands{{"serving-commands",
                                 "commands that serve a model or ask it: vllm serve, sglang.launch_server, "
                                 "trtllm-serve, their benchmarks"},
                                recognises_commands,
                                read_commands};

const Importer kVllmOptions{
    {"vllm-options", "YAML of options of vLLM"},
    [](const SourceFile& file) { return has_options_of(file, vllm()); },
    [](const ImportContext& context, Draft& draft) { read_file(context, vllm(), draft); }};

const Importer kSglangOptions{
    {"sglang-options", "YAML of options of SGLang"},
    [](const SourceFile& file) { return has_options_of(file, sglang()); },
    [](const ImportContext& context, Draft& draft) { read_file(context, sglang(), draft); }};

const Importer kTensorRtOptions{
    {"tensorrt-llm-options", "YAML of options of TensorRT-LLM"},
    [](const SourceFile& file) { return has_options_of(file, tensorrt_llm()); },
    [](const ImportContext& context, Draft& draft) { read_file(context, tensorrt_llm(), draft); }};

}  // namespace orrery::importers::serving
