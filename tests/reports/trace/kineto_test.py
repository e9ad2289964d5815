"""`--kineto`: its files have what PyTorch's tools need, and the temporal breakdown and the overlap that Holistic Trace
Analysis (HTA) takes from them are those of the report. Both are computed here by HTA's definitions (its
analyzers/breakdown_analysis.py and communication_analysis.py), in whole ns. usage: kineto_test.py ORRERY EXAMPLES"""

import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ORRERY = sys.argv[1]
EXAMPLES = pathlib.Path(sys.argv[2])
MIXED = {"model": "gpt3-125m", "cluster": {"base": "dgx-a100-80gb", "nodes": 1}, "plan": {
    "tensor_parallel": 2, "pipeline_parallel": 2, "data_parallel": 2, "global_batch_size": 16}}
SHARDED = {**MIXED, "plan": {"data_parallel": 8, "global_batch_size": 16, "zero_stage": 3}}


def length(intervals):
    return sum(end - start for start, end in intervals)


def merged(intervals):
    result = []
    for start, end in sorted(intervals):
        if result and start <= result[-1][1]:
            result[-1][1] = max(result[-1][1], end)
        else:
            result.append([start, end])
    return result


def both(a, b):
    """Time in which an interval of each list runs."""
    total, i, j = 0, 0, 0
    while i < len(a) and j < len(b):
        total += max(0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return total


def is_kernel(event):
    return event["ph"] == "X" and event.get("args", {}).get("stream", -1) != -1


def is_memory(event):
    return "Memcpy" in event["name"] or "Memset" in event["name"]


class Rank:
    """A rank as HTA sees it; times in ns."""

    def __init__(self, trace):
        self.events = trace["traceEvents"]
        kernels = [e for e in self.events if is_kernel(e)]
        communication = [e for e in kernels if "ncclKernel" in e["name"]]
        computation = [e for e in kernels if "ncclKernel" not in e["name"] and not is_memory(e)]
        every = merged(map(self.interval, kernels))
        self.compute = merged(map(self.interval, computation))
        self.communication = merged(map(self.interval, communication))
        self.kernel_time = every[-1][1] - every[0][0]
        self.before = every[0][0]
        self.last = every[-1][1]
        self.idle_time = self.kernel_time - length(every)
        self.compute_time = length(self.compute)
        self.non_compute_time = self.kernel_time - self.compute_time - self.idle_time
        self.overlapped = both(self.compute, self.communication)

    @staticmethod
    def interval(event):
        start = round(event["ts"] * 1000)
        return start, start + round(event["dur"] * 1000)


class KinetoTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.folder = self.path / "traces"

    def simulate(self, experiment, *options):
        file = EXAMPLES / experiment if isinstance(experiment, str) else self.path / "e.json"
        if not isinstance(experiment, str):
            file.write_text(json.dumps(experiment))
        out = subprocess.run([ORRERY, "simulate", file, *map(str, options), "--kineto", self.folder, "--quiet", "--json", "-"],
                             capture_output=True, text=True, timeout=120)
        self.assertEqual(out.returncode, 0, out.stderr)
        return json.loads(out.stdout)

    def texts(self):
        return {int(f.name[4:-8]): gzip.open(f, "rt").read() for f in self.folder.iterdir()}

    def traces(self):
        return {rank: json.loads(text) for rank, text in self.texts().items()}

    def test_breakdown_and_overlap_are_those_of_the_report(self):
        for run in (["pipeline-1f1b.json"], ["pipeline-1f1b.json", "plan.pipeline_schedule=zb-h1"], [MIXED], [MIXED, "simulation.steps=2"],
                    [SHARDED]):
            with self.subTest(run=run), tempfile.TemporaryDirectory() as folder:
                self.folder = pathlib.Path(folder) / "traces"
                result = self.simulate(*run)
                ranks = [Rank(trace) for trace in self.traces().values()]
                self.assertEqual(len(ranks), result["gpus"])
                self.compare(result, ranks, 2 if "simulation.steps=2" in run else 1)

    def compare(self, result, ranks, steps):
        """All per GPU and step, in s. Both ends of a kernel are rounded by less than 1 ns."""
        share = 1e-9 / len(ranks) / steps
        rounding = 2 * share * sum(len(r.events) for r in ranks)
        near = lambda a, b: self.assertAlmostEqual(a, b, delta=rounding)
        step, b = result["step_time_s"], result["breakdown_s"]
        exposed = sum(seconds for key, seconds in b.items() if key.startswith("exposed_"))
        compute = share * sum(r.compute_time for r in ranks)
        near(compute, result["utilization"]["gpu_mean"] * step)
        launch_gaps = compute - b["compute"] - b["optimizer"]  # within compute operations, which HTA sees whole
        near(share * sum(r.non_compute_time for r in ranks), exposed)
        edges = sum(r.before for r in ranks) * share + step - share * sum(r.last for r in ranks)
        near(share * sum(r.idle_time for r in ranks) + edges, b["bubble"] + b["host"] - launch_gaps)
        communication = share * sum(length(r.communication) for r in ranks)
        near(share * sum(r.overlapped for r in ranks), communication - exposed)

    def test_every_kernel_has_its_launch_in_its_step(self):
        self.simulate(MIXED, "simulation.steps=3")
        for rank, trace in self.traces().items():
            events = trace["traceEvents"]
            steps = {e["name"]: Rank.interval(e) for e in events if e["ph"] == "X" and e["cat"] == "user_annotation"}
            self.assertEqual(list(steps), ["ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"])
            ends = list(steps.values())
            self.assertEqual([end for _, end in ends[:-1]], [start for start, _ in ends[1:]])
            launches = {e["args"]["correlation"]: e for e in events if e.get("cat") == "cuda_runtime"}
            kernels = {e["args"]["correlation"]: e for e in events if is_kernel(e)}
            self.assertEqual(set(launches), set(kernels))
            for number, kernel in kernels.items():
                start, end = Rank.interval(launches[number])
                self.assertLessEqual(end, Rank.interval(kernel)[0])
                self.assertEqual(launches[number]["name"], "cudaLaunchKernel")
                self.assertTrue(any(first <= start <= last for first, last in ends))
                self.assertEqual(kernel["args"]["device"], rank)
                self.assertEqual(kernel["args"]["stream"], kernel["tid"])

    def test_collectives_have_names_sizes_and_ranks(self):
        self.simulate(MIXED)
        for rank, text in self.texts().items():
            self.assertIn(f'"rank": {rank}', text.split('"traceEvents"')[0])
            trace = json.loads(text)
            self.assertEqual(trace["distributedInfo"], {"backend": "nccl", "rank": rank, "world_size": 8})
            calls = collections.defaultdict(list)
            for event in trace["traceEvents"]:
                args = event.get("args", {})
                self.assertEqual("Collective name" in args, "nccl" in event["name"])
                if "Collective name" not in args:
                    continue
                self.assertIn(rank, json.loads(args["Process Group Ranks"]))
                self.assertEqual(args["Group size"], len(json.loads(args["Process Group Ranks"])))
                calls[args["Process Group Name"]].append(args["Seq"])
                if args["Collective name"] == "_allgather_base":
                    self.assertEqual(args["In msg nelems"] * args["Group size"], args["Out msg nelems"])
                if args["Collective name"] in ("send", "recv"):
                    self.assertEqual(rank, args["Src Rank" if args["Collective name"] == "send" else "Dst Rank"])
            for numbers in calls.values():
                self.assertEqual(numbers, list(range(1, len(numbers) + 1)))

    def test_the_folder_appears_whole_or_not_at_all(self):
        self.simulate(MIXED, "--trace-ranks", "3,5")
        self.assertEqual(sorted(f.name for f in self.folder.iterdir()), ["rank3.json.gz", "rank5.json.gz"])
        (self.path / "file").touch()
        before = sorted(p.name for p in self.path.iterdir())
        arguments = [ORRERY, "simulate", self.path / "e.json", "--quiet", "--kineto"]
        for folder, rest, said in ((self.folder, [], "Directory not empty"), (self.path / "file", [], "Not a directory"),
                                   (self.path / "no" / "way", [], "No such file"), ("", [], "allowed the name of a folder"),
                                   (self.path / "new", ["--trace-ranks", "8"], "--trace-ranks"),
                                   (self.path / "new", ["--json", self.path / "no" / "r.json"], "No such file")):
            out = subprocess.run([*arguments, folder, *rest], capture_output=True, text=True, timeout=60)
            self.assertNotEqual(out.returncode, 0)
            self.assertIn(said, out.stderr)
            self.assertEqual(len(out.stderr.strip().splitlines()), 1, out.stderr)
        full = subprocess.run(["bash", "-c", 'ulimit -f 1; trap "" XFSZ; exec "$@"', "-", *arguments, self.path / "new"],
                              capture_output=True, text=True, timeout=60)
        self.assertIn("File too large", full.stderr)
        self.assertEqual(sorted(p.name for p in self.path.iterdir()), before)
        (self.path / "empty").mkdir()
        subprocess.run([*arguments, self.path / "empty/"], check=True, timeout=60)
        self.assertEqual(len(list((self.path / "empty").iterdir())), 8)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
