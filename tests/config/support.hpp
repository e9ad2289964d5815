// A small catalog, menus and helpers for the tests of config/.
#pragma once

#include <string>
#include <vector>

#include "config/experiment/read_experiment.hpp"
#include "config/schema/menus.hpp"

namespace orrery::io_test {

inline Menus menus() {
  return {{"none", "nvswitch", "hybrid-cube-mesh", "ring", "full-mesh", "pcie", "pcie-host"},
          {"switch", "ring", "grid", "torus", "fat-tree", "rail-optimized", "dragonfly", "star", "full-mesh"},
          {"sequential", "gpipe", "1f1b", "interleaved-1f1b"},
          {"interleaved-1f1b"},
          {"ring", "tree", "halving-doubling", "direct"},
          {"ring", "torus", "one-peer-exponential"},
          nullptr,
          {},
          {"1f1b", "interleaved-1f1b"}};
}

inline const Catalog& catalog() {
  static const Catalog made(CatalogFiles{
      {"models/tiny.json", R"({"summary": "a tiny model", "source": "none", "kind": "transformer",
        "layers": 8, "hidden": 64, "heads": 8, "vocab": 100, "seq_length": 32})"},
      {"models/tiny-wide.json", R"({"base": "tiny", "hidden": 128})"},
      {"models/broken.json", R"({"layers": 0, "hidden": 64, "heads": 8, "vocab": 100, "seq_length": 32})"},
      {"models/loop-a.json", R"({"base": "loop-b"})"},
      {"models/loop-b.json", R"({"base": "loop-a"})"},
      {"models/experts.json", R"({"kind": "moe-transformer", "layers": 8, "experts": 4})"},
      {"gpus/fast.json", R"({"peak_tflops": {"fp16": 300, "bf16": 300, "fp32": 20},
        "memory_gb": 80, "memory_gb_per_s": 2000, "sms": 108, "gemm_efficiency": 0.8})"},
      {"gpus/old.json",
       R"({"peak_tflops": {"fp16": 100, "fp32": 15}, "memory_gb": 16, "memory_gb_per_s": 900})"},
      {"clusters/box.json", R"({"gpu": "fast", "gpus_per_node": 8, "nodes": 1,
        "node": {"kind": "nvswitch", "link_gb_per_s": 300, "latency_us": 2, "efficiency": 0.7},
        "fabric": {"kind": "switch", "nics_per_node": 8, "nic_gbps": 200, "latency_us": 5}})"},
      {"clusters/old-box.json", R"({"base": "box", "gpu": {"base": "old", "memory_gb": 32}})"},
      {"calibrations/quick.json", R"({"summary": "a gpu", "source": "none", "part": "gpu", "constants": {
        "gemm_efficiency": {"value": 0.9, "source": "measured"},
        "sustained_clock": {"value": 0.8, "source": "measured"}}})"},
      {"calibrations/quicker.json", R"({"part": "gpu", "inherits": "quick", "constants": {
        "sustained_clock": {"value": 0.95, "source": "measured"}}})"},
      {"calibrations/odd.json", R"({"part": "gpu", "inherits": "absent", "constants": {}})"},
      {"calibrations/mixed.json", R"({"part": "gpu", "inherits": "wires", "constants": {}})"},
      {"calibrations/circle-a.json", R"({"part": "gpu", "inherits": "circle-b", "constants": {}})"},
      {"calibrations/circle-b.json", R"({"part": "gpu", "inherits": "circle-a", "constants": {}})"},
      {"calibrations/wires.json", R"({"part": "node", "constants": {
        "latency_us": {"value": 3, "source": "measured"}, "ramp_us": {"value": 7, "source": "measured"}}})"},
      {"calibrations/ether.json",
       R"({"part": "fabric", "constants": {"efficiency": {"value": 0.5, "source": "measured"}}})"},
      {"gpus/tuned.json", R"({"peak_tflops": {"fp16": 300}, "memory_gb": 80, "memory_gb_per_s": 2000,
        "calibration": "quick"})"},
      {"gpus/untuned.json", R"({"base": "tuned", "calibration": "quik"})"},
      {"clusters/tuned-box.json", R"({"gpu": "tuned", "gpus_per_node": 8, "nodes": 2,
        "node": {"kind": "nvswitch", "link_gb_per_s": 300, "calibration": "wires"},
        "fabric": {"kind": "switch", "nics_per_node": 8, "nic_gbps": 200, "calibration": "ether"}})"},
      {"clusters/bad-box.json", R"({"gpu": "fast", "gpus_per_node": 8, "node": {"kind": "nvswitch"}})"}});
  return made;
}

inline Experiment read(std::string_view text, const std::vector<std::string>& overrides = {},
                       const std::string& source = "e.json") {
  return read_experiment_text(text, source, overrides, catalog(), menus()).experiment;
}

/// All diagnostics, one line each; "" where there are none.
inline std::string diagnostics(std::string_view text, const std::vector<std::string>& overrides = {},
                               const std::string& source = "e.json") {
  try {
    read(text, overrides, source);
    return "";
  } catch (const InputError& error) {
    std::string out;
    for (const Diagnostic& diagnostic : error.diagnostics())
      out += (out.empty() ? "" : "\n") + diagnostic.text();
    return out;
  }
}

/// Problems of `{"model": "tiny", "cluster": "box", "plan": <plan>}`; the plan starts in column 46.
inline std::string plan_problems(const std::string& plan, const std::vector<std::string>& overrides = {}) {
  return diagnostics(R"({"model": "tiny", "cluster": "box", "plan": )" + plan + "}", overrides);
}

}  // namespace orrery::io_test
