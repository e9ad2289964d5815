"""The table of served requests as experiments: what the scripts of the runs set, and which rows do not say what ran.

Rows that constants were fitted to or chosen on have nothing in their column kept_back."""

import json
import re

import measured_inference

SERVED_PRECISIONS = {"fp8": "fp8", "fp8_block": "fp8-blockwise", "nvfp4": "fp4", "": "bf16"}


def served_weights(row):
    """Returns the precisions of a served model. Experts of gpt-oss are stored in MXFP4 and computed in 16 bits; no key says
    that attention keeps 16 bits. GPUs before Blackwell have no units for 4 bits at all."""
    if "gpt-oss" in row["model"]:
        return {"plan.precision": "bf16", "inference.weight_precision": "fp4"}
    return {"plan.precision": SERVED_PRECISIONS[row["gemm_quant"]]}


# Engine, model and GPU of rows that constants were fitted to or chosen on.
FITTED = {("vllm", "qwen3-32b", "H100"), ("vllm", "llama3.1-70b", "B200"), ("vllm", "gpt-oss-120b", "H100"),
          ("vllm", "gpt-oss-120b", "H200"), ("trtllm", "llama3.1-8b", "H100"), ("trtllm", "qwen3-235b-a22b", "H100"),
          ("trtllm", "gpt-oss-120b", "B200"), ("sglang", "qwen3-32b", "H100"), ("sglang", "llama3.1-8b", "H200")}
# Versions from which on an engine is another stack: vLLM schedules ahead of the GPU since 0.14.
SERVING_STACKS = {"trtllm": [("1.2", "tensorrt-llm-2026"), ("", "tensorrt-llm-2025")],
                  "vllm": [("0.14", "vllm-2026"), ("", "vllm-2025")], "sglang": [("", "sglang-2025")]}


def is_fitted(row, base):
    in_4_bits = row["framework"] == "sglang" and base == "deepseek-v3" and row["gemm_quant"] == "nvfp4"
    return in_4_bits or (row["framework"], base, row["gpu"][:4]) in FITTED


def serving_stack(row):
    """Returns the stack of an engine's version; rows of 2025 that give none are of its first one."""
    def number(version):
        parts = re.findall(r"\d+", version)[:2]
        return [int(part) for part in parts] if len(parts) == 2 else [0, 0]
    return next(stack for first, stack in SERVING_STACKS[row["framework"]]
                if number(row["framework_version"]) >= number(first))


def serving_notes(row, base):
    if "measured.ttft_s" not in latencies(row, base):
        yield f"time to the first token left out: {unlike_steady_state(row, base)}"
    if not row["gemm_quant"]:
        yield "precision not given: that of the model's files"


# aiconfigurator's own runs are made by its generator (src/aiconfigurator/generator/rule_plugin/benchmark): tokens of an
# iteration of vLLM and TensorRT-LLM beside a prompt and one of each request. InferenceMAX's scripts give their own
# (benchmarks/70b_fp4_b200_*.sh, gptoss_fp4_*.sh, dsr1_*.sh).
GENERATED_TOKENS = 1500
VLLM_TOKENS = 8192
TENSORRT_TOKENS = 16384
SGLANG_TOKENS = 8192  # python/sglang/srt/server_args.py, chunked_prefill_size on GPUs of 60 to 160 GB
# InferenceMAX's script for Llama 70B with vLLM on B200 makes graphs of decoding only (cudagraph_mode FULL_DECODE_ONLY,
# splitting_ops []), so that prompts are issued kernel by kernel, as in tensorrt-llm-2025; vLLM's own default does not.
UNGRAPHED_PROMPTS_US = 70


def is_own(row):
    return row["set"] == "own runs"


def load(row, prompt, output, concurrency):
    """Requests of a run: ten times as many as are in flight (src/aiconfigurator/eval/benchmarks/genai_perf_runner.py;
    InferenceMAX, benchmarks/*.sh). InferenceMAX draws lengths evenly from eight tenths on."""
    def length(tokens):
        return tokens if is_own(row) else json.dumps({"distribution": "uniform", "min": tokens * 8 // 10, "max": tokens})
    return {"inference.prompt_tokens": length(prompt), "inference.output_tokens": length(output),
            "inference.requests": 10 * concurrency}


def scheduler(row, base, prompt, concurrency):
    """Tokens of an iteration, and whether prompts go beside decoding, as the scripts of the runs set them; SGLang computes
    prompts by themselves."""
    cache = {"inference.kv_precision": "fp8"} if caches_in_8_bits(row, base) else {}
    if row["framework"] == "sglang":
        return {"plan.cuda_graphs": "step", **sglang_scheduler(row, concurrency), **cache}
    if is_own(row):
        tokens = concurrency + prompt + GENERATED_TOKENS
    elif row["framework"] == "vllm":
        tokens = VLLM_TOKENS
    elif base == "deepseek-v3":  # as many as a prompt and a token of each request, in steps of 64, and 8192 at least
        tokens = max(measured_inference.TENSORRT_DEFAULT_TOKENS, (concurrency + prompt + 64 + 63) // 64 * 64)
    else:
        tokens = {"gpt-oss-120b": 20000}.get(base, TENSORRT_TOKENS)
    keys = {"plan.cuda_graphs": "step", "inference.chunked_prefill": True, "inference.max_num_batched_tokens": tokens}
    if row["framework"] == "vllm" and base == "llama3.1-70b" and row["gpu"].startswith("B200"):
        keys["software.forward_issue_us"] = UNGRAPHED_PROMPTS_US
    if row["framework"] == "trtllm":
        keys["inference.guaranteed_no_evict"] = True
    return {**keys, **cache}


def sglang_scheduler(row, concurrency):
    """InferenceMAX's scripts for B200 and B300 (benchmarks/dsr1_fp4_b200.sh, dsr1_fp8_b200.sh) let the scheduler look for
    requests after every 30 passes, or 10 where few are in flight; that for H200 does not."""
    if is_own(row):  # with enable_mixed_chunk, which the template of 0.5.1 misspells and no command line took
        mixed = {"inference.chunked_prefill": True} if row["framework_version"].startswith("0.5.6") else {}
        return {"inference.max_num_batched_tokens": SGLANG_TOKENS, **mixed}
    if row["gpu"].startswith("H200"):
        return {"inference.max_num_batched_tokens": 32768}
    in_8_bits = row["gemm_quant"] == "fp8"
    cramped = in_8_bits and row["tp"] == "4"
    return {"inference.max_num_batched_tokens": (8192 if cramped else 32768) if in_8_bits else 16384,
            "inference.scheduler_recv_interval": 30 if concurrency >= 16 and not cramped else 10}


def caches_in_8_bits(row, base):
    """InferenceMAX's scripts say so of all engines on Blackwell, of TensorRT-LLM but for gpt-oss on H200, and of Llama in
    vLLM; of its own runs aiconfigurator takes it where products are in 8 bits in TensorRT-LLM, and without it the
    requests in flight would not fit."""
    if is_own(row):
        return row["framework"] == "trtllm" and row["gemm_quant"] == "fp8"
    if row["gpu"].startswith("B"):
        return True
    return base == "llama3.1-70b" or row["framework"] == "trtllm" and base != "gpt-oss-120b"


def unlike_steady_state(row, base):
    """Returns why the mean time to the first token of a row is none of requests that follow each other; None where it is.
    InferenceMAX lets TensorRT-LLM wait up to 20 iterations for more prompts where they are as long as outputs
    (benchmarks/70b_fp4_b200_trt_docker_profile.sh, batch_wait_timeout_iters), and with attention on replicas up to 60 to
    even prompts out over them (attention_dp_config in dsr1_fp4_b200_trt.sh), which no key says."""
    if row["framework"] == "trtllm" and not is_own(row):
        if base == "llama3.1-70b" and row["isl"] == row["osl"] and int(row["tp"]) < 8:
            return "waits for more prompts"
        if int(row["attn_dp"] or 1) > 1:
            return "waits to even prompts out over replicas"
    if row["framework"] == "sglang" and row["gemm_quant"] == "nvfp4" and not row["framework_version"]:
        return "seconds with four requests in flight: a cold start"
    return None


def ambiguity(row, keys):
    """Returns why a row leaves open what ran; None where it does not."""
    name = keys["model.base"]
    if name == "deepseek-v3" and may_predict_several_tokens(row):
        return "several tokens are predicted, or may be: no column says"
    if row["gpu"].startswith("B300"):
        return "prompts take several times as long as on B200 with the same settings: a cold start"
    if name == "gpt-oss-120b" and row["gpu"].startswith("H100") and row["concurrency"] == "512":
        return "time per token below that of 32 requests in flight: the server ran fewer than the clients sent"
    if name == "llama3.1-8b" and row["framework"] == "vllm":
        return "prompts at up to 97 % of a GPU's peak in 8 bits: cached ones, or fewer in flight than it says"
    return None


def may_predict_several_tokens(row):
    """InferenceMAX runs each recipe of deepseek with and without it. With it are SGLang 0.5.9 in 8 bits on 8 B200 and
    TensorRT-LLM 1.2.0rc6.post3 of the exports (.github/configs/nvidia-master.yaml of SemiAnalysisAI/InferenceX); of
    1.1.0rc2.post2 rows of one plan differ by as much."""
    if not row["set"].startswith("service export"):
        return False
    if row["framework"] == "sglang":
        return row["gemm_quant"] == "fp8"
    return row["framework_version"] in ("1.2.0rc6.post3", "1.1.0rc2.post2")


def latencies(row, base):
    first = {} if unlike_steady_state(row, base) else {"measured.ttft_s": float(row["ttft_ms"]) / 1e3}
    return {**first, "measured.tpot_s": float(row["tpot_ms"]) / 1e3}


def serving(given):
    """Requests in a closed loop: mean time to the first token and per token after it, by concurrency."""
    table = measured_inference.Table()
    for row in given:
        if row["plan_trust"] != "ok" or row["mode"] != "agg":
            table.leave_out("a plan that the source leaves unclear, or prompts and outputs apart")
            continue
        if not row["concurrency"] or not row["ttft_ms"]:
            table.leave_out("neither a concurrency nor times")
            continue
        prompt, output, concurrency = int(row["isl"]), int(row["osl"]), int(row["concurrency"])
        keys = measured_inference.model(row["model"], prompt + output)
        if keys is None or row["gemm_quant"] not in SERVED_PRECISIONS:
            table.leave_out("a model that the catalog has not" if keys is None else "int4 weights of some layers only")
            continue
        if row["batch_per_dp"] and int(row["batch_per_dp"]) * int(row["attn_dp"] or 1) < concurrency:
            table.leave_out("fewer requests on the replicas of the plan than in flight: more replicas than it says")
            continue
        if 0 in (int(row["attn_dp"] or 1), int(row["moe_ep"] or 1), int(row["moe_tp"] or 1)):
            table.leave_out("degrees of experts of 0")
            continue
        unclear = ambiguity(row, keys)
        if unclear:
            table.leave_out(unclear)
            continue
        table.rows.append({
            "name": row["id"], **keys, **served_plan(row, keys), **served_weights(row),
            **load(row, prompt, output, concurrency), **scheduler(row, keys["model.base"], prompt, concurrency),
            "inference.batch_size": -(-concurrency // int(row["attn_dp"] or 1)),
            "stack": serving_stack(row),
            **latencies(row, keys["model.base"]),
            "source": "silicon_sample.csv (github ai-dynamo/aiconfigurator)",
            "note": "; ".join(serving_notes(row, keys["model.base"])) or None,
            **measured_inference.kept(not is_fitted(row, keys["model.base"])),
        })
    return table


def served_plan(row, keys):
    tensor, pipeline, replicas = int(row["tp"]), int(row["pp"]), int(row["attn_dp"] or 1)
    mixture = {}
    if keys["model.base"] in measured_inference.EXPERTS:
        mixture = {"plan.expert_parallel": int(row["moe_ep"] or 1), "plan.expert_tensor_parallel": int(row["moe_tp"] or 1)}
    return {**measured_inference.cluster(row["gpu"], tensor * pipeline * replicas), "plan.tensor_parallel": tensor,
            "plan.pipeline_parallel": pipeline, "plan.data_parallel": replicas, **mixture}


TABLES = {"inference-serving": measured_inference.entry("inference-serving-silicon.csv", serving)}
