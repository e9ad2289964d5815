#!/usr/bin/env python3
"""Result.timeline and record(): the rows of the trace, without a copy, that outlive the result."""

import gc
import gzip
import json
import pathlib
import tempfile
import unittest

from common import ROOT, SMALL, command, main, need, small

need("numpy")

import numpy

import orrery


def trace_spans(path):
    """(rank, stream, start ns, name) of the operations in a trace that the command line writes."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "trace.json.gz"
        command("simulate", path, "--quiet", "--trace", file)
        events = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    return sorted((event["pid"] - 10, event["tid"] - 1, round(event["ts"] * 1000), event["name"])
                  for event in events if event["ph"] == "X" and event["cat"] not in ("pass", "step"))


class Timeline(unittest.TestCase):
    def test_rows_are_those_of_the_trace(self):
        for name in ("pipeline-1f1b.json", "explicit-graph.json"):
            path = ROOT / "examples" / name
            rows = orrery.simulate(path).timeline
            mine = sorted((int(row["rank"]), int(row["stream"]), int(row["start_ps"]) // 1000,
                           orrery.OPERATION_NAMES[row["name"]]) for row in rows)
            self.assertEqual(mine, trace_spans(path))

    def test_the_last_row_ends_with_the_step(self):
        result = orrery.simulate(SMALL)
        self.assertEqual(int(result.timeline["finish_ps"].max()) * 1e-12, result.step_time_s)

    def test_bytes_of_a_tensor_parallel_all_reduce(self):
        # An all-reduce of a layer's activations: 2048 tokens x 768 hidden x 2 bytes.
        rows = orrery.simulate(SMALL).timeline
        sent = rows[(rows["kind"] == orrery.OPERATION_KINDS.index("communicate")) & (rows["layer"] == 0) &
                    (rows["phase"] == orrery.PHASES.index("forward"))]
        self.assertEqual(set(sent["bytes"].tolist()), {2048 * 768 * 2})
        self.assertEqual({orrery.stream_name(int(stream)) for stream in sent["stream"]}, {"tensor comm"})

    def test_it_is_a_view_that_outlives_the_result(self):
        result = orrery.simulate(SMALL)
        rows = result.timeline
        self.assertIs(rows, result.timeline)
        self.assertFalse(rows.flags.owndata)
        self.assertFalse(rows.flags.writeable)
        with self.assertRaises(ValueError):
            rows["rank"][0] = 1
        kept = rows["finish_ps"].copy()
        view = rows["finish_ps"]
        del rows, result
        gc.collect()
        orrery.simulate(small(micro_batch_size=2)).timeline
        self.assertTrue((view == kept).all())

    def test_ranks_steps_and_bounds(self):
        result = orrery.simulate({**SMALL, "simulation": {"steps": 2}})
        self.assertEqual(set(result.timeline["rank"].tolist()), set(range(8)))
        self.assertEqual(set(result.record(ranks=[5, 2])["rank"].tolist()), {2, 5})
        self.assertEqual(set(result.record(steps=[1])["step"].tolist()), {1})
        self.assertEqual(set(result.record(most_rows=1)["rank"].tolist()), {0})  # one of the only stage
        self.assertEqual(len(result.record(steps=[9])), 0)
        with self.assertRaisesRegex(orrery.ExperimentError, "ranks are 0 to 7"):
            result.record(ranks=[8])
        self.assertRaises(TypeError, result.record, ranks=[-1])
        self.assertEqual(len(result.record(ranks=numpy.arange(2))), len(result.record(ranks=[0, 1])))

    def test_streams_of_neighbours_have_names(self):
        gossip = {**SMALL, "data_parallel_sync": {"method": "gossip", "topology": "ring"}}
        rows = orrery.simulate(gossip).timeline
        names = {orrery.stream_name(int(stream)) for stream in rows["stream"]}
        self.assertIn("send to neighbour 1", names)
        self.assertEqual(names & set(orrery.STREAMS), names - {name for name in names if "neighbour" in name})

    def test_what_has_no_timeline_says_so(self):
        result = orrery.simulate(ROOT / "examples" / "asynchronous.json", data_parallel_sync__method="ad-psgd")
        self.assertRaises(orrery.ExperimentError, lambda: result.timeline)


if __name__ == "__main__":
    main()
