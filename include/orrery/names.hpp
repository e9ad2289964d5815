// Lists the names that an experiment can use: the entries of the catalog and of every menu. Programs that
// offer choices use it, such as `orrery list` or a notebook. It knows no meaning of a name.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/error.hpp"

namespace orrery {

enum class NameKind : std::uint8_t {
  model,        ///< `model`
  gpu,          ///< `cluster.gpu`
  cluster,      ///< `cluster`
  calibration,  ///< `stack`, and `calibration` of a GPU, node or fabric
  failure,      ///< `run.failures`
  schedule,     ///< `plan.pipeline_schedule`
  collective,   ///< `plan.collectives.*`
  wiring,       ///< `cluster.node.kind`
  fabric,       ///< `cluster.fabric.kind`
  method,       ///< `data_parallel_sync.method`
  compression,  ///< `data_parallel_sync.compression.kind`
  gossip,       ///< `data_parallel_sync.topology`
};
/// The parts of `orrery list`, by NameKind.
inline constexpr std::array<std::string_view, 12> kNameKindNames{
    "models",      "gpus",    "clusters", "calibrations", "failures",    "schedules",
    "collectives", "wirings", "fabrics",  "methods",      "compression", "gossip"};

struct NamedEntry {
  std::string name;     ///< as written in an experiment
  std::string summary;  ///< one line
};

/// Returns all names of a kind: of the catalog in natural order, of menus in the order of their tables.
[[nodiscard]] std::vector<NamedEntry> list_names(NameKind kind);

/// The JSON text of a catalog entry: a model, GPU, cluster, calibration or table of failure rates.
/// @throws InputError for an unknown name, with the nearest one, and for the other kinds, which have no
/// entries.
[[nodiscard]] std::string catalog_entry(NameKind kind, std::string_view name);

/// JSON Schema (draft 7) of an experiment, for editors and checkers. `which` names the whole or a part:
/// "experiment", "model", "cluster" or "calibration".
/// @throws InputError for another `which`.
[[nodiscard]] std::string experiment_schema(std::string_view which = "experiment");

/// Version of the library, such as "0.1.0".
[[nodiscard]] std::string_view version();

}  // namespace orrery
