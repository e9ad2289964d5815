#!/usr/bin/env python3
"""Brings published times of single kernels into tests/sim/cost/measured_kernels.csv.

    scripts/convert_kernels.py FOLDER

FOLDER holds gemm.csv and attention.csv and, in its folder source-form, simumax-kernels.csv and gemm-aic.csv. A line is a
table, a GPU of the catalog, a kernel and its time; of large tables every third row is kept. A grouped product has `batch`
weights, attention has `batch` heads, m tokens, heads of k and values of n."""

import csv
import pathlib
import sys

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/sim/cost/measured_kernels.csv"
HEAD = ["table", "gpu", "kernel", "precision", "batch", "m", "n", "k", "time_us"]
GPUS = {"A100-SXM4-40GB": "a100-40gb", "A100-SXM4-80GB": "a100-80gb", "A100-PCIe": "a100-80gb", "B200": "b200",
        "B200-SXM": "b200", "B300-SXM": "b300", "GB200": "gb200", "H100-SXM5-80GB": "h100", "H100-SXM-80GB": "h100",
        "H200-SXM-141GB": "h200", "H800-SXM": "h800", "L40S (PCIe)": "l40s",
        "RTX PRO 6000 Blackwell Server (PCIe)": "rtx-pro-6000"}
LEAST_ROWS = 256    # fewer are inference
MANY = 3            # one row of so many is kept
LEAST_ATTENTION_US = 125    # a call of Transformer Engine's attention takes the host about 100 us
LAYOUTS = {"TN": "forward", "NN": "input-gradient", "NT": "weight-gradient"}
STAGES = {"fwd": "forward", "bwd_grad_act": "input-gradient", "bwd_grad_w": "weight-gradient"}
ATTENTION = {"FlashAttention-2": "flash2", "FlashAttention-3": "flash3", "cuDNN": "cudnn"}


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def precision(name):
    if name.startswith("fp8"):
        return "fp8-blockwise" if "block" in name or "scaling" in name else "fp8"
    return "fp4" if name == "nvfp4" else "bf16"


def product(table, row, kernel, width, batch, time_us):
    return [table, GPUS[row["gpu"]], kernel, width, batch, row["m"], row["n"], row["k"], f"{time_us:.4g}"]


def product_us(row, tflops, batch=1):
    return 2 * int(batch) * int(row["m"]) * int(row["n"]) * int(row["k"]) / float(tflops) / 1e6


def products(rows):
    """OpenXLA's grids, the A100 blog's squares, DeepGEMM's of a batch of tokens."""
    for row in rows:
        table = next((name for mark, name in (("OpenXLA", "xla"), ("A100 blog", "nvidia"), ("DeepGEMM", "deepgemm"))
                      if mark in row["source"]), None)
        if table is None or row["dtype"].startswith("tf32") or not row["batch"].isdigit():
            continue
        if table == "deepgemm" and int(row["m"]) < LEAST_ROWS:
            continue
        time_us = product_us(row, row["measured.tflops"], row["batch"])
        yield product(table, row, "forward", precision(row["dtype"]), row["batch"], time_us)


def short_products(rows):
    return [product("aiconfigurator", row, "forward", precision(row["dtype"]), 1, float(row["time_us"]))
            for row in rows if int(row["m"]) >= LEAST_ROWS]


def steady_kernels(rows):
    """Converts the kernels of SimuMax, whose attention counts the whole square of scores."""
    for row in rows:
        if row["op"] == "matmul":
            kernel = LAYOUTS[row["layout"]] + ("-32" if row["out_dtype"] == "fp32" else "")
            yield product("simumax", row, kernel, "bf16", 1, product_us(row, row["tflops"]))
        elif row["op"] == "group_matmul":
            time_us = product_us(row, row["tflops"], row["groups"])
            yield product("simumax", row, "grouped-" + STAGES[row["stage"]], "bf16", row["groups"], time_us)
        else:
            backward = row["op"] == "sdp_bwd"
            flops = (2 * int(row["heads"]) * int(row["seq"]) ** 2 * (int(row["qk_dim"]) + int(row["v_dim"]))
                     * (2.5 if backward else 1))
            kind = "causal-backward" if backward else "causal"
            library = "flash2-" if row["gpu"].startswith("A100") else "cudnn-"
            time_us = flops / float(row["tflops"]) / 1e6
            if time_us < LEAST_ATTENTION_US:
                continue
            yield ["simumax", GPUS[row["gpu"]], library + kind, "bf16", row["heads"], row["seq"], row["v_dim"],
                   row["qk_dim"], f"{time_us:.4g}"]


def attention(rows):
    """Over 16,384 tokens and a hidden size of 2,048; causal rows count half."""
    for row in rows:
        if row["kernel"] not in ATTENTION:
            continue
        seq, head = int(row["seq"]), int(row["head_dim"])
        batch = int(row["total_tokens"]) // seq * (int(row["hidden"]) // head)
        causal, both = row["causal"] == "1", row["pass"] == "fwd+bwd"
        flops = 4 * batch * seq**2 * head / (2 if causal else 1) * (3.5 if both else 1)
        kind = ("causal" if causal else "full") + ("-both" if both else "")
        yield ["flash-attention", GPUS[row["gpu"]], f"{ATTENTION[row['kernel']]}-{kind}", "bf16", batch, seq, head, head,
               f"{flops / float(row['measured.tflops']) / 1e6:.4g}"]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    forms = folder / "source-form"
    tables = {"gemm": (list(products(read(folder / "gemm.csv"))), MANY),
              "short": (short_products(read(forms / "gemm-aic.csv")), MANY),
              "steady": (list(steady_kernels(read(forms / "simumax-kernels.csv"))), 1),
              "attention": (list(attention(read(folder / "attention.csv"))), 1)}
    with open(OUT, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEAD)
        for rows, step in tables.values():
            few = [row for row in rows if row[0] in ("nvidia", "deepgemm")]
            writer.writerows([row for row in rows if row not in few][::step] + few)


if __name__ == "__main__":
    main()
