"""Tables of runs whose memory was measured: one function each."""

from measured_rows import GIB, LLAMA, MIB, plan, recompute, schedule, shape, vocabulary

# simumax-b200 names its models so; 405B has 16 key/value heads there.
SIMUMAX_MODELS = {
    "llama3-70b": {"model.base": "llama3.1-70b"},
    "llama3-405b": {"model.base": "llama3.1-405b", "model.kv_heads": 16},
    "deepseekv2": {"model.base": "deepseek-v2", "model.dense_layers": 1},
    "deepseekv3": {"model.base": "deepseek-v3", "model.dense_layers": 1},
}


def simumax_b200(rows):
    """SimuMax's runs of Megatron-LM on one node of 8 B200. Nothing overlaps, nothing is recomputed. Peaks are the
    largest `max_memory_allocated` and `max_memory_reserved` of all ranks. Rows of A100s, which were read off a figure and have no memory, are
    left out."""
    return [simumax_row(row) for row in rows if row["mem_gb"]]


def simumax_row(row):
    experts = {}
    if row["experts"]:
        experts = {"plan.dispatcher": "all-to-all", "plan.capacity_factor": 1}
    context = {"plan.context_parallel_type": "all-to-all"} if int(row["cp"]) > 1 else {}
    return {
        "name": row["id"].removeprefix("simumax-"), **SIMUMAX_MODELS[row["model"].split()[0]],
        "model.layers": int(row["layers"]), "model.seq_length": int(row["seq"]),
        "cluster.base": "dgx-b200", "cluster.nodes": 1, **plan(row), **schedule(row), **context, **experts,
        "plan.sequence_parallel": row["seq_parallel"] == "1", "plan.recompute": "none", "plan.zero_stage": 1,
        "plan.overlap_gradient_reduce": False, "plan.overlap_parameter_gather": False,
        "plan.overlap_tensor_parallel": False, "plan.precision": "bf16", "stack": "megatron-core-2025",
        "measured.memory.peak_gb": float(row["mem_gb"]) * GIB,
        "measured.memory.reserved_gb": float(row["peak_reserved_gib"]) * GIB,
        "measured.step_time_s": float(row["step_s"]),
        "source": "SimuMax 1.2, docs/b200/b200_release_v1.2_summary.json (github MooreThreads/SimuMax)",
        "note": "fused cross-entropy; peak of another run of two steps; step time the faster of two iterations",
    }


KWAI_RECOMPUTE = {
    "none": "none", "full (uniform, every layer)": "full",
    "recompute of MLP activation function + norm only (cheap), activations offloaded by ratio alpha":
        recompute("act+norm"),
}


def megatron_kwai_h800(rows):
    """Megatron-Kwai on H800s. 8 NICs of 100 Gb/s a node; tensor-parallel collectives overlap, data-parallel ones do not
    (examples/atc24 of its repository). Of runs that offload a share of the activations those whose share is a whole
    number of the layers of a virtual stage: whole layers are what `plan.offload_fraction` offloads."""
    return [kwai_row(row) for row in rows if kwai_layers(row).is_integer()]


def kwai_layers(row):
    """Returns the layers of a virtual stage that are offloaded."""
    return float(row["offload_alpha"] or 0) * int(row["layers"]) / (int(row["pp"]) * int(row["vp"]))


def kwai_row(row):
    nodes = max(1, int(row["gpus"]) // 8)
    cluster = {"cluster.base": "dgx-h800", "cluster.nodes": nodes, "cluster.fabric.nic_gbps": 100}
    if "a800" in row["id"]:
        cluster = {"cluster.base": "dgx-a100-80gb", "cluster.nodes": nodes}
    if int(row["gpus"]) < 8:
        cluster["cluster.gpus_per_node"] = int(row["gpus"])
    tp = int(row["tp"])
    peak = row["max_memory_allocated_bytes"]
    share = float(row["offload_alpha"] or 0)
    offload = {"plan.offload": "activations", "plan.offload_fraction": share} if share > 0 else {}
    return {
        "name": row["id"].removeprefix("kwai-"), **shape(row), "model.vocab": vocabulary(int(row["vocab"]), 128 * tp),
        **cluster, **plan(row), **schedule(row), **offload,
        "plan.sequence_parallel": row["seq_parallel"] == "1",
        "plan.recompute": KWAI_RECOMPUTE[row["recompute"]], "plan.zero_stage": 1,
        "plan.overlap_gradient_reduce": False, "plan.overlap_parameter_gather": False, "plan.precision": "bf16",
        "stack": "megatron-core-2025", "measured.memory.peak_gb": float(peak) / 1e9 if peak else None,
        "measured.step_time_s": float(row["step_s"]) if row["step_s"] else None,
        "source": "Megatron-Kwai, artifact of USENIX ATC 2024 (github kwai/Megatron-Kwai)",
        "note": "no overlap of data-parallel collectives, as the run scripts have no flag for it",
    }


# galvatron-memory's models by the beginning of their names: what they have beside hidden size and heads. The
# Baichuan rows are of its 7B, whose vocabulary is that of version 1.
GALVATRON_MODELS = {
    "gpt llama2": {"model.vocab": 32000, "model.ffn_hidden": 11008, **LLAMA},
    "gpt_": {"model.vocab": 50257, "model.tied_embeddings": False},
    "llama_": {"model.vocab": 32000, "model.ffn_hidden": 11008, **LLAMA},
    "baichuan": {"model.vocab": 64000, "model.ffn_hidden": 11008, **LLAMA},
}
# The loss of Megatron-Core on its plain path (Galvatron's megatron/core/tensor_parallel/cross_entropy.py): logits in 16 bits,
# their copy in 32 and its exponentials forward; the latter are kept. Norms are those of megatron.legacy.
PLAIN = {
    "software.kept_bytes_per_logit": 4, "software.loss_bytes_per_logit": 6, "software.eager_layers": True,
}


def galvatron_memory(rows):
    """Hetu-Galvatron's profiles of memory under FSDP on 8 GPUs: model states and the peak of the activations. Left out
    are rows with a pipeline, whose micro-batches are not published, rows of parts of a layer, those whose vocabulary
    is not tensor-parallel where the layers are, repeats, and llama2-7b_seqlen2048, whose model states are those of
    another vocabulary than LLaMA's."""
    found = {}
    for row in rows:
        whole = row["tp"] == "1" or row["flags"].startswith("vtp")
        known = "_head32" in row["model"] or row["model"].endswith("7b_all")
        if row["pp"] == "1" and whole and known:
            figures = tuple(row[key] for key in ("layers", "hidden", "seq", "tp", "recompute", "model_states_mb",
                                                 "activation_peak_mb"))
            found.setdefault(figures, galvatron_row(row))
    return list(found.values())


def galvatron_kernels(row):
    """LLaMA's later profiles, with sequence parallelism, have Megatron's loss and norms; others those of flash-attn."""
    llama = row["model"].startswith("llama_hf") or row["model"] == "gpt llama2-7b_all"
    return PLAIN if llama and row["seq_parallel"] == "1" else {}


def galvatron_row(row):
    kind = next(kind for kind in GALVATRON_MODELS if row["model"].startswith(kind))
    peak = float(row["model_states_mb"]) + float(row["activation_peak_mb"])
    return {
        "name": row["id"].removeprefix("galvatron-"), "model.kind": "transformer", "model.layers": int(row["layers"]),
        "model.hidden": int(row["hidden"]), "model.heads": int(row["heads"]), "model.seq_length": int(row["seq"]),
        "model.attention": "flash", **GALVATRON_MODELS[kind], "cluster.base": "dgx-a100-40gb",
        "cluster.nodes": 1, "plan.tensor_parallel": int(row["tp"]), "plan.data_parallel": int(row["dp"]),
        "plan.micro_batch_size": int(row["batch"]) // int(row["dp"]), "plan.global_batch_size": int(row["batch"]),
        "plan.sequence_parallel": row["seq_parallel"] == "1" and row["tp"] != "1",
        "plan.recompute": row["recompute"], "plan.zero_stage": 3, "plan.precision": "bf16", **galvatron_kernels(row),
        "stack": "fsdp-2023", "measured.memory.peak_gb": peak * MIB,
        "source": "Hetu-Galvatron, memory profiles of its models (github PKU-DAIR/Hetu-Galvatron)",
        "note": "GPU not published; one micro-batch; model states and peak of activations added",
    }


# Models of Qwen's first release: SwiGLU, rotary positions, biases of the product into attention only.
QWEN1 = {
    "1.8B": {"model.layers": 24, "model.hidden": 2048, "model.ffn_hidden": 5504, "model.heads": 16,
             "model.vocab": 151936},
    "7B": {"model.layers": 32, "model.hidden": 4096, "model.ffn_hidden": 11008, "model.heads": 32,
           "model.vocab": 151936},
    "14B": {"model.layers": 40, "model.hidden": 5120, "model.ffn_hidden": 13696, "model.heads": 40,
            "model.vocab": 152064},
    "72B": {"model.layers": 80, "model.hidden": 8192, "model.ffn_hidden": 24576, "model.heads": 64,
            "model.vocab": 152064},
}
QWEN1_TASKS = {
    "LoRA": {"model.lora_rank": 64}, "LoRA (multinode)": {"model.lora_rank": 64},
    "LoRA + Deepspeed Zero3": {"model.lora_rank": 64, "plan.zero_stage": 3},
    "Full-parameter": {"plan.zero_stage": 3},
}


def qwen1_finetune(rows):
    """Fine-tuning of Qwen's first release with Hugging Face Transformers on A100s: adapters of rank 64 on all matrices,
    or all weights with ZeRO-3; activations are recomputed (finetune/*.sh of github QwenLM/Qwen). Memory of several
    GPUs is a sum. Left out: adapters beside trained embeddings, which no key says, and Q-LoRA, whose tables lie in 32
    bits (prepare_model_for_kbit_training of peft)."""
    return [qwen1_row(row) for row in rows if row["id"].startswith("qwen1-") and row["task"] in QWEN1_TASKS]


def qwen1_row(row):
    gpus = int(row["gpus"])
    nodes = gpus // int(row["gpus_per_node"])
    return {
        "name": row["id"], "model.kind": "transformer", **QWEN1[row["model"].split("-")[1]],
        "model.seq_length": int(row["seq"]), **LLAMA, "model.qkv_biases": True, **QWEN1_TASKS[row["task"]],
        "cluster.base": "dgx-a100-80gb", "cluster.gpus_per_node": gpus // nodes, "cluster.nodes": nodes,
        "plan.data_parallel": gpus, "plan.micro_batch_size": int(row["mbs"]),
        "plan.global_batch_size": int(row["gbs"]), "plan.recompute": "full", "plan.precision": "bf16",
        "stack": "huggingface-2023", "measured.memory.peak_gb": float(row["mem_gb"]) / gpus,
        "source": "Qwen, profiling of fine-tuning in its README (github QwenLM/Qwen)",
        "note": "how memory was read is not published",
    }


MOONLIGHT = {
    "model.kind": "moe-transformer", "model.layers": 27, "model.hidden": 2048, "model.ffn_hidden": 11264,
    "model.heads": 16, "model.vocab": 163840, "model.seq_length": 4096, **LLAMA,
    "model.latent_attention": '{"kv_rank": 512, "rope_dim": 64, "nope_dim": 128, "value_dim": 128}',
    "model.experts": 64, "model.experts_per_token": 6, "model.shared_experts": 2, "model.expert_ffn_hidden": 1408,
    "model.dense_layers": 1, "plan.expert_tensor_parallel": 1, "plan.moment_precision": "bf16",
}
BRIDGE_MODELS = {
    "bridge-moonlight": MOONLIGHT,  # its recipe keeps gradients and Adam's moments in 16 bits
    "bridge-llama70b": {"model.base": "llama3.1-70b", "model.seq_length": 4096},
}


def megatron_bridge_memory(rows):
    """Megatron-Bridge's pairs of runs with and without recomputation on H100s. Left out until a model can say so: layers of
    Mamba; adapters beside experts."""
    return [bridge_row(row) for row in rows if row["id"].rsplit("-", 1)[0].removesuffix("-sft") in BRIDGE_MODELS]


def bridge_row(row):
    model = BRIDGE_MODELS[row["id"].rsplit("-", 1)[0].removesuffix("-sft")]
    note = "gradients in 16 bits as the recipes say (grad_reduce_in_fp32 false); GB as printed"
    if row["status"] != "ok":
        note += "; ran out of memory: " + row["status"]
    return {
        "name": row["id"], **model, "cluster.base": "dgx-h100", "cluster.nodes": int(row["gpus"]) // 8, **plan(row),
        **schedule(row), "plan.sequence_parallel": True,
        "plan.recompute": "none" if row["recompute"] == "none" else recompute(row["recompute"]),
        "plan.zero_stage": 1, "plan.overlap_gradient_reduce": True, "plan.precision": row["precision"].split()[0],
        "software.gradient_bytes": 2, "stack": "megatron-core-2025", "measured.memory.peak_gb": float(row["mem_gb"]),
        "source": "Megatron-Bridge, skills/nemo-mbridge-perf-activation-recompute (github NVIDIA-NeMo/Megatron-Bridge)",
        "note": note,
    }


TABLES = {
    "simumax-b200": (["simumax-b200.csv"], simumax_b200),
    "megatron-kwai-h800": (["megatron-kwai-h800.csv"], megatron_kwai_h800),
    "galvatron-memory": (["galvatron-memory.csv"], galvatron_memory),
    "qwen1-finetune": (["memory.csv"], qwen1_finetune),
    "megatron-bridge-memory": (["memory.csv"], megatron_bridge_memory),
}
