"""NVIDIA's performance tables of Megatron-Bridge, joined with the presets of its releases."""

from measured_rows import interleaved_layers, plan, recompute, schedule

# Kimi K2 (config.json of the released weights): DeepSeek-V3 with more experts and fewer heads and dense layers.
KIMI_K2 = {"model.base": "deepseek-v3", "model.experts": 384, "model.heads": 64, "model.kv_heads": 64,
           "model.vocab": 163840, "model.dense_layers": 1, "model.expert_groups": 1, "model.groups_per_token": 1}
MODELS = {
    "DeepSeek-V3": {"model.base": "deepseek-v3"},
    "Kimi K2": KIMI_K2,
    "GPT-OSS 120B": {"model.base": "gpt-oss-120b"},
    "Qwen3 30B-A3B": {"model.base": "qwen3-30b-a3b"},
    "Qwen3 235B-A22B": {"model.base": "qwen3-235b-a22b"},
    "Llama 3 8B": {"model.base": "llama3.1-8b"},
    "Llama 3 70B": {"model.base": "llama3.1-70b"},
    "Llama 3.1 405B": {"model.base": "llama3.1-405b"},
}
CLUSTERS = {
    "H100-SXM5-80GB": "dgx-h100", "B200-SXM": "dgx-b200", "B300-SXM": "dgx-b300", "GB200": "gb200-nvl72",
    "GB300": "gb300-nvl72",
}
# Layers of the chunks of DeepSeek-V3, by pipeline ranks and chunks of one (recipes/deepseek/deepseek_v3.py; with 8 x 4
# the layout Et|(tt|)*30mL of the H100 preset).
DEEPSEEK_LAYERS = {
    (4, 4): [4] * 15 + [1], (2, 8): [4] * 15 + [1], (16, 1): [4] * 15 + [1], (8, 1): [8] * 7 + [5],
    (2, 4): [8] * 7 + [5], (8, 4): [1] + [2] * 30 + [0],
}
# Releases from 26.04 on fuse router, permutation and sorting.
FUSED_SINCE = "26.04"
DEDUPLICATING = {"deepep", "hybridep"}
# Presets of 25.11 with the plans of its table, which put expert messages beside the other pass of a pair
# (scripts/performance/configs/qwen3/workload_base_configs.py, moe_a2a_overlap).
OVERLAPPED = {("25.11", "Qwen3 235B-A22B", "H100-SXM5-80GB"), ("25.11", "Qwen3 235B-A22B", "B200-SXM")}
# Recompute of releases before presets were tables, for their plans (scripts/performance/configs/deepseek/
# deepseek_v3_llm_pretrain.py of 25.09: DeepEP, too, on H100s where no tokens are dropped; workload_base_configs.py of
# 25.11).
RECOMPUTED = {("25.09", "DeepSeek-V3", "H100-SXM5-80GB"): "mla_up_proj,mlp", ("25.09", "DeepSeek-V3", "B200-SXM"): "mla_up_proj",
              ("25.11", "DeepSeek-V3", "B200-SXM"): "mla_up_proj"}
DEEP_EP = {("25.09", "DeepSeek-V3", "H100-SXM5-80GB")}
# Rows that their twin in another release contradicts, by the beginning of their names.
CONTRADICTED = {
    "26.02.01-qwen3_235b_a22b-b300-256-mxfp8": "49.6 s, where GB300 takes 19.9 s in the same release and H100 81 s",
    "25.11-qwen3_30b_a3b-h100-16-fp8-cs": "24.8 s, where the same plan took 12.5 s with dropped tokens in 25.09, and "
                                          "26.04 takes 14.7 s for as many samples",
    "26.06.01-gptoss120b-gb300-64-mxfp8": "4.04 s, where the same recipe took 2.47 s in 26.06",
}


def megatron_bridge(rows, presets):
    """Runs on mock data, of which the tables print tokens/s. Gradients are in 16 bits (grad_reduce_in_fp32 is false in
    the scripts); a dispatcher is that of the preset, all-to-all in releases before it was one's choice; a rack of 72
    GPUs runs the most nodes that divide the job, at most 18 (--segment in its executors). Moments of DeepSeek-V3 and Kimi
    are in 16 bits (their recipes). With NVFP4 all products with weights are in 4 bits, though the recipe keeps some layers in
    16. Left out until a plan can say so: Mamba layers, offloaded activations, 26.08, whose presets are not at hand; tasks
    other than pre-training, whose samples are not published."""
    preset_of = {name: preset for preset in presets for name in preset["matched_rows"].split()}
    return [bridge_row(row, preset_of.get(row["id"], {})) for row in rows
            if is_expressible(row, preset_of.get(row["id"], {}))]


def name_of(row):
    return row["id"].removeprefix("mb-").removesuffix("-pre-training")


def contradicted(rows, presets):
    """Remarks on rows that are left out though a plan can say what they ran."""
    return [f"Left out: {name}: its twin contradicts it: {why}" for name, why in CONTRADICTED.items()
            if any(name_of(row) == name for row in rows)]


def model_of(row):
    name = row["model"].split(" (")[0]
    return next((keys for model, keys in MODELS.items() if name.startswith(model)), None)


def further_tokens(row):
    """The recipe of DeepSeek-V3 predicts one more token (mtp_num_layers), where the table does not deny it."""
    if row["model"].startswith("DeepSeek") and "w/o MTP" not in row["model"]:
        return {"model.multi_token_prediction": 1}
    return {}


def is_expressible(row, preset):
    return (model_of(row) is not None and row["task"] == "Pre-Training" and name_of(row) not in CONTRADICTED
            and not (row["container"] == "26.08" and row["experts"]) and not preset.get("cpu_offloading_num_layers"))


def precision_of(row):
    name = row["precision"]
    if name == "BF16":
        return "bf16"
    return "fp4" if name.startswith("NVFP4") else "mxfp8" if "MX" in name else "fp8"


def graphs_of(preset):
    """Graphs of Transformer Engine hold attention or the router; one of a whole step all passes."""
    names = f"{preset.get('cuda_graph_impl', '')} {preset.get('cuda_graph_scope', '')}"
    if "full_iteration" in names:
        return {"plan.cuda_graphs": "step"}
    return {"plan.cuda_graphs": "layers"} if "attn" in names else {}


def release_of(row):
    """The release, model and GPU of a row, as scripts of a release know them."""
    return row["container"], next(name for name in MODELS if row["model"].startswith(name)), row["gpu"]


def overlap_of(row, preset):
    """Returns the overlap of expert messages with the other pass of a pair; DeepSeek-V3 on H100s always had it."""
    release = release_of(row)
    always = release[1:] == ("DeepSeek-V3", "H100-SXM5-80GB") or release in OVERLAPPED
    asked = preset.get("moe_a2a_overlap") == "True" or always
    chunks = int(row["pp"]) == 1 or int(row["vp"] or 1) > 1
    return {"plan.overlap_expert_parallel": True} if asked and chunks and row["experts"] else {}


def nodes_of(row):
    """Nodes of a run, and of its NVLink domains where those are wider than a node."""
    nodes = int(row["gpus"]) // int(row["gpus_per_node"])
    keys = {"cluster.base": CLUSTERS[row["gpu"]], "cluster.nodes": nodes}
    if row["gpu"].startswith("GB"):
        keys["cluster.node.domain_nodes"] = max(n for n in range(1, 19) if nodes % n == 0)
    elif int(row["gpus"]) < 8:
        keys["cluster.gpus_per_node"] = int(row["gpus"])
    return keys


def experts_of(row, preset):
    if not row["experts"]:
        return {}
    deduplicates = preset.get("moe_dispatcher") in DEDUPLICATING or release_of(row) in DEEP_EP
    dispatcher = "deduplicated" if deduplicates else "all-to-all"
    drops = {"plan.capacity_factor": 1} if "(tokendrop)" in row["model"] else {}
    return {"plan.expert_tensor_parallel": 1, "plan.dispatcher": dispatcher, **drops}


def layers_of(row):
    pp, vp = int(row["pp"]), int(row["vp"] or 1)
    if row["model"].startswith(("DeepSeek", "Kimi")):
        return {"plan.stage_layers": DEEPSEEK_LAYERS[pp, vp]}
    return interleaved_layers(int(row["layers"]), pp * vp)


def bridge_row(row, preset):
    sharded = row["zero"].startswith("FSDP")
    modules = preset.get("recompute_modules", "") or RECOMPUTED.get(release_of(row), "")
    notes = ["recompute as the preset of the release" if preset else
             "recompute as the script of the release" if modules else "preset not matched: no recompute assumed"]
    moments = {"plan.moment_precision": "bf16"} if row["model"].startswith(("DeepSeek", "Kimi")) else {}
    return {
        "name": name_of(row), **model_of(row),
        "model.seq_length": int(row["seq"]), **further_tokens(row), **nodes_of(row), **plan(row), **schedule(row),
        **layers_of(row), **experts_of(row, preset), "plan.sequence_parallel": int(row["tp"]) > 1,
        "plan.recompute": recompute(modules), "plan.zero_stage": 3 if sharded else 1,
        "plan.overlap_gradient_reduce": True, "plan.precision": precision_of(row), **moments, **graphs_of(preset),
        **overlap_of(row, preset), "software.gradient_bytes": 2,
        "stack": "megatron-core-2026" if row["container"] >= FUSED_SINCE else "megatron-core-2025",
        "measured.step_time_s": float(row["step_s_derived"]),
        "source": "Megatron-Bridge, performance summary (github NVIDIA-NeMo/Megatron-Bridge)",
        "note": "; ".join(notes),
    }
