// Broken and hostile files: an error that says where, or a report; never a crash, and never without end.
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "importers/frameworks/imported.hpp"
#include "orrery/error.hpp"

namespace orrery::importers::frameworks {
namespace {

constexpr int kRounds = 60;

/// Files with the marks of each kind, so that mutations of them are read by it.
const std::vector<NamedText> kSeeds{
    {"log",
     "x: -------- arguments --------\nx:  hidden_size ....... 64\nx:  num_layers ....... 2\nx:  "
     "num_attention_heads .... 2\n"
     "x:  seq_length .... 64\nx:  num_experts ..... [4]\nx: ------ end of arguments -----\n"
     " elapsed time per iteration (ms): 12.5 |\n"},
    {"m.yaml",
     "MODEL_ARGS:\n  --num-layers: 4\n  --hidden-size: 64\n  --num-attention-heads: 4\n  --seq-length: 64\n"
     "  --pipeline-model-parallel-size: 2\n  --pipeline-model-parallel-layout: Et|(t|)*2tL\n  --num-experts: "
     "4\n"
     "  --moe-layer-freq: ([0]*1+[1]*3)\n  --hybrid-layer-pattern: M-*E\n  --tensor-model-parallel-size: "
     "${TP:-2}\n"},
    {"s.sh",
     "#!/bin/bash\nA=(--num-layers 4 --hidden-size $((8 * 8)) \"--x y\")\nif [[ $B == 1 ]] || [ -z \"$C\" ]; "
     "then\n  D=${E:-f}\nfi\n"
     "case $D in a|b) X=1 ;; *) X=2 ;; esac\ncat <<EOT > ds.json\n{\"a\": $X}\nEOT\n"
     "torchrun --nproc_per_node 8 pretrain_gpt.py ${A[@]} --num-attention-heads 4 --seq-length 64 "
     "--deepspeed_config ds.json\n"},
    {"t.toml",
     "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 128\nlocal_batch_size = "
     "2\n[parallelism]\n"
     "pipeline_parallel_degree = 2\nmodule_fqns_per_model_part = [[\"layers.0\"], [\"layers.1\"]]\n"},
    {"d.json",
     "{\"train_batch_size\": \"auto\", \"zero_optimization\": {\"stage\": 2, \"reduce_bucket_size\": 5e8}, "
     "\"bf16\": {\"enabled\": true}}"},
    {"a.yaml",
     "compute_environment: X\ndistributed_type: FSDP\nnum_processes: 4\nfsdp_config: "
     "{fsdp_sharding_strategy: 4}\n"},
    {"n.yml",
     "{\"pipe_parallel_size\": 1, \"num_layers\": 2, \"hidden_size\": 64, \"num_attention_heads\": 2, "
     "\"seq_length\": 32,\n"
     " \"attention_config\": [[[\"flash\"], 2]], \"activation\": \"swiglu\"}\n"},
    {"f.yaml",
     "variables: {a: 3, b: \"${variables.a}\"}\nmodel: {name: mpt_causal_lm, d_model: 64, n_heads: 2, "
     "n_layers: 2}\n"
     "device_train_microbatch_size: ${variables.b}\nglobal_train_batch_size: 8\nmax_seq_len: 32\n"},
    {"o.yaml",
     "trainer: {num_nodes: 1, devices: 2}\nmodel: {micro_batch_size: 1, num_layers: 2, hidden_size: 64, "
     "num_attention_heads: 2,\n"
     "  encoder_seq_length: \"${multiply:${.num_layers}, 16}\"}\n"},
    {"h.yaml",
     "model_name_or_path: x\nfinetuning_type: lora\nlora_rank: 8\ncutoff_len: "
     "64\nper_device_train_batch_size: 1\n"},
};

/// A text with a few bytes changed, left out, or taken from elsewhere in it.
std::string mutated(std::string text, std::mt19937& random) {
  constexpr std::string_view kBytes = "${}()[]\"'#\\|&;<>=-+*/.:, \n\t0a9\x80\xff";
  const auto below = [&random](std::size_t n) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(n, 1));
  };
  for (std::size_t i = 0, changes = 1 + below(6); i < changes && !text.empty(); ++i) {
    const std::size_t at = below(text.size());
    switch (random() % 5) {
      case 0:
        text[at] = kBytes[below(kBytes.size())];
        break;
      case 1:
        text.insert(at, 1, kBytes[below(kBytes.size())]);
        break;
      case 2:
        text.erase(at, 1 + below(8));
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), 1 + below(24)));
        break;
      default:
        text.resize(at);
        break;
    }
  }
  return text;
}

}  // namespace

TEST_CASE("mutations of files of frameworks are read or refused, never worse") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (const NamedText& file : kSeeds) {
    CAPTURE(file.first);
    CHECK_NOTHROW(imported({file}));
    for (int i = 0; i < kRounds; ++i) {
      const std::string text = mutated(file.second, random);
      CAPTURE(text);
      try {
        imported({{file.first, text}}, {}, i % 2 == 0);
      } catch (const InputError&) {
      }
    }
  }
}

TEST_CASE("interpolations that hold each other end") {
  const std::string text =
      "max_seq_len: ${a}\na: ${b}\nb: ${a}\ndevice_train_microbatch_size: 1\nmodel: {name: mpt_causal_lm, "
      "d_model: 64}\n";
  CHECK(imported({{"f.yaml", text}}).stopped());
  std::string bomb = "device_train_microbatch_size: 1\nmax_seq_len: 64\na0: xxxxxxxxxx\n";
  for (int i = 1; i < 40; ++i)
    bomb +=
        "a" + std::to_string(i) + ": ${a" + std::to_string(i - 1) + "}${a" + std::to_string(i - 1) + "}\n";
  CHECK_NOTHROW(imported({{"f.yaml", bomb}}));
}

}  // namespace orrery::importers::frameworks
