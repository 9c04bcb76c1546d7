"""Read the files that commands are given, and find those in folders."""

import os
from collections.abc import Collection
from pathlib import Path


def read_file(file: Path, expected: str, *, at_most: int = -1) -> bytes:
    """Return the content of a file; of a device or a pipe, which may never end, `at_most` bytes.

    Raises: SystemExit that says what was found in place of a file with `expected`.
    """
    try:
        with file.open("rb") as stream:
            return stream.read() if file.is_file() else stream.read(at_most)
    except FileNotFoundError:
        raise SystemExit(f"there is no file {file}: expected a file with {expected}") from None
    except IsADirectoryError:
        raise SystemExit(f"{file} is a folder: expected a file with {expected}") from None
    except OSError as error:
        raise SystemExit(f"cannot read {file}: {error.strerror}: expected a file with {expected}") from None


def files_in(folder: Path, suffixes: Collection[str]) -> list[Path]:
    """Return the visible files with such a suffix in `folder` and its visible subfolders, by name.

    Folders that may not be read are left out.
    """
    found = []
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(at, name) for name in names if not name.startswith(".")]
    return sorted(file for file in found if file.suffix.lower() in suffixes and file.is_file())
