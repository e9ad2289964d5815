#include "importers/frameworks/launch_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/common/python_value.hpp"
#include "importers/common/shell_script.hpp"
#include "importers/frameworks/command_line.hpp"
#include "importers/frameworks/deepspeed.hpp"
#include "importers/frameworks/hf_trainer.hpp"
#include "importers/frameworks/megatron.hpp"

namespace orrery::importers::frameworks {
namespace {

constexpr std::string_view kBatch = "#SBATCH";

/// Takes the next line off a text, without blanks before it.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
  return line;
}

/// NAME=... at the beginning, also behind export and its kin.
bool assigns(std::string_view line) {
  for (const std::string_view word : {"export ", "declare ", "local ", "readonly "})
    if (line.starts_with(word)) line.remove_prefix(word.size());
  std::size_t end = 0;
  while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_'))
    ++end;
  return end > 0 && std::isdigit(static_cast<unsigned char>(line.front())) == 0 && end < line.size() &&
         (line[end] == '=' || line.substr(end).starts_with("+="));
}

bool begins_command(std::string_view line) {
  constexpr std::array<std::string_view, 22> kCommands{
      "bash ",       "sh ",     "source ",    ". ",  "exec ", "torchrun ", "python ", "python3 ",
      "srun ",       "sbatch ", "deepspeed ", "if ", "for ",  "set ",      "cd ",     "mkdir ",
      "accelerate ", "mpirun ", "nohup ",     "fi",  "done",  "echo "};
  return std::ranges::any_of(kCommands, [line](std::string_view word) { return line.starts_with(word); });
}

/// A script without #! has assignments and commands; lines that a backslash continues count for neither side.
bool reads_as_shell(std::string_view text) {
  std::size_t shell = 0, other = 0;
  bool continued = false;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.empty() || line.starts_with('#')) continue;
    const bool neutral = std::exchange(continued, line.ends_with('\\')) || line.starts_with('-');
    if (assigns(line) || begins_command(line))
      ++shell;
    else if (!neutral)
      ++other;
  }
  return shell > other;
}

bool recognises_script(const SourceFile& file) {
  const std::string_view text = file.text();
  const std::string_view first = text.substr(0, std::min(text.find('\n'), text.size()));
  const auto has = [text](std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (has("vllm") || has("sglang") || has("trtllm")) return false;
  if (first.starts_with("#!") && first.find("sh") != std::string_view::npos) return true;
  if (text.starts_with(kBatch) || has("\n#SBATCH")) return true;
  constexpr std::array<std::string_view, 8> kTells{
      "torchrun ",    "torch.distributed.",           "deepspeed ",   "accelerate launch",
      "pretrain_gpt", "--tensor-model-parallel-size", "--num-layers", ".sh"};
  return std::ranges::any_of(kTells, has) && reads_as_shell(text);
}

/// An option of the head of a batch script: nodes and 8 of "#SBATCH --nodes=8 # comment".
std::optional<SourceKey> batch_option(std::string_view line, FilePlace place) {
  const std::size_t begin = line.find('-');
  if (begin == std::string_view::npos) return std::nullopt;
  std::string_view option = line.substr(begin, std::min(line.find(" #"), line.size()) - begin);
  while (!option.empty() && std::isspace(static_cast<unsigned char>(option.back())) != 0)
    option.remove_suffix(1);
  const std::size_t split = std::min(option.find_first_of("= "), option.size());
  const std::size_t value = std::min(option.find_first_not_of("= ", split), option.size());
  return SourceKey{std::string(option.substr(0, split)), word_value(option.substr(value)), std::move(place)};
}

std::vector<SourceKey> batch_options(const SourceFile& file) {
  std::vector<SourceKey> options;
  for (std::size_t at = 0; at < file.text().size();) {
    const std::size_t end = std::min(file.text().find('\n', at), file.text().size());
    const std::string_view line = file.text().substr(at, end - at);
    if (line.starts_with(kBatch))
      if (auto option = batch_option(line.substr(kBatch.size()), file.place_at(at)))
        options.push_back(std::move(*option));
    at = end + 1;
  }
  return options;
}

/// The number in "8", "gpu:8" or "gpu:a100:8".
std::optional<std::int64_t> gpus_in(const Json& value) {
  const std::string text = text_of(value);
  return whole_number(Json(text.substr(text.rfind(':') + 1)));
}

/// Nodes and GPUs as Slurm is asked for them.
void read_batch_options(const SourceFile& file, Draft& draft, ShellVariables& variables) {
  for (const SourceKey& option : batch_options(file)) {
    const auto number = gpus_in(option.value);
    const bool nodes = option.key == "--nodes" || option.key == "-N";
    const bool gpus = option.key == "--gres" || option.key == "--gpus-per-node";
    if (nodes && number && *number > 0) {
      draft.map(option, launch::kNodes, *number);
      for (const char* name : {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"})
        if (!variables.contains(name)) variables.set(name, {PlacedText(std::to_string(*number), 0)}, false);
    } else if (gpus && number && *number > 0) {
      draft.map(option, launch::kGpusPerNode, *number);
    } else {
      draft.ignore(option, "how Slurm runs the job, which changes no step");
    }
  }
}

/// Returns the number of arguments that tell that a command trains with Megatron.
std::size_t telling(const CommandLine& line) {
  return static_cast<std::size_t>(std::ranges::count_if(line.arguments, [](const SourceKey& key) {
    std::string name = key.key.substr(std::min(key.key.find_first_not_of('-'), key.key.size()));
    std::ranges::replace(name, '-', '_');
    return is_megatron_argument(name);
  }));
}

std::size_t weight(const CommandLine& line) {
  return telling(line) * 10 + (is_trainer_command(line) ? 25 : 0);
}

struct Chosen {
  CommandLine line;
  std::string doubt;
  std::size_t weight = 0;
};

/// The command that trains: the one with the most arguments of a framework, one that is sure to run before
/// others.
Chosen training_command(const ShellScript& script, const SourceFile& file) {
  Chosen best;
  for (const ShellCommand& command : script.commands) {
    CommandLine line = command_line(command.words, file);
    const std::size_t found = weight(line);
    const bool surer = !best.doubt.empty() && command.doubt.empty();
    if (found == 0 || (best.weight > 0 && found < best.weight && !surer)) continue;
    if (best.weight > 0 && best.doubt.empty() && !command.doubt.empty()) continue;
    if (found > best.weight || surer || best.weight == 0) best = {std::move(line), command.doubt, found};
  }
  return best;
}

/// Variables without a value may stand for further arguments.
void report_open_words(const CommandLine& line, const SourceFile& file, const ShellVariables& variables,
                       Draft& draft) {
  for (const PlacedText& word : line.open) {
    const std::string name = unresolved_variable(Json(word.text()));
    const SourceKey key{word.text(), nullptr, file.place_at(word.offset())};
    const bool positional = std::isdigit(static_cast<unsigned char>(name.front())) != 0;
    if (variables.contains(name) || positional)
      draft.lack(key, fmt::format("arguments depend on {}, which has no value: --set {}=VALUE", name, name));
    else
      draft.ignore(
          key, fmt::format("nothing sets {}: --set {}='--ARGUMENT ...' reads arguments in it", name, name));
  }
}

/// Counts of GPUs in variables that most scripts have, where the command does not say them.
void read_usual_variables(const ShellVariables& variables, Draft& draft) {
  const auto take = [&](std::initializer_list<const char*> names, const char* ours) {
    for (const char* name : names) {
      const auto value = variables.known(name);
      const auto number = value ? whole_number(Json(*value)) : std::nullopt;
      if (number && *number > 0)
        return draft.default_to(ours, *number, fmt::format("{} of the script", name));
    }
  };
  take({"NNODES", "NUM_NODES", "N_NODES", "SLURM_NNODES"}, launch::kNodes);
  take({"GPUS_PER_NODE", "NPROC_PER_NODE", "NUM_GPUS"}, launch::kGpusPerNode);
  if (draft.has(launch::kGpusPerNode) && !draft.has(launch::kGpus))
    draft.default_to(launch::kNodes, 1, "the launcher's default");
}

/// Keys of DeepSpeed's file that the script writes itself.
void read_written_config(const CommandLine& line, const ShellScript& script, const ImportContext& context,
                         Draft& draft) {
  for (const SourceKey& key : line.arguments) {
    if (key.key != "--deepspeed_config" && key.key != "--deepspeed-config" && key.key != "--deepspeed")
      continue;
    const auto text = script.files.find(text_of(key.value));
    if (text == script.files.end()) continue;
    read_deepspeed_text(text->second.text(), context, key.place, draft);
  }
}

/// Returns the script that a command starts, "" where it starts something else.
std::string started_script(const ShellCommand& command) {
  const auto script = std::ranges::find_if(
      command.words, [](const PlacedText& word) { return word.text().ends_with(".sh"); });
  return script == command.words.end() ? "" : script->text();
}

/// Arguments of other scripts, which may not be read.
void report_handed_arguments(const ShellScript& script, const SourceFile& file, Draft& draft) {
  for (const ShellCommand& command : script.commands) {
    const std::string started = started_script(command);
    if (started.empty()) continue;
    for (const SourceKey& key : command_line(command.words, file).arguments)
      draft.ignore(
          key, fmt::format("an argument of {}, which is not followed: --set gives what it changes", started));
  }
}

/// A script without a command that trains sets variables for another file.
void hand_variables_on(const ShellScript& script, const ShellVariables& variables, const SourceFile& file,
                       Draft& draft) {
  const SourceKey whole{"script", nullptr, {file.path(), 0}};
  draft.await(
      whole, "model.hidden",
      "found no command with arguments of a framework; give the file that uses its variables too, behind it");
  for (const std::string& name : script.assigned)
    if (const auto value = variables.known(name); value && !draft.has(launch::kVariable + name))
      draft.map({name, *value, {file.path(), 0}}, launch::kVariable + name);
}

void read_script(const ImportContext& context, Draft& draft) {
  ShellVariables variables(context.options.variables, context.file.path());
  read_batch_options(context.file, draft, variables);
  const ShellScript script = read_shell_script(context.file, variables);
  const Chosen chosen = training_command(script, context.file);
  if (chosen.weight < 20) {
    hand_variables_on(script, variables, context.file, draft);
    report_handed_arguments(script, context.file, draft);
    return read_usual_variables(variables, draft);
  }
  if (!chosen.doubt.empty())
    draft.ignore({"command", chosen.line.program, {context.file.path(), 0}},
                 fmt::format("it runs if {} is so; it is read as if it did", chosen.doubt));
  report_open_words(chosen.line, context.file, variables, draft);
  read_written_config(chosen.line, script, context, draft);
  if (telling(chosen.line) < 2) {
    read_trainer_command(chosen.line, context, draft);
  } else {
    LaunchArguments all(context, draft);
    for (const SourceKey& key : chosen.line.arguments) add_megatron_argument(key, key.key, all);
    read_megatron_arguments(all, "Megatron-LM");
  }
  read_usual_variables(variables, draft);
}

}  // namespace

const Importer kLaunchScript{
    {"launch-script", "script that launches a training (bash, sbatch)"}, recognises_script, read_script};

}  // namespace orrery::importers::frameworks
