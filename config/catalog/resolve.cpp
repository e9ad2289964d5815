#include "config/catalog/resolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/catalog/spelling.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

std::vector<std::string_view> names_of(const CatalogData& catalog, CatalogKind kind) {
  std::vector<std::string_view> names;
  for (const auto& [name, entry] : catalog.entries[static_cast<std::size_t>(kind)]) names.push_back(name);
  return names;
}

void merge(Json& target, const Json& given) {
  if (!target.is_object() || !given.is_object()) {
    target = given;
    return;
  }
  for (const auto& [key, value] : given.items()) merge(target[key], value);
}

std::string with_article(std::string_view part) {
  return part == "software" ? "software" : fmt::format("a {}", part);
}

/// GPUs that a node of the base has and this one does not take their NICs along, those of a node in
/// proportion and at least one; unless the NICs are given.
void leave_nics(Json& target, const Json& given) {
  const auto fabric = target.find("fabric");
  if (fabric == target.end() || !fabric->is_object() || !fabric->contains("nics_per_node")) return;
  if (const auto own = given.find("fabric"); own != given.end() && own->contains("nics_per_node")) return;
  const auto count = [](const Json& object, const char* key) {
    const auto found = object.find(key);
    const bool whole = found != object.end() && found->is_number_integer();
    return whole ? found->get<std::int64_t>() : std::int64_t{0};
  };
  const std::int64_t had = count(target, "gpus_per_node");
  const std::int64_t gpus = count(given, "gpus_per_node");
  const std::int64_t nics = count(*fabric, "nics_per_node");
  if (gpus < 1 || gpus >= had || nics < 1) return;
  (*fabric)["nics_per_node"] = (nics * gpus + had - 1) / had;
}

/// A node or fabric: a name and an object with its own kind start afresh.
void overlay_wiring(Json& target, const Json& given) {
  if (given.is_string()) {
    target = Json{{"kind", given}};
  } else if (given.is_object() && given.contains("kind")) {
    target = given;
  } else {
    merge(target, given);
  }
}

}  // namespace

/// Returns a hint to the clusters that have a GPU, for users who take the GPU's name for a cluster; "" if no
/// GPU has that name.
std::string Resolver::clusters_with(const std::string& gpu) const {
  const std::string_view meant = spelled_otherwise(gpu, names_of(catalog_, CatalogKind::gpu));
  if (meant.empty()) return "";
  std::vector<std::string_view> clusters;
  for (const auto& [name, file] : catalog_.entries[static_cast<std::size_t>(CatalogKind::cluster)]) {
    const Json& value = file.entry().value;
    const auto own = value.find("gpu");
    if (own == value.end()) continue;
    if (*own == meant || (own->is_object() && own->value("base", "") == meant)) clusters.push_back(name);
  }
  return fmt::format(
      ", which is a GPU: {}an object such as {{\"gpu\": \"{}\", \"nodes\": 2, \"gpus_per_node\": 8}}",
      clusters.empty() ? "allowed "
                       : fmt::format("it is in the clusters {}; allowed too is ", joined(clusters)),
      meant);
}

std::string Resolver::unknown(CatalogKind kind, const std::string& name) const {
  const std::string gpu = kind == CatalogKind::cluster ? clusters_with(name) : "";
  if (!gpu.empty()) return fmt::format("found {}{}", quote(name), gpu);
  const auto known = names_of(catalog_, kind);
  return fmt::format("found {}{}", quote(name),
                     names_allowed(name, fmt::format("an object or a catalog {}", to_string(kind)), known,
                                   fmt::format("orrery list {}s", to_string(kind))));
}

Json Resolver::entry(CatalogKind kind, const std::string& written, const Path& path, const Path& mention) {
  std::string name = written;
  if (catalog_.find(kind, name) == nullptr) name = spelled_otherwise(name, names_of(catalog_, kind));
  const CatalogEntry* found = catalog_.find(kind, name);
  if (found == nullptr) {
    findings_.add(mention, unknown(kind, written));
    return nullptr;
  }
  const std::pair<CatalogKind, std::string> key{kind, name};
  if (std::find(open_.begin(), open_.end(), key) != open_.end()) {
    findings_.add(mention, fmt::format("catalog {} {} is based on itself", to_string(kind), quote(name)));
    return nullptr;
  }
  uses_.push_back({path.pointer(), kind, name});
  open_.push_back(key);
  Json value = resolve(kind, found->value, path);
  open_.pop_back();
  if (value.is_object()) value["name"] = name;
  return value;
}

Json Resolver::based(CatalogKind kind, const Json& base, const Path& path) {
  const Path mention(path, "base");
  if (base.is_string()) return entry(kind, base.get_ref<const std::string&>(), path, mention);
  findings_.add(mention,
                fmt::format("found {}, allowed the name of a catalog {}", described(base), to_string(kind)));
  return nullptr;
}

Json Resolver::resolve(CatalogKind kind, const Json& given, const Path& path) {
  if (given.is_string()) return entry(kind, given.get_ref<const std::string&>(), path, path);
  if (!given.is_object()) {
    findings_.add(
        path, fmt::format("found {}, allowed a catalog {} or an object", described(given), to_string(kind)));
    return nullptr;
  }
  Json value = Json::object();
  if (const auto base = given.find("base"); base != given.end()) value = based(kind, *base, path);
  if (value.is_null()) return nullptr;
  overlay(kind, value, given, path);
  return value;
}

void Resolver::overlay(CatalogKind kind, Json& target, const Json& given, const Path& path) {
  const bool cluster = kind == CatalogKind::cluster;
  if (cluster && given.contains("graph")) {
    target.erase("node");
    target.erase("fabric");
  }
  if (cluster) leave_nics(target, given);
  if (cluster && (given.contains("groups") || given.contains("regions")))
    target.erase("nodes");                                        // they say how many there are
  if (kind == CatalogKind::gpu && given.contains("memory_gb")) {  // another size has other parts
    target.erase("memory_usable_gb");
    target.erase("memory_reserve_gb");
  }
  for (const auto& [key, value] : given.items()) {
    if (key == "base") continue;
    if (cluster && key == "gpu") {
      overlay_gpu(target[key], value, Path(path, key));
    } else if (cluster && key == "groups") {
      overlay_groups(target[key], value, Path(path, key));
    } else if (cluster && (key == "node" || key == "fabric")) {
      overlay_wiring(target[key], value);
    } else {
      merge(target[key], value);
    }
  }
}

void Resolver::overlay_groups(Json& target, const Json& given, const Path& path) {
  target = given;
  if (!target.is_array()) return;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (!target[i].is_object()) continue;
    const auto gpu = target[i].find("gpu");
    if (gpu == target[i].end()) continue;
    const Path group(path, i);
    *gpu = resolve(CatalogKind::gpu, Json(*gpu), Path(group, "gpu"));
  }
}

void Resolver::overlay_gpu(Json& target, const Json& given, const Path& path) {
  if (target.is_object() && given.is_object() && !given.contains("base")) {
    overlay(CatalogKind::gpu, target, given, path);
  } else {
    target = resolve(CatalogKind::gpu, given, path);
  }
}

std::shared_ptr<const CalibrationDomains> Resolver::domains(std::string_view name) const {
  auto out = std::make_shared<CalibrationDomains>();
  std::set<std::string_view> seen;
  for (std::string_view next = name; seen.insert(next).second;) {
    const CatalogEntry* found = catalog_.find(CatalogKind::calibration, next);
    if (found == nullptr) break;
    if (next == name) {
      out->stack = found->domain;
      out->serving = found->serving_errors;
    }
    if (!found->domain.empty()) out->kin = found->domain;
    next = found->inherits;
  }
  if (out->kin.empty() && out->serving.empty()) return nullptr;
  return out;
}

bool Resolver::calibrates(std::string_view name, std::string_view kind) const {
  const CatalogEntry* found = catalog_.find(CatalogKind::calibration, name);
  return found != nullptr && found->part == kind;
}

std::vector<std::string_view> Resolver::calibrations(std::string_view kind) const {
  std::vector<std::string_view> names;
  for (const auto& [name, file] : catalog_.entries[static_cast<std::size_t>(CatalogKind::calibration)]) {
    if (file.entry().part == kind) names.push_back(name);
  }
  return names;
}

void Resolver::calibrate(Json& part, std::string_view kind, const std::string& name, const Path& path) {
  const Path mention(path, "calibration");
  std::vector<std::string> seen;
  for (std::string next = name; !next.empty();) {
    const CatalogEntry* found = catalog_.find(CatalogKind::calibration, next);
    const CatalogEntry* heir = seen.empty() ? nullptr : catalog_.find(CatalogKind::calibration, seen.back());
    const auto wrong = [&](std::string message) {
      if (heir == nullptr) return findings_.add(mention, std::move(message));
      findings_.add_at(heir->inherits_at, std::move(message));
    };
    if (found == nullptr || found->part != kind) {
      const std::string other = found == nullptr ? "" : ", which is of " + with_article(found->part);
      const auto known = calibrations(kind);
      return wrong(fmt::format(
          "found {}{}{}", quote(next), other,
          names_allowed(next, "a calibration of " + with_article(kind), known, "orrery list calibrations")));
    }
    if (std::find(seen.begin(), seen.end(), next) != seen.end())
      return wrong(fmt::format("found {}, so that the calibration inherits from itself", quote(next)));
    uses_.push_back({path.pointer(), CatalogKind::calibration, next});
    for (const auto& [key, value] : found->value.items()) {
      if (!part.contains(key)) part[key] = value;
    }
    seen.push_back(next);
    next = found->inherits;
  }
}

}  // namespace orrery
