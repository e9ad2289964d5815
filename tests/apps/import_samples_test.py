#!/usr/bin/env python3
"""Imports files of other tools as they are published, where ORRERY_IMPORT_SAMPLES names the folder that has them,
and compares what comes out with facts read from them by hand: rows of tests/importers/samples*.csv with the columns
file (below the folder), options, key, expected. Keys are dotted keys of the experiment; `exit` is the exit status,
`parameters` the number of parameters of the model. A key that the experiment has not is "none".

Usage: import_samples_test.py ORRERY EXAMPLES
"""

import collections
import csv
import json
import os
import pathlib
import sys
import unittest

from command_line import CommandLineCase, orrery

SAMPLES = os.environ.get("ORRERY_IMPORT_SAMPLES")
TABLES = sorted((pathlib.Path(__file__).parent.parent / "importers").glob("samples*.csv"))


def rows_by_run():
    """Rows that one import answers, together."""
    runs = collections.OrderedDict()
    for table in TABLES:
        with table.open(newline="") as text:
            for row in csv.DictReader(text):
                runs.setdefault((row["file"], row["options"]), []).append((row["key"], row["expected"]))
    return runs


def member(value, dotted):
    for name in dotted.split("."):
        if not isinstance(value, dict) or name not in value:
            return "none"
        value = value[name]
    return value


@unittest.skipUnless(SAMPLES, "ORRERY_IMPORT_SAMPLES names no folder")
class ImportSamples(CommandLineCase):
    def facts(self, file, options, keys):
        experiment = self.path / "experiment.json"
        experiment.unlink(missing_ok=True)
        files = [pathlib.Path(SAMPLES) / name for name in file.split()]
        done = orrery("import", *files, *options.split(), "-o", experiment, "--quiet")
        self.assertIn(done.returncode, (0, 2), done.stderr[-400:])
        found = {"exit": done.returncode}
        if done.returncode != 0:
            return found
        document = json.loads(experiment.read_text())
        if "parameters" in keys:
            memory = orrery("memory", experiment, "--quiet", "--only", "parameters", "--json", "-")
            found["parameters"] = json.loads(memory.stdout)["parameters"]
        return {**{key: member(document, key) for key in keys}, **found}

    def test_samples(self):
        for (file, options), rows in rows_by_run().items():
            with self.subTest(file, options=options):
                found = self.facts(file, options, [key for key, _ in rows])
                for key, expected in rows:
                    value = found.get(key, "none")
                    text = value if isinstance(value, str) else json.dumps(value)
                    self.assertEqual(text, expected, key)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
