#include "config/catalog/catalog.hpp"

#include <algorithm>
#include <charconv>

#include "config/catalog/catalog_data.hpp"
#include "config/catalog/read_calibration.hpp"
#include "config/text/document.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, kCatalogKindCount> kKindNames{"model", "gpu", "cluster", "calibration",
                                                                     "failure"};
constexpr std::array<std::string_view, kCatalogKindCount> kFolders{"models/", "gpus/", "clusters/",
                                                                   "calibrations/", "failures/"};
constexpr std::string_view kExtension = ".json";

CatalogEntry read_entry(const std::string& path, const std::string& text) {
  CatalogEntry entry{text, parse_document(text, "catalog/" + path).value, "", "", ""};
  if (!entry.value.is_object()) {
    throw InputError(
        {Diagnostic{"catalog/" + path, 1, 1, "", "found no object, allowed one entry as an object"}});
  }
  if (const auto summary = entry.value.find("summary"); summary != entry.value.end()) {
    if (summary->is_string()) entry.summary = summary->get<std::string>();
  }
  entry.value.erase("summary");
  entry.value.erase("source");
  return entry;
}

void add(CatalogData& data, const std::string& path, const std::string& text) {
  for (std::size_t kind = 0; kind < kCatalogKindCount; ++kind) {
    if (!path.starts_with(kFolders[kind]) || !path.ends_with(kExtension)) continue;
    const std::size_t start = kFolders[kind].size();
    const std::string name = path.substr(start, path.size() - start - kExtension.size());
    data.entries[kind].emplace(name, CatalogFile(static_cast<CatalogKind>(kind), path, text));
    return;
  }
  throw InputError({Diagnostic{"catalog/" + path, 0, 0, "",
                               "allowed are models/, gpus/, clusters/, calibrations/, failures/ NAME.json"}});
}

/// Reads a number at the start of `text` and removes it; negative where there is none.
double take_number(std::string_view& text) {
  const auto length = std::min(text.find_first_not_of("0123456789."), text.size());
  double value = -1;
  std::from_chars(text.data(), text.data() + length, value);
  text.remove_prefix(length);
  // Sizes are written as 760m, 1.3b, 1t.
  if (value >= 0 && text == "b") value *= 1e3;
  if (value >= 0 && text == "t") value *= 1e6;
  return value;
}

bool precedes(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const double x = take_number(a);
    const double y = take_number(b);
    if (x != y) return x < y;
    if (a.empty() || b.empty()) break;
    if (a[0] != b[0]) return a[0] < b[0];
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
}

}  // namespace

const CatalogEntry& CatalogFile::entry() const {
  std::call_once(state_->parsed, [this] {
    State& state = *state_;
    if (state.path.empty()) return;
    state.entry = state.kind == CatalogKind::calibration
                      ? read_calibration(state.text, "catalog/" + state.path).entry
                      : read_entry(state.path, state.text);
  });
  return state_->entry;
}

std::string_view to_string(CatalogKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

Catalog::Catalog(const CatalogFiles& files) {
  auto data = std::make_shared<CatalogData>();
  for (const auto& [path, text] : files) add(*data, path, text);
  data_ = std::move(data);
}

std::pair<Catalog, std::string> Catalog::with_calibration(std::string_view text, const std::string& source,
                                                          const std::string& name) const {
  NamedCalibration read = read_calibration(text, source);
  std::string known_as = read.name.empty() ? name : read.name;
  auto data = std::make_shared<CatalogData>(*data_);
  data->entries[static_cast<std::size_t>(CatalogKind::calibration)].insert_or_assign(
      known_as, CatalogFile(std::move(read.entry)));
  return {Catalog(std::move(data)), std::move(known_as)};
}

std::string Catalog::part_of_calibration(std::string_view name) const {
  const CatalogEntry* entry = data_->find(CatalogKind::calibration, name);
  return entry == nullptr ? "" : entry->part;
}

std::vector<std::string> Catalog::names(CatalogKind kind) const {
  std::vector<std::string> out;
  for (const auto& [name, entry] : data_->entries[static_cast<std::size_t>(kind)]) out.push_back(name);
  std::stable_sort(out.begin(), out.end(), precedes);
  return out;
}

bool Catalog::contains(CatalogKind kind, std::string_view name) const {
  return data_->find(kind, name) != nullptr;
}

std::string Catalog::text(CatalogKind kind, std::string_view name) const {
  const CatalogEntry* entry = data_->find(kind, name);
  return entry == nullptr ? "" : entry->text;
}

std::string Catalog::summary(CatalogKind kind, std::string_view name) const {
  const CatalogEntry* entry = data_->find(kind, name);
  return entry == nullptr ? "" : entry->summary;
}

std::optional<std::string> Catalog::nearest(CatalogKind kind, std::string_view name) const {
  const std::vector<std::string> known = names(kind);
  const std::string_view found = nearest_name(name, views(known));
  if (found.empty()) return std::nullopt;
  return std::string(found);
}

}  // namespace orrery
