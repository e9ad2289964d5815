"""Makes a wheel for `pip install .`: CMake builds the extension, and the package is zipped around it (PEP 517, 427).

A source distribution holds the files that git tracks. Needs the standard library, CMake and the packages of
apt-packages.txt; downloads nothing.
Config setting `build-folder`: a configured build to use instead of one of its own, build/wheel-*."""

import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TAG = f"cp{sys.version_info.major}{sys.version_info.minor}"
MOMENT = (1980, 1, 1, 0, 0, 0)  # the same wheel from the same build, whenever it is zipped


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def version():
    return re.search(r"project\(orrery VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def metadata():
    about = project()
    lines = ["Metadata-Version: 2.1", f"Name: {about['name']}", f"Version: {version()}",
             f"Summary: {about['description']}", f"Requires-Python: {about['requires-python']}",
             "Description-Content-Type: text/markdown"]
    for extra, packages in about["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f"Requires-Dist: {package}; extra == '{extra}'" for package in packages)]
    return "\n".join(lines) + "\n\n" + (ROOT / about["readme"]).read_text(encoding="utf-8")


def run(*command):
    try:
        subprocess.run([str(part) for part in command], check=True)
    except FileNotFoundError:
        sys.exit(f"orrery: {command[0]} is missing; apt-packages.txt lists what the build needs")
    except subprocess.CalledProcessError as error:
        sys.exit(f"orrery: {command[0]} failed with exit status {error.returncode}; "
                 "apt-packages.txt lists what the build needs")


def configured_build():
    """A build of the module alone, for the Python that runs."""
    folder = ROOT / "build" / f"wheel-{sysconfig.get_config_var('SOABI')}"
    generator = ["-G", "Ninja"] if shutil.which("ninja") and not (folder / "CMakeCache.txt").exists() else []
    run("cmake", "-S", ROOT, "-B", folder, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DORRERY_TESTS=OFF",
        "-DORRERY_PYTHON=ON", f"-DORRERY_PYTHON_EXECUTABLE={sys.executable}")
    return folder


def build_package(settings):
    """The folder of the package with its extension."""
    given = (settings or {}).get("build-folder")
    folder = pathlib.Path(given).resolve() if given else configured_build()
    run("cmake", "--build", folder, "--target", "orrery_python", "--parallel", os.cpu_count() or 1)
    package = folder / "python" / "orrery"
    extension = package / f"_orrery{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not extension.exists():
        sys.exit(f"orrery: {folder} is a build for another Python: {extension.name} is not there")
    return [extension, *sorted(path for path in package.iterdir() if path.suffix in (".py", ".pyi") or path.name == "py.typed")]


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write_wheel(path, files):
    """`files`: (name, bytes) in order; adds the record of them."""
    about = f"orrery-{version()}.dist-info"
    record = "".join(f"{name},{digest(data)},{len(data)}\n" for name, data in files) + f"{about}/RECORD,,\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in [*files, (f"{about}/RECORD", record.encode())]:
            entry = zipfile.ZipInfo(name, MOMENT)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)


def about_files(tag):
    wheel = f"Wheel-Version: 1.0\nGenerator: orrery\nRoot-Is-Purelib: false\nTag: {tag}\n"
    about = f"orrery-{version()}.dist-info"
    return [(f"{about}/METADATA", metadata().encode()), (f"{about}/WHEEL", wheel.encode())]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tag = f"{TAG}-{TAG}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    name = f"orrery-{version()}-{tag}.whl"
    package = [(f"orrery/{path.name}", path.read_bytes()) for path in build_package(config_settings)]
    write_wheel(pathlib.Path(wheel_directory) / name, package + about_files(tag))
    return name


def sources():
    """Paths of the project's files from its root: those that git tracks, or all of an unpacked source distribution."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        return sorted(name for name in listed.split("\0") if name and (ROOT / name).is_file())
    made = {"build", "__pycache__", "node_modules", "PKG-INFO"}
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")
                  if path.is_file() and not made & set(path.relative_to(ROOT).parts))


def build_sdist(sdist_directory, config_settings=None):
    base = f"orrery-{version()}"
    files = [(name, (ROOT / name).read_bytes(), (ROOT / name).stat().st_mode & 0o100) for name in sources()]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data, runs in [("PKG-INFO", metadata().encode(), 0), *files]:
            entry = tarfile.TarInfo(f"{base}/{name}")
            entry.size, entry.mode = len(data), 0o755 if runs else 0o644
            archive.addfile(entry, io.BytesIO(data))
    name = f"{base}.tar.gz"
    (pathlib.Path(sdist_directory) / name).write_bytes(gzip.compress(packed.getvalue(), compresslevel=6, mtime=0))
    return name
