// Holds the entries behind a Catalog, parsed when they are first asked for. Internal to config/.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "config/catalog/catalog.hpp"
#include "config/text/json.hpp"
#include "orrery/calibration_domain.hpp"
#include "orrery/error.hpp"

namespace orrery {

struct CatalogEntry {
  std::string text;
  Json value;  ///< without `summary` and `source`; of a calibration, its constants
  std::string summary;
  std::string part;            ///< the part a calibration describes: gpu, node, fabric or software
  std::string inherits;        ///< of a calibration: the one whose constants it inherits; may be empty
  Diagnostic inherits_at{};    ///< where it says so, with the message to come
  CalibrationDomain domain{};  ///< of a calibration: of its own measured runs
  std::vector<ServingErrors> serving_errors{};  ///< of a calibration
};

/// Holds a file of the catalog. Copies share the parsed content; threads may use it side by side.
class CatalogFile {
 public:
  /// Has yet to be parsed.
  CatalogFile(CatalogKind kind, std::string path, std::string text)
      : state_(std::make_shared<State>(kind, std::move(path), std::move(text))) {}
  explicit CatalogFile(CatalogEntry entry) : state_(std::make_shared<State>()) {
    state_->entry = std::move(entry);
  }

  /// @throws InputError if it is no entry.
  [[nodiscard]] const CatalogEntry& entry() const;

 private:
  struct State {
    State() = default;
    State(CatalogKind of, std::string at, std::string what)
        : kind(of), path(std::move(at)), text(std::move(what)) {}
    CatalogKind kind{};
    std::string path;  ///< empty: nothing to parse
    std::string text;
    std::once_flag parsed{};
    CatalogEntry entry{};
  };
  std::shared_ptr<State> state_;
};

struct CatalogData {
  std::array<std::map<std::string, CatalogFile, std::less<>>, kCatalogKindCount> entries;

  [[nodiscard]] const CatalogEntry* find(CatalogKind kind, std::string_view name) const {
    const auto& table = entries[static_cast<std::size_t>(kind)];
    const auto found = table.find(name);
    return found == table.end() ? nullptr : &found->second.entry();
  }
};

}  // namespace orrery
