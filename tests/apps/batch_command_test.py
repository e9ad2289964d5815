#!/usr/bin/env python3
"""Batch mode as a user meets it: one answer per line, whose it is, when it comes.

Usage: batch_command_test.py ORRERY EXAMPLES
"""

import json
import subprocess
import sys
import unittest

from command_line import CommandLineCase, ORRERY, SMALL, changed, orrery


class BatchCommand(CommandLineCase):
    def test_batch(self):
        lines = [json.dumps(SMALL), "", "{\"model\": 1, \"cluster\": \"dgx-1\"}", json.dumps(changed(plan={**SMALL["plan"], "zero_stage": 1})), "nonsense"]
        single = json.loads(orrery("simulate", self.experiment, "--json", "-").stdout)
        for threads in (1, 2):
            out = orrery("simulate", "--batch", "--threads", threads, text="\n".join(lines))
            self.assertEqual(out.returncode, 0)
            answers = [json.loads(line) for line in out.stdout.splitlines()]
            self.assertEqual(len(answers), 4)
            self.assertEqual([answer["line"] for answer in answers], [1, 3, 4, 5])
            self.assertEqual(answers[0]["step_time_s"], single["step_time_s"])
            self.assertEqual(answers[1]["error"]["pointer"], "/model")
            self.assertGreater(answers[2]["step_time_s"], 0)
            self.assertIn("message", answers[3]["error"])

    def test_threads_answer_each_line_once(self):
        lines = [json.dumps(changed(plan={**SMALL["plan"], "global_batch_size": 64 * i})) for i in range(1, 100)]
        slow = json.dumps(changed(model="gpt3-175b"))
        mixed = "\n".join(line for trio in zip(lines, ["nonsense"] * len(lines), [""] * len(lines)) for line in trio)
        for threads in [2, 3, 8] * 4:
            out = orrery("simulate", "--batch", "--threads", threads, text=mixed + "\n" + slow + "\n" + mixed)
            answers = [json.loads(line) for line in out.stdout.splitlines()]
            middle = 2 * len(lines)
            self.assertEqual(answers[middle]["model"], "gpt3-175b")
            for part in (answers[:middle], answers[middle + 1:]):
                self.assertEqual(["error" in answer for answer in part], [False, True] * len(lines))
                self.assertEqual([answer["plan"]["global_batch_size"] for answer in part[::2]], [64 * i for i in range(1, 100)])

    def test_refuses_what_a_single_run_refuses(self):
        """Compares equal experiments in equal words; each valid one has an equal result."""
        def planned(**keys):
            return changed(plan={**SMALL["plan"], **keys})

        no_room = {"base": "dgx-a100-80gb", "nodes": 4, "fabric": {"kind": "fat-tree", "shape": [2]}}
        cases = [SMALL, planned(zero_stage=1), changed(model="gpt3-175b"), planned(global_batch_size=1600), planned(replica_batch_sizes=[4, 12]),
                 # Written out, programs of so many micro-batches would not fit.
                 planned(global_batch_size=4_000_000), planned(global_batch_size=40_000_000),
                 changed(model="gpt3-126m"), planned(zero_stage=5), planned(tensor_parallel=3), planned(global_batch_size=15), planned(tensor_paralel=2),
                 planned(pipeline_schedule="dualpipe", global_batch_size=2), planned(zero_group_size=3), {**SMALL, "cluster": no_room, "plan": {}},
                 {**SMALL, "data_parallel_sync": {"method": "gossip", "topology": "torus", "shape": [3]}}, {"model": "gpt3-125m"}, {},
                 {**SMALL, "inference": {"prompt_tokens": 100, "output_tokens": 10, "batch_size": 0, "requests": 4}},
                 {**SMALL, "simulation": {"folding": "off", "steps": 1_000_000}}]
        answers = [json.loads(line) for line in orrery("simulate", "--batch", text="\n".join(map(json.dumps, cases))).stdout.splitlines()]
        self.assertEqual(len(answers), len(cases))
        refused = 0
        for case, answer in zip(cases, answers):
            self.experiment.write_text(json.dumps(case))
            done = orrery("simulate", self.experiment, "--json", "-")
            with self.subTest(case=case, stderr=done.stderr):
                self.assertEqual(done.returncode == 2, "error" in answer, answer.get("error"))
                if "error" in answer:
                    refused += 1
                    self.assertIn(f'{answer["error"]["pointer"]}: {answer["error"]["message"]}', done.stderr)
                    continue
                single = json.loads(done.stdout)
                for result in (single, answer):
                    for key in ("wall_s", "tasks_per_s", "peak_rss_mb"):
                        del result["stats"][key]
                del answer["line"]
                self.assertEqual(single, answer)
        self.assertGreater(refused, 10)

    def test_batch_of_some_keys(self):
        large = changed(model="gpt3-175b")
        lines = "\n".join([json.dumps(SMALL), json.dumps(large), "nonsense"])
        whole = [json.loads(line) for line in orrery("simulate", "--batch", text=lines).stdout.splitlines()]
        out = orrery("simulate", "--batch", "--only", "memory.fits,step_time_s,breakdown_s", text=lines)
        some = [json.loads(line) for line in out.stdout.splitlines()]
        for all_keys, few in zip(whole[:2], some):
            self.assertEqual(list(few), ["line", "name", "step_time_s", "breakdown_s", "memory"])
            self.assertEqual(few["step_time_s"], all_keys["step_time_s"])
            self.assertEqual(few["breakdown_s"], all_keys["breakdown_s"])
            self.assertEqual(few["memory"], {"fits": all_keys["memory"]["fits"]})
        self.assertIn("error", some[2])
        self.assertEqual([few["memory"]["fits"] for few in some[:2]], [True, False])
        out = orrery("simulate", "--batch", "--skip-infeasible", "--only", "step_time_s", text=lines)
        skipped = [json.loads(line) for line in out.stdout.splitlines()]
        self.assertEqual([answer["step_time_s"] for answer in skipped[:2]], [whole[0]["step_time_s"], None])
        for wrong, said in ((["--batch", "--only", "step_tim_s"], 'did you mean "step_time_s"?'), (["--only", "gpus", self.experiment], "--only needs"),
                            (["--skip-infeasible", self.experiment], "--batch")):
            out = orrery("simulate", *wrong, text=lines)
            self.assertEqual(out.returncode, 2)
            self.assertIn(said, out.stderr)

    def test_batch_answers_say_whose_they_are(self):
        lines = [json.dumps(line) for line in (changed(id="a\"b", name="first"), changed(id=7), {"id": 8, "name": "third", "model": 1}, changed(id=[]))]
        for options in ([], ["--only", "step_time_s"]):
            out = orrery("simulate", "--batch", *options, text="\n\n" + "\n".join(lines) + "\n{")
            first, second, third, fourth, fifth = [json.loads(line) for line in out.stdout.splitlines()]
            self.assertEqual([first["line"], second["line"], third["line"], fourth["line"], fifth["line"]], [3, 4, 5, 6, 7])
            self.assertEqual((first["id"], first["name"], second["id"]), ("a\"b", "first", 7))
            self.assertEqual(second["name"], "gpt3-125m on dgx-a100-80gb")
            self.assertEqual((third["id"], third["name"]), (8, "third"))
            self.assertIn("error", third)
            self.assertEqual(fourth["error"]["pointer"], "/id")
            self.assertEqual(set(fifth), {"line", "error"})
            self.assertTrue(all(line.count('"name"') == 1 for line in out.stdout.splitlines()[:3]))
        out = orrery("memory", "--batch", text=lines[0])
        self.assertEqual((json.loads(out.stdout)["id"], json.loads(out.stdout)["line"]), ("a\"b", 1))

    def test_batch_tells_a_wrong_override_once(self):
        lines = "\n".join([json.dumps(SMALL)] * 3)
        for wrong, said in (("plan.micro_batch=1", 'did you mean "micro_batch_size"?'), ("plan", "KEY=VALUE"), ("plan.zero_stage=9", "from 0 to 3")):
            out = orrery("simulate", "--batch", wrong, text=lines)
            self.assertEqual((out.returncode, out.stdout), (2, ""))
            self.assertEqual(len(out.stderr.splitlines()), 1)
            self.assertIn(said, out.stderr)
        out = orrery("simulate", "--batch", "plan.global_batch_size=15", text=lines)  # wrong for these lines
        self.assertEqual((out.returncode, out.stdout.count('"error"')), (0, 3))

    def test_batch_stops_when_nobody_reads_its_answers(self):
        line = (json.dumps(SMALL) + "\n").encode()
        for threads in ("1", "2"):
            for restore in (True, False):  # with SIGPIPE as usual, and ignored
                command = [ORRERY, "simulate", "--batch", "--threads", threads]
                with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      restore_signals=restore) as process:
                    process.stdin.write(line)
                    process.stdin.flush()
                    self.assertIn(b"step_time_s", process.stdout.readline())
                    process.stdout.close()  # its input stays open
                    self.assertEqual(process.wait(timeout=60), 1)
                    self.assertIn(b"cannot write standard output", process.stderr.read())

    def test_batch_answers_as_lines_come(self):
        for threads in (1, 2):
            command = [ORRERY, "simulate", "--batch", "--threads", str(threads)]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                for _ in range(5):
                    process.stdin.write(json.dumps(SMALL) + "\n")
                    process.stdin.flush()
                    self.assertIn("step_time_s", json.loads(process.stdout.readline()))
                line = json.dumps(SMALL)
                process.stdin.write("\n".join([line, line, line[:20]]))  # half a line holds nothing up
                process.stdin.flush()
                for _ in range(2):
                    self.assertIn("step_time_s", json.loads(process.stdout.readline()))
                process.stdin.write(line[20:])
                process.stdin.close()
                self.assertIn("step_time_s", json.loads(process.stdout.read()))  # without an end of line
                self.assertEqual(process.wait(), 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
