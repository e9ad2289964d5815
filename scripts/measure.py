"""Whole-process measurements for the scripts beside this file: seconds and peak memory of a command, run on one
core or more, and the statistics that decide whether two series differ."""

import math
import os
import re
import statistics
import subprocess
import tempfile
import time


SIMULATED = (0, 3)  # exit status 3: simulated, but the plan does not fit into memory


class Run:
    """One finished process: CPU seconds (user and system), seconds from its start to its end, peak resident bytes
    (never less than this Python's, which the process starts as), standard output."""

    def __init__(self, cpu_s, wall_s, peak_bytes, output):
        self.cpu_s = cpu_s
        self.wall_s = wall_s
        self.peak_bytes = peak_bytes
        self.output = output


def run(command, cores=1):
    """Runs `command` to its end on so many cores; raises when it fails."""
    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, preexec_fn=lambda: pin_to(cores))
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    if process.returncode not in SIMULATED:
        raise RuntimeError(f"{' '.join(command)}: exit status {process.returncode}")
    return Run(usage.ru_utime + usage.ru_stime, wall_s, usage.ru_maxrss * 1024, text)


def pin_to(cores):
    """The last ones there are."""
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[-cores:]))


def median_run(command, repeats):
    """The run of median CPU time among `repeats` undisturbed ones."""
    runs = sorted((undisturbed_run(command) for _ in range(repeats)), key=lambda each: each.cpu_s)
    return runs[len(runs) // 2]


def median_wall_s(command, repeats, cores):
    """Seconds from start to end: the median of `repeats` undisturbed runs on so many cores."""
    return statistics.median(undisturbed_run(command, cores).wall_s for _ in range(repeats))


ATTEMPTS, PATIENCE_S = 20, 10


def undisturbed_run(command, cores=1):
    """A run beside which others took less than a fifth of a core: neighbours that share caches and cores cost up to
    half as much CPU time again. The fastest run when there is none in 20 attempts or 10 s of CPU time."""
    runs = []
    while len(runs) < ATTEMPTS and sum(each.cpu_s for each in runs) < PATIENCE_S:
        begin, busy = time.monotonic(), busy_seconds()
        runs.append(run(command, cores))
        others = busy_seconds() - busy - runs[-1].cpu_s
        if others < 0.2 * (time.monotonic() - begin) + 0.01:
            return runs[-1]
    return min(runs, key=lambda each: each.cpu_s)


def busy_seconds():
    """CPU seconds that all processes of the machine have used so far."""
    with open("/proc/stat", encoding="ascii") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:]]
    idle = ticks[3] + ticks[4]  # idle and waiting for input or output
    return (sum(ticks[:8]) - idle) / os.sysconf("SC_CLK_TCK")


def instructions(command, function=None):
    """Instructions of `command` under valgrind's callgrind, those of `function` and what it calls if given; raises when
    there are none."""
    options = ["--tool=callgrind", "--callgrind-out-file=/dev/null"]
    if function:
        options.append(f"--toggle-collect={function}")
    result = subprocess.run(["valgrind", *options, *command], capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", result.stderr)
    if result.returncode not in SIMULATED or not found or int(found.group(1)) == 0:
        raise RuntimeError(f"{' '.join(command)}: no instructions counted\n{result.stderr}")
    return int(found.group(1))


def median_bounds(values, confidence=0.95):
    """Two-sided confidence interval of the median from the binomial distribution (order statistics): it
    assumes nothing about how the values are distributed. None while there are too few values."""
    values = sorted(values)
    count = len(values)
    tail = 0.0
    for rank in range(count // 2):
        tail += math.comb(count, rank) * 0.5**count
        if 2 * tail > 1 - confidence:
            return None if rank == 0 else (values[rank - 1], values[count - rank])
    return (values[count // 2 - 1], values[count - count // 2]) if count > 1 else None


def median(values):
    return statistics.median(values)
