#!/usr/bin/env python3
"""Tests scripts/docs and scripts/experiment_keys.py on small pages: stale outputs are renewed, wrong marks, statuses and
keys are found. Needs bash alone, no built program. Exit status 1 on any failure."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import experiment_keys  # noqa: E402, found by the line above


def load_docs():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("docs", str(ROOT / "scripts/docs"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("docs", loader))
    loader.exec_module(module)
    return module


docs = load_docs()

# Name, page, what scripts/docs makes of it.
RENEWED = [
    ("a stale output", "<!-- ci -->\n```sh\necho new\n```\n\n<!-- output -->\n```\nold\nlines\n```\ntail\n",
     "<!-- ci -->\n```sh\necho new\n```\n\n<!-- output -->\n```\nnew\n```\ntail\n"),
    ("a filter", "<!-- ci -->\n```sh\nprintf '1\\n2\\n'\n```\n<!-- output: tail -n 1 -->\n```\n```\n",
     "<!-- ci -->\n```sh\nprintf '1\\n2\\n'\n```\n<!-- output: tail -n 1 -->\n```\n2\n```\n"),
    ("text without a block", "<!-- run: echo '| a |' -->\n<!-- end -->\n", "<!-- run: echo '| a |' -->\n| a |\n<!-- end -->\n"),
    ("one shell a page", "<!-- ci -->\n```sh\nexport A=5\n```\n<!-- run: echo $A -->\n```\n```\n",
     "<!-- ci -->\n```sh\nexport A=5\n```\n<!-- run: echo $A -->\n```\n5\n```\n"),
    ("two commands of a console", "<!-- ci: exit 2 | sed s/x/y/ -->\n```console\n$ echo x; exit 2\nold\n\n$ echo z >&2; exit 2\n```\n",
     "<!-- ci: exit 2 | sed s/x/y/ -->\n```console\n$ echo x; exit 2\ny\n\n$ echo z >&2; exit 2\nz\n```\n"),
    ("figures of the machine", "<!-- run: echo '5 events, 1.5 ms, 2.5 M tasks/s' -->\n```\n```\n",
     "<!-- run: echo '5 events, 1.5 ms, 2.5 M tasks/s' -->\n```\n5 events, … s, … tasks/s\n```\n"),
    ("a block that builds", "<!-- ci: build -->\n```sh\nexit 1\n```\n", "<!-- ci: build -->\n```sh\nexit 1\n```\n"),
    ("marks inside a block", "````markdown\n<!-- run: echo 1 -->\n```\n```\n````\n",
     "````markdown\n<!-- run: echo 1 -->\n```\n```\n````\n"),
    ("figures of scripts/performance", "<!-- figures: x -->\n1 s\n<!-- end -->\n", "<!-- figures: x -->\n1 s\n<!-- end -->\n"),
]

# Name, page, what the problem must say.
WRONG = [
    ("a command that fails", "<!-- ci -->\n```sh\necho why; false; true\n```\n", "page.md:3: ended otherwise than with status 0"),
    ("a failure inside a pipe", "<!-- run: false | cat -->\n```\n```\n", "page.md:1: ended otherwise"),
    ("another status", "<!-- ci: exit 2 -->\n```sh\nexit 3\n```\n", "page.md:3: ended otherwise than with status 2"),
    ("no failure", "<!-- ci: exit 2 -->\n```sh\ntrue\n```\n", "page.md:3: ended otherwise than with status 2"),
    ("a filter that fails", "<!-- ci -->\n```sh\ntrue\n```\n<!-- output: exit 1 -->\n```\n```\n", "page.md:5: the filter failed"),
    ("a mark without a block", "<!-- ci -->\ntext\n", "page.md:1: no ``` block follows"),
    ("an output of nothing", "<!-- output -->\n```\n```\n", "page.md:1: no ```sh block that is run"),
    ("an empty output", "<!-- ci -->\n```sh\necho a\n```\n<!-- output: sed d -->\n```\na\n```\n", "page.md:5: prints nothing: sed d"),
    ("an empty run", "<!-- run: true -->\n```\na\n```\n", "page.md:1: prints nothing: true"),
    ("an open block", "<!-- ci -->\n```sh\ntrue\n", "page.md:2: the block is not closed"),
    ("an end alone", "<!-- end -->\n", "page.md:1: <!-- end --> without a beginning"),
    ("a run without an end", "<!-- run: true -->\ntext\n", "page.md:1: neither"),
    ("an unknown option", "<!-- ci: fails -->\n```sh\ntrue\n```\n", "allowed are build, exit N"),
]

MARK = "<!-- run: scripts/docs-tables keys {} -->"
KEYS_PAGE = "".join(map(MARK.format, ("experiment", "plan", "plan.layers[]")))
DEPTH = {"type": "integer", "minimum": 1, "maximum": 1000, "description": "how deep [us]; default: 1"}
SCHEMA = {"properties": {"plan": {"anyOf": [{"enum": ["auto"]}, {"type": "object", "required": ["depth"], "properties": {
    "depth": DEPTH, "layers": {"type": "array", "items": {"type": "object", "properties": {"width": {"type": "number"}}}}}}]}}}

# Name, change of the page, note, what is found.
KEYS = [
    ("nothing", ("", ""), "plan.depth: a power of two", []),
    ("a table that is missing", (MARK.format("plan"), ""), "", ["no page shows the keys of plan"]),
    ("a table of no object", ("keys plan ", "keys plans "), "",
     ["no page shows the keys of plan", "the keys of plans are shown, which the schema does not have"]),
    ("a table that is shown twice", ("", MARK.format("plan")), "", ["the keys of plan are shown 2 times"]),
    ("a note on no key", ("", ""), "plan.width: x", ["notes.txt has plan.width, which the schema does not have"]),
]

# Table, note, its rows.
ROWS = [
    ("plan", "plan.depth: a power\n of two", [["`depth`", "integer, 1 to 1000 us", "required", "how deep; a power of two"],
                                             ["`layers`", "list of object ([keys](#planlayers))", "", ""]]),
    ("plan.layers[]", "plan.layers[].width: = wide", [["`width`", "number", "", "wide"]]),
    ("experiment", "", [["`plan`", "`auto` or object ([keys](experiment/plan.md))", "", ""]]),
]


def renewed(text):
    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        path = pathlib.Path(folder) / "page.md"
        path.write_text(text, encoding="utf-8")
        return docs.Page(path, run_all=False).renewed()


def failures():
    for name, page, expected in RENEWED:
        found = renewed(page)
        if found != expected:
            yield f"{name}: expected\n{expected}\nfound\n{found}"
    for name, page, expected in WRONG:
        try:
            yield f"{name}: no problem found, but\n{renewed(page)}"
        except docs.Problem as problem:
            if expected not in str(problem):
                yield f"{name}: expected '{expected}', found '{problem}'"
    for name, change, note, expected in KEYS:
        page = KEYS_PAGE.replace(*change, 1)
        found = list(experiment_keys.problems({"page.md": page}, SCHEMA, experiment_keys.read_notes(note)))
        if found != expected:
            yield f"{name}: expected {expected}, found {found}"
    for name, note, expected in ROWS:
        found = experiment_keys.tables(SCHEMA, experiment_keys.read_notes(note))[name]
        if found != expected:
            yield f"keys of {name}: expected {expected}, found {found}"


def main():
    found = list(failures())
    for failure in found:
        print(failure, file=sys.stderr)
    print(f"documentation script: {len(RENEWED) + len(WRONG) + len(KEYS) + len(ROWS)} cases, {len(found)} failures")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
