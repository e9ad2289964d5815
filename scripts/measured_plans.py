"""Tables of plans that were all tried on one cluster: one function each."""

import json

from measured_rows import GIB, plan

# Pseudo-layers of DeepSpeed's GPT-2 pipeline before the first layer, and the layers: embedding, a cast, 24 layers, ...
BEFORE, LAYERS = 2, 24


def amp_t4(rows):
    """AMP's trials of GPT-2 on four g4dn.12xlarge: DeepSpeed's pipeline over Megatron-LM 1.1.5. Gradients are reduced in
    32 bits, and timers wait for the GPU around each pass (`fp32_allreduce` and `wall_clock_breakdown` of its
    ds_config.json). What did not run counts as out of memory, but for one plan whose second stage has no weights."""
    return [amp_row(row) for row in rows if row["case"] == "homogeneous" and not without_weights(row)]


def without_weights(row):
    """Returns True if a stage begins and ends within the casts that follow the embedding or the last layer."""
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
        "stack": "deepspeed-pipeline-2021", "case": row["case"], "planner": "AMP",
        "planner.step_time_s": float(row["predicted_step_s"]), **outcome(row),
        "source": "AMP, src/results/homogeneous_results.txt (github DachengLi1/AMP)",
        "note": "failed, taken as out of memory" if not row["step_s"] else None,
    }


# All GPT-2s here share these keys.
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
    """Returns the grid on 64 p3.2xlarge: nodes with one GPU and up to 10 Gb/s."""
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
        "plan.precision": "fp16", "stack": "megatron-2022", "case": row["case"],
        "measured.step_time_s": float(row["step_s"]),
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


def alpa_v100(rows):
    """Plans without search that Alpa ran beside its own on one node of V100s: ZeRO on GPT, and data parallelism and ZeRO-2
    on GShard's mixtures of experts. Alpa compiles with JAX, for which there is no stack: the general one is left in
    place. The MLP of the mixtures is 8 times as wide as the layer and every second layer has experts: so the published
    parameters come out. Peaks are in GiB."""
    return [alpa_plan_row(row) for row in rows if is_plain_alpa(row)]


PLAIN_ALPA = ("alpa-intra-gpt-zero_3", "alpa-weak-gpt-zero_2", "alpa-intra-moe-data_parallel", "alpa-intra-moe-zero_2")


def is_plain_alpa(row):
    return row["id"].startswith(PLAIN_ALPA)


def alpa_plan_row(row):
    gpus, hidden = int(row["gpus"]), int(row["hidden"])
    experts = {} if not row["experts"] else {
        "model.ffn_hidden": 8 * hidden, "model.experts": int(row["experts"]), "model.experts_per_token": int(row["topk"]),
        "model.expert_ffn_hidden": 8 * hidden, "model.moe_layer_frequency": 2, "plan.capacity_factor": 1}
    return {
        "name": row["id"].removeprefix("alpa-"), **GPT2, "model.kind": "moe-transformer" if experts else "transformer",
        "model.layers": int(row["layers"]), "model.hidden": hidden, "model.heads": int(row["heads"]),
        "model.vocab": int(row["vocab"]), "model.seq_length": int(row["seq"]), **experts,
        "cluster.base": "p3-16xlarge", "cluster.gpu": "v100" if "32GB" in row["gpu"] else None,
        "cluster.gpus_per_node": gpus, "plan.data_parallel": gpus, "plan.micro_batch_size": int(row["gbs"]) // gpus,
        "plan.global_batch_size": int(row["gbs"]), "plan.recompute": "none" if row["recompute"] == "none" else "full",
        "plan.zero_stage": int(row["zero"]), "plan.precision": "fp16",
        "case": f'{row["case"].removeprefix("alpa-")} on {gpus}', **outcome(row),
        "measured.memory.peak_gb": float(row["mem_gb"]) * GIB if row["mem_gb"] else None,
        "source": "Alpa (github alpa-projects/alpa), " + ("benchmark/plots" if "weak" in row["id"] else "branch osdi22_artifact"),
        "note": "JAX, no stack of its own" + ("" if row["step_s"] else "; failed, taken as out of memory"),
    }


# Rows of planner-outcomes.csv that no key of ours can say: beginnings of their names, and why.
LEFT_OUT = {
    "amp-homogeneous-47": "its second stage has no weights, which DeepSpeed refuses: no lack of memory",
    "aceso-norm": "throughput over that of another plan, neither plan published",
    "aceso-scale": "plans not published",
    "aceso-small": "plans not published",
    "alpa-e2e-gpt-megatron-2": "plan not published",
    "alpa-e2e-gpt-megatron-64": "plan not published",
    "alpa-e2e-moe": "plans not published: chosen by DeepSpeed's grid or by Alpa's compiler",
    "alpa-e2e-wresnet": "Wide-ResNets, of which FLOPs and activations are not published, with plans that are not either",
    "alpa-inter": "stages chosen by Alpa's compiler, not published",
    "alpa-intra-wresnet": "Wide-ResNets, of which FLOPs and activations are not published",
    "alpa-intra-moe-heuristic": "each tensor is cut along its largest dimension, which is no plan of ours",
    "alpa-weak-gpt-auto_sharding": "sharding chosen by Alpa's compiler, not published",
}


def reason_of(row):
    return next((why for name, why in LEFT_OUT.items() if row["id"] == name or row["id"].startswith(name + "-")), None)


def check_all_told(rows):
    """Every row of the source is in one table, or left out with a reason."""
    kept = [kept["name"] for convert in PLANNER_TABLES.values() for kept in convert(rows)]
    for row in rows:
        here = sum(row["id"].endswith(name) for name in kept)
        if here + (reason_of(row) is not None) != 1:
            raise SystemExit(f"row {row['id']} of planner-outcomes.csv is in {here} tables, left out: {reason_of(row)}")


def left_out(prefix):
    """Remarks on the rows of the source whose names begin so."""
    def remarks(rows):
        check_all_told(rows)
        counts = {}
        for row in rows:
            if row["id"].startswith(prefix) and reason_of(row):
                name = next(name for name in LEFT_OUT if row["id"] == name or row["id"].startswith(name + "-"))
                counts[name] = counts.get(name, 0) + 1
        return [f"Left out of the source: {name} ({count} row{'s' if count > 1 else ''}): {LEFT_OUT[name]}"
                for name, count in counts.items()]
    return remarks


PLANNER_TABLES = {"v100-megatron": v100_megatron, "amp-t4": amp_t4, "v100-grid": v100_grid,
                  "v100-grid-10g": v100_grid_10g, "v100-grid-delay": v100_grid_delay, "alpa-v100": alpa_v100}

TABLES = {
    "v100-megatron": (["planner-outcomes.csv"], v100_megatron, left_out("alpa-e2e-gpt")),
    "amp-t4": (["planner-outcomes.csv"], amp_t4, left_out("amp")),
    "alpa-v100": (["planner-outcomes.csv"], alpa_v100,
                  left_out(("alpa-e2e-moe", "alpa-e2e-wresnet", "alpa-inter", "alpa-intra", "alpa-weak", "aceso"))),
    "v100-grid": (["planner-outcomes.csv"], v100_grid),
    "v100-grid-10g": (["planner-outcomes.csv"], v100_grid_10g),
    "v100-grid-delay": (["planner-outcomes.csv"], v100_grid_delay),
}
