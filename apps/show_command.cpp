#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/commands.hpp"
#include "apps/option_checks.hpp"
#include "config/catalog/catalog.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

struct ShownEntry {
  std::string name;  ///< with its kind in front, such as gpu/h100
  std::string text;
};

/// The entries that `name` means: all of that name, or the one of a kind with the kind in front.
std::vector<ShownEntry> entries_named(const std::string& name) {
  const Catalog catalog = Catalog::embedded();
  std::vector<ShownEntry> found;
  const auto add = [&](std::string_view kind, const std::string& known, auto text) {
    const std::string whole = std::string(kind) + "/" + known;
    if (name == known || name == whole) found.push_back({whole, text()});
  };
  for (std::size_t i = 0; i < kCatalogKindCount; ++i) {
    const auto kind = static_cast<CatalogKind>(i);
    for (const std::string& known : catalog.names(kind))
      add(to_string(kind), known, [&] { return catalog.text(kind, known); });
  }
  for (const auto& table : embedded_measurements())
    add("measurements", table.first, [&] { return table.second; });
  return found;
}

std::vector<std::string> all_entry_names() {
  const Catalog catalog = Catalog::embedded();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kCatalogKindCount; ++i) {
    for (std::string& name : catalog.names(static_cast<CatalogKind>(i))) names.push_back(std::move(name));
  }
  for (const auto& [name, text] : embedded_measurements()) names.push_back(name);
  return names;
}

[[noreturn]] void refuse_entry(const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", message}});
}

int show(const std::string& name) {
  const std::vector<ShownEntry> found = entries_named(name);
  if (found.empty()) {
    const std::vector<std::string> known = all_entry_names();
    refuse_entry("found " + quote(name) + ", allowed a name that `orrery list` prints" +
                 hint(name, views(known)));
  }
  if (found.size() > 1) {
    std::string names;
    for (const ShownEntry& entry : found) names += (names.empty() ? "" : ", ") + entry.name;
    refuse_entry("found " + quote(name) + ", which several entries have, allowed " + names);
  }
  std::string_view text = found.front().text;
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fputc('\n', stdout);
  return kDone;
}

}  // namespace

Command add_show(CLI::App& app, const CommonOptions& /*common*/) {
  auto name = std::make_shared<std::string>();
  app.add_option("name", *name,
                 "A model, gpu, cluster, calibration, failure rates or table of measurements, as gpt3-175b")
      ->type_name(kEntry)
      ->required();
  return [name] { return show(*name); };
}

}  // namespace orrery
