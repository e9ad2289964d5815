#!/usr/bin/env python3
"""Checks `orrery jobs`: several jobs on one cluster.
Usage: jobs_command_test.py ORRERY EXAMPLES
"""

import csv
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ORRERY = sys.argv[1]
EXAMPLES = pathlib.Path(sys.argv[2])
STEP = {"model": "gpt3-1.3b", "plan": {"data_parallel": 32, "global_batch_size": 64, "micro_batch_size": 2}}
TREE = {"base": "dgx-a100-80gb", "nodes": 8,
        "fabric": {"kind": "fat-tree", "nics_per_node": 8, "nic_gbps": 200, "shape": [4, 2], "oversubscription": 4}}


def run(experiment, *options, status=0):
    done = subprocess.run([ORRERY, "jobs", "-", *options], input=json.dumps(experiment), capture_output=True, text=True,
                          check=False)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done


def result(jobs, cluster=None, **keys):
    return json.loads(run({"cluster": cluster or TREE, "jobs": jobs, **keys}, "--json", "-").stdout)


def check_alone():
    """A job alone takes its steps times the time of the step that `simulate` prints, to the last digit."""
    found = result([{"name": "one", "experiment": STEP, "gpus": 32, "steps": 1000, "arrival_s": 5}])
    step = json.loads(subprocess.run(
        [ORRERY, "simulate", "-", "--json", "-"], input=json.dumps(STEP | {"cluster": TREE | {"nodes": 4}}),
        capture_output=True, text=True, check=True).stdout)["step_time_s"]
    job = found["jobs"][0]
    assert job["step_time_s"] == step, (job, step)
    assert job["slowdown"] == 1 and job["wait_s"] == 0 and abs(job["completion_s"] - 1000 * step) < 1e-9
    weeks = STEP | {"cluster": TREE | {"nodes": 4}, "run": {"steps": 1000}}
    long = json.loads(subprocess.run([ORRERY, "run", "-", "--json", "-"], input=json.dumps(weeks), capture_output=True,
                                     text=True, check=True).stdout)
    assert long["wall_time_s"] == job["completion_s"], (long["wall_time_s"], job)


def check_sharing():
    """Spread jobs share the links between leaves, packed ones do not; times of GPUs add up."""
    jobs = [{"name": "a", "experiment": STEP, "gpus": 32, "steps": 500},
            {"name": "b", "experiment": STEP, "gpus": 32, "steps": 500}]
    spread = result(jobs, placement="spread")
    packed = result(jobs, placement="packed")
    assert packed["slowdown"] == 1 and packed["slowed_jobs"] == 0, packed
    assert 1.001 < spread["slowdown"] < 2 and spread["slowed_jobs"] == 2, spread["slowdown"]
    assert spread["jobs"][0]["leaf_switches"] == 2 and packed["jobs"][0]["leaf_switches"] == 1
    for found in (spread, packed):
        whole = found["gpus"] * found["makespan_s"]
        assert abs(sum(found["gpu_time_s"].values()) - whole) < 1e-9 * whole
    # No worse than if all of its messages took twice as long all the time.
    half = TREE | {"nodes": 4, "fabric": TREE["fabric"] | {"nic_gbps": 100}}
    slow = json.loads(subprocess.run([ORRERY, "simulate", "-", "--json", "-"],
                                     input=json.dumps(STEP | {"cluster": half}), capture_output=True, text=True,
                                     check=True).stdout)["step_time_s"]
    assert spread["jobs"][0]["step_time_s"] <= slow * 1.0001, (spread["jobs"][0], slow)


def check_files():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "jobs.json"
        file.write_text(json.dumps({"cluster": TREE, "jobs": [{"name": 'a "b", c', "gpus": 8, "step_s": 1, "steps": 9}]}))
        trace, table = pathlib.Path(folder) / "trace.json", pathlib.Path(folder) / "jobs.csv"
        subprocess.run([ORRERY, "jobs", str(file), "--trace", str(trace), "--csv", str(table), "--quiet"], check=True)
        events = json.loads(trace.read_text())["traceEvents"]
        assert [e["dur"] for e in events if e["ph"] == "X"] == [9e6], events
        rows = list(csv.DictReader(io.StringIO(table.read_text())))
        assert rows[0]["name"] == 'a "b", c' and float(rows[0]["completion_s"]) == 9, rows
        again = [run(json.loads(file.read_text())).stdout for _ in range(2)]
        assert again[0] == again[1] and "utilization" in again[0]


def check_infeasible():
    big = STEP | {"model": "gpt3-175b"}
    done = run({"cluster": TREE, "jobs": [{"experiment": big, "gpus": 32, "steps": 1}]}, status=3)
    assert "not feasible" in done.stdout, done.stdout


def check_errors():
    for jobs, words in (([], "allowed a list"), ([{"gpus": 1, "steps": 1}], "step_s"), ("absent.csv", "No such file"),
                        ([{"gpus": 999, "step_s": 1, "steps": 1}], "allowed up to 64")):
        done = run({"cluster": TREE, "jobs": jobs}, status=2)
        assert words in done.stderr, done.stderr
    done = subprocess.run([ORRERY, "simulate", "-"], input=json.dumps({"cluster": TREE, "jobs": []}), capture_output=True,
                          text=True, check=False)
    assert done.returncode == 2 and "orrery jobs" in done.stderr, done.stderr


def check_size():
    """Ten thousand jobs on 4,096 GPUs; a fifth of them under the sanitizers."""
    count = 2_000 if os.environ.get("ORRERY_SANITIZED") else 10_000
    draw = random.Random(1)
    now, rows = 0.0, ["arrival_s,gpus,duration_s,fabric_share"]
    for _ in range(count):
        now += draw.expovariate(0.0085)
        gpus = draw.choice([1, 1, 1, 2, 4, 8, 8, 16, 16, 32, 64, 64, 128, 256, 512])
        rows.append(f"{now:.3f},{gpus},{draw.lognormvariate(8, 1.2):.3f},{draw.choice([0, 0.1, 0.3]) if gpus > 8 else 0}")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "jobs.csv"
        file.write_text("\n".join(rows) + "\n")
        cluster = TREE | {"nodes": 512, "fabric": TREE["fabric"] | {"shape": [32, 16], "oversubscription": 2}}
        found = result(str(file), cluster=cluster, placement="spread", queueing="backfill")
        assert found["slowed_jobs"] > count / 10 and 0.5 < found["utilization"] < 1, found["utilization"]


def check_examples():
    for file in sorted((EXAMPLES / "jobs").glob("*.yaml")):
        done = subprocess.run([ORRERY, "jobs", str(file), "--quiet", "--json", "-"], capture_output=True, text=True,
                              check=False, cwd=EXAMPLES.parent)
        assert done.returncode == 0, (file, done.stderr)
        assert json.loads(done.stdout)["jobs"], file


if __name__ == "__main__":
    for check in (check_alone, check_sharing, check_files, check_infeasible, check_errors, check_size, check_examples):
        check()
