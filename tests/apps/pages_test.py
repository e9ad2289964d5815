#!/usr/bin/env python3
"""Pages of --html: how large one of a large run may be, and which version and command line it says that wrote it.

Usage: pages_test.py ORRERY EXAMPLES
"""

import html
import re
import sys
import unittest

from command_line import CommandLineCase, EXAMPLES, orrery

MOST_BYTES_OF_1536_GPUS = 3_000_000


class Pages(CommandLineCase):
    def page(self, *arguments):
        out = orrery(*arguments, "--quiet", "--html", "-")
        self.assertEqual((out.returncode, out.stderr), (0, ""), out.stderr)
        return out.stdout

    def command(self, page):
        return html.unescape(re.search('<meta name="orrery-command" content="([^"]*)">', page).group(1))

    def test_a_page_of_1536_gpus_is_small(self):
        page = self.page("simulate", EXAMPLES / "megatron-145b.json")
        self.assertIn('"gpus":1536', page.replace(" ", ""))
        self.assertLessEqual(len(page.encode()), MOST_BYTES_OF_1536_GPUS)

    def test_says_version_and_command_in_its_head(self):
        page = self.page("simulate", self.experiment, "plan.micro_batch_size=1", "--threads", "2")
        head = page[: page.index("</head>")]
        self.assertRegex(head, r'<meta name="generator" content="Orrery \d+\.\d+\.\d+')
        # Of the experiment's path, which is of this machine, the name is left; options that change no figure are not told.
        self.assertEqual(self.command(head), "orrery simulate e.json plan.micro_batch_size=1")

    def test_words_that_are_no_plain_words_stay_one_and_inside_their_attribute(self):
        page = self.page("simulate", self.experiment, 'name=a "b"><script>')
        self.assertEqual(self.command(page), "orrery simulate e.json 'name=a \"b\"><script>'")
        self.assertNotIn("<script>'", page[: page.index("</head>")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
