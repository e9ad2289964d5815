"""Tables of runs whose step time or TFLOP/s were measured: one function each."""

import json

from measured_bridge import contradicted, megatron_bridge
from measured_rows import GIB, LLAMA, interleaved_layers, plan, recompute, schedule, shape

MEGATRON = {"plan.overlap_gradient_reduce": True, "stack": "megatron-core-2025"}


def as_it_is(rows):
    """Tables that are in the columns of `orrery validate` already."""
    return [{key: value for key, value in row.items() if value != ""} for row in rows]


def torchtitan(rows):
    """TorchTitan's published benchmarks. Models of the Llama kind, which its shape columns do not say; it prints GiB.
    Its selective recomputation by layers is that of every second one; by operators, that of the products with an even
    number in a layer, and of all that is not a product."""
    converted = []
    for row in as_it_is(rows):
        if "selectivelayer" in row["name"]:
            row["plan.recompute"] = json.dumps({"method": "block", "layers": int(row["model.layers"]) // 2})
        elif row.get("plan.recompute") == "selective":
            row["plan.recompute"] = json.dumps({"modules": ["operations"]})
        if "measured.memory.peak_gb" in row:
            row["measured.memory.peak_gb"] = float(row["measured.memory.peak_gb"]) * GIB
        converted.append(row | {key: value for key, value in LLAMA.items() if key not in row})
    return converted


# Shapes of moe.csv's models; an expert of Qwen2-57B's shared part is eight experts wide.
MIXTRAL = {"model.base": "mixtral-8x22b"}
MOE_MODELS = {
    "Mixtral-8x22B": MIXTRAL,
    "Mixtral-8x22B-G8T8": {
        **MIXTRAL, "model.experts": 64, "model.experts_per_token": 8, "model.expert_ffn_hidden": 2048},
    "Qwen2-57B-A14B": {
        "model.kind": "moe-transformer", "model.layers": 28, "model.hidden": 3584, "model.heads": 28,
        "model.kv_heads": 4, "model.vocab": 151936, "model.experts": 64, "model.experts_per_token": 8,
        "model.expert_ffn_hidden": 2560, "model.shared_experts": 8, **LLAMA, "model.qkv_biases": True},
    "Llama3-8x70B": {
        "model.kind": "moe-transformer", "model.layers": 80, "model.hidden": 8192, "model.heads": 64,
        "model.kv_heads": 8, "model.vocab": 128256, "model.experts": 8, "model.experts_per_token": 2,
        "model.expert_ffn_hidden": 28672, **LLAMA},
    "Qwen3-235B-A22B": {"model.base": "qwen3-235b-a22b"},
    "Qwen3-30B-A3B": {"model.base": "qwen3-30b-a3b"},
}
LAYERS = {"Qwen3-235B-A22B": 94}


def moe_folding(rows):
    """MoE Parallel Folding: dropping runs at capacity factor 1. Without folding, experts are cut as the rest is. A
    micro-batch is taken as one sample, no recomputation and no interleaving are assumed: none of them is printed.
    FSDP is taken to gather parameters without overlap, as the rates of all of its rows say."""
    return [folding_row(row) for row in rows if row["id"].startswith("fold-") and row["tflops_per_gpu"]]


def folding_row(row):
    folds = {"plan.expert_tensor_parallel": 1} if row["etp"] else {}
    fsdp = row["zero"].startswith("FSDP")
    gathers = {"plan.overlap_parameter_gather": False} if fsdp else {}
    note = "micro-batch, interleaving and recomputation not printed"
    return {
        "name": row["id"].removeprefix("fold-"), **MOE_MODELS[row["model"]], "model.seq_length": int(row["seq"]),
        "cluster.base": "dgx-h100", "cluster.nodes": int(row["gpus"]) // 8, **plan(row), **folds,
        "plan.dispatcher": "all-to-all", "plan.capacity_factor": 1, "plan.sequence_parallel": int(row["tp"]) > 1,
        "plan.recompute": "none", "plan.zero_stage": 3 if fsdp else 1,
        "plan.precision": "bf16", **MEGATRON, **gathers, "measured.model_tflops_per_gpu": float(row["tflops_per_gpu"]),
        "source": "Liu et al. 2025, MoE Parallel Folding (arXiv 2504.14960), Tables 2 to 5",
        "note": note + ("; parameters taken to be gathered without overlap" if fsdp else ""),
    }


MOE_CLUSTERS = {"H100-SXM-80GB": "dgx-h100", "H800-SXM-80GB": "dgx-h800"}
MOE_DISPATCHERS = {"A2A": "all-to-all", "DeepEP": "deduplicated", "HybridEP, EP overlap off": "deduplicated"}
MOE_RECOMPUTE = {"": "none", "none": "none", "full": "full", "norm, act": recompute("norm+act"),
                 "moe_act + layernorm (selective)": recompute("moe_act+layernorm")}


def moe_plans(rows):
    """Runs with their whole plan: Megatron-MoE-ModelZoo, Pai-Megatron and Megatron-Bridge on Qwen3. Routers are forced to
    balance; where stages do not divide the layers evenly, the first and the last have one fewer. Left out until a plan
    can say so: expert messages that overlap 1F1B; left out for good: natural routing, whose imbalance is not
    published."""
    return [moe_row(row) for row in rows if row["step_s"] and row["gpu"] in MOE_CLUSTERS and is_balanced(row)]


def is_balanced(row):
    return ("all-to-all overlap" not in row["notes"] and "EP overlap on" not in row["method"]
            and "natural routing" not in row["notes"] and row["mbs"])


def overlaps(row):
    """Returns the overlap of ZeRO's and tensor-parallel collectives, which two rows state; the others have the defaults
    of their stack."""
    if "no overlap of ZeRO or TP" in row["notes"]:
        return {"plan.overlap_gradient_reduce": False, "plan.overlap_parameter_gather": False,
                "plan.overlap_tensor_parallel": False}
    if "zero overlap on" in row["notes"]:
        return {"plan.overlap_parameter_gather": True, "plan.overlap_tensor_parallel": False}
    return {}


def moe_row(row):
    return {
        "name": row["id"], **MOE_MODELS[row["model"]], "model.seq_length": int(row["seq"]),
        "cluster.base": MOE_CLUSTERS[row["gpu"]], "cluster.nodes": int(row["gpus"]) // 8, **plan(row), **schedule(row),
        **interleaved_layers(LAYERS.get(row["model"], 48), int(row["pp"]) * int(row["vp"])),
        "plan.expert_tensor_parallel": 1, "plan.dispatcher": MOE_DISPATCHERS[row["method"]],
        "plan.sequence_parallel": int(row["tp"]) > 1, "plan.recompute": MOE_RECOMPUTE[row["recompute"]],
        "plan.zero_stage": 3 if row["zero"] == "FSDP" else 1, "plan.precision": "bf16", **MEGATRON,
        **overlaps(row), "measured.step_time_s": float(row["step_s"]), "source": row["source"],
        "note": f"{row['framework']}; {row['notes']}; recompute: {row['recompute'] or 'not said'}",
    }


XTUNER_MODELS = {
    "Llama2-70B": {},
    "Yi-34B-200K": {"layers": 60, "hidden": 7168, "ffn": 20480, "heads": 56, "kv_heads": 8, "vocab": 64000},
}


def long_context(rows):
    """XTuner: DeepSpeed's ZeRO-3 with tokens exchanged for heads, full recomputation, one sample per replica and step.
    Left out: as many ranks as are more than key/value heads; the bars read off the figures of DeepSpeed-Ulysses,
    whose plans are not printed."""
    return [xtuner_row(row) for row in rows if row["model"] in XTUNER_MODELS and int(row["cp"]) <= 8]


def xtuner_row(row):
    dp, gpus = int(row["dp"]), int(row["gpus"])
    tokens = dp * int(row["mbs"]) * int(row["seq"])
    return {
        "name": row["id"], **shape(row | XTUNER_MODELS[row["model"]]), "cluster.base": "dgx-a100-80gb",
        "cluster.nodes": gpus // 8, **plan(row), "plan.context_parallel_type": "all-to-all",
        "plan.global_batch_size": dp * int(row["mbs"]), "plan.recompute": "full", "plan.zero_stage": 3,
        "plan.overlap_gradient_reduce": True, "plan.precision": "bf16", "software.flash_version": 2,
        "software.flash_speed": 1, "stack": "fsdp-2023",
        "measured.step_time_s": tokens / (gpus * float(row["tokens_per_s_per_gpu"])),
        "source": "XTuner, docs/zh_cn/acceleration/benchmark.rst (github InternLM/xtuner)",
        "note": "network not printed; no accumulation assumed",
    }


def nemo_long_sequence(rows):
    """NeMo with context parallelism on H100s. Step times follow from the TFLOP/s by the formula of NeMo 24.03
    (flops_formulas.py: attention counted in full). Left out: runs without a published plan, and those whose degrees do
    not multiply to the GPUs."""
    return [nemo_long_row(row) for row in rows if row["cp"] and "multiply" not in row["notes"]]


def nemo_long_row(row):
    layers, hidden, seq, gbs = (int(row[key]) for key in ("layers", "hidden", "seq", "gbs"))
    width = 12 + 12 * int(row["kv_heads"]) / int(row["heads"]) + 18 * int(row["ffn"]) / hidden
    flops = gbs * seq * layers * hidden**2 * (width + 12 * seq / hidden + 6 * int(row["vocab"]) / (layers * hidden))
    return {
        "name": row["id"], **shape(row), "cluster.base": "dgx-h100", "cluster.nodes": int(row["gpus"]) // 8,
        **plan(row), "plan.sequence_parallel": int(row["tp"]) > 1, "plan.recompute": "none", "plan.zero_stage": 1,
        "plan.overlap_gradient_reduce": True, "plan.precision": "fp8", "stack": "nemo-2024",
        "measured.step_time_s": flops / (float(row["tflops_per_gpu"]) * 1e12 * int(row["gpus"])),
        "source": "NeMo 24.03.01, docs/source/performance/performance_long_sequence.md (github NVIDIA/NeMo)",
        "note": "micro-batch and recomputation not published",
    }


TABLES = {
    "torchtitan": (["torchtitan.csv"], torchtitan),
    "korthikanti-2022": (["korthikanti-2022.csv"], as_it_is),
    "nemo-launcher-a100": (["nemo-launcher-a100.csv"], as_it_is),
    "moe-folding": (["moe.csv"], moe_folding),
    "moe-plans": (["moe.csv"], moe_plans),
    "megatron-bridge": (["nemo-megatron-bridge.csv", "nemo-megatron-bridge-recipes.csv"], megatron_bridge,
                        contradicted),
    "long-context": (["long-context.csv"], long_context),
    "nemo-long-sequence": (["nemo-long-sequence.csv"], nemo_long_sequence),
}
