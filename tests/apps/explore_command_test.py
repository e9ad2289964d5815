#!/usr/bin/env python3
"""The server of orrery explore: who has not its token gets nothing, whatever is sent it goes on, Ctrl-C ends it.

Usage: explore_command_test.py ORRERY EXAMPLES
"""

import http.client
import json
import random
import signal
import socket
import subprocess
import time
import unittest
import urllib.parse

from command_line import EXAMPLES, ORRERY, SANITIZED

kRequests = 300 if SANITIZED else 2000
kPlan = "model: llama3.1-8b\ncluster: dgx-h100\nplan: { tensor_parallel: 2, global_batch_size: 16 }\n"


class ExploreCommand(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = subprocess.Popen([ORRERY, "explore", EXAMPLES / "llama-7b.yaml"], stdout=subprocess.PIPE, text=True)
        cls.address = urllib.parse.urlsplit(cls.server.stdout.readline().strip())
        cls.token = urllib.parse.parse_qs(cls.address.query)["token"][0]

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()
        cls.server.wait()
        cls.server.stdout.close()

    def ask(self, route, question, headers=None):
        connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=60)
        body = question if isinstance(question, bytes) else json.dumps(question).encode()
        connection.request("POST", "/" + route, body, {"X-Orrery-Token": self.token} if headers is None else headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text

    def figures(self, changes=()):
        status, text = self.ask("figures", {"setup": {"text": kPlan, "changes": list(changes)}})
        self.assertEqual(status, 200)
        return json.loads(text)

    def test_figures_of_a_change(self):
        self.assertNotEqual(self.figures()["result"]["step_time_s"],
                            self.figures(["plan.tensor_parallel=4"])["result"]["step_time_s"])

    def test_errors_are_those_of_the_command_line(self):
        errors = self.figures(["plan.tensor_paralel=4"])["errors"]
        self.assertIn("tensor_parallel", errors[0]["message"])

    def test_strangers_get_nothing(self):
        question = {"setup": {"text": kPlan, "changes": []}}
        own = "%s:%d" % (self.address.hostname, self.address.port)
        for headers in ({}, {"X-Orrery-Token": ""}, {"X-Orrery-Token": self.token[:-1]},
                        {"X-Orrery-Token": self.token, "Host": "elsewhere.example"},
                        {"X-Orrery-Token": self.token, "Host": own + ".elsewhere.example"},
                        {"X-Orrery-Token": self.token, "Origin": "http://elsewhere.example"},
                        {"X-Orrery-Token": self.token, "Origin": "null"},
                        {"X-Orrery-Token": self.token, "Origin": "https://" + own}):
            with self.subTest(headers=headers):
                self.assertEqual(self.ask("figures", question, headers), (403, b""))

    def test_a_question_of_a_gigabyte_is_not_read(self):
        with socket.create_connection((self.address.hostname, self.address.port), timeout=20) as connection:
            connection.sendall(("POST /figures HTTP/1.1\r\nHost: %s:%d\r\nX-Orrery-Token: %s\r\nContent-Length: 1000000000\r\n\r\n"
                                % (self.address.hostname, self.address.port, self.token)).encode())
            self.assertIn(b" 413 ", connection.recv(200))

    def test_an_older_question_needs_no_answer(self):
        headers = {"X-Orrery-Token": self.token, "X-Orrery-Page": "p"}
        question = {"setup": {"text": kPlan, "changes": []}}
        self.assertIn(b"result", self.ask("figures", question, {**headers, "X-Orrery-Turn": "7"})[1])
        self.assertEqual(self.ask("figures", question, {**headers, "X-Orrery-Turn": "6"})[1], b'{"stale":true}')

    def test_whatever_is_sent_it_goes_on(self):
        draw = random.Random(7)
        begin = ("POST /figures HTTP/1.1\r\nHost: %s:%d\r\nX-Orrery-Token: %s\r\nContent-Length: 90\r\n\r\n"
                 % (self.address.hostname, self.address.port, "0" * 32)).encode()
        for _ in range(kRequests):
            request = bytearray(begin + json.dumps({"setup": {"text": kPlan}}).encode())
            for _ in range(draw.randrange(1, 20)):
                request[draw.randrange(len(request))] = draw.randrange(256)
            with socket.create_connection((self.address.hostname, self.address.port), timeout=20) as connection:
                connection.sendall(request[:draw.randrange(1, len(request))])
                connection.shutdown(socket.SHUT_WR)
                answer = b""
                try:
                    answer = connection.recv(4096)
                except ConnectionError:
                    pass
            self.assertNotIn(b" 200 ", answer[:20])
        self.assertIn("result", self.figures())

    def test_wrong_questions_of_friends(self):
        draw = random.Random(11)
        good = json.dumps({"setup": {"text": kPlan, "changes": ["plan.zero_stage=1"]}, "key": "plan.zero_stage", "form": "csv"}).encode()
        for i in range(kRequests // 10):
            question = bytearray(good)
            for _ in range(draw.randrange(1, 6)):
                question[draw.randrange(len(question))] = draw.randrange(256)
            status, text = self.ask(("figures", "variants", "take", "picture")[i % 4], bytes(question))
            self.assertEqual(status, 200)
            json.loads(text)


class ExploreEnds(unittest.TestCase):
    def test_control_c_ends_it_at_once(self):
        server = subprocess.Popen([ORRERY, "explore"], stdout=subprocess.PIPE, text=True)
        self.assertTrue(server.stdout.readline().startswith("http://127.0.0.1:"))
        began = time.monotonic()
        server.send_signal(signal.SIGINT)
        server.wait(timeout=20)
        server.stdout.close()
        self.assertLess(time.monotonic() - began, 1 if not SANITIZED else 10)

    def test_a_port_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            out = subprocess.run([ORRERY, "explore", "--port", str(taken.getsockname()[1])], capture_output=True, text=True)
        self.assertEqual(out.returncode, 1)
        self.assertIn("cannot listen", out.stderr)


if __name__ == "__main__":
    unittest.main(argv=[__file__])
