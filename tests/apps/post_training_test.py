"""Runs `orrery simulate` on steps of post-training: summary, JSON, CSV, trace, verl, errors and exit statuses.

usage: post_training_test.py ORRERY EXAMPLES"""

import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, EXAMPLES = sys.argv[1], pathlib.Path(sys.argv[2])
STEP = str(EXAMPLES / "post-training/grpo.yaml")


def run(*arguments, status=0, text=None):
    done = subprocess.run([PROGRAM, "simulate", *arguments], capture_output=True, text=True, input=text)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


def test_outputs_say_the_same():
    with tempfile.TemporaryDirectory() as folder:
        files = {name: f"{folder}/step.{name}" for name in ("json", "csv", "trace.json")}
        summary = run(STEP, "--json", files["json"], "--csv", files["csv"], "--trace", files["trace.json"]).stdout
        result = json.loads(pathlib.Path(files["json"]).read_text())
        row, = csv.DictReader(io.StringIO(pathlib.Path(files["csv"]).read_text()))
        trace = json.loads(pathlib.Path(files["trace.json"]).read_text())
    assert f"{result['step_time_s']:.3f} s" in summary
    assert float(row["step_time_s"]) == result["step_time_s"]
    assert float(row["phases_s.generation"]) == result["phases_s"]["generation"]
    assert abs(sum(result["exposed_s"].values()) - result["step_time_s"]) < 1e-9
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert abs(sum(one["dur"] for one in slices) * 1e-6 - result["step_time_s"]) < 1e-6


def test_standard_input_and_output():
    text = pathlib.Path(STEP).read_text()
    assert json.loads(run("-", "--json", "-", text=text).stdout) == json.loads(run(STEP, "--json", "-").stdout)


def test_an_ordinary_experiment_still_comes_from_standard_input():
    text = (EXAMPLES / "pipeline-1f1b.json").read_text()
    assert "step time" in run("-", text=text).stdout


def test_roles_that_do_not_fit_are_infeasible():
    done = run(STEP, "cluster.gpu.memory_gb=20", "cluster.gpu.memory_usable_gb=20", "--json", "-", status=3)
    result = json.loads(done.stdout)
    assert not result["feasible"] and result["reasons"]


def test_mistakes_end_with_status_2_and_a_place():
    error = run(STEP, "post_training.placement=colocate", status=2).stderr
    assert "/post_training/placement" in error and 'did you mean "colocated"?' in error
    assert "allowed --json, --csv, --trace and --emit verl" in run(STEP, "--what-if", status=2).stderr
    done = subprocess.run([PROGRAM, "memory", STEP], capture_output=True, text=True)
    assert done.returncode == 2 and "/post_training" in done.stderr, done.stderr


def test_no_file_is_left_after_a_mistake():
    with tempfile.TemporaryDirectory() as folder:
        run(STEP, "post_training.steps=0", "--json", f"{folder}/step.json", status=2)
        assert not list(pathlib.Path(folder).iterdir())


def test_verl_gets_what_it_has_words_for():
    apart = ["post_training.placement=disaggregated", "post_training.roles.rollout.gpus=8",
             "post_training.schedule=asynchronous", "post_training.partial_rollouts=true"]
    script = run(STEP, *apart, "--emit", "verl").stdout
    assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0
    settings = dict(line.split("#")[0].strip().split("=", 1) for line in script.splitlines() if line.startswith("  "))
    # The asynchronous recipe counts 64 prompts as 4 mini-batches of 16.
    assert settings["data.train_batch_size"] == "0"
    assert settings["actor_rollout_ref.actor.ppo_mini_batch_size"] == "16"
    assert settings["async_training.trigger_parameter_sync_step"] == "4"
    assert settings["actor_rollout_ref.rollout.n"] == "32"
    assert settings["actor_rollout_ref.actor.megatron.pipeline_model_parallel_size"] == "2"
    assert settings["async_training.partial_rollout"] == "True"
    assert "fully_async_main" in script
    assert "verl trains from rollouts" in run(str(EXAMPLES / "pipeline-1f1b.json"), "--emit", "verl", status=2).stderr


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
    print("post-training: all tests pass")
