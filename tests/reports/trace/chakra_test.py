"""`--chakra`: execution traces of MLCommons Chakra. Read here by a parser of our own of the encoding of protocol
buffers, with the field numbers of schema/protobuf/et_def.proto; counts, bytes and durations are those of the run, and
`orrery import` sums up the same. usage: chakra_test.py ORRERY EXAMPLES"""

import collections
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ORRERY = sys.argv[1]
MIXED = {"model": "gpt3-125m", "cluster": {"base": "dgx-a100-80gb", "nodes": 1}, "plan": {
    "tensor_parallel": 2, "pipeline_parallel": 2, "data_parallel": 2, "global_batch_size": 16}}
SHARDED = {**MIXED, "plan": {"data_parallel": 8, "global_batch_size": 16, "zero_stage": 3}}
COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
TYPES = {"allreduce": 0, "_allgather_base": 2, "broadcast": 5, "all_to_allv": 6, "_reduce_scatter_base": 7}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """Number and value of each field: an integer, or the bytes of a text or message."""
    at, out = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        else:
            raise ValueError(f"type {tag & 7}")
        out.append((tag >> 3, value))
    return out


def messages(data):
    at = 0
    while at < len(data):
        size, at = varint(data, at)
        yield fields(data[at:at + size])
        at += size


def node_of(message):
    node = {"deps": [n for number, n in message if number == 5], "attr": {}}
    for number, name in ((1, "id"), (3, "type"), (6, "start"), (7, "duration")):
        node[name] = next((value for key, value in message if key == number), 0)
    for key, value in message:
        if key == 10:
            (_, name), (kind, content) = fields(value)
            node["attr"][name.decode()] = (kind, content)
    return node


class Chakra(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def run_orrery(self, *arguments):
        return subprocess.run([ORRERY, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)

    def traces(self, experiment, *arguments, name="et"):
        file = self.path / "e.json"
        file.write_text(json.dumps(experiment))
        out = self.run_orrery("simulate", file, "--quiet", "--chakra", self.path / name, *arguments)
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        nodes = {}
        for path in (self.path / name).glob("chakra.*.et"):
            metadata, *rest = messages(path.read_bytes())
            self.assertEqual(metadata, [(1, b"0.0.4")])
            nodes[int(path.name.split(".")[1])] = [node_of(one) for one in rest]
        return nodes

    def test_as_the_trace_of_the_profiler(self):
        for experiment in (MIXED, SHARDED):
            nodes = self.traces(experiment, "--kineto", self.path / "kineto")
            self.assertEqual(sorted(nodes), list(range(8)))
            groups = json.loads((self.path / "et/comm_groups.json").read_text())
            for rank, of_rank in nodes.items():
                with gzip.open(self.path / f"kineto/rank{rank}.json.gz") as file:
                    events = [e for e in json.load(file)["traceEvents"] if e.get("cat") == "kernel"]
                self.compare(of_rank, events)
                for node in of_rank:
                    self.assertTrue(all(0 < before < node["id"] for before in node["deps"]))
                    if node["type"] == COLLECTIVE:
                        self.assertIn(rank, groups[node["attr"]["pg_name"][1].decode()])
            self.check_pairs(nodes)
            for name in ("et", "kineto"):
                for path in (self.path / name).iterdir():
                    path.unlink()
                (self.path / name).rmdir()

    def compare(self, nodes, events):
        """Counts and bytes are the same, and durations of all compute to a microsecond a stream."""
        mine = collections.Counter()
        for node in nodes:
            if node["type"] == COLLECTIVE:
                self.assertEqual(node["attr"]["comm_type"][0], 9)  # int64_val, as the feeder reads it
                mine[node["attr"]["comm_type"][1], node["attr"]["comm_size"][1]] += 1
        theirs = collections.Counter()
        for event in events:
            name = event["args"].get("Collective name")
            if name in TYPES:
                theirs[TYPES[name], event["args"]["In msg nelems"]] += 1
        self.assertEqual(mine, theirs)
        compute = [e for e in events if "Collective name" not in e["args"]]
        gpu = [n for n in nodes if n["type"] == COMPUTE and not n["attr"]["is_cpu_op"][1]]
        self.assertEqual(len(gpu), len(compute))
        self.assertAlmostEqual(sum(n["duration"] for n in gpu), sum(e["dur"] for e in compute), delta=3)

    def check_pairs(self, nodes):
        """Each message between stages has both its ends, with one size and one tag."""
        ends = {SEND: collections.Counter(), RECEIVE: collections.Counter()}
        for rank, of_rank in nodes.items():
            for node in of_rank:
                if node["type"] not in ends:
                    continue
                source, target, tag, size = (node["attr"][key][1] for key in ("comm_src", "comm_dst", "comm_tag", "comm_size"))
                self.assertEqual(rank, source if node["type"] == SEND else target)
                ends[node["type"]][source, target, tag, size] += 1
        self.assertEqual(ends[SEND], ends[RECEIVE])
        self.assertTrue(all(count == 1 for count in ends[SEND].values()))

    def test_import_sums_up_the_same(self):
        nodes = self.traces(MIXED)[0]
        out = self.run_orrery("import", self.path / "et/chakra.0.et")
        self.assertEqual(out.returncode, 2)  # a graph names neither model nor plan
        text = " ".join((out.stdout + out.stderr).split())
        counts = collections.Counter(node["type"] for node in nodes)
        self.assertRegex(text, rf"COMP_NODE {counts[COMPUTE]}\b")
        found = re.search(rf"COMM_COLL_NODE ALL_REDUCE (\d+) \(nodes of ([0-9.e+]+) ms and ([0-9.e+]+) MB together\)", text)
        reduces = [n for n in nodes if n["type"] == COLLECTIVE and n["attr"]["comm_type"][1] == 0]
        self.assertEqual(int(found[1]), len(reduces))
        self.assertAlmostEqual(float(found[2]), sum(n["duration"] for n in reduces) / 1e3, delta=1e-3)
        self.assertAlmostEqual(float(found[3]) / (sum(n["attr"]["comm_size"][1] for n in reduces) / 1e6), 1, delta=1e-5)

    def test_the_same_twice_and_some_ranks(self):
        self.traces(MIXED)
        self.traces(MIXED, name="again")
        for path in (self.path / "et").iterdir():
            self.assertEqual(path.read_bytes(), (self.path / "again" / path.name).read_bytes())
        self.assertEqual(sorted(self.traces(MIXED, "--trace-ranks", "1,6", name="two")), [1, 6])

    def test_what_it_refuses(self):
        file = self.path / "e.json"
        file.write_text(json.dumps({"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "nodes": 1}, "inference": {
            "requests": 1, "prompt_tokens": 8, "output_tokens": 8}, "plan": {"tensor_parallel": 1}}))
        out = self.run_orrery("simulate", file, "--chakra", self.path / "x")
        self.assertEqual(out.returncode, 2)
        self.assertFalse((self.path / "x").exists())
        # Millions of operations are refused before the first file.
        file.write_text(json.dumps({"model": "gpt3-175b", "cluster": {"base": "dgx-a100-80gb", "nodes": 1536}, "plan": {
            "tensor_parallel": 8, "pipeline_parallel": 12, "global_batch_size": 12288}}))
        out = self.run_orrery("simulate", file, "--chakra", self.path / "huge")
        self.assertEqual(out.returncode, 2)
        self.assertRegex(out.stderr, r"--chakra: found \d+ operations of 12288 ranks, allowed up to 20000000")
        self.assertFalse((self.path / "huge").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
