"""Tables of plans that were all tried on one cluster: one function each."""

import json

from measured_rows import plan

# Pseudo-layers of DeepSpeed's GPT-2 pipeline before the first layer, and the layers: embedding, a cast, 24 layers, ...
BEFORE, LAYERS = 2, 24


def amp_t4(rows):
    """AMP's trials of GPT-2 on four g4dn.12xlarge: DeepSpeed's pipeline over Megatron-LM 1.1.5. Gradients are reduced in
    32 bits, and timers wait for the GPU around each pass (`fp32_allreduce` and `wall_clock_breakdown` of its
    ds_config.json). What did not run counts as out of memory, but for one plan whose second stage has no weights."""
    return [amp_row(row) for row in rows if row["case"] == "homogeneous" and not without_weights(row)]


def without_weights(row):
    """Whether a stage begins and ends within the casts that follow the embedding or the last layer."""
    return row["layer_partition"].startswith("[0 1 2 ")


def amp_layers(partition):
    """Layers of each stage, from the first pseudo-layer of each."""
    bounds = [min(max(int(bound) - BEFORE, 0), LAYERS) for bound in partition.strip("[]").split()]
    return [after - before for before, after in zip(bounds, bounds[1:])]


def amp_row(row):
    return {
        "name": row["id"].removeprefix("amp-"), **GPT2, "model.layers": LAYERS, "model.hidden": 1024,
        "model.heads": 16, "model.vocab": 52256, "model.seq_length": 1024,
        "cluster.base": "g4dn-12xlarge", "cluster.nodes": 4, **plan(row),
        "plan.stage_layers": json.dumps(amp_layers(row["layer_partition"])) if int(row["pp"]) > 1 else None,
        "plan.recompute": "none", "plan.zero_stage": 0, "plan.precision": "fp16", "software.gradient_bytes": 4,
        "stack": "deepspeed-pipeline-2021", **outcome(row),
        "source": "AMP, src/results/homogeneous_results.txt (github DachengLi1/AMP)",
        "note": "failed, taken as out of memory" if not row["step_s"] else None,
    }


# What all GPT-2s have in common here.
GPT2 = {"model.kind": "transformer", "model.positions": "learned"}


def outcome(row):
    """The step time, or that there was none."""
    if row["step_s"]:
        return {"measured.step_time_s": float(row["step_s"])}
    return {"measured.feasible": 0}


def v100_grid(rows):
    """Megatron-LM's grid on eight p3.16xlarge, from the notes of DT-FM."""
    return [grid_row(row, {"cluster.base": "p3-16xlarge", "cluster.nodes": 8}) for row in rows
            if row["case"] in ("gptxl32", "gptxl40")]


ONE_GPU_A_NODE = {"cluster.base": "p3-16xlarge", "cluster.gpus_per_node": 1, "cluster.nodes": 64}


def v100_grid_10g(rows):
    """The same on 64 p3.2xlarge: nodes with one GPU and up to 10 Gb/s."""
    cluster = ONE_GPU_A_NODE | {"cluster.fabric.nic_gbps": 10}
    return [grid_row(row, cluster) for row in rows if row["case"] == "gptxl40-p3.2xlarge"]


def v100_grid_delay(rows):
    """One plan of it on 1 Gb/s with emulated delays."""
    delays = {"gptxl40-slow-10ms1G": 10000, "gptxl40-slow-50ms1G": 50000}
    cluster = ONE_GPU_A_NODE | {"cluster.fabric.nic_gbps": 1}
    return [grid_row(row, cluster | {"cluster.fabric.latency_us": delays[row["case"]]})
            for row in rows if row["case"] in delays]


def grid_row(row, cluster):
    return {
        "name": row["id"].removeprefix("dtfm-"), **GPT2, "model.layers": int(row["layers"]),
        "model.hidden": int(row["hidden"]), "model.heads": int(row["heads"]), "model.vocab": 51200,
        "model.seq_length": int(row["seq"]), **cluster, **plan(row), "plan.recompute": "full", "plan.zero_stage": 0,
        "plan.precision": "fp16", "stack": "megatron-2022", "measured.step_time_s": float(row["step_s"]),
        "source": "DT-FM, notes on Megatron-LM (github DS3Lab/DT-FM)",
        "note": "vocabulary not printed, taken as GPT-2's padded; single readings",
    }


def v100_megatron(rows):
    """The best of a grid of Megatron-LM's plans for five models, from Alpa's artifact. It prints TFLOP/s that count
    recomputation, and no times; two rows have no plan."""
    return [alpa_row(row) for row in rows if row["id"].startswith("alpa-e2e-gpt-megatron") and row["tp"]]


def alpa_row(row):
    gpus = int(row["gpus"])
    return {
        "name": row["id"].removeprefix("alpa-e2e-"), **GPT2, "model.layers": int(row["layers"]),
        "model.hidden": int(row["hidden"]), "model.heads": int(row["heads"]), "model.vocab": int(row["vocab"]),
        "model.seq_length": int(row["seq"]), "cluster.base": "p3-16xlarge", "cluster.gpus_per_node": min(gpus, 8),
        "cluster.nodes": max(1, gpus // 8), **plan(row), "plan.recompute": "full", "plan.zero_stage": 0,
        "plan.precision": "fp16", "stack": "megatron-2021",
        "measured.hardware_tflops_per_gpu": float(row["tflops_per_gpu"]),
        "source": "Alpa, branch osdi22_artifact (github alpa-projects/alpa)", "note": "network not printed",
    }


TABLES = {
    "v100-megatron": (["planner-outcomes.csv"], v100_megatron),
    "amp-t4": (["planner-outcomes.csv"], amp_t4),
    "v100-grid": (["planner-outcomes.csv"], v100_grid),
    "v100-grid-10g": (["planner-outcomes.csv"], v100_grid_10g),
    "v100-grid-delay": (["planner-outcomes.csv"], v100_grid_delay),
}
