"""Tables of the keys of an experiment for docs/reference/experiment*, from the JSON Schema that `orrery schema` prints: names, types,
ranges, units, defaults and descriptions. docs/reference/experiment/notes.txt adds what the schema does not say, a line a key.
problems() finds tables that no page shows, tables that the schema does not have, and notes on keys that it does not have."""

import json
import re

MARK = re.compile(r"<!-- run: scripts/docs-tables keys (.+?) -->")
TOP = "experiment"          # name of the table of the top level
PARTS = "experiment/"       # folder of the pages of its objects, from the page of the top level
SPLIT_BY_KIND = "model"     # its keys of one kind have a table for that kind


def variants(schema):
    """The schema, or what its unions hold, to any depth."""
    union = schema.get("anyOf", []) + schema.get("oneOf", [])
    if not union:
        yield schema
    for variant in union:
        yield from variants(variant)


def objects(schema, path=""):
    """(dotted path, key -> its schema, keys that must be given) of every object; lists of objects have [] in their paths."""
    found = [variant for variant in variants(schema) if "properties" in variant]
    if found:
        properties = {key: value for variant in found for key, value in variant["properties"].items()}
        own = [variant for variant in found if "base" not in variant.get("required", [])]
        required = set.intersection(*(set(variant.get("required", [])) for variant in own)) if own else set()
        yield path, properties, required
        for key, value in properties.items():
            yield from objects(value, f"{path}.{key}".lstrip("."))
    for variant in variants(schema):
        if "items" in variant:
            yield from objects(variant["items"], path + "[]")


def number(value):
    if value == 2**53:
        return "2^53"
    if 1e4 <= abs(value) < 1e6 and value == int(value):
        return f"{int(value):,}"
    digits, _, power = f"{value:.7g}".partition("e")
    if abs(value) >= 1e6:
        digits, _, power = f"{value:.9e}".partition("e")
        digits = digits.rstrip("0").rstrip(".")
    return f"{digits}e{int(power)}" if power else digits


def allowed(schema):
    """Type and range in words."""
    shown = []
    for variant in variants(schema):
        kinds = variant.get("type", "string" if "enum" in variant else "")
        if "enum" in variant:
            text = ", ".join(f"`{value}`" for value in variant["enum"])
        elif "pattern" in variant:      # a count with a letter: 4k, 70B
            continue
        elif kinds in ("integer", "number"):
            text = kinds + (f", {number(variant['minimum'])} to {number(variant['maximum'])}" if "maximum" in variant else "")
        elif kinds == "array":
            text = "list of " + (allowed(variant["items"]) if "items" in variant else "values")
        else:
            names = {"boolean": "flag", "string": "text", "": "any"}
            text = " or ".join(names.get(kind, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))
        if text not in shown:
            shown.append(text)
    return " or ".join(shown)


def described(schema):
    """(description, unit, default, kind) as the description of a key holds them."""
    text = schema.get("description", "")
    text, _, default = text.partition("default: ") if re.search(r"(^|; )default: ", text) else (text, "", "")
    kind = re.search(r"; kind ([\w-]+) only", text)
    text = re.sub(r"; kind [\w-]+ only", "", text).strip().rstrip(";").strip() if kind else text.strip().rstrip(";").strip()
    unit = re.search(r" \[([^\]]+)\]$", text)
    text = text[:unit.start()] if unit else text
    return text, unit.group(1) if unit else "", default, kind.group(1) if kind else ""


def default_of(key, required, default):
    if key in required:
        return "required"
    return f"`{default}`" if re.fullmatch(r"[\w.-]+", default) else default


def link_of(path, schema, same):
    """Where the keys of an object below this key stand."""
    below = [inner for inner, *_ in objects(schema, path)]
    if not below:
        return ""
    if "." not in path:
        return f" ([keys]({PARTS}{path}.md))"
    table = same.get(below[0], below[0])
    page = "" if table.split(".")[0] == path.split(".")[0] else table.split(".")[0] + ".md"
    return f" ([keys]({page}#{re.sub(r'[^a-z0-9_-]', '', table)}))"


def row(path, key, schema, required, notes, same):
    text, unit, default, _ = described(schema)
    full = f"{path}.{key}".lstrip(".")
    note = notes.get(full, "")
    meaning = note.removeprefix("= ") if note.startswith("= ") else "; ".join(part for part in (text, note) if part)
    kinds = allowed(schema) + (f" {unit}" if unit else "") + link_of(full, schema, same)
    return [f"`{key}`", kinds, default_of(key, required, default), meaning.replace(" | ", ", ").replace("|", "\\|")]


def repeats(schema):
    """Objects with the keys of an earlier one, by path: the path of that one."""
    first, same = {}, {}
    for path, properties, _ in objects(schema):
        content = json.dumps(properties, sort_keys=True)
        if content in first:
            same[path] = first[content]
        first.setdefault(content, path)
    return same


def merged(rows):
    """Neighbours that differ in their names alone as one row."""
    found = []
    for one in rows:
        if found and found[-1][1:] == one[1:]:
            found[-1][0] += ", " + one[0]
        else:
            found.append(one)
    return found


def tables(schema, notes):
    """Rows by the name of a table: the path of an object, for keys of one kind of model `model KIND`. Objects that repeat an
    earlier one have none."""
    found, same = {}, repeats(schema)
    for path, properties, required in objects(schema):
        for key, value in properties.items() if path not in same else ():
            kind = described(value)[3] if path == SPLIT_BY_KIND else ""
            rows = found.setdefault(f"{path or TOP} {kind}".strip(), [])
            rows.append(row(path, key, value, required, notes, same))
    return {name: merged(rows) for name, rows in found.items()}


def read_notes(text):
    """`KEY: text` a line, `KEY: = text` in place of the schema's description; a line that begins with a blank goes on with the one
    before, lines with # are remarks."""
    notes, key = {}, None
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line[0] == " ":
            notes[key] += " " + line.strip()
        else:
            key, _, note = line.partition(": ")
            notes[key] = note.strip()
    return notes


def problems(pages, schema, notes):
    """Texts of what is wrong; pages are texts by name."""
    shown = [name for text in pages.values() for name in MARK.findall(text)]
    known = tables(schema, notes)
    keys = {f"{path}.{key}".lstrip(".") for path, properties, _ in objects(schema) for key in properties}
    yield from (f"no page shows the keys of {name}" for name in known if name not in shown)
    yield from (f"the keys of {name} are shown, which the schema does not have" for name in shown if name not in known)
    yield from (f"the keys of {name} are shown {shown.count(name)} times" for name in known if shown.count(name) > 1)
    yield from (f"notes.txt has {key}, which the schema does not have" for key in notes if key not in keys)
