"""Disks that are full: a small file system of the test's own, or a limit on files if mounting is not permitted."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SIZE = 2**20


@dataclass(frozen=True, slots=True)
class SmallDisk:
    """A file system of 1 MiB, mounted at `root`."""

    root: Path

    @property
    def _ballast(self) -> Path:
        return self.root / ".ballast"

    def fill(self, *, but_bytes: int = 0) -> None:
        """Take all space that is left but so many bytes."""
        with self._ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        os.truncate(self._ballast, max(0, self._ballast.stat().st_size - but_bytes))

    def free(self) -> None:
        """Give the space back."""
        self._ballast.unlink()

    def files(self) -> list[str]:
        """Return the paths of all files but the ballast, hidden and half-written ones, too; locks are empty."""
        found = (path for path in self.root.rglob("*") if path.is_file() and path != self._ballast)
        return sorted(path.relative_to(self.root).as_posix() for path in found if path.suffix != ".lock")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A small disk, where the machine lets us mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("this user may not mount a file system: the tests with a limit on files do instead")
    yield SmallDisk(folder)
    subprocess.run(["umount", str(folder)], check=True)
