"""Tables of plans that were all tried on one cluster: one function each."""

import json

from measured_rows import plan

# Pseudo-layers of DeepSpeed's GPT-2 pipeline before the first layer, and the layers: embedding, a cast, 24 layers, ...
BEFORE, LAYERS = 2, 24


def amp_t4(rows):
    """AMP's trials of GPT-2 on four g4dn.12xlarge: DeepSpeed's pipeline over Megatron-LM 1.1.5. Gradients are reduced in
    32 bits, and timers wait for the GPU around each pass (`fp32_allreduce` and `wall_clock_breakdown` of its
    ds_config.json). What did not run counts as out of memory."""
    return [amp_row(row) for row in rows if row["case"] == "homogeneous"]


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
        "stack": "megatron-deepspeed-2021", **outcome(row),
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


def v100_grid_slow(rows):
    """The same on 64 p3.2xlarge, nodes with one GPU and up to 10 Gb/s, and with emulated delays on 1 Gb/s."""
    cluster = {"cluster.base": "p3-16xlarge", "cluster.gpus_per_node": 1, "cluster.nodes": 64}
    speeds = {"gptxl40-p3.2xlarge": {"cluster.fabric.nic_gbps": 10},
              "gptxl40-slow-10ms1G": {"cluster.fabric.nic_gbps": 1, "cluster.fabric.latency_us": 10000},
              "gptxl40-slow-50ms1G": {"cluster.fabric.nic_gbps": 1, "cluster.fabric.latency_us": 50000}}
    return [grid_row(row, cluster | speeds[row["case"]]) for row in rows if row["case"] in speeds]


def grid_row(row, cluster):
    return {
        "name": row["id"].removeprefix("dtfm-"), **GPT2, "model.layers": int(row["layers"]),
        "model.hidden": int(row["hidden"]), "model.heads": int(row["heads"]), "model.vocab": 51200,
        "model.seq_length": int(row["seq"]), **cluster, **plan(row), "plan.recompute": "full", "plan.zero_stage": 0,
        "plan.precision": "fp16", "stack": "megatron-2022", "measured.step_time_s": float(row["step_s"]),
        "source": "DT-FM, notes on Megatron-LM (github DS3Lab/DT-FM)",
        "note": "vocabulary not printed, taken as GPT-2's padded; single readings",
    }


TABLES = {
    "amp-t4": (["planner-outcomes.csv"], amp_t4),
    "v100-grid": (["planner-outcomes.csv"], v100_grid),
    "v100-grid-slow": (["planner-outcomes.csv"], v100_grid_slow),
}
