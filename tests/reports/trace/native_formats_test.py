"""The native formats of Perfetto and speedscope hold what the Chrome trace of the same run holds: every slice where it
is, every arrow, every sample of a counter. usage: native_formats_test.py ORRERY EXAMPLES"""

import collections
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ORRERY = sys.argv[1]
EXAMPLES = pathlib.Path(sys.argv[2])
SCHEMA = pathlib.Path(__file__).resolve().parent / "perfetto_trace.proto"
ROUNDED = 3        # ns: a Chrome trace ends slices that much earlier where they touch or end together
RUNS = {
    "pipeline": ["pipeline-1f1b.json"],
    "zero bubble": ["pipeline-1f1b.json", "plan.pipeline_schedule=zb-h1"],
    "steps, chosen": ["llama-7b.yaml", "simulation.steps=3", "--trace-steps", "1", "--trace-ranks", "0-1"],
    "passes": ["pipeline-1f1b.json", "--trace-level", "pass"],
    "steps": ["pipeline-1f1b.json", "--trace-level", "step"],
    "gossip": ["gossip-resnet-50.json", "--trace-ranks", "0-1"],
}

Slice = collections.namedtuple("Slice", "name start finish arguments")


def nanoseconds(microseconds):
    return round(microseconds * 1000)


def chrome(trace):
    """(slices by (process name, thread name), arrows as pairs of places, samples by (process, counter))"""
    events = trace["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e.get("name") == "process_name"}
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    slices, samples, ends = collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(dict)
    for e in events:
        if e["ph"] == "X":
            place = processes[e["pid"]], threads[e["pid"], e["tid"]]
            start = nanoseconds(e["ts"])
            slices[place].append(Slice(e["name"], start, start + nanoseconds(e["dur"]), e.get("args", {})))
        elif e["ph"] == "C":
            for series, value in e["args"].items():
                counter = "memory" if series == "total" else f"link {series}"
                samples[processes[e["pid"]], counter].append((nanoseconds(e["ts"]), value))
        elif e["ph"] in "sf":
            ends[e["id"]][e["ph"]] = processes[e["pid"]], threads[e["pid"], e["tid"]]
    return slices, sorted((end["s"], end["f"]) for end in ends.values()), samples


def decoded(file):
    """Returns the fields that protoc reads from a trace, as nested lists of (field, value)."""
    data = gzip.open(file).read() if str(file).endswith(".gz") else file.read_bytes()
    text = subprocess.run(["protoc", f"--proto_path={SCHEMA.parent}", "--decode=perfetto.protos.Trace", SCHEMA.name],
                          input=data, capture_output=True, check=True).stdout.decode()
    root = []
    stack = [root]
    for line in text.splitlines():
        line = line.strip()
        if line == "}":
            stack.pop()
        elif line.endswith(" {"):
            child = []
            stack[-1].append((line[:-2], child))
            stack.append(child)
        else:
            field, value = line.split(": ", 1)
            stack[-1].append((field, value[1:-1] if value[0] == '"' else value))
    return root


def one(message, field, default=None):
    return next((value for name, value in message if name == field), default)


def every(message, field):
    return [value for name, value in message if name == field]


class PerfettoTrace:
    """A trace as a viewer builds it: packets in order of time, those of one time in that of the file."""

    def __init__(self, root):
        self.slices, self.samples = collections.defaultdict(list), collections.defaultdict(list)
        self.tracks, self.ranks, self.arrows, self.sources = {}, {}, [], {}
        packets = every(root, "packet")
        interned = one(packets[0], "interned_data")
        self.names = {key: {one(e, "iid"): one(e, "name") for e in every(interned, key)}
                      for key in ("event_names", "event_categories", "debug_annotation_names")}
        for descriptor in (one(p, "track_descriptor") for p in packets):
            if descriptor:
                self.add_track(descriptor)
        self.metadata = [one(e, "metadata") for e in (one(p, "chrome_events") for p in packets) if e]
        self.open = collections.defaultdict(list)
        for packet in sorted((p for p in packets if one(p, "track_event")), key=lambda p: int(one(p, "timestamp"))):
            self.add_event(int(one(packet, "timestamp")), one(packet, "track_event"))

    def add_track(self, descriptor):
        uuid, parent, process = one(descriptor, "uuid"), one(descriptor, "parent_uuid"), one(descriptor, "process")
        if process:
            self.tracks[uuid] = (one(process, "process_name"), None)
        elif parent:
            self.tracks[uuid] = (self.tracks[parent][0], one(descriptor, "name"))
        self.ranks[uuid] = one(descriptor, "sibling_order_rank")

    def add_event(self, time, event):
        track = self.tracks[one(event, "track_uuid")]
        kind = one(event, "type")
        if kind == "TYPE_COUNTER":
            self.samples[track].append((time, int(one(event, "counter_value"))))
        elif kind == "TYPE_SLICE_BEGIN":
            arguments = {self.names["debug_annotation_names"][one(a, "name_iid")]: int(one(a, "int_value"))
                         for a in every(event, "debug_annotations")}
            name = self.names["event_names"][one(event, "name_iid")]
            assert one(event, "category_iids") in self.names["event_categories"]
            self.open[track].append([name, time, arguments])
            for flow in every(event, "flow_ids"):
                self.sources[flow] = track
        else:
            name, start, arguments = self.open[track].pop()
            self.slices[track].append(Slice(name, start, time, arguments))
            for flow in every(event, "terminating_flow_ids"):
                self.arrows.append((self.sources.pop(flow), track))


def nested(events, frames):
    """Slices of an evented profile; every frame is closed by its own event, in order."""
    slices, stack, last = [], [], 0
    for event in events:
        assert event["at"] >= last
        last = event["at"]
        if event["type"] == "O":
            stack.append((event["frame"], event["at"]))
        else:
            frame, start = stack.pop()
            assert frame == event["frame"]
            slices.append(Slice(frames[frame]["name"], start, event["at"], {}))
    assert not stack
    return slices


class NativeFormatsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def write(self, run, name):
        experiment, *options = RUNS[run]
        subprocess.run([ORRERY, "simulate", EXAMPLES / experiment, *options, "--quiet", "--trace", self.path / name],
                       check=True, capture_output=True, timeout=120)
        return self.path / name

    def chrome(self, run):
        return chrome(json.loads(self.write(run, "t.json").read_text()))

    def check_slices(self, wanted, found, arguments):
        self.assertEqual(set(wanted), set(found))
        for place, slices in wanted.items():
            key = lambda s: (s.start, s.name, -s.finish)
            for a, b in zip(sorted(slices, key=key), sorted(found[place], key=key), strict=True):
                self.assertEqual(a.name, b.name)
                self.assertEqual(a.start, b.start)
                self.assertTrue(0 <= b.finish - a.finish <= ROUNDED, (a, b))
                if arguments:
                    self.assertEqual(a.arguments, b.arguments)

    @unittest.skipUnless(shutil.which("protoc"), "needs protobuf-compiler")
    def test_perfetto_has_the_slices_arrows_and_counters_of_the_chrome_trace(self):
        for run in RUNS:
            with self.subTest(run):
                slices, arrows, samples = self.chrome(run)
                trace = PerfettoTrace(decoded(self.write(run, "t.pftrace")))
                self.check_slices(slices, trace.slices, arguments=True)
                self.assertEqual(arrows, sorted(trace.arrows))
                self.assertEqual(set(samples), set(trace.samples))
                for counter, values in samples.items():
                    self.assertEqual([t for t, _ in values], [t for t, _ in trace.samples[counter]])
                    for (_, gigabytes), (_, integer) in zip(values, trace.samples[counter]):
                        self.assertAlmostEqual(gigabytes, integer * 1e-9, delta=1e-3)

    @unittest.skipUnless(shutil.which("protoc"), "needs protobuf-compiler")
    def test_the_public_schema_knows_every_field(self):
        for name in ("t.pftrace", "t.pftrace.gz"):
            root = decoded(self.write("pipeline", name))
            unknown = []

            def visit(message):
                for field, value in message:
                    if re.fullmatch(r"\d+", field):
                        unknown.append((field, value))
                    if isinstance(value, list):
                        visit(value)
            visit(root)
            self.assertEqual(unknown, [])
            trace = PerfettoTrace(root)
            ranks = [trace.ranks[t] for t, (process, name) in trace.tracks.items() if name == "compute"]
            self.assertEqual(ranks, ["0"] * 4)
            metadata = json.loads(one(trace.metadata[0], "string_value").encode().decode("unicode_escape"))
            self.assertEqual(metadata["seed"], 0)

    def test_speedscope_has_the_slices_of_the_chrome_trace_with_a_frame_for_each_name(self):
        for run in RUNS:
            with self.subTest(run):
                slices, _, _ = self.chrome(run)
                file = json.loads(self.write(run, "t.speedscope.json").read_text())
                frames = file["shared"]["frames"]
                self.assertEqual(len(frames), len({f["name"] for f in frames}))
                found = {tuple(p["name"].rsplit(": ", 1)): nested(p["events"], frames) for p in file["profiles"]}
                self.check_slices(slices, found, arguments=False)
                for profile in file["profiles"]:
                    self.assertEqual(profile["startValue"], 0)
                    self.assertEqual(profile["unit"], "nanoseconds")
                    self.assertGreaterEqual(profile["endValue"], profile["events"][-1]["at"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
