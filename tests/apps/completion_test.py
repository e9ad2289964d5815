#!/usr/bin/env python3
"""Completions as shells give them: the script of bash is asked in bash, those of fish and zsh where these are installed.

usage: completion_test.py ORRERY EXAMPLES"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

# The line, its last word being typed, and words that must and must not be offered.
CASES = [
    (["orrery", "sim"], {"simulate"}, {"compare"}),
    (["orrery", "simulate", "--tr"], {"--trace", "--trace-ranks"}, {"--json"}),
    (["orrery", "simulate", "--emit", ""], {"megatron", "torchtitan"}, {"--json"}),
    (["orrery", "simulate", "x.json", "plan.tensor_p"], {"plan.tensor_parallel="}, {"plan.pipeline_parallel="}),
    (["orrery", "show", "llama3.1-"], {"llama3.1-8b"}, {"gpt3-175b"}),
    (["orrery", "completion", ""], {"bash", "zsh", "fish"}, set()),
    (["orrery", "simulate", "x.json", "--json", "-", "--only", "step_t"], {"step_time_s"}, {"mfu"}),
]
# bash takes = as a word of its own.
BASH_CASES = [
    (["orrery", "simulate", "x.json", "plan.recompute", "=", "sel"], {"selective"}, {"full"}),
    (["orrery", "simulate", "x.json", "cluster", "=", "dgx-h"], {"dgx-h100"}, {"dgx-a100-80gb"}),
]


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nexit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def offered_by_bash(script, words):
    line = " ".join(f"'{word}'" for word in words)
    # compopt works in a real completion alone.
    return run("bash", "--norc", "-c", f"compopt() {{ :; }}; source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _orrery; "
                                       'printf "%s\\n" "${COMPREPLY[@]}"')


def offered_by_fish(script, words):
    return run("fish", "--no-config", "-c", f"source {script}; complete -C '{' '.join(words)}'")


def check(shell, offered, cases):
    for words, wanted, unwanted in cases:
        found = {line.split("\t")[0] for line in offered(words).splitlines()}
        if not wanted <= found or unwanted & found:
            sys.exit(f"{shell}: {words}: offered {sorted(found)}, wanted {sorted(wanted)}, not {sorted(unwanted)}")


def main(program, _examples):
    with tempfile.TemporaryDirectory() as folder:
        scripts = {shell: pathlib.Path(folder) / f"orrery.{shell}" for shell in ("bash", "zsh", "fish")}
        for shell, script in scripts.items():
            script.write_text(run(program, "completion", shell), encoding="utf-8")
            if shutil.which(shell):
                run(shell, "-n", script)
        check("bash", lambda words: offered_by_bash(scripts["bash"], words), CASES + BASH_CASES)
        if shutil.which("fish"):
            check("fish", lambda words: offered_by_fish(scripts["fish"], words), CASES)
    print(f"{len(CASES) + len(BASH_CASES)} lines completed")


if __name__ == "__main__":
    main(*sys.argv[1:])
