#!/usr/bin/env python3
"""Makes the Debian packages of a build and uses them in clean roots. The program runs in a folder that holds nothing but its
package and the libraries of the packages that it depends on; its manual pages and completions are where the shells look
for them. A program outside is built against orrery-dev with CMake and with pkg-config.

usage: package_test.py CMAKE BUILD COMPILER     exit status 77: dpkg-deb is missing"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = 77
COMPLETIONS = ("usr/share/bash-completion/completions/orrery", "usr/share/zsh/vendor-completions/_orrery",
               "usr/share/fish/vendor_completions.d/orrery.fish")
EXAMPLE = "usr/share/doc/orrery/examples/pipeline-1f1b.json"


def run(*command, **options):
    """Standard output of a command that must succeed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nexit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def require(condition, message):
    if not condition:
        sys.exit(message)


def make_packages(cmake, build, folder):
    """The .deb files, by name of their package."""
    run(pathlib.Path(cmake).parent / "cpack", "-G", "DEB", "-B", folder, cwd=build)
    debs = {deb.name.split("_")[0]: deb for deb in folder.glob("*.deb")}
    require(set(debs) == {"orrery", "orrery-dev"}, f"packages: {sorted(debs)}")
    return debs


def names_of(depends):
    """The packages of a Depends field, the first of alternatives."""
    return [re.split(r"[ :|]", name.strip())[0] for name in depends.split(",") if name.strip()]


def libraries_for(package):
    """Shared libraries and the loader out of all packages that a .deb depends on, and what these depend on."""
    waiting, seen, files = names_of(run("dpkg-deb", "--field", package, "Depends")), set(), set()
    require(waiting, "the program depends on no package")
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        waiting += names_of(run("dpkg-query", "--show", "--showformat=${Depends}", name))
        listed = run("dpkg-query", "--listfiles", name).splitlines()
        files.update(path for path in listed if re.search(r"\.so(\.|$)", path) and not os.path.isdir(path))
    return files


def links_to(files):
    """The links that the packages' own scripts make, as of alternatives: names of libraries that lie in one of `files`."""
    known = {os.path.realpath(path) for path in files}
    return {path for path in re.findall(r"=> (\S+)$", run("/sbin/ldconfig", "-p"), re.MULTILINE) if os.path.realpath(path) in known}


def fill_root(root, package):
    run("dpkg-deb", "--extract", package, root)
    files = libraries_for(package)
    for path in files | links_to(files):
        target = root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target, follow_symlinks=True)


def run_inside(root, *command):
    change = ["chroot"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "chroot"]
    return run(*change, root, *command)


def check_program(root, build):
    here = json.loads(run(build / "apps/orrery", "simulate", ROOT / "examples/pipeline-1f1b.json", "--json", "-"))
    there = json.loads(run_inside(root, "/usr/bin/orrery", "simulate", f"/{EXAMPLE}", "--json", "-"))
    require(here["step_time_s"] == there["step_time_s"], f"{here['step_time_s']} s here, {there['step_time_s']} s in the root")


def check_documents(root, has_manuals):
    for path in COMPLETIONS:
        require((root / path).read_text(encoding="utf-8").count("--trace-ranks") + (root / path).read_text(encoding="utf-8").count(
            "-l trace-ranks") > 0, f"{path} does not know --trace-ranks")
    require((root / "usr/share/doc/orrery/copyright").exists(), "no licence")
    commands = re.findall(r"^  ([a-z]+) ", run_inside(root, "/usr/bin/orrery", "--help").split("Subcommands:")[1], re.MULTILINE)
    pages = {path.name for path in (root / "usr/share/man/man1").glob("*.1")}
    wanted = {"orrery.1"} | {f"orrery-{command}.1" for command in commands} if has_manuals else set()
    require(pages == wanted, f"manual pages {sorted(pages)}, wanted {sorted(wanted)}")


def check_library(cmake, compiler, root, folder):
    example = ROOT / "examples/library"
    run(cmake, "-S", example, "-B", folder, f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_PREFIX_PATH={root / 'usr'}")
    run(cmake, "--build", folder)
    with_cmake = run(folder / "step_time", ROOT / "examples/pipeline-1f1b.json", cwd=folder)
    require("step time" in with_cmake, with_cmake)
    if shutil.which("pkg-config") is None:
        return
    flags = run("pkg-config", "--cflags", "--libs", "orrery",
                env={**os.environ, "PKG_CONFIG_PATH": str(root / "usr/lib/pkgconfig")}).split()
    run(compiler, "-std=c++20", example / "step_time.cpp", *flags, "-o", folder / "by_pkg_config")
    require(run(folder / "by_pkg_config", ROOT / "examples/pipeline-1f1b.json", cwd=folder) == with_cmake, "other output by pkg-config")


def main(cmake, build, compiler):
    if shutil.which("dpkg-deb") is None or shutil.which("dpkg-shlibdeps") is None:
        print("skipped: no dpkg-deb or dpkg-shlibdeps (package dpkg-dev)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        debs = make_packages(cmake, build, folder / "packages")
        root, library = folder / "root", folder / "library"
        fill_root(root, debs["orrery"])
        check_program(root, pathlib.Path(build))
        check_documents(root, shutil.which("help2man") is not None)
        run("dpkg-deb", "--extract", debs["orrery-dev"], library)
        check_library(cmake, compiler, library, folder / "outside")
        sizes = ", ".join(f"{deb.name} {deb.stat().st_size / 1e6:.1f} MB" for deb in sorted(debs.values()))
        print(f"{sizes}: installed and used")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
