#!/usr/bin/env python3
"""Checks catalog/: every entry is JSON with exactly the known keys, says what it is and where it comes
from, every model has as many parameters as its publication says, every calibrated constant and every measured run
has a source, and every calibration named exists.
Exit status 1 on any problem."""

import csv
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ABOUT = {"summary", "source"}

MODEL_KEYS = {
    "kind", "layers", "hidden", "ffn_hidden", "heads", "kv_heads", "head_dim", "vocab", "seq_length",
    "gated_mlp", "tied_embeddings", "parallel_block", "attention", "biases", "dropout", "normalization",
    "positions", "other_parameters",
}  # and max_positions where positions are learned
# Keys of some transformers only; latent attention has no head_dim, and one with experts no parallel_block.
MORE_MODEL_KEYS = {
    "causal", "qkv_biases", "qk_norm", "post_norms", "window", "window_pattern", "latent_attention", "encoder_layers",
    "encoder_seq_length", "attention_output_gate", "indexer", "mamba2", "gated_delta_net", "layer_pattern",
    "multi_token_prediction",
}
EXPERT_KEYS = {"experts", "experts_per_token", "expert_ffn_hidden"}
MORE_EXPERT_KEYS = {"shared_experts", "shared_expert_gate", "dense_layers", "moe_layer_frequency", "expert_groups", "groups_per_token"}
CONVNET_KEYS = {
    "kind", "layers", "parameters", "tensors", "forward_gflops_per_sample", "activations_per_sample", "seq_length",
    "convolutions", "small_filter_share", "head_parameters",
}
GPU_KEYS = {
    "peak_tflops", "memory_gb", "memory_gb_per_s", "sms", "calibration",
}
HOST_KEYS = {"host_link_gb_per_s", "host_memory_gb_per_s", "nic_link_gb_per_s"}  # of GPUs whose host is known
# 0 interference: engines of their own do what others do on their SMs. A widened_product_speed of 1: the instructions
# of Hopper's SMs do not bound products of theirs.
MORE_GPU_KEYS = {"memory_usable_gb", "memory_reserve_gb", "communication_interference", "widened_product_speed", "power_w", "static_power_w", "usd_per_hour"} | HOST_KEYS
CLUSTER_KEYS = {"gpu", "gpus_per_node", "nodes", "fabric"}  # and node where a node has several GPUs
NODE_KEYS = {"kind", "link_gb_per_s", "calibration"}  # and domain_nodes where nodes share an NVLink switch
FABRIC_KEYS = {"kind", "nics_per_node", "nic_gbps", "oversubscription", "calibration"}  # and maybe shape, adaptive_routing
FAILURE_KEYS = {"components"}  # and maybe silent, slow_gpu, slow_link, correlated
FAILING_COMPONENTS = {"gpu", "memory", "nic", "cable", "switch", "host", "software"}
CALIBRATION_KEYS = {"part", "constants"}  # and maybe inherits, the domain of its runs, and the fit it comes from

# Constants that are measured or fitted, by the part they belong to: the keys a calibration must hold, itself or
# through those it inherits from, and those it may hold. The keys of software are left to the reader.
LINK_CONSTANTS = {"latency_us", "efficiency"}
RAMP_CONSTANTS = {"base_latency_us", "ramp_us", "ramp_efficiency"}
CONSTANTS = {
    "gpu": ({
        "kernel_launch_us", "gemm_efficiency", "gemm_efficiency_fp8", "memory_efficiency",
        "tile_feed_elements", "gemm_tile_us", "gemm_start_us", "memory_ramp_us", "flash_efficiency",
        "flash3_efficiency", "communication_interference",
    }, {
        "convolution_start_us", "sustained_clock_fp8", "sustained_clock_attention", "gemm_efficiency_fp8_blockwise", "gemm_efficiency_fp4",
        "partial_wave", "sustained_clock", "static_power_w", "product_pj_per_flop", "product_pj_per_flop_fp8",
        "product_pj_per_flop_fp4", "attention_pj_per_flop", "exponential_speed", "widened_product_speed",
    }),
    "node": (LINK_CONSTANTS, RAMP_CONSTANTS | {"nvls_efficiency", "nvls_latency_us", "host_gb_per_s"}),
    "fabric": (LINK_CONSTANTS, RAMP_CONSTANTS | {"flow_gbps"}),
}
CAN_BE_ZERO = {
    "gemm_efficiency_fp8", "flash3_efficiency", "communication_interference", "nvls_efficiency", "nvls_latency_us",
    "base_latency_us", "ramp_us",
}
PRECISIONS = {"fp32", "tf32", "fp16", "bf16", "fp8", "fp4"}
NODE_KINDS = {"nvswitch", "hybrid-cube-mesh", "ring", "full-mesh", "pcie", "pcie-host", "none"}
FABRIC_KINDS = {"switch", "ring", "grid", "torus", "fat-tree", "rail-optimized", "star", "full-mesh"}

# Published parameter counts: exact where the weights were released, else as printed, with the share
# by which the printed figure may be off (rounding, and what the authors left out of their count).
EXACT = 0.0
RELATIVE_POSITIONS = 32  # distances of T5, in a table of each stack
PARAMETERS = {
    "llama-7b": (6_738_415_616, EXACT),
    "llama-13b": (13_015_864_320, EXACT),
    "llama-33b": (32_528_943_616, EXACT),
    "llama-65b": (65_285_660_672, EXACT),
    "llama3.1-8b": (8_030_261_248, EXACT),
    "llama3.1-70b": (70_553_706_496, EXACT),
    "llama3.1-405b": (405_853_388_800, EXACT),
    "bert-large": (335_141_888, EXACT),
    "resnet-50": (25_557_032, EXACT),
    "resnet-101": (44_549_160, EXACT),
    "vgg-16": (138_357_544, EXACT),
    "gpt3-125m": (125e6, 0.02),
    "gpt3-350m": (350e6, 0.02),
    "gpt3-760m": (760e6, 0.02),
    "gpt3-1.3b": (1.3e9, 0.02),
    "gpt3-2.7b": (2.7e9, 0.02),
    "gpt3-6.7b": (6.7e9, 0.02),
    "gpt3-13b": (13.0e9, 0.02),
    "gpt3-175b": (175.0e9, 0.005),
    "megatron-1.7b": (1.7e9, 0.03),
    "megatron-3.6b": (3.6e9, 0.015),
    "megatron-7.5b": (7.5e9, 0.01),
    "megatron-18b": (18.4e9, 0.005),
    "megatron-39b": (39.1e9, 0.005),
    "megatron-76b": (76.1e9, 0.005),
    "megatron-145b": (145.6e9, 0.005),
    "megatron-310b": (310.1e9, 0.005),
    "megatron-530b": (529.6e9, 0.005),
    "megatron-1t": (1008.0e9, 0.005),
    "grok-1": (314e9, 0.01),
    "mixtral-8x7b": (46_702_792_704, EXACT),
    "mixtral-8x22b": (140_620_634_112, EXACT),
    "deepseek-v2": (235_741_434_880, EXACT),
    "deepseek-v3": (671_026_404_352, EXACT),
    "qwen2.5-7b": (7_615_616_512, EXACT),
    "qwen2.5-32b": (32_763_876_352, EXACT),
    "qwen2.5-72b": (72_706_203_648, EXACT),
    "qwen3-8b": (8_190_735_360, EXACT),
    "qwen3-32b": (32_762_123_264, EXACT),
    "qwen3-30b-a3b": (30_532_122_624, EXACT),
    "qwen3-235b-a22b": (235_093_634_560, EXACT),
    # Without the router's correction of each expert.
    "qwen3-coder-480b-a35b": (480_154_875_392, EXACT),
    "kimi-k2": (1_026_408_209_408, EXACT),
    "minimax-m2.5": (228_689_748_992, EXACT),
    "glm-4.5": (352_797_814_784, EXACT),
    "gpt-oss-20b": (20_914_757_184, EXACT),
    "gpt-oss-120b": (116_829_156_672, EXACT),
    "llama4-scout": (109e9, 0.012),  # with 0.9B of the encoder of images
    "llama4-maverick": (400e9, 0.005),
    "gemma2-9b": (9_241_705_984, EXACT),
    "gemma2-27b": (27_227_128_320, EXACT),
    "gemma3-27b": (27.0e9, 0.005),  # 25.6B and 1.4B of embeddings, without the encoder of images
    "mistral-7b": (7_241_732_096, EXACT),
    "t5-11b": (11_307_321_344, EXACT),
    "olmo2-7b": (7_298_678_784, 0.001),
    "olmo2-13b": (13_716_198_400, 0.001),
    "nemotron-4-340b": (340e9, 0.005),
    "nemotron-h-56b": (56_324_350_464, EXACT),
    "nemotron-3-nano-30b-a3b": (31_577_937_344, EXACT),  # without the router's correction
    "qwen3-next-80b-a3b": (81_324_862_720, EXACT),
    "qwen3.5-122b-a10b": (124_635_206_144, EXACT),
    "deepseek-v3.2": (685e9, 0.005),
}
GPUS = {
    "v100", "v100-16gb", "a100-40gb", "a100-80gb", "h100", "h800", "h200", "h20", "b200", "b300", "gb200", "gb300", "l4", "a10",
    "rtx4090", "l40s", "rtx-pro-6000", "t4", "mi300x", "tpu-v5p", "trainium2", "rtx3090",
    "rtx5090", "a40", "rtx-a6000", "mi325x", "mi355x", "tpu-v5e", "tpu-v6e", "tpu-v7", "gaudi3",
}
CLUSTERS = {
    "dgx-1", "dgx-a100-40gb", "dgx-a100-80gb", "dgx-h100", "dgx-h800", "dgx-h200", "dgx-b200",
    "dgx-b300", "gb200-nvl72", "gb300-nvl72", "hgx-h20", "mi300x", "tpu-v5p", "v100-tcp-25g", "a3-mega", "a3-high", "g4dn-12xlarge", "p3-16xlarge",
    "g2-l4", "a10-server", "rtx4090-workstation", "l40s-server", "rtx3090-workstation", "rtx5090-workstation", "a40-server",
    "rtx-a6000-workstation", "mi325x", "mi355x", "tpu-v5e", "tpu-v6e", "tpu-v7", "gaudi3",
}

FAILURES = {"llama3-2024", "rsc-1", "rsc-2", "ft-hsdp-2026", "stepfun-2025", "b200-2026"}


def mlp_parameters(model, ffn):
    inputs = 2 if model["gated_mlp"] else 1
    return (inputs + 1) * model["hidden"] * ffn + ((inputs * ffn + model["hidden"]) if model["biases"] else 0)


def mixture_parameters(model, experts):
    """Returns the parameters of a layer, counting `experts` of its experts."""
    router = model["experts"] * (model["hidden"] + (1 if model["biases"] else 0))
    router += model["hidden"] if model.get("shared_expert_gate") else 0
    return router + (experts + model.get("shared_experts", 0)) * mlp_parameters(model, model["expert_ffn_hidden"])


def attention_parameters(model):
    hidden, heads = model["hidden"], model["heads"]
    output_bias = hidden if model["biases"] else 0
    if "latent_attention" in model:
        latent = model["latent_attention"]
        q_rank, kv_rank, value = latent["q_rank"], latent["kv_rank"], latent["value_dim"]
        query = latent["nope_dim"] + latent["rope_dim"]
        queries = hidden * q_rank + q_rank + q_rank * heads * query
        keys_and_values = hidden * (kv_rank + latent["rope_dim"]) + kv_rank
        keys_and_values += kv_rank * heads * (latent["nope_dim"] + value)
        return queries + keys_and_values + heads * value * hidden + output_bias + indexer_parameters(model)
    q_width = heads * model["head_dim"]
    kv_width = model["kv_heads"] * model["head_dim"]
    norms = {"none": 0, "head": 2 * model["head_dim"], "whole": q_width + kv_width}[model.get("qk_norm", "none")]
    biases = q_width + 2 * kv_width if model.get("qkv_biases", model["biases"]) else 0
    gate = hidden * q_width if model.get("attention_output_gate") else 0
    return 2 * hidden * q_width + gate + 2 * hidden * kv_width + norms + biases + output_bias


def indexer_parameters(model):
    """Queries from the latent vector, a key with its norm, and weights of the heads."""
    if "indexer" not in model:
        return 0
    heads, width = model["indexer"]["heads"], model["indexer"]["head_dim"]
    return model["latent_attention"]["q_rank"] * heads * width + model["hidden"] * (width + heads) + 2 * width


def mamba2_parameters(model):
    m = model["mamba2"]
    inner, of_groups = m["heads"] * m["head_dim"], 2 * m["groups"] * m["state_dim"]
    products = model["hidden"] * (2 * inner + of_groups + m["heads"]) + inner * model["hidden"]
    return products + (inner + of_groups) * (4 + 1) + 3 * m["heads"] + inner


def gated_delta_net_parameters(model):
    g = model["gated_delta_net"]
    keys, values = g["key_heads"] * g["key_dim"], g["value_heads"] * g["value_dim"]
    products = model["hidden"] * (2 * keys + 2 * values + 2 * g["value_heads"]) + values * model["hidden"]
    return products + (2 * keys + values) * 4 + 2 * g["value_heads"] + g["value_dim"]


LETTERS = {"M": ("mamba2", "none"), "G": ("gated-delta-net", "none"), "*": ("attention", "none"),
           "-": ("none", "dense"), "E": ("none", "experts")}


def halves(model):
    """Returns the two halves of each layer of a pattern: its token mixer and its MLP."""
    pattern = model["layer_pattern"]
    if isinstance(pattern, str):
        period = [LETTERS[letter] for letter in pattern]
    else:
        period = [(run.get("kind", "attention"), run.get("mlp", "dense")) for run in pattern
                  for _ in range(run.get("layers", 1))]
    return period * (model["layers"] // len(period))


def parameters_of_pattern(model):
    hidden = model["hidden"]
    mixers = {"none": lambda: 0, "attention": lambda: attention_parameters(model) + hidden,
              "mamba2": lambda: mamba2_parameters(model) + hidden,
              "gated-delta-net": lambda: gated_delta_net_parameters(model) + hidden}
    mlps = {"none": lambda: 0, "dense": lambda: mlp_parameters(model, model["ffn_hidden"]) + hidden,
            "experts": lambda: mixture_parameters(model, model["experts"]) + hidden}
    layers = [mixers[mixer]() + mlps[mlp]() for mixer, mlp in halves(model)]
    tables = model["vocab"] * hidden * (1 if model["tied_embeddings"] else 2)
    return sum(layers) + tables + hidden + model.get("multi_token_prediction", 0) * (layers[-1] + depth(model))


def depth(model):
    """Returns the parameters of a depth of multi-token prediction, beside its layer: a projection and three norms."""
    return 2 * model["hidden"] ** 2 + 3 * model["hidden"]


def encoder_parameters(model, norm):
    """Returns the parameters of an encoder with its norm, and of cross-attention in each layer of the decoder."""
    attention = attention_parameters(model) + norm
    layer = attention + mlp_parameters(model, model["ffn_hidden"]) + norm
    positions = RELATIVE_POSITIONS * model["heads"] if model["positions"] == "relative" else 0
    return model["encoder_layers"] * layer + model["layers"] * attention + norm + positions


def parameters(model):
    """Parameter count of a transformer; the same formula as workloads/ uses (docs/theory/layers.md)."""
    if "layer_pattern" in model:
        return parameters_of_pattern(model)
    hidden = model["hidden"]
    norm = 2 * hidden if model["normalization"] == "layernorm" else hidden
    layer = attention_parameters(model) + (4 if model.get("post_norms") else 2) * norm
    after = model["layers"] - model.get("dense_layers", 0)
    mixtures = after // model.get("moe_layer_frequency", 1) if "experts" in model else 0
    total = model["layers"] * layer + norm + model["vocab"] * hidden
    total += (model["layers"] - mixtures) * mlp_parameters(model, model["ffn_hidden"])
    if mixtures:
        total += mixtures * mixture_parameters(model, model["experts"])
    if "multi_token_prediction" in model:
        total += layer + mixture_parameters(model, model["experts"]) + depth(model)
    if not model["tied_embeddings"]:
        total += model["vocab"] * hidden
    if model["positions"] == "learned":
        total += model["max_positions"] * hidden
    if model["positions"] == "relative":
        total += RELATIVE_POSITIONS * model["heads"]
    if "encoder_layers" in model:
        total += encoder_parameters(model, norm)
    return total + model["other_parameters"]


class Checker:
    def __init__(self):
        self.problems = []
        self.calibrations = {}

    def expect(self, condition, path, message):
        if not condition:
            self.problems.append(f"{path}: {message}")
        return bool(condition)

    def keys(self, found, wanted, path, optional=frozenset()):
        missing, unknown = wanted - found.keys(), found.keys() - wanted - optional
        good = self.expect(not missing, path, f"missing keys {sorted(missing)}")
        return self.expect(not unknown, path, f"unknown keys {sorted(unknown)}") and good

    def read(self, path):
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            self.problems.append(f"{path}: not JSON: {error}")
            return None
        if not self.expect(isinstance(entry, dict), path, "must be an object"):
            return None
        for key in sorted(ABOUT):
            text = entry.pop(key, None)
            self.expect(isinstance(text, str) and text.strip(), path, f"needs a text for '{key}'")
        return entry

    def positive(self, entry, keys, path):
        for key in keys:
            self.expect(entry[key] > 0, path, f"{key} is {entry[key]}, must be positive")

    def model(self, path, entry):
        if entry.get("kind") == "convnet":
            if self.keys(entry, CONVNET_KEYS, path):
                self.positive(entry, sorted(CONVNET_KEYS - {"kind"}), path)
                self.parameters(path, entry["parameters"])
            return
        learned = {"max_positions"} if entry.get("positions") == "learned" else set()
        mixture = entry.get("kind") == "moe-transformer"
        wanted = MODEL_KEYS | learned | (EXPERT_KEYS if mixture else set())
        wanted -= {"head_dim"} if "latent_attention" in entry else set()
        wanted -= {"parallel_block"} if mixture else set()
        if not self.keys(entry, wanted, path, MORE_MODEL_KEYS | (MORE_EXPERT_KEYS if mixture else set())):
            return
        self.positive(entry, ["layers", "hidden", "ffn_hidden", "heads", "kv_heads", "vocab", "seq_length"], path)
        self.expect(entry["kind"] in ("transformer", "moe-transformer"), path, "unknown kind")
        self.expect(entry["attention"] in ("core", "flash"), path, "attention must be core or flash")
        self.expect(entry["normalization"] in ("layernorm", "rmsnorm"), path, "unknown normalization")
        self.expect(entry["positions"] in ("learned", "rotary", "relative"), path, "unknown positions")
        self.expect(entry["heads"] % entry["kv_heads"] == 0, path, "heads must be a multiple of kv_heads")
        self.parameters(path, parameters(entry))

    def parameters(self, path, count):
        if not self.expect(path.stem in PARAMETERS, path, "no published parameter count to check against"):
            return
        published, tolerance = PARAMETERS[path.stem]
        self.expect(abs(count - published) <= tolerance * published, path,
                    f"has {count:,} parameters, published are {published:,.0f} (+- {tolerance:.1%})")

    def gpu(self, path, entry):
        if not self.keys(entry, GPU_KEYS, path, MORE_GPU_KEYS):
            return
        self.keys(entry["peak_tflops"], set(), f"{path}: /peak_tflops", PRECISIONS)
        self.positive(entry["peak_tflops"], entry["peak_tflops"], path)
        self.positive(entry, ["memory_gb", "memory_gb_per_s"], path)
        self.expect(entry["sms"] >= 0, path, "sms must be at least 0")
        self.names_calibration(entry, "gpu", path)

    def cluster(self, path, entry):
        if not self.keys(entry, CLUSTER_KEYS | ({"node"} if entry.get("gpus_per_node") != 1 else set()), path):
            return
        fabric = entry["fabric"]
        good = "node" not in entry or self.node(path, entry["node"])
        if not (self.keys(fabric, FABRIC_KEYS, f"{path}: /fabric", {"shape", "adaptive_routing"}) and good):
            return
        gpu = entry["gpu"]
        if isinstance(gpu, dict):  # rented in this cluster
            self.keys(gpu, {"base", "usd_per_hour"}, f"{path}: /gpu", set())
            gpu = gpu["base"]
        self.expect(gpu in GPUS, path, f"gpu '{gpu}' is not in the catalog")
        self.expect(fabric["kind"] in FABRIC_KINDS, path, f"unknown fabric kind '{fabric['kind']}'")
        self.positive(entry, ["gpus_per_node", "nodes"], path)
        self.positive(fabric, ["nics_per_node", "nic_gbps"], path)
        self.names_calibration(fabric, "fabric", path)
        self.expect(fabric["oversubscription"] >= 1, path, "oversubscription must be at least 1")

    def node(self, path, node):
        if not self.keys(node, NODE_KEYS, f"{path}: /node", {"domain_nodes", "gpu_direct"}):
            return False
        self.expect(node["kind"] in NODE_KINDS, path, f"unknown node kind '{node['kind']}'")
        self.expect("domain_nodes" not in node or node["kind"] == "nvswitch", path, "domain_nodes needs nvswitch")
        self.positive(node, ["link_gb_per_s", *(["domain_nodes"] if "domain_nodes" in node else [])], path)
        self.names_calibration(node, "node", path)
        return True

    def names_calibration(self, entry, part, path):
        name = entry["calibration"]
        known = sorted(key for key, value in self.calibrations.items() if value.get("part") == part)
        self.expect(name in known, path, f"'{name}' is not a calibration of a {part} ({', '.join(known)})")

    def constant(self, path, part, key, constant):
        where = f"{path}: /constants/{key}"
        if not (self.expect(isinstance(constant, dict), where, "must be an object")
                and self.keys(constant, {"value", "source"}, where,
                              {"minimum", "maximum", "standard_error", "spread", "pinned"})):
            return
        value, source = constant["value"], constant["source"]
        self.expect(isinstance(source, str) and source.strip(), where, "needs a text for 'source'")
        if part == "software":
            return
        if self.expect(isinstance(value, (int, float)) and not isinstance(value, bool), where, "must be a number"):
            most = 1 if "efficiency" in key or key.startswith("sustained_clock") or key == "partial_wave" else float("inf")
            zero = value == 0 and key in CAN_BE_ZERO
            self.expect(zero or 0 < value <= most, where, f"value {value} is out of range")

    def calibration(self, path, entry):
        if not self.keys(entry, CALIBRATION_KEYS, path, {"inherits", "domain", "serving_errors", "fit", "name"}):
            return
        part, constants = entry["part"], entry["constants"]
        if not (self.expect(part in CONSTANTS or part == "software", path, f"unknown part '{part}'")
                and self.expect(isinstance(constants, dict), path, "constants must be an object")):
            return
        for key, constant in constants.items():
            self.constant(path, part, key, constant)
        held, seen = set(constants), [path.stem]
        while parent := entry.get("inherits"):
            if not self.expect(parent in self.calibrations, path, f"inherits '{parent}', which does not exist"):
                return
            if not self.expect(parent not in seen, path, "inherits from itself"):
                return
            entry = self.calibrations[parent]
            self.expect(entry.get("part") == part, path, f"inherits '{parent}', which is not of a {part}")
            held |= set(entry.get("constants", {}))
            seen.append(parent)
        if part in CONSTANTS:
            needed, optional = CONSTANTS[part]
            self.keys(dict.fromkeys(held), needed, f"{path}: /constants", optional)

    def load_calibrations(self):
        for path in sorted((ROOT / "catalog" / "calibrations").glob("*.json")):
            try:
                entry = json.loads(path.read_text(encoding="utf-8"))
            except ValueError:
                entry = None  # reported when it is checked
            self.calibrations[path.stem] = entry if isinstance(entry, dict) else {}

    def folder(self, kind, names, check):
        folder = ROOT / "catalog" / kind
        found = {path.stem: path for path in sorted(folder.glob("*.json"))}
        for name in sorted(names - found.keys()):
            self.problems.append(f"{folder / (name + '.json')}: missing")
        for name in sorted(found.keys() - names):
            self.problems.append(f"{found[name]}: unknown to {pathlib.Path(__file__).name}, add it there")
        for path in found.values():
            entry = self.read(path)
            if entry is not None:
                check(path, entry)
        return len(found)

    def failures(self, path, entry):
        """Rates of failures: a mean time of each kind of component. The reader checks the values."""
        if not self.keys(entry, FAILURE_KEYS, path, {"silent", "slow_gpu", "slow_link", "correlated"}):
            return
        for kind, component in entry["components"].items():
            self.expect(kind in FAILING_COMPONENTS, path, f"unknown component '{kind}'")
            self.expect("mtbf_hours" in component or "gaps_hours" in component, path, f"{kind} needs mtbf_hours or gaps_hours")

    def measurements(self):
        tables = sorted((ROOT / "catalog" / "measurements").glob("*.csv"))
        for path in tables:
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
            self.expect(rows, path, "has no rows")
            for number, row in enumerate(rows, 1):
                self.expect(row.get("name") and row.get("source"), path, f"row {number} needs a name and a source")
            names = [row.get("name") for row in rows]
            self.expect(len(set(names)) == len(names), path, "has two rows of one name")
        return len(tables)


    def practice(self):
        """Published runs beside all-reduce: both of a pair of figures, or neither."""
        path = ROOT / "catalog" / "practice" / "steps-to-accuracy.csv"
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        for number, row in enumerate(rows, 1):
            self.expect(row["name"] and row["task"] and row["source"], path, f"row {number} needs a name, a task and a source")
            for pair in (("steps", "all_reduce_steps"), ("value", "all_reduce_value")):
                self.expect(bool(row[pair[0]]) == bool(row[pair[1]]), path, f"row {number} needs both {pair[0]} and {pair[1]}, or neither")
            self.expect(row["steps"] or row["value"], path, f"row {number} has no figure")
            self.expect(not row["steps"] or row["reached"] in ("yes", "no"), path, f"row {number}: reached is yes or no")
            self.expect(bool(row["value"]) == bool(row["unit"]), path, f"row {number}: a value has a unit")
        names = [row["name"] for row in rows]
        self.expect(len(set(names)) == len(names), path, "has two rows of one name")
        return 1


def main():
    checker = Checker()
    checker.load_calibrations()
    count = checker.folder("models", set(PARAMETERS), checker.model)
    count += checker.folder("gpus", GPUS, checker.gpu)
    count += checker.folder("clusters", CLUSTERS, checker.cluster)
    count += checker.folder("calibrations", set(checker.calibrations), checker.calibration)
    count += checker.folder("failures", FAILURES, checker.failures)
    count += checker.measurements()
    count += checker.practice()
    for problem in checker.problems:
        print(problem, file=sys.stderr)
    print(f"catalog: {count} entries, {len(checker.problems)} problems")
    return 1 if checker.problems else 0


if __name__ == "__main__":
    sys.exit(main())
