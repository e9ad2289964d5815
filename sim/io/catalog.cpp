#include "sim/io/catalog.hpp"

#include <algorithm>
#include <charconv>

#include "orrery/error.hpp"
#include "sim/io/catalog_data.hpp"
#include "sim/io/document.hpp"
#include "sim/io/wording.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, kCatalogKindCount> kKindNames{"model", "gpu", "cluster",
                                                                     "calibration"};
constexpr std::array<std::string_view, kCatalogKindCount> kFolders{"models/", "gpus/", "clusters/",
                                                                   "calibrations/"};
constexpr std::array<std::string_view, 4> kCalibratedParts{"gpu", "node", "fabric", "software"};
constexpr std::string_view kExtension = ".json";

[[noreturn]] void refuse(const std::string& path, const std::string& pointer, const std::string& message) {
  throw InputError({Problem{"catalog/" + path, 0, 0, pointer, message}});
}

std::string text_at(const Json& value, const char* key) {
  const auto found = value.find(key);
  return found != value.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Leaves the constants alone, each as its value.
void read_calibration(const std::string& path, CatalogEntry& entry) {
  entry.part = text_at(entry.value, "part");
  entry.inherits = text_at(entry.value, "inherits");
  const auto known = std::find(kCalibratedParts.begin(), kCalibratedParts.end(), entry.part);
  if (known == kCalibratedParts.end()) {
    refuse(path, "/part", "found " + quote(entry.part) + ", allowed one of " + joined(kCalibratedParts));
  }
  Json constants = Json::object();
  if (const auto given = entry.value.find("constants"); given != entry.value.end() && given->is_object()) {
    for (const auto& [key, constant] : given->items()) {
      if (!constant.is_object() || !constant.contains("value") || text_at(constant, "source").empty())
        refuse(path, "/constants/" + key,
               "found " + described(constant) + ", allowed an object with value and source");
      constants[key] = constant["value"];
    }
  } else {
    refuse(path, "/constants", "found no object, allowed an object of constants");
  }
  entry.value = std::move(constants);
}

CatalogEntry read_entry(const std::string& path, const std::string& text) {
  CatalogEntry entry{text, parse_document(text, "catalog/" + path).value, "", "", ""};
  if (!entry.value.is_object()) {
    throw InputError(
        {Problem{"catalog/" + path, 1, 1, "", "found no object, allowed one entry as an object"}});
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
    CatalogEntry entry = read_entry(path, text);
    if (static_cast<CatalogKind>(kind) == CatalogKind::calibration) read_calibration(path, entry);
    data.entries[kind].emplace(name, std::move(entry));
    return;
  }
  throw InputError({Problem{"catalog/" + path, 0, 0, "",
                            "allowed are models/, gpus/, clusters/, calibrations/ NAME.json"}});
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

std::string_view to_string(CatalogKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

Catalog::Catalog(const CatalogFiles& files) {
  auto data = std::make_shared<CatalogData>();
  for (const auto& [path, text] : files) add(*data, path, text);
  data_ = std::move(data);
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
