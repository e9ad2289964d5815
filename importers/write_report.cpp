#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/text/json.hpp"
#include "importers/import.hpp"
#include "orrery/printable.hpp"

namespace orrery::importers {
namespace {

struct Section {
  Fate fate;
  std::string_view title;
};
constexpr std::array<Section, 5> kSections{{
    {Fate::contradictory, "Contradictory"},
    {Fate::missing, "Missing"},
    {Fate::mapped, "Mapped"},
    {Fate::defaulted, "Defaulted"},
    {Fate::ignored, "Ignored"},
}};

/// Where an item stands: "line 12", or what gave it.
std::string place_of(const FilePlace& place, const std::string& heading) {
  if (place.file.empty()) return "";
  if (place.file == heading && place.line == 0) return "";
  return place.text_within(heading) + (place.file == heading ? ":" : "");
}

/// "line 12:  key value -> ours  (note)", without the parts that are empty.
std::string line_of(const ImportItem& item, const std::string& heading) {
  std::string line = place_of(item.place, heading);
  const auto add = [&line](const std::string& text) {
    if (!text.empty()) line += (line.empty() ? "" : "  ") + text;
  };
  add(item.fate == Fate::defaulted
          ? ""
          : fmt::format("{}{}{}", item.key, item.key.empty() ? "" : " ", item.found));
  if (!item.ours.empty())
    add(item.fate == Fate::defaulted ? fmt::format("{} {}", item.ours, item.found) : "-> " + item.ours);
  add(item.value);
  if (!item.note.empty()) add("(" + item.note + ")");
  return one_line(line);
}

bool is_file(const Imported& imported, const std::string& name) {
  return std::ranges::find(imported.files, name, &ImportedFile::path) != imported.files.end();
}

/// The items of a section: those of a file below its name, which stands once.
void write_section(const Imported& imported, Fate fate, const Sink& sink) {
  std::string heading;
  for (const ImportItem& item : imported.items) {
    if (item.fate != fate) continue;
    const std::string& file = item.place.file;
    if (is_file(imported, file) && file != heading) sink(fmt::format("  {}\n", one_line(heading = file)));
    if (!is_file(imported, file)) heading.clear();
    sink(fmt::format("  {}{}\n", heading.empty() ? "" : "  ", line_of(item, heading)));
  }
}

}  // namespace

void write_import_text(const Imported& imported, const Sink& sink) {
  for (const ImportedFile& file : imported.files)
    sink(fmt::format("{}: {}\n", one_line(file.path), file.kind));
  for (const Section& section : kSections) {
    const auto count = std::ranges::count(imported.items, section.fate, &ImportItem::fate);
    if (count == 0) continue;
    sink(fmt::format("\n{} {}\n", section.title, count));
    write_section(imported, section.fate, sink);
  }
}

void write_import_json(const Imported& imported, const Sink& sink) {
  Json report{{"files", Json::array()}, {"items", Json::array()}, {"experiment", nullptr}};
  for (const ImportedFile& file : imported.files)
    report["files"].push_back({{"file", file.path}, {"kind", file.kind}});
  for (const ImportItem& item : imported.items)
    report["items"].push_back({{"fate", to_string(item.fate)},
                               {"file", item.place.file},
                               {"line", item.place.line},
                               {"key", item.key},
                               {"found", item.found},
                               {"ours", item.ours},
                               {"value", item.value},
                               {"note", item.note}});
  if (!imported.stopped()) report["experiment"] = Json::parse(imported.experiment_json);
  sink(report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace orrery::importers
