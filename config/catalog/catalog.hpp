// Holds the catalog: models, GPUs, clusters, calibrations and failure rates that an experiment may name. Used
// by config/ to resolve names and by the command line to list them. Entries are parsed once, when the catalog
// is made.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery {

enum class CatalogKind : std::uint8_t { model, gpu, cluster, calibration, failure };
inline constexpr std::size_t kCatalogKindCount = 5;

/// "model", "gpu", "cluster", "calibration" or "failure".
std::string_view to_string(CatalogKind kind);

/// Texts by path below catalog/, such as "gpus/h100.json".
using CatalogFiles = std::map<std::string, std::string>;

/// The files of catalog/ as they were when the program was built.
CatalogFiles embedded_catalog_files();

/// The tables of measured runs in catalog/measurements/ as they were then: CSV texts by name.
CatalogFiles embedded_measurements();

struct CatalogData;

/// Immutable; copies share their data. Safe to read from several threads. Texts are parsed when their entries
/// are first asked for; a file that cannot be read then throws an InputError that names it.
class Catalog {
 public:
  /// Throws InputError when a path is in no known folder.
  explicit Catalog(const CatalogFiles& files);

  /// The catalog built into the program.
  static Catalog embedded() { return Catalog(embedded_catalog_files()); }

  /// Returns a copy with the calibration in `text`, and its name. It is known under its own `name` if it has
  /// that key, else under `name`, and replaces any of that name. `source` names the text in errors.
  /// @throws InputError with all that is wrong in it.
  [[nodiscard]] std::pair<Catalog, std::string> with_calibration(std::string_view text,
                                                                 const std::string& source,
                                                                 const std::string& name) const;

  /// Returns the names in order: letters by the alphabet, numbers by size, so that gpt3-6.7b precedes
  /// gpt3-13b.
  [[nodiscard]] std::vector<std::string> names(CatalogKind kind) const;
  [[nodiscard]] bool contains(CatalogKind kind, std::string_view name) const;
  /// The entry's JSON text, or "" for an unknown name.
  [[nodiscard]] std::string text(CatalogKind kind, std::string_view name) const;
  /// The entry's `summary`, or "".
  [[nodiscard]] std::string summary(CatalogKind kind, std::string_view name) const;
  /// Returns the part that a calibration describes, "gpu", "node", "fabric" or "software"; "" for an unknown
  /// name.
  [[nodiscard]] std::string part_of_calibration(std::string_view name) const;
  /// The known name nearest to `name`, if any is near.
  [[nodiscard]] std::optional<std::string> nearest(CatalogKind kind, std::string_view name) const;

  /// Returns the data; for config/ only.
  [[nodiscard]] const CatalogData& data() const { return *data_; }

 private:
  explicit Catalog(std::shared_ptr<const CatalogData> data) : data_(std::move(data)) {}

  std::shared_ptr<const CatalogData> data_;
};

}  // namespace orrery
