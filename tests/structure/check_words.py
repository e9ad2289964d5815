#!/usr/bin/env python3
"""Checks that no comment in C++ files begins with a word that stands for a missing subject or verb, such as "What a rank
holds." or "Of all stages.". A newcomer cannot read such comments without the code. Exit status 1 on any breach.

usage: check_words.py [ROOT]       check the sources below ROOT (default: this project)
       check_words.py --self-test  plant breaches and see that they are found
"""

import re
import sys

from check_includes import Project, SOURCE_ROOT, line_of, problems_of_project

# Opening: a better one.
OPENINGS = {
    "What": '"Returns the ...", "Holds the ..." or "Describes the ..."',
    "Of": "the quantity itself, such as \"Returns the bytes of ...\"",
    "Whether": '"Returns true if ..."',
    "The same": "the difference to the comment before, such as \"Returns the sum over all links.\"",
    "Those": "the things themselves, such as \"Returns the ranks that ...\"",
    "So many": "the parameter's name, such as \"Adds `count` ...\"",
    "So much": "the parameter's name, such as \"Adds `bytes` ...\"",
    "As many": 'a sentence, such as "Returns as many ... as ..."',
    "As much": 'a sentence, such as "Returns as much ... as ..."',
    "How many": '"Returns the number of ..." or "Counts the ..."',
    "How much": '"Returns the share of ..." or a sentence with the quantity',
    "Whom": "the rank, worker or replica, such as \"Returns the worker that ...\"",
}
CANDIDATE = re.compile(r"(?://[/!<]*|/\*+)[ \t]*(" + "|".join(OPENINGS).replace(" ", "[ ]") + r")\b")
TOKEN = re.compile(r'R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/',
                   re.DOTALL)
LINE_COMMENT = re.compile(r"//[/!<]*")


def begins_comment(text, position):
    """True if a comment begins at `position`: it lies in no string, and no comment of the line above goes on there."""
    starts = (match.start() for match in TOKEN.finditer(text))
    if next((start for start in starts if start >= position), None) != position:
        return False
    line_begin = text.rfind("\n", 0, position) + 1
    if text[line_begin:position].strip() or text.startswith("/*", position):
        return True
    column = position - line_begin
    above = text[text.rfind("\n", 0, max(line_begin - 1, 0)) + 1:max(line_begin - 1, 0)]
    return not LINE_COMMENT.match(above, column)


def problems_of_text(path, text):
    for match in CANDIDATE.finditer(text):
        if begins_comment(text, match.start()):
            comment = text[match.start():].partition("\n")[0].rstrip()
            opening = match.group(1)
            yield (f'{path}:{line_of(text, match.start())}: "{comment}" begins with "{opening}"; wanted: a sentence with subject and '
                   f"verb, with {OPENINGS[opening]}")


def check(root):
    project = Project(root)
    return project, [problem for path, text in project.files.items() for problem in problems_of_text(path, text)]


def self_test():
    expected = {
        "// Returns the bytes of a rank.\nint a;\n": 0,
        "/// What a rank holds.\nint a;\n": 1,
        "  /// Of all stages.\n  int a;\n": 1,
        "int a;  ///< Whether it fits\n": 1,
        "int a;  // The same of a stage\n": 1,
        "/* Those of a stage. */\nint a;\n": 1,
        "/// So many ranks.\nint a;\n/// As many stages.\nint b;\n": 2,
        "// How many there are.\n#pragma once\n": 1,
        "// Bytes that a rank sends, of 4 ranks\n// Of the others nothing is known.\nint a;\n": 0,
        "int a;  ///< bytes of a rank\n        ///< Of the others nothing is known.\n": 0,
        "int a;\n// Of two the first.\nint b;\n": 1,
        "// Whatever the method. Offers two.\nint a;\n": 0,
        'const char* a = "// What";\nconst char* b = R"(\n// What "is" it\n)";\n': 0,
        "constexpr int kBig = 1'000'000;\n// What it holds.\nint a = 2'000;\n": 1,
    }
    failures = []
    for text, count in expected.items():
        found = problems_of_project({"sim/run/planted.hpp": text}, lambda root: check(root)[1])
        if len(found) != count:
            failures.append(f"{text!r}: expected {count} problems, found {found}")
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"words of comments, self-test: {len(expected)} files, {len(failures)} problems")
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    project, problems = check(arguments[0] if arguments else SOURCE_ROOT)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"words of comments: {len(project.files)} files, {len(problems)} problems")
    return 1 if problems or not project.files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
