#!/usr/bin/env python3
"""Runs the code cells of examples/notebooks/*.ipynb in order and compares what they print with what the notebooks hold.
`notebook_test.py --renew` writes what they print into the notebooks."""

import contextlib
import io
import json
import sys
import unittest

from common import ROOT, main, need

need("pandas")

NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))


def printed_by(cells):
    """What each code cell prints; the cells share one namespace."""
    names = {"__name__": "__main__"}
    for number, cell in enumerate(cells, 1):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile("".join(cell["source"]), f"<cell {number}>", "exec"), names)
        yield output.getvalue()


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def renew(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = code_cells(notebook)
    for number, (cell, text) in enumerate(zip(cells, printed_by(cells)), 1):
        cell["execution_count"] = number
        cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": text.splitlines(True)}] if text else []
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


class Notebooks(unittest.TestCase):
    maxDiff = None

    def test_cells_print_what_they_hold(self):
        self.assertTrue(NOTEBOOKS)
        for path in NOTEBOOKS:
            cells = code_cells(json.loads(path.read_text(encoding="utf-8")))
            for number, (cell, text) in enumerate(zip(cells, printed_by(cells)), 1):
                held = "".join("".join(output["text"]) for output in cell["outputs"])
                self.assertEqual(text, held, f"{path.name}, code cell {number}: notebook_test.py --renew writes what it prints")


if __name__ == "__main__":
    if sys.argv[1:] == ["--renew"]:
        for notebook_path in NOTEBOOKS:
            renew(notebook_path)
    else:
        main()
