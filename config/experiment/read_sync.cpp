#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/experiment/method_defaults.hpp"
#include "config/experiment/read_parts.hpp"
#include "config/schema/fields.hpp"
#include "config/text/wording.hpp"
#include "orrery/fragments.hpp"
#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

constexpr std::size_t kMostWorkers = 65536;  // of a graph that is written down

/// Reads the list of workers that each worker receives from.
void read_neighbours(const Json& value, DataParallelSync& sync, const Path& path, Scope& scope) {
  if (value.size() > kMostWorkers) {
    scope.findings.add(path, fmt::format("found {} lists, allowed at most {}", value.size(), kMostWorkers));
    return;
  }
  const FieldInfo worker = FieldTable<DataParallelSync>::integers(
      "topology", 0, kMostWorkers - 1, &DataParallelSync::places, "", "workers it receives from");
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto list = detail::read_list<std::int64_t>(value[i], worker, Path(path, i), scope, read_integer);
    if (!list) return;
    sync.neighbours.push_back(*list);
  }
  sync.topology = "explicit";
}

void read_topology(const Json& value, DataParallelSync& sync, const Path& path, Scope& scope) {
  if (value.is_array() && !value.empty()) return read_neighbours(value, sync, path, scope);
  if (read_choice(value, gossip_topology_field(), path, scope)) sync.topology = value.get<std::string>();
}

void read_placement(const Json& value, DataParallelSync& sync, const Path& path, Scope& scope) {
  if (!value.is_array()) return read_field(value, placement_field(), sync, path, scope);
  const FieldInfo place = FieldTable<DataParallelSync>::integers(
      "placement", 0, kMaxGpus - 1, &DataParallelSync::places, "", "replica of a worker");
  if (auto list = detail::read_list<std::int64_t>(value, place, path, scope, read_integer))
    sync.places = *std::move(list);
}

std::int64_t usual_bits(SyncMethod method, const Compression& compression) {
  if (!compression.keeps_largest()) return Compression{}.bits;
  return method == SyncMethod::sparse_loco ? 2 : 32;
}

void read_compression(const Json& value, DataParallelSync& sync, const Path& path, Scope& scope) {
  Compression& compression = sync.compression;
  const auto& fields = compression_fields();
  if (value.is_string()) {
    read_field(value, field_named(fields, "method"), compression, path, scope);
  } else {
    read_fields(value, fields, compression, path, scope);
  }
  if (!value.contains("bits")) compression.bits = usual_bits(sync.method, compression);
  const std::int64_t bits = compression.bits;
  if (compression.method == Compression::Method::quantize && bits != 4 && bits != 8 && bits != 16)
    scope.findings.add(Path(path, "bits"), fmt::format("found {}, allowed 4, 8 or 16", bits));
}

/// On which defaults depend; all-reduce where it is wrong, which is found with the other keys.
SyncMethod named_method(const Json& sync) {
  if (!sync.is_object() || !sync.contains("method") || !sync["method"].is_string())
    return SyncMethod::all_reduce;
  const auto name = std::ranges::find(kSyncMethodNames, sync["method"].get<std::string>());
  return name == kSyncMethodNames.end() ? SyncMethod::all_reduce
                                        : static_cast<SyncMethod>(name - kSyncMethodNames.begin());
}

std::string_view name_of(SyncMethod method) { return kSyncMethodNames[static_cast<std::size_t>(method)]; }

struct SyncCheck {
  const Experiment& experiment;
  const Json& given;
  const std::vector<std::string>& set;
  Findings& findings;

  [[nodiscard]] const DataParallelSync& sync() const { return experiment.data_parallel_sync; }
  [[nodiscard]] bool has(std::string_view key) const { return given.contains(key); }
  void add(std::string_view key, std::string message) const {
    findings.add("/data_parallel_sync/" + std::string(key), std::move(message));
  }

  void add_idle(std::string_view key, std::string message) const {
    const std::string pointer = "/data_parallel_sync/" + std::string(key);
    if (std::ranges::find(set, pointer) != set.end()) findings.add_idle(pointer, std::move(message));
  }

  void keys() const {
    for (const Field<DataParallelSync>& field : sync_fields()) {
      const std::string_view key = field.name;
      if (key == "method" || key == "compression" || !has(key) || has_key(sync().method, key)) continue;
      std::vector<std::string_view> names;
      for (std::size_t m = 0; m < kSyncMethodNames.size(); ++m) {
        if (has_key(static_cast<SyncMethod>(m), key)) names.push_back(kSyncMethodNames[m]);
      }
      add_idle(key, fmt::format("found a value that does nothing for the method \"{}\", allowed only for {}",
                                name_of(sync().method), fmt::join(names, " | ")));
    }
  }

  void compression() const {
    const bool compressed = sync().compression.method != Compression::Method::none;
    if (!compressed || sync().method == SyncMethod::none || has_key(sync().method, "compression")) return;
    add("compression",
        fmt::format("found \"{}\" with the method \"{}\", whose messages must be exact, allowed none",
                    Compression::kNames[static_cast<std::size_t>(sync().compression.method)],
                    name_of(sync().method)));
  }

  /// Keys that only some topologies have.
  void topology() const {
    const auto only = [this](std::string_view key, std::initializer_list<std::string_view> names) {
      if (!has(key) || std::ranges::find(names, sync().topology) != names.end()) return;
      add_idle(key,
               fmt::format("found a value that does nothing for the topology \"{}\", allowed only for {}",
                           sync().topology, fmt::join(names, " | ")));
    };
    if (!sync().gossips()) return;
    only("shape", {"grid", "torus"});
    only("probability", {"erdos-renyi"});
    only("peers", {"base-k"});
  }

  /// Checks sharding: ZeRO shards states that synchronous replicas share, either all replicas or those of one
  /// worker.
  void sharding() const {
    if (experiment.plan.zero_stage == 0) return;
    const std::string zero = fmt::format("plan.zero_stage {}", experiment.plan.zero_stage);
    const bool alike = sync().method == SyncMethod::all_reduce || sync().method == SyncMethod::none;
    if (alike && sync().compression.method != Compression::Method::none)
      add("compression", fmt::format("found a method with {}, allowed with 0", zero));
    if (alike) return;
    if (sync_method(sync().method).by_servers || !sync().joins_replicas())
      add("method", fmt::format("found \"{}\" with {}, allowed all-reduce, or level node for methods without "
                                "servers: sharded states need replicas that stay alike",
                                name_of(sync().method), zero));
    if (has_key(sync().method, "overlap") && sync().overlap == SyncOverlap::adapt_then_combine)
      add("overlap",
          fmt::format("found \"adapt-then-combine\" with {}, allowed with 0: the shards of a bucket "
                      "are updated together",
                      zero));
  }

  void together() const {
    if (const auto check_keys = sync_method(sync().method).check)
      check_keys(sync(), [this](std::string_view key, std::string message) { add(key, std::move(message)); });
  }

  void fragments() const {
    const std::int64_t layers = experiment.model.all_layers();
    if (fragments_by_layer(sync()) && sync().fragments > layers)
      add("fragments", fmt::format("found {}, allowed at most the {} layers", sync().fragments, layers));
  }

  void replicas() const {
    if (!has_key(sync().method, "servers")) return;
    const std::int64_t workers = sync_workers(experiment).workers;
    if (sync().servers > workers)
      add("servers", fmt::format("found {}, allowed at most the {} workers", sync().servers, workers));
  }
};

}  // namespace

DataParallelSync read_sync(const Json& value, const Path& path, Scope& scope) {
  DataParallelSync sync;
  sync.method = named_method(value);
  apply_method_defaults(sync);
  read_fields(value, sync_fields(), sync, path, scope);
  if (!value.is_object()) return sync;
  const auto read = [&](std::string_view key, auto reader) {
    if (const auto found = value.find(key); found != value.end())
      reader(*found, sync, Path(path, key), scope);
  };
  read("topology", read_topology);
  read("compression", read_compression);
  read("placement", read_placement);
  if (sync.method == SyncMethod::diloco && !value.contains("mixing") && sync.delay > 0) sync.mixing = 0.5;
  return sync;
}

void check_sync(const Experiment& experiment, const Json& sync, const std::vector<std::string>& set,
                Findings& findings) {
  const SyncCheck check{experiment, sync, set, findings};
  check.keys();
  check.compression();
  check.topology();
  check.sharding();
  check.together();
  check.fragments();
  check.replicas();
}

}  // namespace orrery
