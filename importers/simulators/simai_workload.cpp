// Workloads of SimAI and of ASTRA-sim 1.0: a line of settings, the number of layers, and a line a layer with
// the times and messages of its passes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "importers/common/import_rows.hpp"
#include "importers/common/text_lines.hpp"
#include "importers/simulators/simai.hpp"

namespace orrery::importers::simulators {
namespace {

constexpr std::size_t kWordsOfLayer = 12;
constexpr std::size_t kHeadBytes = 4096;

bool is_policy(std::string_view word) {
  return word.size() > 3 &&
         std::ranges::all_of(word, [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
}

bool is_workload(const SourceFile& file) {
  const SourceFile head = head_of(file, kHeadBytes);
  const std::vector<TextLine> lines = lines_of(head);
  if (lines.size() < 3) return false;
  const auto first = words_of(lines[0].text), second = words_of(lines[1].text),
             third = words_of(lines[2].text);
  return !first.empty() && is_policy(first[0]) && second.size() == 1 && integer_of(second[0]) &&
         third.size() >= kWordsOfLayer - 1;
}

void map_virtual(const SourceKey& key, const SourceKeys& all, Draft& draft) {
  const Json& stages = all.value("pp");
  const bool interleaved = key.value > 1 && stages > 1;
  draft.map(key, "plan.pipeline_schedule", interleaved ? "interleaved-1f1b" : "1f1b");
  if (interleaved) draft.map(key, "plan.virtual_stages");
}

void map_checkpoints(const SourceKey& key, const SourceKeys&, Draft& draft) {
  if (key.value == 0) return draft.map(key, "plan.recompute", "none");
  draft.lack(key, "plan.recompute", "layers that are computed again from others: --set plan.recompute=NAME");
}

constexpr std::string_view kOfMessages = "Orrery counts messages itself, from the model and the plan";

constexpr std::array kWorkloadRows{
    ImportRow{"model_parallel_NPU_group", "plan.tensor_parallel"},
    ImportRow{"ep", "plan.expert_parallel"},
    ImportRow{"pp", "plan.pipeline_parallel"},
    ImportRow{"vpp", "", map_virtual},
    ImportRow{"ga", launch::kAccumulation},
    ImportRow{"all_gpus", launch::kGpus},
    ImportRow{"checkpoints", "", map_checkpoints},
    ImportRow{"checkpoint_initiates", "", nullptr, "counted with checkpoints"},
    ImportRow{"pp_comm", "", nullptr, kOfMessages},
    ImportRow{"pp_comm:", "", nullptr, kOfMessages},
};

/// Words of the first line: a key, with or without a colon, and its number.
SourceKeys settings_of(const SourceFile& file, const TextLine& line) {
  SourceKeys keys;
  const std::vector<std::string_view> words = words_of(line.text);
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
    const std::string_view name =
        words[i].ends_with(':') ? words[i].substr(0, words[i].size() - 1) : words[i];
    if (const auto value = integer_of(words[i + 1]))
      keys.add(key_at(file, line.number, std::string(name), *value));
    else
      keys.add(key_at(file, line.number, std::string(name), std::string(words[i + 1])));
  }
  return keys;
}

/// Layers by name, so that thousands of lines are a few of the report.
void ignore_layers(const SourceFile& file, const std::vector<TextLine>& lines, Draft& draft) {
  std::map<std::string, std::pair<int, int>> layers;  // first line and count
  for (std::size_t i = 2; i < lines.size(); ++i)
    if (const auto words = words_of(lines[i].text); words.size() >= kWordsOfLayer - 1) {
      auto& [line, count] =
          layers.emplace(std::string(words[0]), std::pair(lines[i].number, 0)).first->second;
      ++count;
    }
  for (const auto& [name, where] : layers)
    draft.ignore(key_at(file, where.first, "layer " + name, where.second),
                 "times and messages as another simulator has them: Orrery computes its own from the model");
}

void read_workload(const ImportContext& context, Draft& draft) {
  const std::vector<TextLine> lines = lines_of(context.file);
  const SourceKey policy =
      key_at(context.file, 1, "policy", std::string(lines.empty() ? "" : words_of(lines[0].text).front()));
  const SourceKeys keys = settings_of(context.file, lines[0]);
  draft.ignore(policy, "the plan says which passes wait for which messages");
  read_rows(keys, kWorkloadRows, draft);
  ignore_layers(context.file, lines, draft);
}

}  // namespace

const Importer kSimaiWorkload{
    {"simai-workload", "Workload of SimAI or of ASTRA-sim 1.0"}, is_workload, read_workload};

}  // namespace orrery::importers::simulators
