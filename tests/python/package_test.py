#!/usr/bin/env python3
"""The package as it is installed: pip without a network, the stub beside the code, and imports that need no NumPy."""

import ast
import inspect
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

from common import BUILD, ROOT, main, need

need("venv", "ensurepip")

import orrery


def stub():
    return ast.parse((pathlib.Path(orrery.__file__).parent / "__init__.pyi").read_text(encoding="utf-8"))


def members(body):
    """Name to definition of what a stub declares."""
    found = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = node
    return found


def parameters(node):
    arguments = node.args
    every = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    return [argument.arg for argument in every + [extra for extra in (arguments.vararg, arguments.kwarg) if extra]]


class Stub(unittest.TestCase):
    def test_every_public_name_is_typed_and_documented(self):
        declared = members(stub().body)
        self.assertEqual(set(orrery.__all__) - set(declared), set())
        self.assertEqual({name for name in declared if not name.startswith("_")} - set(orrery.__all__), set())
        for name in orrery.__all__:
            value = getattr(orrery, name)
            if inspect.isclass(value):
                self.assertTrue(value.__doc__, name)
            if inspect.isfunction(value):
                self.assertTrue(value.__doc__, name)
                self.assertEqual(parameters(declared[name]), list(inspect.signature(value).parameters), name)

    def test_methods_are_those_of_the_classes(self):
        for name, node in members(stub().body).items():
            if not isinstance(node, ast.ClassDef) or name == "Result":
                continue
            real = getattr(orrery, name)
            for method, definition in members(node.body).items():
                if not isinstance(definition, ast.FunctionDef) or method.startswith("__"):
                    continue
                found = inspect.getattr_static(real, method)
                if not isinstance(found, property):
                    signature = inspect.signature(getattr(found, "__func__", found))
                    self.assertEqual(parameters(definition), list(signature.parameters), f"{name}.{method}")

    def test_the_stub_knows_every_key_of_a_result(self):
        declared = members(members(stub().body)["Result"].body)
        self.assertEqual({key for key in orrery.RESULT_KEYS if "." not in key} - set(declared), set())
        for name, node in declared.items():
            if isinstance(node, ast.FunctionDef):
                self.assertTrue(hasattr(orrery.Result, name), name)

    def test_a_type_checker_takes_an_example(self):
        example = ("import orrery\nresult = orrery.simulate({'model': 'gpt3-125m'}, plan__tensor_parallel=2)\n"
                   "reveal_type(result.step_time_s)\nfor one in orrery.simulate_many([]):\n    print(one)\n")
        done = subprocess.run([sys.executable, "-m", "mypy", "--ignore-missing-imports", "-c", example],
                              capture_output=True, text=True, check=False,
                              env={**os.environ, "MYPYPATH": str(pathlib.Path(orrery.__file__).parent.parent)})
        if "No module named mypy" in done.stderr:
            self.skipTest("mypy is not installed")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"Union\[builtins.float, None\]|float \| None")


class Install(unittest.TestCase):
    def test_pip_installs_without_a_network(self):
        with tempfile.TemporaryDirectory() as folder:
            python = pathlib.Path(folder) / "venv" / "bin" / "python"
            run = lambda *command: subprocess.run([str(part) for part in command], cwd=folder, check=True, text=True,
                                                  capture_output=True, env=environment).stdout
            environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            run(sys.executable, "-m", "venv", "--system-site-packages", pathlib.Path(folder) / "venv")
            run(python, "-m", "pip", "install", ROOT, "--no-index", "--no-cache-dir", "--disable-pip-version-check",
                "--config-settings", f"build-folder={BUILD}")
            said = run(python, "-c", "import orrery; print(orrery.__file__); print(orrery.simulate("
                                     "{'model': 'gpt3-125m', 'cluster': 'dgx-h100'}).gpus)")
            self.assertTrue(said.startswith(folder), said)
            self.assertEqual(said.split()[-1], "8")
            shown = run(python, "-m", "pip", "show", "--files", "orrery")
            for file in ("orrery/py.typed", "orrery/__init__.pyi", "_orrery"):
                self.assertIn(file, shown)

    def test_a_wheel_is_the_same_every_time(self):
        sys.path.insert(0, str(ROOT / "python"))
        import build_backend

        wheels = []
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):
                name = build_backend.build_wheel(folder, {"build-folder": str(BUILD)})
                wheels.append((pathlib.Path(folder) / name).read_bytes())
            with zipfile.ZipFile(pathlib.Path(folder) / name) as wheel:
                self.assertIsNone(wheel.testzip())
        self.assertEqual(*wheels)

    def test_a_source_distribution_makes_the_same_wheel(self):
        sys.path.insert(0, str(ROOT / "python"))
        import build_backend

        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            packed = folder / build_backend.build_sdist(folder)
            first = packed.read_bytes()
            with tarfile.open(packed) as archive:
                archive.extractall(folder)
            unpacked = folder / packed.name.removesuffix(".tar.gz")
            for file in ("PKG-INFO", "pyproject.toml", "CMakeLists.txt", "LICENSE", "scripts/setup"):
                self.assertTrue((unpacked / file).is_file(), file)
            self.assertTrue(os.access(unpacked / "scripts/setup", os.X_OK))
            made = "import build_backend as b, sys; print(b.build_sdist('.'), b.build_wheel('.', {'build-folder': sys.argv[1]}))"
            out = subprocess.run([sys.executable, "-c", made, str(BUILD)], cwd=folder, check=True, capture_output=True, text=True,
                                 env={**os.environ, "PYTHONPATH": str(unpacked / "python")}).stdout.split()
            self.assertEqual((folder / out[-2]).read_bytes(), first)
            (folder / "here").mkdir()
            here = build_backend.build_wheel(folder / "here", {"build-folder": str(BUILD)})
            self.assertEqual((folder / out[-1]).read_bytes(), (folder / "here" / here).read_bytes())

    def test_importing_needs_no_other_package(self):
        code = ("import sys\nfor name in ('numpy', 'pandas', 'networkx', 'distributed', 'gymnasium'): sys.modules[name] = None\n"
                "import orrery\nprint(orrery.simulate({'model': 'gpt3-125m', 'cluster': 'dgx-h100'}).gpus)\n")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "8\n")


if __name__ == "__main__":
    main()
