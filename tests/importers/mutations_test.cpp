// Every reader takes any change of a file of its kind: it reads it, or refuses it with an InputError.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "importers/combine.hpp"
#include "importers/importers.hpp"
#include "orrery/error.hpp"

namespace orrery::importers {
namespace {

/// Numerical Recipes' generator: the mutations are the same everywhere.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : state_(seed) {}
  std::size_t below(std::size_t bound) {
    state_ = state_ * 1664525U + 1013904223U;
    return bound == 0 ? 0 : (state_ >> 8U) % bound;
  }

 private:
  std::uint32_t state_;
};

std::string mutated(std::string text, Dice& dice) {
  const std::vector<std::string> parts{"-1",    "0",    "99999999999999999999",
                                       "1e308", "null", "[]",
                                       "{}",    "\"",   "\n",
                                       "<",     "\xff", "[",
                                       ":",     "x",    "true",
                                       "\t",    "&amp;"};
  for (std::size_t changes = 1 + dice.below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = dice.below(text.size()), length = 1 + dice.below(12);
    switch (dice.below(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, parts[dice.below(parts.size())]);
        break;
      case 2:
        text.replace(at, length, parts[dice.below(parts.size())]);
        break;
      default:
        text.insert(at, text.substr(dice.below(text.size()), length * 4));
        break;
    }
  }
  return dice.below(8) == 0 ? text.substr(0, dice.below(text.size() + 1)) : text;
}

/// A small file of each kind.
const std::vector<std::string>& seeds() {
  static const std::vector<std::string> kSeeds{
      R"(<system version="1"><cpu numaid="0" arch="x86_64"><pci busid="a" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="0" sm="90"><nvlink target="s" count="18" tclass="0x068000"/></gpu></pci><pci busid="b" class="0x030200"><gpu dev="1" sm="90"><nvlink target="a" count="1" tclass="0x030200"/></gpu></pci><pci><nic><net name="mlx5_0" speed="400000" guid="0x1" gdr="1"/></nic></pci></cpu></system>)",
      R"(<graphs version="1"><graph id="0" pattern="4" nchannels="2" speedintra="12"/></graphs>)",
      "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\nGPU0\t X \tNV4\tPIX\t0\nGPU1\tNV4\t X "
      "\tSYS\t0\nmlx5_0\tPIX\tSYS\t X \n",
      "switchguid=0x1\nSwitch\t40 \"S-1\"\t# \"leaf\"\n[1]\t\"H-a\"[1](a)\t# \"node1 mlx5_0\" lid 1 "
      "4xNDR\n[3]\t\"S-2\"[1]\t# \"spine\" lid 3 4xNDR\n",
      "SwitchName=root Switches=leaf[1-2]\nSwitchName=leaf1 Nodes=srv[01-16]\nBlockName=b "
      "Nodes=n[1-2]\nBlockSizes=2\n",
      "- topology: a\n  tree:\n    switches:\n    - switch: r\n      children: s[1-2]\n    - switch: s1\n    "
      "  nodes: n[1-2]\n",
      "switches:\n  a:\n    nodes: [n1]\nblocks:\n- switch: b\n  nodes:\n  - n[2-4]\n",
      "# nThread 1\n#  Rank  0 Pid 7 on h1 device  0 [0x00] NVIDIA H100\n#  Rank  1 Pid 7 on h2 device  0 "
      "[0x00] NVIDIA H100\n# size algbw busbw #wrong\n 1024 64 float sum -1 30.0 0.03 0.03 0 31.0 0.03 0.03 "
      "0\n 4294967296 1 float sum -1 17000 240 240 0 17000 240 240 0\n",
      "infrastructure:\n  devices:\n  - name: d\n    components:\n    - {name: xpu, type: xpu, count: 2}\n   "
      " - {name: sw, type: custom, count: 1}\n    links:\n    - {name: nv, bandwidth: "
      "{giga_bytes_per_second: 9}}\n    connections:\n    - xpu.0.nv.sw.0\n    - xpu.1.nv.sw.0\n    edges:\n "
      "   - {ep1: {component: \"xpu[0:2]\"}, ep2: {component: sw}, link: nv}\n  connections:\n  - "
      "host.0.nic.0.eth.leaf.0.port.0\n",
      R"({"hidden": 6144, "feedforward": 24576, "seq_size": 2048, "attn_heads": 64, "attn_size": 96, "num_blocks": 48})",
      R"({"num_procs": 64, "tensor_par": 4, "pipeline_par": 4, "data_par": 4, "batch_size": 64, "microbatch_size": 2, "datatype": "float16", "pipeline_interleaving": 2, "tensor_par_overlap": "ring"})",
      R"({"matrix": {"float16": {"tflops": 312, "gflops_efficiency": [[16, 0.9]]}}, "mem1": {"GiB": 80, "GBps": 2000, "MB_efficiency": [[1, 0.8]]}, "networks": [{"bandwidth": 300, "size": 8, "latency": 1e-5}, {"bandwidth": 25, "size": 9}]})",
      R"({"hidden_size": 2048, "head_num": 16, "layer_num": 8, "expert_num": 4, "moe_ffn_hidden_size": 64, "moe_shared_expert_intermediate_size": 128, "vocab_size": 100})",
      R"({"seq_len": 4096, "micro_batch_num": 8, "world_size": 16, "tp_size": 2, "pp_size": 2, "interleaving_size": 2, "enable_recompute": true, "recompute_granularity": "full_block", "recompute_layer_num": 2})",
      R"({"sys_name": "x", "num_per_node": 8, "accelerator": {"mem_gbs": 80, "op": {"default": {"tflops": 312}}, "bandwidth": {"default": {"gbps": 1}}}, "networks": {"high_intra_node": {"bandwidth": {"gbps": 1}}, "inter_node": {"bandwidth": {"gbps": 2}}}})",
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 4 vpp: 2 ga: 8 all_gpus: 16 "
      "checkpoints: 0\n1\nmlp -1 10 NONE 0 5 NONE 0 5 NONE 0 100\n",
      "5 2 1 2 4 H20\n2 3 4\n0 2 900Gbps 0.0005ms 0\n0 3 400Gbps 0.0005ms 0\n1 3 400Gbps 1us 0\n3 4 400Gbps "
      "1us 0\n",
      "topology: [ Switch, Ring ]\nnpus_count: [ 8, 4 ]\nbandwidth: [ 400, 50 ]\nlatency: [ 1000, 500 ]\n",
      R"({"scheduling-policy": "LIFO", "all-reduce-implementation": ["ring"], "peak-perf": 100, "roofline-enabled": 1})",
      R"({"workload_graph": [{"Id": 1, "NodeType": 4, "runtime": 5}, {"type": "COMM_COLL_NODE", "attr": [{"name": "comm_size", "int64Val": "7"}]}]})",
      std::string("\x07\x0a\x05") + "0.0.4" + "\x04\x18\x04\x38\x05",
      R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 128})",
  };
  return kSeeds;
}

const Importer* importer_for(const SourceFile& file) {
  for (const Importer& importer : importers())
    if (importer.recognises(file)) return &importer;
  return nullptr;
}

/// Reads the text as whatever it is taken for, else as `kind`.
void read_changed(const std::string& text, const Importer& kind, const Catalog& catalog) {
  const SourceFile file("changed", text);
  const Importer* importer = importer_for(file);
  Draft draft;
  try {
    (importer == nullptr ? kind : *importer).read({file, {{}, true}, catalog}, draft);
    combine(draft, catalog);
  } catch (const InputError& error) {
    CHECK_FALSE(error.diagnostics().empty());
  }
}

}  // namespace

TEST_CASE("any change of a file is read or refused") {
  const Catalog catalog = Catalog::embedded();
  for (const std::string& text : seeds()) {
    const Importer* kind = importer_for({"seed", text});
    REQUIRE_MESSAGE(kind != nullptr, text.substr(0, 60));
    Dice dice(static_cast<std::uint32_t>(text.size()));
    for (int round = 0; round < 150; ++round) read_changed(mutated(text, dice), *kind, catalog);
  }
}

}  // namespace orrery::importers
