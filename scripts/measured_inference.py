"""Tables of measured inference as experiments: which keys a row has, and which rows cannot be written down.

A function takes the rows of a source table and fills a Table. Rows that no constant may be fitted to say so in their column
kept_back."""

import measured_rows

# Layers, hidden, heads, key/value heads, MLP width, vocabulary of models that are not in the catalog; the Llama kind
# but for what is named.
SHAPES = {
    "Qwen2.5-0.5B-Instruct": (24, 896, 14, 2, 4864, 151936, {"tied_embeddings": True, "qkv_biases": True}),
    "Qwen2.5-1.5B-Instruct": (28, 1536, 12, 2, 8960, 151936, {"tied_embeddings": True, "qkv_biases": True}),
    "Qwen2.5-3B-Instruct": (36, 2048, 16, 2, 11008, 151936, {"tied_embeddings": True, "qkv_biases": True}),
    "Qwen2.5-14B-Instruct": (48, 5120, 40, 8, 13824, 152064, {"qkv_biases": True}),
    "Qwen3-0.6B": (28, 1024, 16, 8, 3072, 151936, {"tied_embeddings": True, "head_dim": 128, "qk_norm": "head"}),
    "Qwen3-1.7B": (28, 2048, 16, 8, 6144, 151936, {"tied_embeddings": True, "head_dim": 128, "qk_norm": "head"}),
    "Qwen3-4B": (36, 2560, 32, 8, 9728, 151936, {"tied_embeddings": True, "head_dim": 128, "qk_norm": "head"}),
    "Qwen3-14B": (40, 5120, 40, 8, 17408, 151936, {"head_dim": 128, "qk_norm": "head"}),
    "llama2-7b": (32, 4096, 32, 32, 11008, 32000, {}),
    "LLaMA 7B": (32, 4096, 32, 32, 11008, 32000, {}),
    "LLaMA 70B": (80, 8192, 64, 8, 28672, 32000, {}),
}
# GPT-J and Falcon: parallel blocks without gates.
PARALLEL = {
    "GPT-J 6B": (28, 4096, 16, 16, 16384, 50400),
    "Falcon 180B": (80, 14848, 232, 8, 59392, 65024),
}
CATALOG = {
    "Qwen2.5-7B-Instruct": "qwen2.5-7b", "Qwen2.5-32B-Instruct": "qwen2.5-32b", "Qwen2.5-72B-Instruct": "qwen2.5-72b",
    "Qwen3-8B": "qwen3-8b", "Qwen3-32B": "qwen3-32b", "Qwen3-30B-A3B": "qwen3-30b-a3b",
    "Qwen3-235B-A22B": "qwen3-235b-a22b", "LLaMA 3 8B": "llama3.1-8b", "LLaMA 3 70B": "llama3.1-70b",
    "Llama 3.1 8B": "llama3.1-8b", "Llama 3.3 70B": "llama3.1-70b", "Llama 3.1 405B": "llama3.1-405b",
    "Llama 4 Scout": "llama4-scout", "Llama 4 Maverick": "llama4-maverick", "GPT-OSS 20B": "gpt-oss-20b",
    "GPT-OSS 120B": "gpt-oss-120b", "DeepSeek-R1-0528": "deepseek-v3",
    "Qwen/Qwen3-235B-A22B-FP8": "qwen3-235b-a22b", "Qwen/Qwen3-32B": "qwen3-32b", "nvidia/Qwen3-32B-NVFP4": "qwen3-32b",
    "deepseek-ai/DeepSeek-R1": "deepseek-v3", "deepseek-ai/DeepSeek-V3": "deepseek-v3",
    "nvidia/DeepSeek-R1-NVFP4": "deepseek-v3", "nvidia/DeepSeek-V3.1-NVFP4": "deepseek-v3",
    "meta-llama/Llama-3.1-70B": "llama3.1-70b", "meta-llama/Llama-3.1-8B-Instruct": "llama3.1-8b",
    "nvidia/Llama-3.1-8B-Instruct-FP8": "llama3.1-8b", "openai/gpt-oss-120b": "gpt-oss-120b",
}
# GPUs of source tables: a cluster of the catalog whose nodes hold eight of them.
CLUSTERS = {
    "A100-SXM": "dgx-a100-80gb", "A100-80GB": "dgx-a100-80gb", "A100 SXM": "dgx-a100-80gb", "H100-SXM": "dgx-h100",
    "H200-SXM": "dgx-h200", "H20-96GB": "hgx-h20", "B200": "dgx-b200", "B300": "dgx-b300", "GB200": "gb200-nvl72",
    "4090 24GB": "rtx4090-workstation", "L40S": "l40s-server",
}


def model(name, longest):
    """Keys of a model whose requests have so many tokens at most; None for one that is not known."""
    tokens = {"model.seq_length": longest}
    if name in CATALOG:
        return {"model.base": CATALOG[name], **tokens}
    if name in PARALLEL:
        layers, hidden, heads, kv_heads, ffn, vocab = PARALLEL[name]
        return {"model.kind": "transformer", "model.layers": layers, "model.hidden": hidden, "model.heads": heads,
                "model.kv_heads": kv_heads, "model.ffn_hidden": ffn, "model.vocab": vocab, **tokens,
                "model.attention": "flash", "model.positions": "rotary", "model.parallel_block": True,
                "model.dropout": False, "model.tied_embeddings": name.startswith("Falcon")}
    if name not in SHAPES:
        return None
    layers, hidden, heads, kv_heads, ffn, vocab, more = SHAPES[name]
    return {"model.kind": "transformer", "model.layers": layers, "model.hidden": hidden, "model.heads": heads,
            "model.kv_heads": kv_heads, "model.ffn_hidden": ffn, "model.vocab": vocab, **tokens,
            **measured_rows.LLAMA, **{f"model.{key}": value for key, value in more.items()}}


def cluster(gpu, gpus):
    """Keys of so many GPUs, on as few nodes as hold them; None where the catalog has none."""
    base = next((base for name, base in CLUSTERS.items() if gpu.startswith(name)), None)
    if base is None:
        return None
    each = 4 if base.startswith("gb") else 8
    keys = {"cluster.base": base, "cluster.nodes": -(-gpus // each)}
    return keys if gpus % each == 0 else {**keys, "cluster.gpus_per_node": gpus}


def requests(prompt, output, batch):
    """A static batch."""
    return {"inference.prompt_tokens": prompt, "inference.output_tokens": output, "inference.batch_size": batch,
            "inference.batching": "static"}


# Storage of weights, by the words of source tables: precision of products, storage of weights.
WEIGHTS = {
    "BF16": ("bf16", None), "F16": ("fp16", None), "FP8": ("fp8", None), "GPTQ-Int8": ("fp16", "int8"),
    "GPTQ-Int4": ("fp16", "int4"), "GPTQ-INT4": ("fp16", "int4"), "AWQ": ("fp16", "int4"), "AWQ-INT4": ("fp16", "int4"),
    "Q4_K_M": ("fp16", "int4"), "fp16": ("fp16", None), "fp8": ("fp8", None), "fp4": ("fp4", None),
}


def weights(word):
    precision, stored = WEIGHTS[word]
    return {"plan.precision": precision, **({"inference.weight_precision": stored} if stored else {})}


def kept(back=True):
    return {"kept_back": True} if back else {}


class Table:
    """Rows, and how many are left out for which reason."""

    def __init__(self):
        self.rows = []
        self.left_out = {}

    def leave_out(self, why):
        self.left_out[why] = self.left_out.get(why, 0) + 1

    def remarks(self):
        return [f"Left out: {why} ({count} row{'s' if count > 1 else ''})" for why, count in self.left_out.items()]


def gpt(row):
    """FasterTransformer's GPT of an early Megatron: attention over prompts is not fused."""
    return {"model.kind": "transformer", "model.layers": int(row["layers"]), "model.hidden": int(row["hidden"]),
            "model.heads": int(row["heads"]), "model.vocab": int(row["vocab"]),
            "model.seq_length": int(row["input_len"]) + int(row["output_len"]), "model.dropout": False}


def fastertransformer(given):
    """Static batches of FasterTransformer: the time of the whole batch."""
    table = Table()
    for row in given:
        if not row["engine"].startswith("FasterTransformer"):
            continue
        if row["status"] != "ok":
            table.leave_out("out of memory, which has no time")
            continue
        prompt, output, batch = (int(row[key]) for key in ("input_len", "output_len", "batch"))
        table.rows.append({
            "name": row["id"].removeprefix("inf-FasterTransformer-"), **gpt(row),
            **cluster("A100-SXM", int(row["gpus"])), "plan.tensor_parallel": int(row["tp"]),
            "plan.pipeline_parallel": int(row["pp"]), "plan.precision": "fp16", **requests(prompt, output, batch),
            "stack": "fastertransformer-2022", "measured.end_to_end_s": float(row["latency_ms"]) / 1e3,
            "source": "FasterTransformer, docs/gpt_guide.md (github NVIDIA/FasterTransformer)",
            **kept(row["model"] in ("GPT-175B", "GPT-89B", "GPT-6.7B") or row["tp"] == "32" or row["pp"] != "1"),
        })
    return table


def tensorrt_static(given):
    """Static batches of TensorRT-LLM 0.5 and 0.6: output tokens of a second, or the time to the first one."""
    table = Table()
    for row in given:
        if row["engine"] != "TensorRT-LLM":
            continue
        prompt, output, batch = (int(row[key]) for key in ("input_len", "output_len", "batch"))
        hardware = cluster(row["gpu"], int(row["gpus"]))
        if hardware is None or "AMBIGUOUS" in row["notes"] and int(row["gpus"]) > 1:
            table.leave_out("a GPU that the catalog has not" if hardware is None else "per GPU or in all is not said")
            continue
        measured = ({"measured.ttft_s": float(row["ttft_ms"]) / 1e3} if row["ttft_ms"] else
                    {"measured.output_tokens_per_s": float(row["tokens_per_s"])})
        narrow = {"inference.kv_precision": "fp8"} if row["precision"] == "fp8" else {}
        table.rows.append({
            "name": row["id"].removeprefix("inf-"), **model(row["model"], prompt + output), **hardware,
            "plan.tensor_parallel": int(row["tp"]), **weights(row["precision"]), **requests(prompt, output, batch),
            **narrow, "stack": "tensorrt-llm-2023", **measured,
            **kept(not row["gpu"].startswith("H100") or row["model"] not in ("GPT-J 6B", "LLaMA 70B")),
            "source": f"TensorRT-LLM {row['version']}, docs/source/performance.md (github NVIDIA/TensorRT-LLM)",
        })
    return table


STACKS = {"SGLang": "sglang-2025", "vLLM": "vllm-2024", "llama.cpp (llama-bench)": "llama-cpp-2024"}


def speed(row):
    """Returns the time that a page states of one request: seconds of all its tokens, or of one."""
    if row["engine"] == "SGLang":
        tokens = int(row["input_len"]) + int(row["output_len"])
        return {"measured.end_to_end_s": tokens / float(row["tokens_per_s"])}
    if row["decode_tokens_per_s"]:
        return {"measured.tpot_s": 1 / float(row["decode_tokens_per_s"])}
    if row["tokens_per_s"] and int(row["input_len"]) == 1:
        return {"measured.tpot_s": 1 / float(row["tokens_per_s"])}
    return None


def single_stream(given):
    """One request at a time, on one GPU or cut over some by tensors; llama.cpp by layers."""
    table = Table()
    for row in given:
        if row["engine"] not in STACKS:
            table.leave_out("Transformers: bound by Python")
            continue
        gpus = int(row["gpus"])
        prompt, output = int(row["input_len"] or 1), int(row["output_len"] or 512)
        keys = model(row["model"], max(prompt + output, 2048))
        hardware = cluster(row["gpu"], gpus)
        measured = speed(row) if row["status"] == "ok" else None
        if keys is None or hardware is None or measured is None:
            table.leave_out("a model that the catalog has not" if keys is None else
                            "a GPU that the catalog has not" if hardware is None else
                            "no time, or a speed that the page does not define")
            continue
        by_layers = row["engine"].startswith("llama.cpp")
        if by_layers:  # llama-bench makes tokens from an empty context
            prompt = 1
        degree = "plan.pipeline_parallel" if by_layers else "plan.tensor_parallel"
        table.rows.append({
            "name": row["id"].removeprefix("single-"), **keys, **hardware, degree: gpus,
            **weights(row["quantization"]), **requests(max(prompt, 1), output, 1), "stack": STACKS[row["engine"]],
            **measured, "source": row["source"].replace("github:", "github "),
            **kept(row["engine"] != "vLLM" or "32B" in row["model"] or "1.5B" in row["model"]),
        })
    return table


EXPERTS = {"deepseek-v3", "gpt-oss-120b", "gpt-oss-20b", "qwen3-235b-a22b", "qwen3-30b-a3b", "llama4-scout",
           "llama4-maverick"}
TENSORRT_DEFAULT_TOKENS = 8192  # tensorrt_llm/llmapi/llm_args.py, max_num_tokens


def tensorrt_saturated(given):
    """All requests at once, as many in flight as the cache holds: output tokens of a second."""
    table = Table()
    for row in given:
        keys = model(row["model"], int(row["input_len"]) + int(row["output_len"]))
        hardware = cluster(row["gpu"].replace("B200 180GB (DGX B200)", "B200").split(" ")[0], int(row["gpus"]))
        if keys is None or hardware is None or not row["requests"]:
            table.leave_out("no number of requests" if hardware else "a GPU that the catalog has in no server")
            continue
        if keys["model.base"] in EXPERTS and not row["parallel"]:
            table.leave_out("experts, with attention on replicas of a number that is not printed")
            continue
        shared = int(row["ep"] or 1)
        table.rows.append({
            "name": row["id"], **keys, **hardware, "plan.tensor_parallel": int(row["tp"]),
            "plan.pipeline_parallel": int(row["pp"]), **({"plan.expert_parallel": shared} if shared > 1 else {}),
            **saturated_weights(row), "inference.prompt_tokens": int(row["input_len"]),
            "inference.output_tokens": int(row["output_len"]), "inference.requests": int(row["requests"]),
            "plan.cuda_graphs": "step", "inference.kv_precision": "fp8", "inference.chunked_prefill": True,
            "inference.max_num_batched_tokens": TENSORRT_DEFAULT_TOKENS, "inference.guaranteed_no_evict": True,
            "stack": "tensorrt-llm-2025", "measured.output_tokens_per_s": float(row["tokens_per_s"]),
            "source": f"TensorRT-LLM {row['version']}, docs/source/performance/perf-overview.md "
                      "(github NVIDIA/TensorRT-LLM)",
            **kept(),
        })
    return table


def saturated_weights(row):
    """Returns the storage of gpt-oss's experts, which columns give for other models only."""
    if row["model"].startswith("GPT-OSS"):
        return {"plan.precision": "bf16", "inference.weight_precision": "fp4"}
    return weights(row["precision"])


def entry(source, convert):
    """Source tables, the function that makes rows of them, and the one that makes remarks."""
    return [source], lambda given: convert(given).rows, lambda given: convert(given).remarks()


TABLES = {
    "inference-fastertransformer": entry("inference-static.csv", fastertransformer),
    "inference-tensorrt-static": entry("inference-static.csv", tensorrt_static),
    "inference-single-stream": entry("inference-single-stream.csv", single_stream),
    "inference-tensorrt-saturated": entry("inference-trtllm.csv", tensorrt_saturated),
}
