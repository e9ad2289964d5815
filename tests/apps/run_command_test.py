#!/usr/bin/env python3
"""Checks `orrery run`: weeks of training with failures and checkpoints.
Usage: run_command_test.py ORRERY EXAMPLES
"""

import csv
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ORRERY = sys.argv[1]
BASE = {
    "model": "gpt3-1.3b", "cluster": {"base": "dgx-h100", "nodes": 4},
    "plan": {"data_parallel": 32, "global_batch_size": 256, "micro_batch_size": 2},
}


def run(keys, *options, status=0, plan=None, storage=None):
    experiment = json.loads(json.dumps(BASE))
    experiment["run"] = keys
    experiment["plan"].update(plan or {})
    if storage:
        experiment["cluster"]["storage"] = storage
    done = subprocess.run([ORRERY, "run", "-", *options], input=json.dumps(experiment), capture_output=True, text=True,
                          check=False)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done


def result(keys, status=0, **more):
    return json.loads(run(keys, "--json", "-", status=status, **more).stdout)


def check_no_failures():
    """Steps times the time of a step, to the picosecond."""
    found = result({"steps": 1000})
    assert found["wall_time_s"] == 1000 * found["step_time_s"], found
    assert found["days"] == found["days_without_interruptions"]
    assert found["goodput"] == found["effective_training_time_ratio"] == 1
    assert found["days_p10"] < found["days_p50"] < found["days_p90"]
    narrow = result({"steps": 1000, "step_range": False})
    assert narrow["days_p10"] == narrow["days_p90"] == narrow["days"]


FAILING = {"components": {"host": {"mtbf_hours": 20}, "software": {"mtbf_hours": 40}}}


def check_sums():
    found = result({"steps": 200_000, "failures": FAILING, "checkpoint": {"interval_minutes": 10}})
    parts = found["useful_time_s"] + sum(found["lost_time_s"].values())
    assert abs(parts - found["wall_time_s"]) < 1e-9 * parts, (parts, found["wall_time_s"])
    assert found["interruptions"] > 3 and set(found["failures"]) == {"host", "software"}
    laws = found["laws"]
    for law in ("renewal_effective_training_time_ratio", "first_order_effective_training_time_ratio"):
        assert abs(found["effective_training_time_ratio"] - laws[law]) < 0.01, (law, found)
    again = result({"steps": 200_000, "failures": FAILING, "checkpoint": {"interval_minutes": 10}})
    assert again == found


def check_intervals():
    keys = {"steps": 100_000, "failures": FAILING, "checkpoint": {"interval": "optimal", "stall_s": 20}}
    best = result(keys)
    young = result({**keys, "checkpoint": {"stall_s": 20}})
    often = result({**keys, "checkpoint": {"stall_s": 20, "interval_minutes": 2}})
    assert best["days"] <= young["days"] * 1.002 and best["days"] < often["days"]
    assert abs(young["checkpoint"]["interval_s"] - young["laws"]["young_interval_s"]) <= young["step_time_s"]


def check_policies():
    host = {"components": {"host": {"mtbf_hours": 20, "repair_hours": 10}}}
    days = {}
    for policy in ("restart", "spares", "shrink", "per-replica", "reroute"):
        recovery = {"policy": policy} | ({"hot_spares": 20} if policy == "spares" else {})
        days[policy] = result({"steps": 200_000, "failures": host, "recovery": recovery})["days"]
    assert days["spares"] < days["restart"] and days["shrink"] < days["restart"], days
    assert days["per-replica"] < days["restart"], days
    wrong = run({"steps": 9, "recovery": {"policy": "per-replica"}}, status=2, plan={"zero_stage": 3})
    assert "zero_group_size" in wrong.stderr, wrong.stderr


def check_checkpoint_times():
    """1.3B parameters at 14 bytes without sharding; a file system of 1 GB/s is the bottleneck."""
    found = result({"steps": 9000, "checkpoint": {"interval_steps": 1000}}, storage={"filesystem_write_gb_per_s": 1})
    checkpoint = found["checkpoint"]
    assert 1.3e9 * 13.9 < checkpoint["bytes"] < 1.4e9 * 14.1, checkpoint
    assert checkpoint["bytes"] / 1e9 < checkpoint["stall_s"] < 1.1 * checkpoint["bytes"] / 1e9 + 1, checkpoint
    assert checkpoint["written"] == 8
    copy = result({"steps": 9000, "checkpoint": {"interval_steps": 1000, "mode": "async"}},
                  storage={"filesystem_write_gb_per_s": 1})["checkpoint"]
    assert copy["stall_s"] < 0.05 * checkpoint["stall_s"] and copy["save_s"] > 0.9 * checkpoint["stall_s"], copy


def check_outputs():
    keys = {"steps": 200_000, "failures": FAILING}
    names, values = run(keys, "--csv", "-").stdout.splitlines()
    assert "goodput" in names.split(",") and len(names.split(",")) == len(values.split(","))
    trace = json.loads(run(keys, "--trace", "-").stdout)
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert {"steps", "restart"} <= {span["name"] for span in spans}
    for before, after in zip(spans, spans[1:]):
        assert abs(before["ts"] + before["dur"] - after["ts"]) < 1, (before, after)
    assert "interruptions" in run(keys).stdout
    picture = xml.etree.ElementTree.fromstring(run(keys, "--svg", "-").stdout)
    texts = ["".join(text.itertext()) for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"days", "use of time (%)", "100"} <= set(texts), texts
    shares = [float(text.split()[-2]) for text in texts if re.fullmatch(r"[a-z ]+ [0-9.]+ %", text)]
    assert len(shares) > 2 and abs(sum(shares) - 100) < 0.01 * len(shares), texts  # each to a hundredth
    narrow = xml.etree.ElementTree.fromstring(run(keys, "--svg", "-", "--width", "column", "--no-title").stdout)
    assert narrow.get("width") == "320", narrow.attrib
    page = run(keys, "--html", "-").stdout
    assert "<svg" in page and "interruptions" in page and "<script" not in page, page[:500]


def check_elsewhere():
    """Figures of weeks are those of `orrery run`, wherever they are asked for; searches find the best of them."""
    experiment = json.loads(json.dumps(BASE)) | {"run": {
        "steps": 50_000, "checkpoint": {"interval_minutes": 10, "stall_s": 20},
        "failures": {"components": {"host": {"mtbf_hours": 20, "repair_hours": 5}}}, "recovery": {"policy": "spares"}}}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "run.json"
        file.write_text(json.dumps(experiment))

        def call(command, *options):
            done = subprocess.run([ORRERY, command, str(file), *options], capture_output=True, text=True, check=False)
            assert done.returncode == 0, (command, options, done.stderr)
            return done.stdout

        def days(*overrides):
            return json.loads(call("run", *overrides, "--json", "-"))["days"]

        alone = json.loads(call("run", "--json", "-"))
        asked = json.loads(call("simulate", "--only", "run", "--json", "-"))["run"]
        assert asked["ends"] and all(asked[key] == alone[key] for key in ("days", "goodput", "days_p90", "mfu")), asked
        assert "run" not in json.loads(call("simulate", "--json", "-"))
        rows = list(csv.DictReader(io.StringIO(call("compare", "--vary", "run.recovery.hot_spares=0,4", "--csv", "-"))))
        assert [float(row["run.days"]) for row in rows] == [days(), days("run.recovery.hot_spares=4")], rows
        assert "done in" in call("compare", "--vary", "run.recovery.hot_spares=0,4")
        space = ("--vary", "run.checkpoint.interval_minutes=1,5,20,80", "--vary", "run.recovery.hot_spares=0,4")
        best = json.loads(call("plan", *space, "--objective", "run.days", "--json", "-"))["best"][0]["run"]
        grid = {(minutes, spares): days(f"run.checkpoint.interval_minutes={minutes}", f"run.recovery.hot_spares={spares}")
                for minutes in (1, 5, 20, 80) for spares in (0, 4)}
        assert best["days"] == min(grid.values()), (best, grid)
        most = json.loads(call("plan", *space, "--objective", "run.goodput", "--json", "-"))["best"][0]["run"]
        assert most["days"] == best["days"], (most, best)
        call("sweep", *space, "--out", str(pathlib.Path(folder) / "results.db"))
        table = call_export(folder)
        assert {float(row["run.days"]) for row in table} == set(grid.values()), table


def call_export(folder):
    done = subprocess.run([ORRERY, "sweep", "--out", f"{folder}/results.db", "--export", "csv", "--quiet"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def check_never_ends():
    keys = {"steps": 100_000, "failures": {"components": {"host": {"mtbf_hours": 0.1}}},
            "checkpoint": {"interval_minutes": 30}}
    found = result(keys, status=3)
    assert found["days"] is None and "never ends" in found["reasons"][0], found
    assert "Something fails every" in run(keys, status=3).stdout


def check_wrong_input():
    assert "missing" in subprocess.run([ORRERY, "run", "-"], input=json.dumps(BASE), capture_output=True, text=True,
                                       check=False).stderr
    assert "/run" in run({"failures": "rsc-1"}, status=2).stderr
    assert "data_parallel 2" in run({"steps": 9, "recovery": {"policy": "shrink"}}, status=2,
                                    plan={"data_parallel": 1, "tensor_parallel": 8, "pipeline_parallel": 4}).stderr


def check_examples():
    """Each runs, and published figures are as close as examples/weeks/published.csv allows."""
    for file in sorted((pathlib.Path(sys.argv[2]) / "weeks").glob("*.yaml")):
        done = subprocess.run([ORRERY, "run", str(file), "--quiet", "--json", "-"], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 3) and not done.stderr, (file, done.stderr)
        assert json.loads(done.stdout)["days"] > 0, file
    tables = pathlib.Path(__file__).resolve().parents[2] / "scripts/docs-tables"
    done = subprocess.run([sys.executable, str(tables), "check-weeks"], capture_output=True, text=True, check=False,
                          env={"ORRERY_PROGRAM": ORRERY, "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0 and not done.stdout, (done.stdout, done.stderr)


for check in (check_no_failures, check_sums, check_intervals, check_policies, check_checkpoint_times, check_outputs,
              check_elsewhere, check_never_ends, check_wrong_input, check_examples):
    check()
print("run command: all checks passed")
