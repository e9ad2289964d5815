// Experiments for the tests of whole runs, and a random one per seed.
#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "config/experiment/read_experiment.hpp"
#include "config/schema/menus.hpp"
#include "sim/run/run.hpp"
#include "tests/source_dir.hpp"

namespace orrery::test {

inline const Catalog& catalog() {
  static const Catalog embedded = Catalog::embedded();
  return embedded;
}

inline Experiment read(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return read_experiment_text(text, "test", overrides, catalog(), menus()).experiment;
}

/// Names of the catalog's calibrations of software.
inline std::vector<std::string> software_stacks() {
  std::vector<std::string> found;
  for (const std::string& name : catalog().names(CatalogKind::calibration)) {
    const std::string text = catalog().text(CatalogKind::calibration, name);
    if (text.find("\"part\": \"software\"") != std::string::npos) found.push_back(name);
  }
  return found;
}

inline std::filesystem::path examples_folder() { return source_dir() / "examples"; }

inline Experiment example(const std::string& name, const std::vector<std::string>& overrides = {}) {
  return read_experiment_file((examples_folder() / name).string(), overrides, catalog(), menus()).experiment;
}

/// A small random plan on a random cluster: every schedule, ZeRO stage, wiring and fabric comes up.
class RandomExperiment {
 public:
  explicit RandomExperiment(std::uint64_t seed) : random_(seed) {}

  std::string text() { return "{" + parts() + "}"; }

  /// With more replicas than fill leaf switches evenly, on trees of every kind.
  std::string text_with_leaves() {
    replicas_ = {5, 6, 7, 9, 12};
    leaves_ = {2, 3, 4, 5};
    return text();
  }

  /// With nodes that share a switch, in domains that nodes do not fill evenly, under leaves and routers as
  /// small.
  std::string text_with_domains() {
    domains_ = {2, 3, 5};
    return text_with_leaves();
  }

  /// With half of the flags left to the software.
  std::string text_with_open_flags() {
    leaves_open_ = true;
    return text();
  }

  /// Returns an experiment on a software stack drawn at random, from free to slower than the GPUs.
  std::string text_with_software() {
    const std::string plan = parts();
    return "{" + plan + ", \"software\": " + software() + "}";
  }

 private:
  std::string parts() {
    const int t = pick({1, 2, 4});
    const int p = pick({1, 2, 4});
    const int d = pick(replicas_);
    const bool interleaved = p > 1 && pick({0, 1}) == 1;
    const int m = p * pick({1, 2, 3});
    const int zero = pick({0, 1, 2, 3});
    const std::string group = zero > 0 ? number("zero_group_size", d % 2 == 0 ? pick({d / 2, d}) : d) : "";
    const std::string weights = zero == 3
                                    ? flag("reshard_after_forward") + number("prefetch", pick({0, 1, 3})) +
                                          number("fsdp_unit_layers", pick({1, 1, 2, 3}))
                                    : flag("overlap_parameter_gather");
    return R"("model": {"kind": "transformer", "layers": 8, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 256,)" +
           std::string(pick({"", R"("lora_rank": 8, )", R"("multi_token_prediction": 1, )",
                             R"("encoder_layers": 8, "encoder_seq_length": 128, )"})) +
           key("attention", pick({"core", "flash"})) + "," +
           key("tied_embeddings", pick({"true", "false"}), false) + "}," + cluster(t * p * d) +
           ",\"plan\": {" + number("tensor_parallel", t) + number("pipeline_parallel", p) +
           number("data_parallel", d) + number("micro_batch_size", 1) + number("global_batch_size", m * d) +
           number("virtual_stages", interleaved ? 2 : 1) +
           key("pipeline_schedule",
               interleaved ? "interleaved-1f1b" : pick({"sequential", "gpipe", "1f1b"})) +
           "," + number("zero_stage", zero) + group + key("recompute", pick({"none", "selective", "full"})) +
           "," + flag("sequence_parallel") + flag("overlap_gradient_reduce") + wires() + weights +
           key("gradient_reduction", pick({"every-step", "every-micro-batch"})) + "," +
           flag("overlap_tensor_parallel") + flag("scatter_gather") + number("bucket_mb", pick({0, 1, 40})) +
           key("rank_order", pick({"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp", "dp-tp-cp-ep-pp"})) + "}," +
           R"("simulation": {)" + key("network", pick({"alpha-beta", "flow"})) + "," +
           key("folding", "auto") + ", \"steps\": " + std::to_string(pick({1, 2})) + "}";
  }

  /// Mostly none.
  std::string wires() {
    std::string out;
    for (const char* dimension : {"data", "parameters", "tensor", "pipeline"}) {
      const std::string format = pick({"", "", "", "", "fp8", "fp32", "mxfp8"});
      if (!format.empty()) out += (out.empty() ? "" : ", ") + key(dimension, format);
    }
    return out.empty() ? "" : "\"wire_precision\": {" + out + "}, ";
  }

  std::string software() {
    std::string out = "{";
    for (const char* cost : {"forward_issue_us", "backward_issue_us", "collective_issue_us", "tensor_skew_us",
                             "tensor_wait_us", "parameter_issue_us", "pass_overhead_us"})
      out += number(cost, pick({0, 0, 1, 7, 300}));
    out += number("step_overhead_ms", pick({0, 0, 2}));
    out += number("elementwise_traffic", pick({1, 3}));
    out += number("accumulation_bytes_per_parameter", pick({0, 6}));
    out += number("fused_softmax_multiple", pick({1, 4, 16}));
    out += number("gradient_bytes", pick({2, 4}));
    out += flag("synchronize_passes") + flag("gathers_tensors") + flag("experts_in_turn");
    out += key("communication_interference", pick({"0", "0", "0.2"}), false) + ",";
    out += key("split_node_efficiency", pick({"0.2", "1"}), false) + ",";
    return out + key("tensor_overlap", pick({"0", "0.3", "1"}), false) + "}";
  }

  template <class T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[random_() % values.size()];
  }
  int pick(const std::vector<int>& values) { return values[random_() % values.size()]; }
  static std::string key(const std::string& name, const std::string& value, bool quoted = true) {
    return "\"" + name + "\": " + (quoted ? "\"" + value + "\"" : value);
  }
  static std::string number(const std::string& name, int value) {
    return key(name, std::to_string(value), false) + ", ";
  }
  std::string flag(const std::string& name) {
    const std::string given = key(name, pick({"true", "false"}), false) + ", ";
    return leaves_open_ && pick({0, 1}) == 1 ? "" : given;
  }

  std::string cluster(int gpus) {
    int per_node = pick({1, 2, 4, 8});
    while (gpus % per_node != 0) per_node /= 2;
    const std::string wiring = !domains_.empty() ? "nvswitch"
                               : per_node == 1   ? "none"
                                               : pick({"nvswitch", "ring", "full-mesh", "pcie", "pcie-host"});
    const std::string fabric = domains_.empty()
                                   ? pick({"switch", "fat-tree", "rail-optimized", "ring", "star"})
                                   : pick({"switch", "fat-tree", "rail-optimized", "dragonfly"});
    return R"("cluster": {"gpu": "a100-80gb", )" + number("gpus_per_node", per_node) +
           number("nodes", gpus / per_node) + R"("node": {)" + key("kind", wiring) +
           R"(, "link_gb_per_s": 100, "latency_us": 2)" + domain() + R"(}, "fabric": {)" +
           key("kind", fabric) + R"(, "nics_per_node": )" + std::to_string(pick({1, 2, per_node})) +
           R"(, "nic_gbps": 100, "latency_us": 3)" + shape(fabric) + "}}";
  }

  std::string domain() {
    return domains_.empty() ? "" : ", \"domain_nodes\": " + std::to_string(pick(domains_));
  }

  std::string shape(const std::string& fabric) {
    const bool tree = fabric == "fat-tree";
    if (!tree && (leaves_.empty() || fabric != "rail-optimized")) return "";
    const std::string leaf = leaves_.empty() ? "2" : std::to_string(pick(leaves_));
    const std::string above = !tree ? "" : leaves_.empty() || pick({0, 1}) == 1 ? ", 4, 4" : ", 64";
    return R"(, "shape": [)" + leaf + above + R"(], "oversubscription": )" + std::to_string(pick({1, 2}));
  }

  std::mt19937_64 random_;
  bool leaves_open_ = false;
  std::vector<int> replicas_{1, 2, 3, 4};
  std::vector<int> domains_;  ///< nodes that share a switch; empty: one
  std::vector<int> leaves_;   ///< nodes under a leaf; empty: as it comes
};

}  // namespace orrery::test
