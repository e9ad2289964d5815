"""Holds the parts that tables of measured runs share: units, the plan's columns, models that runs name."""

import json
import re

GIB = 2**30 / 1e9  # 1e9 bytes of a GiB
MIB = 2**20 / 1e9

# Columns of a source table that are keys of a plan as they stand.
PLAN = {
    "tp": "tensor_parallel", "pp": "pipeline_parallel", "cp": "context_parallel", "ep": "expert_parallel",
    "dp": "data_parallel", "mbs": "micro_batch_size", "gbs": "global_batch_size",
}


def plan(row):
    """The degrees and batches of a plan; empty cells stay at their defaults."""
    return {f"plan.{key}": int(float(row[column])) for column, key in PLAN.items() if row.get(column)}


def schedule(row):
    """Interleaved 1F1B where a rank has several chunks."""
    chunks = int(row.get("vp") or 1)
    if chunks == 1:
        return {}
    return {"plan.pipeline_schedule": "interleaved-1f1b", "plan.virtual_stages": chunks}


def interleaved_layers(layers, chunks):
    """Layers of each chunk where embedding and loss take the place of one each, as Megatron counts them with
    account_for_embedding_in_pipeline_split and its sibling; none where the layers divide evenly."""
    if chunks == 1 or layers % chunks == 0:
        return {}
    each = (layers + 2) // chunks
    return {"plan.stage_layers": [each - 1] + [each] * (chunks - 2) + [each - 1]}


def shape(row):
    """The shape of a decoder of the Llama kind, from the columns of a source table."""
    return {
        "model.kind": "transformer", "model.layers": int(row["layers"]), "model.hidden": int(row["hidden"]),
        "model.ffn_hidden": int(row["ffn"]), "model.heads": int(row["heads"]),
        "model.kv_heads": int(row["kv_heads"]), "model.vocab": int(row["vocab"]),
        "model.seq_length": int(row["seq"]), **LLAMA,
    }


# All models of the Llama kind share these keys: SwiGLU, RMSNorm, rotary positions, no biases, no dropout.
LLAMA = {
    "model.gated_mlp": True, "model.attention": "flash", "model.normalization": "rmsnorm",
    "model.positions": "rotary", "model.biases": False, "model.dropout": False, "model.tied_embeddings": False,
}


# Modules that Megatron-LM recomputes, and how tables shorten them, as Orrery names them.
MODULES = {
    "core_attn": "core-attention", "layernorm": "norm", "norm": "norm", "moe_act": "activation", "act": "activation",
    "mla_up_proj": "latent-projection", "mlp": "mlp", "moe": "experts",
}


def recompute(modules):
    """The cell of modules as tables print them, joined by plus signs or commas."""
    names = [MODULES[name] for name in re.split(r"[+, ]+", modules) if name]
    return json.dumps({"modules": sorted(names)}) if names else "none"


def vocabulary(size, multiple):
    """A vocabulary as Megatron pads it."""
    return -(-size // multiple) * multiple
