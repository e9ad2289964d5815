#!/usr/bin/env python3
"""Checks limit cases whose answer an expert knows without a simulator: monotony, closed forms, published bests.

usage: limits_test.py ORRERY           runs all cases; exit status 1 where one does not hold, or a known fault is mended
       limits_test.py --table [ORRERY]  prints them as Markdown with the figures found
       limits_test.py --self-test       shows that wrong figures are told

Cases lie in cases/*.toml, a file a section with `title` and `text`. A case has

  question   in plain English
  base       the experiment as tables; `[bases.NAME]` of the file names one that several cases start from
  vary, x    a key and its values, a run each; or lists of keys and of their values, a run each combination; or
  runs, x    changes to the base, a table a run, and a label each
  figure     dotted key of the result, y of each run; in the table it is `times` as much of `y_is`, by `x_is`
  holds      a Python expression of x, y, of("another.figure") and the helpers below, true where the case holds
  why        what must hold, and the reason or the source, a sentence
  known      why it does not hold today; the test then demands that it still does not
"""

import functools
import glob
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
SLACK = 1e-9  # relative; times are whole picoseconds, and sums of doubles round
UNITS = {"step_time_s": ("ms", 1e3), "tpot_s": ("ms a token", 1e3), "ttft_s": ("ms to the first token", 1e3), "mfu": ("MFU", 1),
         "hfu": ("HFU", 1), "memory.peak_gb": ("GB", 1), "pipeline_bubble_fraction": ("bubble", 1),
         "output_tokens_per_s": ("tokens/s", 1), "tokens_per_s": ("tokens/s", 1)}


def falls(values):
    return all(after <= before * (1 + SLACK) for before, after in zip(values, values[1:]))


def rises(values):
    return falls(values[::-1])


def near(values, expected, within=SLACK):
    return len(values) == len(expected) and all(abs(v - e) <= within * max(abs(e), 1e-12) for v, e in zip(values, expected))


def same(values, within=SLACK):
    return near(values, [values[0]] * len(values), within)


HELPERS = {"falls": falls, "rises": rises, "near": near, "same": same}


# Experiments.

def merged(base, changes):
    """The base with the changes; a part that is a name becomes an object based on it."""
    if not isinstance(changes, dict):
        return changes
    if isinstance(base, str):
        base = {"base": base}
    result = dict(base or {})
    for key, value in changes.items():
        result[key] = merged(result.get(key), value)
    return result


def nested(dotted, value):
    for key in reversed(dotted.split(".")):
        value = {key: value}
    return value


def experiments_of(case, bases):
    base = merged(bases.get(case.get("from"), {}), case.get("base", {}))
    return [merged(base, change) for change in changes_of(case)]


def changes_of(case):
    if "runs" in case:
        if len(case["runs"]) != len(case["x"]):
            raise ValueError(f'{case["question"]}: {len(case["runs"])} runs and {len(case["x"])} labels')
        return case["runs"]
    if isinstance(case["vary"], str):
        return [nested(case["vary"], value) for value in case["x"]]
    return [functools.reduce(merged, map(nested, case["vary"], values), {}) for values in itertools.product(*case["x"])]


def labels_of(case):
    """The values of x; of several keys all combinations, the last key's values in turn."""
    if isinstance(case.get("vary"), list):
        return [" ".join(map(str, values)) for values in itertools.product(*case["x"])]
    return [written(value) for value in case["x"]]


def figures_of(case):
    return [case["figure"], *re.findall(r'of\("([^"]+)"\)', case["holds"])]


def value_at(answer, dotted):
    for key in dotted.split("."):
        answer = answer[int(key)] if isinstance(answer, list) else answer[key]
    return answer


def read_sections(folder):
    sections = []
    for path in sorted(glob.glob(str(folder / "*.toml"))):
        sections.append(tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8")))
    return sections


def simulate(orrery, experiments, figures):
    """Answers in order; each distinct experiment runs once."""
    lines = [json.dumps(experiment, sort_keys=True) for experiment in experiments]
    distinct = list(dict.fromkeys(lines))
    command = [orrery, "simulate", "--batch", "--threads", str(min(4, os.cpu_count() or 1)), "--only", ",".join(sorted(figures))]
    done = subprocess.run(command, input="\n".join(distinct), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    answers = dict(zip(distinct, map(json.loads, done.stdout.splitlines()), strict=True))
    return [answers[line] for line in lines]


# Verdicts.

class Verdict:
    """A case with the figures found: y, whether it holds, and the error of a run that was refused."""

    def __init__(self, case, answers):
        self.case, self.y, self.holds, self.error = case, [], False, ""
        wrong = [answer["error"] for answer in answers if "error" in answer]
        if wrong:
            self.error = f'{wrong[0]["pointer"]}: {wrong[0]["message"]}'
            return

        def of(dotted):
            return [value_at(answer, dotted) for answer in answers]

        self.y = of(case["figure"])
        expression = " ".join(case["holds"].split())
        self.holds = bool(eval(expression, {**HELPERS, "x": case["x"], "y": self.y, "of": of}))  # noqa: S307: our own file

    def problem(self):
        """Why the test fails on this case; empty where it does not."""
        if self.error:
            return f"is refused: {self.error}"
        if self.holds and "known" in self.case:
            return f"holds now: strike `known` ({self.case['known']}); found {self.y}"
        if not self.holds and "known" not in self.case:
            return f'does not hold: {self.case["holds"]}; x {self.case["x"]}, y {self.y}'
        return ""


def verdicts(orrery, sections):
    """Lists of verdicts, one a section; all cases run in one batch."""
    cases = [(case, experiments_of(case, section.get("bases", {}))) for section in sections for case in section["case"]]
    figures = {re.sub(r"\.\d+(\..*)?$", "", figure) for case, _ in cases for figure in figures_of(case)}
    answers = iter(simulate(orrery, [e for _, experiments in cases for e in experiments], figures))
    found = iter([Verdict(case, [next(answers) for _ in experiments]) for case, experiments in cases])
    return [[next(found) for _ in section["case"]] for section in sections]


# Output.

def written(value):
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def found_text(verdict):
    case = verdict.case
    unit, factor = UNITS.get(case["figure"], (case["figure"].split(".")[-1].replace("_", " "), 1))
    unit, factor = case.get("y_is", unit), case.get("times", factor)
    scaled = [y if y is None or isinstance(y, bool) else y * factor for y in verdict.y]
    pairs = ", ".join(f"{x}: {written(y)}" for x, y in zip(labels_of(case), scaled))
    by = f' by {case["x_is"]}' if "x_is" in case else ""
    return f"{unit}{by}: {pairs}"


def print_table(sections, lists):
    for section, found in zip(sections, lists):
        print(f'## {section["title"]}\n\n{section["text"].strip()}\n')
        print("| question | found | what must hold, and why |\n|---|---|---|")
        for verdict in found:
            known = f' **It does not hold:** {verdict.case["known"]}' if "known" in verdict.case else ""
            cells = (verdict.case["question"], found_text(verdict), verdict.case["why"] + known)
            print("| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |")
        print()


def summary(lists):
    every = [verdict for found in lists for verdict in found]
    known = sum("known" in verdict.case for verdict in every)
    return f"{len(every)} cases: {len(every) - known} hold, {known} are known not to"


def check(orrery):
    sections = read_sections(HERE / "cases")
    lists = verdicts(orrery, sections)
    problems = [f'{verdict.case["question"]} {problem}' for found in lists for verdict in found if (problem := verdict.problem())]
    print("\n".join([*problems, summary(lists)]))
    return 1 if problems else 0


def self_test():
    case = {"question": "?", "x": [1, 2], "figure": "a.b", "holds": "falls(y)", "why": ""}
    slower, faster = ({"a": {"b": 2.0}}, {"a": {"b": 3.0}}), ({"a": {"b": 3.0}}, {"a": {"b": 2.0}})
    known = {**case, "known": "a reason"}
    told = [Verdict(case, slower).problem(), Verdict(known, faster).problem(), Verdict(case, [{"error": {"pointer": "/a", "message": "b"}}]).problem()]
    quiet = [Verdict(case, faster).problem(), Verdict(known, slower).problem()]
    assert all(told) and not any(quiet), (told, quiet)
    assert merged({"cluster": "dgx-1"}, {"cluster": {"nodes": 2}}) == {"cluster": {"base": "dgx-1", "nodes": 2}}
    assert falls([2, 2, 1]) and not falls([1, 2]) and same([1, 1]) and not near([1.1], [1], 0.05)
    return 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if arguments[:1] == ["--table"]:
        sections = read_sections(HERE / "cases")
        lists = verdicts((arguments[1:] or ["orrery"])[0], sections)
        print(summary(lists) + ".\n")
        print_table(sections, lists)
        return 0
    if len(arguments) != 1:
        sys.exit(__doc__)
    return check(arguments[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
