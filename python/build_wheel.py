# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel (PEP 517) without any other package: libkerf by CMake, and beside it the libraries that it needs.

The same sources give the same files: their time is $SOURCE_DATE_EPOCH, else the beginning of 1980.

    build_wheel.py FOLDER      installs the package into FOLDER without the library, for distributions that have libkerf
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BESIDE = ("libjansson.so", "libz.so")  # not on every machine
METADATA = """Metadata-Version: 2.1
Name: kerf
Version: {version}
Summary: Finds how to cut a large-model job so that the least is wasted on the machines at hand
License: Apache-2.0
Requires-Python: >=3.9
Description-Content-Type: text/markdown

{readme}"""


def info():
    return f"kerf-{version()}.dist-info"


def metadata():
    return METADATA.format(version=version(), readme=(HERE / "README.md").read_text(encoding="utf-8"))


def modules():
    return sorted((HERE / "kerf").glob("*.py")) + [HERE / "kerf/py.typed"]


def version():
    text = (ROOT / "include/kerf/version.h").read_text()
    return re.search(r'KERF_VERSION_TEXT\s+"([^"]+)"', text).group(1)


def built_library(build):
    """libkerf.so that looks for its libraries beside itself."""
    subprocess.run(
        ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DKERF_TESTS=OFF",
         "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON", "-DCMAKE_INSTALL_RPATH=$ORIGIN"], check=True)
    subprocess.run(["cmake", "--build", build, "--target", "kerf_shared"], check=True)
    return build / "lib/libkerf.so"


def needed(library):
    """Names and places of the libraries that go along."""
    lines = subprocess.run(["ldd", library], check=True, capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        name, arrow, place = line.strip().partition(" => ")
        if arrow and name.startswith(BESIDE):
            yield name, Path(place.split()[0])


def contents(tag):
    """The files of the wheel: name and bytes."""
    for path in modules():
        yield f"kerf/{path.name}", path.read_bytes()
    with tempfile.TemporaryDirectory() as scratch:
        library = built_library(Path(scratch))
        yield "kerf/_lib/libkerf.so", library.read_bytes()
        for name, place in needed(library):
            yield f"kerf/_lib/{name}", place.read_bytes()
    yield f"{info()}/METADATA", metadata().encode()
    yield f"{info()}/WHEEL", f"Wheel-Version: 1.0\nGenerator: kerf\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    yield f"{info()}/LICENSE", (ROOT / "LICENSE").read_bytes()
    yield f"{info()}/NOTICE", (HERE / "NOTICE").read_bytes()


def entry(path):
    begin_of_1980_s = 315532800  # before it zip has no time
    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), begin_of_1980_s))
    file = zipfile.ZipInfo(path, moment[:6])
    file.compress_type, file.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
    return file


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tag = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
    name = f"kerf-{version()}-{tag}.whl"
    record = []
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        for path, data in contents(tag):
            wheel.writestr(entry(path), data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}")
        path = f"{info()}/RECORD"
        wheel.writestr(entry(path), "\n".join(record + [f"{path},,"]) + "\n")
    return name


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_sdist(sdist_directory, config_settings=None):
    """The whole repository as git has it, because libkerf is built from it; the package is in python/."""
    name = f"kerf-{version()}"
    with tempfile.TemporaryDirectory() as scratch:
        archive = Path(scratch) / "kerf.tar"
        subprocess.run(["git", "-C", ROOT, "archive", "--prefix", name + "/", "-o", archive, "HEAD"], check=True)
        tree = Path(scratch) / "tree"
        with tarfile.open(archive) as tar:
            tar.extractall(tree)
        folder = tree / name
        (folder / "pyproject.toml").write_text(
            (HERE / "pyproject.toml").read_text().replace('backend-path = ["."]', 'backend-path = ["python"]'))
        (folder / "PKG-INFO").write_text(metadata(), encoding="utf-8")
        with tarfile.open(os.path.join(sdist_directory, name + ".tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as out:
            out.add(folder, arcname=name)
    return name + ".tar.gz"


def install(folder):
    for path, data in [(f"kerf/{path.name}", path.read_bytes()) for path in modules()] + [
            (f"{info()}/METADATA", metadata().encode())]:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: build_wheel.py FOLDER")
    install(Path(sys.argv[1]))
