#!/usr/bin/env python3
"""Collects the shell commands that README.md and docs/*.md promise to work: the ```sh blocks that follow a
line `<!-- ci -->`, blank lines between allowed. usage: documented_commands.py OUTPUT"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = "<!-- ci -->"


def marked_blocks(path):
    """(line, commands) of each marked block; a mark without a block after it is an error."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        if line.strip() != MARK:
            continue
        start = number + 1
        while start < len(lines) and not lines[start].strip():
            start += 1
        if start == len(lines) or lines[start].strip() not in ("```sh", "```bash"):
            sys.exit(f"{path}:{number + 1}: {MARK} is not followed by a ```sh block")
        end = start + 1
        while end < len(lines) and lines[end].strip() != "```":
            end += 1
        if end == len(lines):
            sys.exit(f"{path}:{start + 1}: block is not closed")
        yield start + 2, [command for command in lines[start + 1:end]]


def main(output):
    text = ""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        if path.exists():
            for line, commands in marked_blocks(path):
                text += f"# {path.relative_to(ROOT)}:{line}\n" + "\n".join(commands) + "\n"
    pathlib.Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
