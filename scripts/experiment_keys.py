"""Compares the tables of docs/experiment.md with the JSON Schema of an experiment: every key of the schema is on the page,
every row of a table is a key of the schema, and ranges and defaults that both state are the same."""

import re

NUMBER = r"2\^53|-?[\d.,]*\d(?:e-?\d+)?"


def schema_keys(schema, prefix=""):
    """(dotted key, its schema) for all objects of a schema, those in lists included."""
    for variant in schema.get("oneOf", []) + schema.get("anyOf", []):
        yield from schema_keys(variant, prefix)
    yield from schema_keys(schema["items"], prefix) if "items" in schema else ()
    for key, value in schema.get("properties", {}).items():
        yield prefix + key, value
        yield from schema_keys(value, prefix + key + ".")


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def key_rows(page):
    """(line number, dotted key, default, allowed) of each row of a table whose first column is `key`."""
    section, columns = "", None
    for number, line in enumerate(page.splitlines(), 1):
        heading = re.match(r"#+ (.*)", line)
        if heading:
            section = "" if heading.group(1) == "Top level" else heading.group(1) + "."
        if not line.startswith("|"):
            columns = None
        elif columns is None:
            columns = cells_of(line)
        elif columns[0] == "key" and line.startswith("| `"):
            row = dict(zip(columns, cells_of(line)))
            names = re.findall(r"`([^`]+)`", row["key"])
            parent = names[0].rpartition(".")[0]
            for name in names:
                full = name if "." in name or not parent else f"{parent}.{name}"
                yield number, section + full.replace("[]", ""), row, len(names)


def number_of(text):
    return 2.0**53 if text == "2^53" else float(text.replace(",", ""))


def range_problem(row, schema):
    found = re.match(rf"({NUMBER}) to ({NUMBER})(?![\w.])", row.get("allowed", ""))
    if not found or "minimum" not in schema:
        return None
    stated = [number_of(text) for text in found.groups()]
    if stated == [schema["minimum"], schema["maximum"]]:
        return None
    return f"the page allows {found.group(0)}, the schema {schema['minimum']:g} to {schema['maximum']:g}"


def default_problem(row, schema):
    stated = row.get("default", "").strip("`")
    known = re.search(r"default: ([\w.-]+)$", schema.get("description", ""))
    if not known or stated == "required" or not re.fullmatch(r"[\w.-]+", stated):
        return None
    if known.group(1) == stated:
        return None
    return f"the page has the default {stated}, the schema {known.group(1)}"


def row_problems(page, keys):
    for line, key, row, names in key_rows(page):
        if key not in keys:
            yield line, f"the schema has no key {key}"
            continue
        checks = [default_problem(row, keys[key])] + ([range_problem(row, keys[key])] if names == 1 else [])
        yield from ((line, f"{key}: {problem}") for problem in checks if problem)


def problems(page, schema):
    """(line, text) of each difference; line 1 for keys that are missing."""
    keys = dict(schema_keys(schema))
    yield from row_problems(page, keys)
    prose = re.sub(r"^```.*?^```", "", page, flags=re.M | re.S)
    named = {word for quoted in re.findall(r"`([^`]+)`", prose) for word in re.split(r"[^\w$-]+", quoted)}
    for key in sorted(keys):
        if key.split(".")[-1] not in named:
            yield 1, f"the key {key} of the schema is missing"
