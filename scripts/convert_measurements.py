#!/usr/bin/env python3
"""Brings tables of measured runs, in the columns they were collected in, into tables for `orrery validate`.

    scripts/convert_measurements.py FOLDER [TABLE...]

FOLDER holds the source tables (CSV; lines that begin with # are remarks). Without a TABLE all of them are written to
catalog/measurements, collectives to tests/workloads/collectives. A function of measured_memory.py, measured_steps.py,
measured_plans.py, measured_collectives.py, measured_inference.py or measured_serving.py makes one table and says how it
maps the columns; what a source does not publish is said in the column `note` of the row, and which rows are left out and
why in the first lines of a table."""

import csv
import pathlib
import sys

import measured_collectives
import measured_inference
import measured_memory
import measured_plans
import measured_serving
import measured_steps

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIRST = ["name", "model", "model.base"]
LAST = ["kept_back", "source", "note"]
GROUPS = ["model", "cluster", "plan", "inference", "software", "stack", "case", "planner", "measured"]


def read(folder, name):
    """The rows of a source table, from FOLDER or from its folder source-form."""
    paths = [folder / name, folder / "source-form" / name]
    path = next((path for path in paths if path.exists()), None)
    if path is None:
        sys.exit(f"found no {name} in {folder}, nor in its folder source-form")
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def columns(rows):
    """All keys of the rows: the name first, then by group in the order in which they come, the source last."""
    found = list(dict.fromkeys(key for row in rows for key in row))

    def place(key):
        if key in FIRST:
            return (0, FIRST.index(key))
        if key in LAST:
            return (2, LAST.index(key))
        return (1, GROUPS.index(key.split(".")[0]))

    return sorted(found, key=place)


def cell(value):
    """Writes a value as `orrery validate` reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    return value


def write(name, rows, remarks):
    runs = name not in measured_collectives.TABLES
    folder = ROOT / ("catalog/measurements" if runs else "tests/workloads/collectives")
    with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
        file.writelines(f"# {remark}\n" for remark in remarks)
        writer = csv.DictWriter(file, columns(rows) if runs else list(rows[0]), lineterminator="\n", restval="")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: cell(value) for key, value in row.items() if value is not None})


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    tables = (measured_memory.TABLES | measured_steps.TABLES | measured_plans.TABLES
              | measured_collectives.TABLES | measured_inference.TABLES | measured_serving.TABLES)
    for name in sys.argv[2:] or tables:
        if name not in tables:
            sys.exit(f"found table {name!r}, allowed {', '.join(tables)}")
        sources, convert, *remarks = tables[name]
        given = [read(folder, source) for source in sources]
        rows = convert(*given)
        write(name, rows, [line for remark in remarks for line in remark(*given)])
        print(f"{name}: {len(rows)} rows")


if __name__ == "__main__":
    main()
