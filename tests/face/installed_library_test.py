#!/usr/bin/env python3
"""Installs the library into a folder of its own, builds examples/library/ against that with a CMakeLists.txt that knows
nothing of this project, and runs the program: the package file, the headers and the archive are complete. The program
is the one that docs/developers/library.md shows.

usage: installed_library_test.py CMAKE BUILD COMPILER"""

import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXPERIMENT = {"model": {"base": "gpt3-125m", "layers": 2}, "cluster": "dgx-a100-80gb",
              "plan": {"tensor_parallel": 2, "micro_batch_size": 1, "global_batch_size": 8}}


def run(*command, expected=0, **options):
    """Standard output of a command that must end with the status expected."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != expected:
        sys.exit(f"{' '.join(map(str, command))}\nexit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def require(condition, message):
    if not condition:
        sys.exit(message)


def build_outside(cmake, build, compiler, folder):
    run(cmake, "--install", build, "--prefix", folder / "prefix")
    run(cmake, "-S", ROOT / "examples" / "library", "-B", folder / "build", f"-DCMAKE_CXX_COMPILER={compiler}",
        f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}", "-DCMAKE_BUILD_TYPE=Debug",
        env={**os.environ, "CXXFLAGS": "-Wall -Wextra -Wpedantic -Werror"})
    run(cmake, "--build", folder / "build")
    return folder / "build" / "step_time"


def check_program(program, folder):
    experiment = folder / "experiment.json"
    experiment.write_text(json.dumps(EXPERIMENT), encoding="utf-8")
    summary = run(program, experiment, "plan.tensor_parallel=4", cwd=folder)
    require("8 GPUs" in summary, f"no summary of 8 GPUs:\n{summary}")
    with gzip.open(folder / "trace.json.gz", "rt", encoding="utf-8") as trace:
        slices = [event for event in json.load(trace)["traceEvents"] if event["ph"] == "X"]
    require({event["pid"] - 10 for event in slices} == set(range(8)), "the trace does not have the 8 ranks")
    problem = run(program, experiment, "plan.tensor_parallel=3", expected=2, cwd=folder)
    require("plan.tensor_parallel" in problem or "/plan/tensor_parallel" in problem, f"no place in:\n{problem}")


def check_page():
    page = (ROOT / "docs" / "developers" / "library.md").read_text(encoding="utf-8")
    for file in ("step_time.cpp", "CMakeLists.txt"):
        text = (ROOT / "examples" / "library" / file).read_text(encoding="utf-8")
        require(text in page, f"docs/developers/library.md shows another {file} than examples/library/ has")


def check_headers(prefix):
    installed = {path.name for path in (prefix / "include" / "orrery").iterdir()}
    require(installed == {path.name for path in (ROOT / "include" / "orrery").iterdir()}, f"headers: {installed}")


def main(cmake, build, compiler):
    check_page()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_program(build_outside(cmake, build, compiler, folder), folder)
        check_headers(folder / "prefix")
        version = run(folder / "prefix" / "bin" / "orrery", "--version").strip()
        print(f"installed orrery {version}: built and ran a program outside")


if __name__ == "__main__":
    main(*sys.argv[1:])
