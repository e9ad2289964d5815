#!/usr/bin/env python3
"""Checks who includes whom (docs/developers/architecture.md): every folder sees only what its row below allows, third-party
headers stay where they belong, no headers include each other in a circle, and the engine and the networks
keep words of deep learning out of their names. Exit status 1 on any breach.

usage: check_includes.py [ROOT]       check the sources below ROOT (default: this project)
       check_includes.py --self-test  plant every kind of breach in a copy and see that it is found
"""

import pathlib
import re
import sys
import tempfile

SOURCE_ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ANY = None

# Room: the rooms its files may include besides itself; a room is a folder, and a folder below one that has no row of its
# own. No two rooms reach each other.
FACE = ["include/orrery"]
TOPOLOGIES = ["topologies", "topologies/common", "topologies/nodes", "topologies/fabrics", "topologies/graphs", "topologies/regions",
              "topologies/gossip"]
WORKLOADS = ["workloads/collectives", "workloads/schedules", "workloads/communicators", "workloads/models", "workloads/parallel",
             "workloads/programs", "workloads/sync", "workloads/weights", "workloads/inference", "workloads/memory",
             "workloads/lowering"]
METRICS = ["sim/matching", "sim/cost", "sim/symmetry", "sim/tasks", "sim/metrics"]
STEP = ["sim/network", "sim/engine"] + METRICS + ["sim/step"]
SIM = STEP + ["sim/bounds", "sim/choices", "sim/claims", "sim/asynchronous", "sim/serving", "sim/long_run", "sim/run"]
CONFIG = ["config/text", "config/schema", "config/catalog", "config/experiment"]
IMPORTERS = ["importers/common", "importers/models", "importers/frameworks", "importers/serving", "importers/machines", "importers/simulators"]
REPORTS = ["reports", "reports/text", "reports/summary", "reports/result", "reports/trace", "reports/picture", "reports/chart", "reports/page"]
MAY_INCLUDE = {
    "include/orrery": [],
    "topologies/common": FACE,
    "topologies/nodes": FACE + ["topologies/common"],
    "topologies/fabrics": FACE + ["topologies/common"],
    "topologies/graphs": FACE + ["topologies/common"],
    "topologies/regions": FACE + ["topologies/common", "topologies/fabrics", "topologies/graphs"],
    "topologies": FACE + ["topologies/common", "topologies/nodes", "topologies/fabrics", "topologies/graphs", "topologies/regions"],
    "topologies/gossip": FACE,
    "workloads/collectives": FACE,
    "workloads/schedules": FACE,
    "workloads/communicators": FACE + ["workloads/schedules"],
    "workloads/models": FACE + ["workloads/communicators", "workloads/schedules"],
    "workloads/parallel": FACE + ["workloads/communicators", "workloads/models", "workloads/schedules"],
    "workloads/programs": FACE + ["workloads/communicators", "workloads/models", "workloads/schedules"],
    "workloads/sync": FACE + ["workloads/communicators", "workloads/models", "workloads/programs"],
    "workloads/weights": FACE + ["workloads/communicators", "workloads/models", "workloads/programs", "workloads/sync"],
    "workloads/inference": FACE + ["workloads/communicators", "workloads/models", "workloads/programs"],
    "workloads/memory": FACE + ["workloads/communicators", "workloads/models", "workloads/programs", "workloads/sync",
                                "workloads/weights", "workloads/inference"],
    "workloads/lowering": FACE + ["workloads/communicators", "workloads/models", "workloads/programs", "workloads/sync",
                                  "workloads/weights", "workloads/memory"],
    "sim/network": FACE,
    "sim/engine": FACE + ["sim/network"],
    "sim/matching": FACE,
    "sim/cost": FACE + ["sim/matching", "workloads/collectives"],
    "sim/symmetry": FACE + ["sim/matching", "sim/cost"],
    "sim/tasks": FACE + ["sim/matching", "sim/cost", "sim/symmetry"],
    "sim/metrics": FACE + ["sim/matching", "sim/cost", "sim/symmetry", "sim/tasks"],
    "sim/asynchronous": FACE + ["sim/network", "sim/cost", "sim/tasks", "sim/metrics"],
    "sim/serving": FACE,
    "sim/step": FACE + STEP + TOPOLOGIES + WORKLOADS,
    "sim/bounds": FACE + STEP + TOPOLOGIES + WORKLOADS,
    "sim/choices": FACE + STEP + ["sim/bounds"] + TOPOLOGIES + WORKLOADS,
    "sim/claims": FACE + STEP + TOPOLOGIES + WORKLOADS,
    "sim/long_run": FACE + WORKLOADS + ["sim/serving"],
    "sim/run": FACE + SIM + TOPOLOGIES + WORKLOADS,
    "config/text": FACE,
    "config/schema": FACE + ["config/text"] + TOPOLOGIES + WORKLOADS,
    "config/catalog": FACE + ["config/text", "config/schema"],
    "config/experiment": FACE + CONFIG + TOPOLOGIES + WORKLOADS,
    "importers/common": FACE + CONFIG,
    "importers/models": FACE + CONFIG + ["importers/common"],
    "importers/frameworks": FACE + CONFIG + ["importers/common"],
    "importers/serving": FACE + CONFIG + ["importers/common"],
    "importers/machines": FACE + CONFIG + ["importers/common"],
    "importers/simulators": FACE + CONFIG + ["importers/common"],
    "importers": FACE + CONFIG + IMPORTERS,
    "reports/text": FACE,
    "reports": FACE + METRICS + ["reports/text"],
    "reports/summary": FACE + METRICS + ["reports/text", "reports"],
    "reports/result": FACE + METRICS + ["reports/text", "reports", "reports/summary"],
    "reports/trace": FACE + METRICS + ["reports/text", "reports"],
    "reports/picture": FACE + METRICS + ["reports/text", "reports"],
    "reports/chart": FACE + METRICS + ["reports", "reports/picture"],
    "reports/page": FACE + METRICS + ["reports/text", "reports", "reports/summary", "reports/result", "reports/trace", "reports/picture", "reports/chart"],
    "planner/space": FACE + CONFIG,
    "planner/methods": FACE + CONFIG + SIM + TOPOLOGIES + WORKLOADS + ["planner/space"] + REPORTS,
    "planner/emit": FACE + CONFIG,
    "planner/sweep": FACE + CONFIG + ["planner/space", "planner/methods"] + REPORTS,
    "studies/converge": FACE + REPORTS + ["topologies/gossip"],
    "studies/capacity": FACE + ["reports/chart"],
    "studies/compare": FACE + CONFIG + REPORTS + ["planner/space", "sim/metrics", "sim/step", "sim/claims", "sim/run", "studies/converge", "studies/validate", "topologies/gossip"],
    "studies/explain/measured": FACE,
    "studies/explain": FACE + CONFIG + REPORTS + ["sim/cost", "sim/engine", "sim/metrics", "sim/run", "sim/step", "studies/explain/measured"],
    "studies/sensitivity": FACE + CONFIG + ["sim/run"],
    "studies/long_run": FACE + ["sim/long_run", "reports/chart", "reports/picture"],
    "studies/jobs": FACE + CONFIG + TOPOLOGIES + ["sim/network", "sim/serving", "sim/long_run"],
    "studies/elastic": FACE + CONFIG + ["reports/text", "reports/chart", "sim/run"] + TOPOLOGIES + WORKLOADS,
    "studies/post_training": FACE + CONFIG + ["sim/cost", "sim/metrics", "sim/run", "sim/serving", "sim/step"] + WORKLOADS,
    "studies/validate": FACE + CONFIG + REPORTS + ["sim/metrics", "sim/run"],
    "studies/calibrate": FACE + CONFIG + ["studies/validate"],
    "explore": [],  # filled in below: as apps, without them and studies
    "face": [],  # filled in below: everything but studies, apps, tests and bench
    "python": [],  # filled in below: everything but studies, apps, tests and bench
    "apps": [],  # filled in below: everything but python, tests and bench
    "tests": ANY,
    "bench": ANY,
}
OUTERMOST = ("python", "apps", "explore", "tests", "bench")
MAY_INCLUDE["face"] = [room for room in MAY_INCLUDE if room not in ("face", *OUTERMOST)
                       and not room.startswith(("studies", "planner"))]
MAY_INCLUDE["apps"] = [room for room in MAY_INCLUDE if room not in OUTERMOST]
MAY_INCLUDE["explore"] = [room for room in MAY_INCLUDE["apps"] if not room.startswith("studies")]
MAY_INCLUDE["python"] = MAY_INCLUDE["explore"] + [room for room in MAY_INCLUDE["apps"] if room.startswith("studies/explain")]
MAY_INCLUDE["apps"].append("explore")

# Third-party headers: where they may be included (beginning of the path, ending of the name).
# Headers not named here are the standard library's or small ones free to use outside include/orrery.
THIRD_PARTY = {
    "boost/": [("topologies/", ".cpp")],
    "nlohmann/": [("config/", ""), ("reports/", ".cpp"), ("reports/result/result_key", ".hpp"), ("importers/", ".cpp"), ("studies/", ".cpp"), ("planner/", ".cpp"), ("explore/", ".cpp"), ("planner/emit/export_report", ".hpp"), ("python/", ""), ("apps/", ""), ("tests/", "")],
    "httplib.h": [("explore/server", ".cpp")],
    "yaml-cpp/": [("config/", ".cpp"), ("importers/", ".cpp"), ("explore/", ".cpp"), ("tests/", "")],
    "expat.h": [("importers/machines/xml_tree", ".cpp")],
    "toml++/": [("importers/frameworks/toml_keys", ".cpp")],
    "csv.h": [("studies/validate/csv_text", ".cpp")],
    "nlopt": [("studies/calibrate/optimizer", ".cpp"), ("planner/methods/zeroth_order", ".cpp")],
    "Cbc_C_Interface.h": [("planner/methods/partition_ilp", ".cpp")],
    "Eigen/": [("studies/calibrate/identifiability", ".cpp"), ("studies/calibrate/joint_fit", ".cpp"), ("topologies/gossip/", ".cpp"), ("studies/converge/", ""),
               ("tests/studies/converge/", "")],
    "Spectra/": [("topologies/gossip/", ".cpp")],
    "pybind11/": [("python/", "")],
    "sqlite3.h": [("planner/sweep/database", ".cpp"), ("studies/explain/measured/nsys_", ".cpp"),
                  ("tests/studies/explain/", "")],
    "CLI/": [("apps/", ""), ("tests/", "")],
    "doctest/": [("tests/", "")],
    "benchmark/": [("bench/", "")],
}

# Words that identifiers of the engine and the networks must not contain.
BLIND_ROOMS = ("sim/engine", "sim/network")
FOREIGN_WORDS = {"layer", "layers", "pipeline", "pipelines", "model", "models", "transformer", "attention",
                 "tensor", "json", "yaml"}
ALLOWED_PHRASES = ("NetworkModel", "network_model")

INCLUDE = re.compile(r'^\s*#\s*include\s*(<([^>]+)>|"([^"]+)")', re.MULTILINE)
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
TYPE = re.compile(r"^(?:struct|class|enum class) (\w+)(?: final)?(?: : [^;{]*)?\s*\{", re.MULTILINE)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def blank(match):
    return "\n" * match.group(0).count("\n") or " "


def line_of(text, position):
    return text.count("\n", 0, position) + 1


class Project:
    """The C++ files below a root, what they include, and what is wrong with that."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.problems = []
        self.includes = {}  # path -> [(included path, line)]
        tops = sorted({room.split("/")[0] for room in MAY_INCLUDE} | {"sim"})
        self.files = {}
        for top in tops:
            for path in sorted((self.root / top).rglob("*")):
                if path.suffix in (".hpp", ".cpp", ".h"):
                    self.files[path.relative_to(self.root).as_posix()] = path.read_text(encoding="utf-8")

    def check(self):
        for path, text in self.files.items():
            self.check_file(path, text)
        self.check_cycles()
        self.check_knots()
        self.check_types()
        return self.problems

    def fail(self, path, line, message):
        self.problems.append(f"{path}:{line}: {message}")

    def room(self, path):
        rooms = [room for room in MAY_INCLUDE if path.startswith(room + "/")]
        return max(rooms, key=len, default=None)

    def check_file(self, path, text):
        room = self.room(path)
        if room is None:
            self.fail(path, 1, f"lies in no room of {pathlib.Path(__file__).name}; add its folder there")
            return
        code = COMMENT.sub(lambda match: match.group(1) or blank(match), text)
        self.includes[path] = []
        for match in INCLUDE.finditer(code):
            line = line_of(code, match.start(1))
            if match.group(2):
                self.check_library(path, room, match.group(2), line)
            else:
                self.check_own(path, room, match.group(3), line)
        if room in BLIND_ROOMS:
            self.check_words(path, text)

    def check_library(self, path, room, header, line):
        if room == "include/orrery" and not re.fullmatch(r"[a-z_0-9]+", header):
            self.fail(path, line, f"<{header}>: public headers include the standard library only")
        for prefix, places in THIRD_PARTY.items():
            if not header.startswith(prefix):
                continue
            if not any(path.startswith(start) and path.endswith(end) for start, end in places):
                allowed = ", ".join(f"{start}*{end}" for start, end in places)
                self.fail(path, line, f"<{header}> may be included from {allowed} only")

    def check_own(self, path, room, header, line):
        target = self.resolve(path, header)
        if target is None:
            self.fail(path, line, f'"{header}" is no file of this project (libraries go in <>)')
            return
        self.includes[path].append((target, line))
        other = self.room(target)
        allowed = MAY_INCLUDE[room]
        if room != other and allowed is not ANY and other not in allowed:
            allowed_text = ", ".join(allowed) or "no other"
            self.fail(path, line, f'"{header}": {room} may not include {other} (it may: {allowed_text})')

    def resolve(self, path, header):
        """The file meant, seen from the includer's folder, those above it, or include/."""
        above = path.split("/")[:-1]
        folders = ["/".join(above[:depth]) + "/" for depth in range(len(above), 0, -1)]
        for folder in (*folders, "", "include/"):
            parts = []
            for part in (folder + header).split("/"):
                if part == "..":
                    parts = parts[:-1]
                elif part not in ("", "."):
                    parts.append(part)
            if "/".join(parts) in self.files:
                return "/".join(parts)
        return None

    def check_words(self, path, text):
        code = COMMENT_OR_STRING.sub(blank, text)
        for phrase in ALLOWED_PHRASES:
            code = code.replace(phrase, " ")
        for match in WORD.finditer(code):
            if match.group(0).lower() in FOREIGN_WORDS:
                self.fail(path, line_of(code, match.start()), f"'{match.group(0)}' is a word this room must not know")

    def check_types(self):
        """Types of one name in two headers would be one type to the linker (the one-definition rule)."""
        places = {}
        for path, text in self.files.items():
            if path.endswith(".hpp") and self.room(path) not in OUTERMOST:
                for match in TYPE.finditer(text):
                    places.setdefault(match.group(1), []).append((path, line_of(text, match.start())))
        for name, found in places.items():
            for path, line in found[1:]:
                self.fail(path, line, f"defines {name}, which {found[0][0]} defines too")

    def check_cycles(self):
        done, open_files = set(), []

        def visit(path):
            if path in open_files:
                circle = open_files[open_files.index(path):] + [path]
                self.fail(path, 1, "headers include each other: " + " -> ".join(circle))
                return
            if path in done:
                return
            open_files.append(path)
            for target, _ in self.includes.get(path, []):
                visit(target)
            open_files.pop()
            done.add(path)

        for path in self.files:
            visit(path)


    def check_knots(self):
        """Folders that reach each other cannot be read one after the other."""
        sees = {}
        for path, includes in self.includes.items():
            folder = path.rpartition("/")[0]
            sees.setdefault(folder, {})
            for target, line in includes:
                other = target.rpartition("/")[0]
                if other != folder:
                    sees[folder].setdefault(other, (path, line))
        reach = {folder: self.reached(folder, sees) for folder in sees}
        for folder, others in sees.items():
            for other, (path, line) in others.items():
                if not folder.startswith(OUTERMOST) and folder in reach.get(other, ()):
                    self.fail(path, line, f"{folder} and {other} reach each other")

    @staticmethod
    def reached(folder, sees):
        found, left = set(), [folder]
        while left:
            for other in sees.get(left.pop(), {}):
                if other not in found:
                    found.add(other)
                    left.append(other)
        return found


# Self-test: a small sound project, and files that each break one rule; the second text must be reported.
SOUND = {
    "include/orrery/ids.hpp": "#include <cstdint>\n",
    "include/orrery/plan.hpp": '#include "orrery/ids.hpp"\n#include <vector>\n',
    "topologies/ring.hpp": '#include "orrery/ids.hpp"\n',
    "topologies/ring.cpp": '#include "topologies/ring.hpp"\n#include <boost/graph/adjacency_list.hpp>\n',
    "workloads/parallel/tensor.hpp": '#include "orrery/plan.hpp"\n#include "workloads/schedules/order.hpp"\n',
    "workloads/schedules/order.hpp": '#include "orrery/ids.hpp"\n',
    "workloads/collectives/ring.hpp": '#include "orrery/ids.hpp"\n',
    "sim/network/network_model.hpp": '#include "orrery/ids.hpp"\nclass NetworkModel {};\n',
    "sim/engine/engine.hpp": '#include "sim/network/network_model.hpp"\n// a layer\nconst char* s = "pipeline";\n',
    "sim/cost/cost.hpp": '#include "workloads/collectives/ring.hpp"\n',
    "sim/tasks/expand.hpp": '#include "sim/cost/cost.hpp"\n',
    "sim/metrics/report.hpp": '#include "sim/tasks/expand.hpp"\n',
    "config/text/read.cpp": '#include <nlohmann/json.hpp>\n#include "orrery/plan.hpp"\n',
    "sim/run/run.hpp": '#include "sim/metrics/report.hpp"\n#include "topologies/ring.hpp"\n',
    "studies/validate/validate.cpp": '#include "sim/run/run.hpp"\n#include <nlohmann/json.hpp>\n',
    "studies/validate/csv_text.cpp": "#include <csv.h>\n",
    "studies/calibrate/optimizer.cpp": '#include "studies/validate/validate.hpp"\n#include <nlopt.hpp>\n',
    "studies/calibrate/identifiability.cpp": "#include <Eigen/SVD>\n",
    "studies/validate/validate.hpp": '#include "orrery/plan.hpp"\n',
    "face/read.cpp": '#include "config/text/read.hpp"\n#include "sim/run/run.hpp"\n',
    "config/text/read.hpp": '#include "orrery/plan.hpp"\n',
    "apps/main.cpp": '#include "sim/run/run.hpp"\n// #include "apps/none.hpp"\n',
    "tests/config/read.cpp": '#include <doctest/doctest.h>\n#include <nlohmann/json.hpp>\n',
}
BREACHES = [
    ("include/orrery/bad.hpp", "#include <nlohmann/json.hpp>\n", "standard library only"),
    ("include/orrery/bad.hpp", "#include <boost/graph/graph_traits.hpp>\n", "standard library only"),
    ("include/orrery/bad.hpp", '#include "topologies/ring.hpp"\n', "may not include topologies"),
    ("topologies/bad.hpp", "#include <boost/graph/graph_traits.hpp>\n", "may be included from topologies/*.cpp"),
    ("topologies/bad.cpp", '#include "workloads/parallel/tensor.hpp"\n', "may not include workloads"),
    ("workloads/sync/bad.cpp", '#include "topologies/ring.hpp"\n', "may not include topologies"),
    ("workloads/communicators/bad.cpp", '#include "workloads/parallel/tensor.hpp"\n', "may not include workloads/parallel"),
    ("workloads/collectives/bad.cpp", '#include "workloads/parallel/tensor.hpp"\n', "may not include workloads"),
    ("sim/engine/bad.cpp", '#include "sim/cost/cost.hpp"\n', "may not include sim/cost"),
    ("sim/engine/bad.cpp", "#include <nlohmann/json.hpp>\n", "may be included from config/"),
    ("sim/engine/bad.cpp", "int layer_count = 0;\n", "'layer' is a word"),
    ("sim/engine/bad.cpp", "struct GpuModel {};\n", "'Model' is a word"),
    ("sim/network/bad.cpp", "int pipelineDepth = 0;\n", "'pipeline' is a word"),
    ("sim/network/bad.cpp", '#include "sim/engine/engine.hpp"\n', "may not include sim/engine"),
    ("sim/cost/bad.cpp", '#include "workloads/parallel/tensor.hpp"\n', "may not include workloads"),
    ("sim/tasks/bad.cpp", '#include "sim/engine/engine.hpp"\n', "may not include sim/engine"),
    ("sim/metrics/bad.cpp", '#include "sim/run/run.hpp"\n', "may not include sim/run"),
    ("sim/metrics/bad.cpp", "#include <nlohmann/json.hpp>\n", "may be included from config/"),
    ("reports/bad.hpp", "#include <nlohmann/json.hpp>\n", "may be included from config/"),
    ("reports/bad.cpp", '#include "sim/run/run.hpp"\n', "may not include sim/run"),
    ("config/text/bad.cpp", '#include "sim/metrics/report.hpp"\n', "may not include sim/metrics"),
    ("sim/run/bad.cpp", '#include "apps/app.hpp"\n', "may not include apps"),
    ("face/bad.cpp", '#include "studies/validate/validate.hpp"\n', "may not include studies/validate"),
    ("reports/bad.cpp", '#include "face/read.hpp"\n', "may not include face"),
    ("config/text/bad.cpp", "#include <csv.h>\n", "may be included from studies/validate/csv_text*.cpp"),
    ("studies/validate/bad.cpp", '#include "sim/tasks/expand.hpp"\n', "may not include sim/tasks"),
    ("studies/validate/bad.cpp", "#include <nlopt.hpp>\n", "may be included from studies/calibrate/optimizer*.cpp"),
    ("studies/calibrate/bad.cpp", "#include <Eigen/SVD>\n", "included from studies/calibrate/identifiability*.cpp"),
    ("studies/calibrate/bad.cpp", '#include "sim/run/run.hpp"\n', "may not include sim/run"),
    ("apps/bad.cpp", '#include "apps/none.hpp"\n', "no file of this project"),
    ("apps/bad.cpp", '#include "tests/helper.hpp"\n', "may not include tests"),
    ("sim/nowhere/bad.cpp", "\n", "lies in no room"),
    ("reports/bad.hpp", "struct Twice {\n};\nclass Twice final {\n};\n", "defines Twice, which reports/bad.hpp defines too"),
    ("topologies/bad.hpp", '#include "topologies/worse.hpp"\n', "headers include each other"),
    ("planner/methods/deep/bad.cpp", '#include "planner/methods/shallow.hpp"\n', "reach each other"),
]


def problems_of(files):
    return problems_of_project(files, lambda root: Project(root).check())


def problems_of_project(files, check):
    """Returns the findings of `check` in a project of these files, which it gets as a folder."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = pathlib.Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return check(folder)


def self_test():
    extra = {"apps/app.hpp": "\n", "tests/helper.hpp": "\n", "face/read.hpp": "\n", "topologies/worse.hpp": '#include "topologies/bad.hpp"\n',
             "planner/methods/shallow.hpp": '#include "planner/methods/deep/deep.hpp"\n'}
    failures = [f"sound project: {problem}" for problem in problems_of(SOUND)]
    for path, text, expected in BREACHES:
        helpers = {name: body for name, body in extra.items() if name in text}
        if "deep/" in path:
            helpers["planner/methods/deep/deep.hpp"] = "\n"
        found = problems_of({**SOUND, **helpers, path: text})
        if not any(expected in problem for problem in found):
            failures.append(f"not found: '{expected}' for {path}: {text.strip()} (found: {found})")
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"include rules, self-test: {len(BREACHES)} breaches, {len(failures)} problems")
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    project = Project(arguments[0] if arguments else SOURCE_ROOT)
    problems = project.check()
    for problem in problems:
        print(problem, file=sys.stderr)
    if not project.files:
        print("include rules: no sources found", file=sys.stderr)
        return 1
    print(f"include rules: {len(project.files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
