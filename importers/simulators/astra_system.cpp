// Systems of ASTRA-sim: algorithms of collectives, and the roofline of an NPU.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "importers/common/import_rows.hpp"
#include "importers/common/text_lines.hpp"
#include "importers/simulators/astra_sim.hpp"

namespace orrery::importers::simulators {
namespace {

bool is_system_layer(const SourceFile& file) {
  return file.text().find("\"all-reduce-implementation\"") != std::string_view::npos ||
         file.text().find("\"scheduling-policy\"") != std::string_view::npos;
}

std::string_view algorithm_of(const Json& name) {
  constexpr std::array<std::array<std::string_view, 2>, 5> kNames{{{"ring", "ring"},
                                                                   {"direct", "direct"},
                                                                   {"halvingdoubling", "halving-doubling"},
                                                                   {"doublebinarytree", "tree"},
                                                                   {"oneRing", "ring"}}};
  if (!name.is_string()) return "";
  const std::string theirs = small(name.get<std::string>());
  for (const auto& [spelling, ours] : kNames)
    if (small(spelling) == theirs) return ours;
  return "";
}

/// One dimension has an algorithm; several are walked one after the other.
void map_algorithm(const SourceKey& key, const SourceKeys&, Draft& draft) {
  const std::string collective = key.key.substr(0, key.key.find("-implementation"));
  const std::string ours = fmt::format("plan.collectives.{}", collective);
  const bool several = key.value.is_array() && key.value.size() > 1;
  if (several)
    return draft.map(key, ours, "hierarchical", "an algorithm for each dimension, one after the other");
  const Json& name = key.value.is_array() && !key.value.empty() ? key.value.front() : key.value;
  const std::string_view algorithm = algorithm_of(name);
  if (algorithm.empty())
    return draft.lack(key, ours, fmt::format("no algorithm of Orrery: --set {}=NAME", ours));
  draft.map(key, ours, algorithm);
}

bool has_roofline(const SourceKeys& all) {
  return all.value("roofline-enabled") == 1 || all.value("roofline-enabled") == true;
}

void map_peak(const SourceKey& key, const SourceKeys& all, Draft& draft) {
  if (!has_roofline(all)) return draft.ignore(key, "counts with roofline-enabled only");
  draft.map(key, "cluster.gpu.peak_tflops.bf16");
  draft.map(key, "cluster.gpu.peak_tflops.fp16", key.value, "as fast as bf16");
}

void map_memory_rate(const SourceKey& key, const SourceKeys& all, Draft& draft) {
  if (!has_roofline(all)) return draft.ignore(key, "counts with roofline-enabled only");
  draft.map(key, "cluster.gpu.memory_gb_per_s");
}

constexpr std::string_view kOfScheduler =
    "how ASTRA-sim cuts and orders its chunks; Orrery's collectives are pipelined";

constexpr std::array kSystemRows{
    ImportRow{"all-reduce-implementation", "", map_algorithm},
    ImportRow{"all-gather-implementation", "", map_algorithm},
    ImportRow{"reduce-scatter-implementation", "", map_algorithm},
    ImportRow{"all-to-all-implementation", "", map_algorithm},
    ImportRow{"peak-perf", "", map_peak},
    ImportRow{"local-mem-bw", "", map_memory_rate},
    ImportRow{"roofline-enabled", "", nullptr, "decides whether the peak and the memory count"},
    ImportRow{"scheduling-policy", "", nullptr, kOfScheduler},
    ImportRow{"preferred-dataset-splits", "", nullptr, kOfScheduler},
    ImportRow{"active-chunks-per-dimension", "", nullptr, kOfScheduler},
    ImportRow{"collective-optimization", "", nullptr, kOfScheduler},
    ImportRow{"intra-dimension-scheduling", "", nullptr, kOfScheduler},
    ImportRow{"inter-dimension-scheduling", "", nullptr, kOfScheduler},
    ImportRow{"endpoint-delay", "", nullptr, "a count of cycles, whose length is not in the file"},
    ImportRow{"boost-mode", "", nullptr, "simulates one NPU for all, which Orrery decides itself"},
    ImportRow{"track-local-mem", "", nullptr, "says what ASTRA-sim writes"},
    ImportRow{"local-mem-trace-filename", "", nullptr, "says what ASTRA-sim writes"},
    ImportRow{"trace-enabled", "", nullptr, "says what ASTRA-sim writes"},
    ImportRow{"replay-only", "", nullptr, "says how ASTRA-sim runs its traces"},
};

void read_system_layer(const ImportContext& context, Draft& draft) {
  read_rows(SourceKeys(context.file), kSystemRows, draft);
}

}  // namespace

const Importer kAstraSystem{{"astra-sim-system", "System of ASTRA-sim"}, is_system_layer, read_system_layer};

}  // namespace orrery::importers::simulators
