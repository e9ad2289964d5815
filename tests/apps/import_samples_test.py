#!/usr/bin/env python3
"""Imports real files of other tools, which lie outside the repository, and compares what each gives with a table.

usage: import_samples_test.py ORRERY TABLE...

The folder of the files is in the environment variable ORRERY_IMPORT_SAMPLES; without it nothing is done (exit status 77). A
row of a table is FILE,OPTIONS,KEY,EXPECTED: `exit` is the exit status, `parameters` the number of parameters that the
simulated model has, `kind` the kind of the file; any other key is one of the experiment, or, where the import was stopped,
of the item of the report that gives it; "none" is a key that is not there. Files of one row are parted by blanks.
"""

import csv
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

SKIPPED = 77


def command(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, errors="replace", timeout=60)


def member(value, key):
    for part in key.split("."):
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return value


def plain(text):
    """A value of a report or of the table: a number, a list, a flag or a text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


class Import:
    def __init__(self, program, files, options):
        self.program = program
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            done = command(program, "import", *files, *shlex.split(options), "--report", str(report), "--quiet")
            self.exit = done.returncode
            self.errors = done.stderr
            self.report = json.loads(report.read_text()) if report.exists() else {"files": [], "items": [], "experiment": None}

    def value(self, key):
        if key == "exit":
            return self.exit
        if key == "kind":
            return self.report["files"][0]["kind"] if self.report["files"] else None
        if key == "parameters":
            return self.parameters()
        if self.report["experiment"]:
            return member(self.report["experiment"], key)
        for item in self.report["items"]:
            if item["ours"] == key and item["fate"] in ("mapped", "defaulted"):
                return plain(item["value"] or item["found"])
        return None

    def parameters(self):
        with tempfile.TemporaryDirectory() as folder:
            experiment = pathlib.Path(folder) / "experiment.json"
            experiment.write_text(json.dumps(self.report["experiment"]))
            done = command(self.program, "simulate", str(experiment), "--json", "-", "--quiet")
            return json.loads(done.stdout).get("parameters") if done.stdout else None


def agrees(found, expected):
    if expected == "none":
        return found is None
    if isinstance(expected, (int, float)) and isinstance(found, (int, float)) and not isinstance(expected, bool):
        return abs(found - expected) <= 1e-4 * abs(expected)
    return found == expected


def rows_of(tables):
    for table in tables:
        with open(table, newline="", encoding="utf-8") as text:
            yield from csv.DictReader(line for line in text if not line.startswith("#"))


def main():
    program, *tables = sys.argv[1:]
    folder = os.environ.get("ORRERY_IMPORT_SAMPLES")
    if not folder:
        print("ORRERY_IMPORT_SAMPLES names no folder of files")
        return SKIPPED
    imports, wrong, checked = {}, 0, 0
    for row in rows_of(tables):
        files = [str(pathlib.Path(folder) / name) for name in row["file"].split()]
        if not all(pathlib.Path(name).exists() for name in files):
            print(f"not there: {row['file']}")
            wrong += 1
            continue
        case = (row["file"], row["options"])
        if case not in imports:
            imports[case] = Import(program, files, row["options"])
        found, expected = imports[case].value(row["key"]), plain(row["expected"])
        checked += 1
        if not agrees(found, expected):
            wrong += 1
            print(f"{row['file']} {row['options']}: {row['key']} is {found}, expected {expected}")
    print(f"{len(imports)} imports, {checked} facts, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
