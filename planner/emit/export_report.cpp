#include "planner/emit/export_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "config/experiment/resolved.hpp"
#include "config/schema/menus.hpp"
#include "orrery/printable.hpp"

namespace orrery {
namespace {

/// Parts of an experiment that a framework is told of, key by key.
constexpr std::string_view kParts[] = {"plan", "model", "training"};
constexpr std::string_view kMethod = "data_parallel_sync.method";
constexpr std::size_t kLineWidth = 100;

const KeyRow& row_of(std::string_view key, std::span<const KeyRow> rows) {
  const auto found = std::ranges::find(rows, key, &KeyRow::key);
  if (found == rows.end()) throw std::logic_error("no row for the key " + std::string(key));
  return *found;
}

std::string shown(const EmitJson& value) {
  const std::string text = value.dump(-1, ' ', false, EmitJson::error_handler_t::replace);
  return one_line(value.is_string() ? value.get<std::string>() : text);
}

Entry fill_in(const Subject& subject, const KeyRow& row, const EmitJson& value) {
  Entry entry{std::string(row.key), shown(value), Entry::ExportOutcome::open, {}, ""};
  if (!row.lacking.empty()) {
    entry.lacks(row.lacking);
  } else if (row.write != nullptr) {
    row.write(subject, value, entry);
  } else if (value == false && row.setting.starts_with("--")) {
    entry.usual();
  } else {
    entry.set(std::string(row.setting), value);
  }
  if (entry.fate == Entry::ExportOutcome::open)
    throw std::logic_error("the row of " + entry.key + " does nothing");
  return entry;
}

/// Settings that an earlier key has made stay there.
void drop_repeated(std::vector<Entry>& entries) {
  std::map<std::string, std::string> made;
  for (Entry& entry : entries) {
    std::string with;
    std::erase_if(entry.settings, [&](const Setting& setting) {
      const auto [known, fresh] = made.emplace(setting.path, entry.key);
      if (!fresh) with = known->second;
      return !fresh && known->second != entry.key;
    });
    if (entry.fate == Entry::ExportOutcome::set && entry.settings.empty()) {
      entry.fate = Entry::ExportOutcome::usual;
      entry.note("stands with " + with);
    }
  }
}

/// Comments "#   word, word, ..." cut into lines.
std::string wrapped(const std::vector<std::string>& words) {
  std::string text;
  std::string line = "#   ";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i] + (i + 1 < words.size() ? ", " : "");
    if (line.size() > 4 && line.size() + word.size() > kLineWidth) {
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
      line = "#   ";
    }
    line += word;
  }
  return text + line + "\n";
}

std::string titled(const std::string& title, const std::vector<std::string>& words) {
  return words.empty() ? "" : "# " + title + "\n" + wrapped(words);
}

}  // namespace

void whole_loss(const Subject&, const EmitJson& value, Entry& out) {
  value == 1 ? out.usual() : out.lacks("the loss is computed of all tokens at once");
}

void wide_weights(const Subject&, const EmitJson& value, Entry& out) {
  value == "as-computed" ? out.usual()
                         : out.lacks("weights that are not trained are kept as they are computed");
}

ExportReport::ExportReport(const Experiment& experiment, std::span<const KeyRow> rows)
    : experiment_(experiment) {
  const Subject subject(experiment);
  const EmitJson keys = resolved_keys(experiment, menus());
  for (const std::string_view part : kParts) {
    const auto found = keys.find(part);
    if (found == keys.end()) continue;
    for (const auto& [name, value] : found->items()) {
      const KeyRow& row = row_of(fmt::format("{}.{}", part, name), rows);
      entries_.push_back(fill_in(subject, row, value));
    }
  }
  const EmitJson method = keys.at("data_parallel_sync").at("method");
  entries_.push_back(fill_in(subject, row_of(kMethod, rows), method));
  drop_repeated(entries_);
}

void ExportReport::rename(std::string (*renamed)(const std::string& path)) {
  for (Entry& entry : entries_)
    for (Setting& setting : entry.settings) setting.path = renamed(setting.path);
}

std::string ExportReport::heading(std::string_view framework, std::string_view how) const {
  const Experiment& e = experiment_;
  const std::string name = e.name.empty() ? "" : one_line(e.name) + ": ";
  const std::string model = e.model.name.empty() ? "a model" : one_line(e.model.name);
  return fmt::format("# {}{} on {} GPUs, written by Orrery for {}.\n# {}\n", name, model, e.plan.gpus(),
                     framework, how);
}

std::string ExportReport::remainder(std::string_view framework) const {
  std::vector<std::string> reasons;
  std::vector<std::string> usual;
  std::vector<std::string> idle;
  for (const Entry& entry : entries_) {
    const std::string word = entry.key + " = " + entry.value;
    if (entry.fate == Entry::ExportOutcome::usual)
      usual.push_back(word + (entry.remark.empty() ? "" : " (" + entry.remark + ")"));
    if (entry.fate == Entry::ExportOutcome::idle) idle.push_back(word);
    if (entry.fate == Entry::ExportOutcome::lacking &&
        std::ranges::find(reasons, entry.remark) == reasons.end())
      reasons.push_back(entry.remark);
  }
  std::string text;
  for (const std::string& reason : reasons) {
    std::vector<std::string> words;
    for (const Entry& entry : entries_)
      if (entry.fate == Entry::ExportOutcome::lacking && entry.remark == reason)
        words.push_back(entry.key + " = " + entry.value);
    text += titled("No counterpart: " + reason, words);
  }
  text += titled(fmt::format("{} does so without being told:", framework), usual);
  return text + titled("Without effect on this run:", idle);
}

}  // namespace orrery
