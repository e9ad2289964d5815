// Replaces catalog names and bases by their contents. Internal to config/.
//
// Given keys replace those of the base and nested objects merge key by key, with two exceptions: a cluster's
// `node` or `fabric` that names its own kind starts afresh, and so does a `gpu` that names its own base. A
// cluster with fewer GPUs a node than its base has fewer NICs in proportion, unless it says how many.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalog/catalog_data.hpp"
#include "config/text/findings.hpp"
#include "config/text/json.hpp"

namespace orrery {

/// The catalog entry `name` gave values at and below `pointer`.
struct CatalogUse {
  std::string pointer;
  CatalogKind kind;
  std::string name;
};

class Resolver {
 public:
  Resolver(const CatalogData& catalog, Findings& findings) : catalog_(catalog), findings_(findings) {}

  /// `given`, a name or an object, without names and bases. Null after a finding.
  Json resolve(CatalogKind kind, const Json& given, const Path& path);

  /// Adds the constants of the calibration `name` to `part` (of kind "gpu", "node", "fabric" or
  /// "software"), which lies at `path`, where it does not give them itself.
  void calibrate(Json& part, std::string_view kind, const std::string& name, const Path& path);

  /// Returns the domains of the runs behind the calibration `name`, and behind the one that it and its
  /// relatives derive from; null if there are none.
  [[nodiscard]] std::shared_ptr<const CalibrationDomains> domains(std::string_view name) const;

  /// Returns true if `name` is a calibration of that kind of part.
  [[nodiscard]] bool calibrates(std::string_view name, std::string_view kind) const;

  /// Names of the calibrations of that kind of part.
  [[nodiscard]] std::vector<std::string_view> calibrations(std::string_view kind) const;

  [[nodiscard]] const std::vector<CatalogUse>& uses() const { return uses_; }

 private:
  /// The entry that `written` names, mentioned at `mention`, for the part at `path`.
  Json entry(CatalogKind kind, const std::string& written, const Path& path, const Path& mention);
  [[nodiscard]] std::string unknown(CatalogKind kind, const std::string& name) const;
  [[nodiscard]] std::string clusters_with(const std::string& gpu) const;
  Json based(CatalogKind kind, const Json& base, const Path& path);
  void overlay(CatalogKind kind, Json& target, const Json& given, const Path& path);
  /// A list of groups replaces the one before; the GPUs in it are resolved.
  void overlay_groups(Json& target, const Json& given, const Path& path);
  void overlay_gpu(Json& target, const Json& given, const Path& path);

  const CatalogData& catalog_;
  Findings& findings_;
  std::vector<CatalogUse> uses_;
  std::vector<std::pair<CatalogKind, std::string>> open_;  ///< entries being resolved
};

}  // namespace orrery
