#!/usr/bin/env python3
"""Checks that every header of the project includes, itself or through others of the project, a standard header that
declares each name of the standard library that it uses. scripts/check-headers lets the compiler see to all other names.
Exit status 1 on any breach.

usage: check_standard_names.py [ROOT]       check the headers below ROOT (default: this project)
       check_standard_names.py --self-test  plant breaches and see that they are found
"""

import re
import sys

from check_includes import COMMENT_OR_STRING, Project, SOURCE_ROOT, blank, line_of, problems_of_project

# Standard header: names of namespace std that it declares, of those that headers use.
PROVIDES = {
    "algorithm": "any_of count find max min partition_point ranges::any_of ranges::equal ranges::find ranges::find_if ranges::max "
                 "ranges::max_element ranges::min_element ranges::nth_element ranges::stable_sort stable_sort",
    "array": "array",
    "atomic": "atomic",
    "bit": "bit_cast bit_width countr_zero endian",
    "charconv": "errc from_chars to_chars",
    "chrono": "chrono::milliseconds chrono::steady_clock",
    "cmath": "abs exp llround log1p sqrt",
    "concepts": "floating_point integral same_as",
    "condition_variable": "condition_variable condition_variable_any",
    "cstddef": "nullptr_t ptrdiff_t size_t",
    "cstdint": "int32_t int64_t uint16_t uint32_t uint64_t uint8_t uintptr_t",
    "cstdlib": "free malloc strtod",
    "cstring": "memcpy",
    "deque": "deque erase erase_if",
    "exception": "exception_ptr",
    "filesystem": "filesystem::create_directories filesystem::directory_iterator filesystem::path filesystem::remove_all filesystem::temp_directory_path",
    "fstream": "ifstream ios istreambuf_iterator ofstream",
    "functional": "function greater invoke less",
    "initializer_list": "initializer_list",
    "iterator": "back_inserter distance istreambuf_iterator prev ssize",
    "limits": "numeric_limits",
    "list": "list",
    "map": "erase_if map",
    "memory": "make_shared shared_ptr static_pointer_cast unique_ptr",
    "mutex": "lock_guard mutex once_flag",
    "numeric": "accumulate iota",
    "optional": "nullopt optional",
    "queue": "priority_queue",
    "random": "mt19937 mt19937_64 uniform_int_distribution",
    "set": "set",
    "span": "span",
    "stdexcept": "invalid_argument overflow_error runtime_error",
    "stop_token": "stop_token",
    "streambuf": "streambuf",
    "string": "erase stod stoul string to_string",
    "string_view": "string_view",
    "thread": "jthread thread",
    "tuple": "apply make_tuple tie tuple",
    "type_traits": "is_convertible_v is_enum_v is_integral_v is_member_object_pointer_v is_same_v remove_reference_t",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": "as_const forward move pair swap",
    "variant": "holds_alternative monostate variant visit",
    "vector": "erase erase_if ssize vector",
}
# Containers declare sizes and what the iterators of every container share (and <map> its pair), by the standard.
ALSO = {
    "size_t": "array bit cstdlib cstring deque functional initializer_list list map memory set span string string_view "
              "tuple unordered_map unordered_set vector",
    "pair": "map unordered_map tuple",
    "move": "algorithm map memory string vector",
    "initializer_list": "array deque list map optional set string unordered_map unordered_set utility vector",
    "ssize": "array deque list map set span string string_view",
    "less": "map set",
    "tuple": "map",
    "swap": "algorithm",
}

STANDARD_NAME = re.compile(r"(?<![\w:])std::((?:ranges::|views::|chrono::|filesystem::|numbers::|this_thread::)?\w+)")
ANGLED = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)


def providers():
    table = {}
    for header, names in PROVIDES.items():
        for name in names.split():
            table.setdefault(name, set()).add(header)
    for name, headers in ALSO.items():
        table[name].update(headers.split())
    return table


class StandardNames:
    """The standard headers that each header of a project reaches, and the names that it uses without."""

    def __init__(self, project):
        self.project, self.reached, self.table = project, {}, providers()

    def reach(self, path):
        if path not in self.reached:
            own = set(ANGLED.findall(self.project.files[path]))
            for target, _ in self.project.includes.get(path, []):
                own |= self.reach(target)
            self.reached[path] = own
        return self.reached[path]

    def problems(self):
        for path in self.project.files:
            if path.endswith(".hpp"):
                yield from self.problems_of(path)

    def problems_of(self, path):
        code = COMMENT_OR_STRING.sub(blank, self.project.files[path])
        seen = set()
        for match in STANDARD_NAME.finditer(code):
            name = match.group(1)
            if name in seen:
                continue
            seen.add(name)
            where = f"{path}:{line_of(code, match.start())}: std::{name}"
            if name not in self.table:
                yield f"{where} is not in the table of check_standard_names.py; add it to the header that declares it"
            elif not self.table[name] & self.reach(path):
                yield f"{where} needs one of " + ", ".join(f"<{header}>" for header in sorted(self.table[name]))


def check(root):
    project = Project(root)
    project.check()
    return project, list(StandardNames(project).problems())


def self_test():
    expected = {
        "#include <vector>\nstd::vector<int> a;\n": None,
        '#include "orrery/ids.hpp"\nstd::int64_t a;\n': None,
        "// std::map\n": None,
        "std::vector<int> a;\n": "needs one of <vector>",
        "#include <vector>\nstd::string a;\n": "needs one of <string>",
        "#include <utility>\nstd::unheard_of a;\n": "is not in the table",
    }
    failures = []
    for text, problem in expected.items():
        files = {"include/orrery/ids.hpp": "#include <cstdint>\n", "sim/run/planted.hpp": text}
        found = problems_of_project(files, lambda root: check(root)[1])
        if problem is None and found or problem is not None and not any(problem in line for line in found):
            failures.append(f"{text!r}: expected {problem}, found {found}")
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"standard names, self-test: {len(expected)} headers, {len(failures)} problems")
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    project, problems = check(arguments[0] if arguments else SOURCE_ROOT)
    for problem in problems:
        print(problem, file=sys.stderr)
    headers = sum(path.endswith(".hpp") for path in project.files)
    print(f"standard names: {headers} headers, {len(problems)} problems")
    return 1 if problems or not headers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
