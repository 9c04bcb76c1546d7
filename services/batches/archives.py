"""Look at zip files before anything of them is stored: their names, their sizes, and how far they would unpack."""

import os
import stat
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO

from docrail.dag.language.inputs import InputProblem
from docrail.dag.values.json_values import shortened
from docrail.services.batches.models import MOST_PLACE
from docrail.services.errors import NothingReadable, UnsafeArchive

MOST_ENTRIES = 10_000
"""Files in one zip file. Larger folders are sent as several."""
MOST_RATIO, RATIO_FROM_BYTES = 100, 2**20
"""How much larger than packed a file may be, from this size on: documents reach 20, bombs a thousand."""
MOST_TIMES, TIMES_FROM_BYTES = 20, 2**24
"""How much larger than the zip file its files may be together; a smaller one counts as so many bytes."""
MOST_DIRECTORY_BYTES = 2**22
"""Size of the list of files in a zip file: 400 for each of MOST_ENTRIES, which have 100 as a rule."""
LONGEST_SHOWN = 200

_IGNORED = ("__MACOSX/", "Thumbs.db", ".DS_Store", "desktop.ini")
"""What desktops add to folders."""


def open_archive(file: IO[bytes], *, most_file_bytes: int, most_zip_bytes: int) -> zipfile.ZipFile:
    """Return the zip file, whose files are all safe to read by `read_entry`. Blocking; reads no content.

    Raises: UnsafeArchive, NothingReadable.
    """
    bounded = _Bounded(file)
    try:  # zipfile raises NotImplementedError for methods of compression that it lacks
        archive = zipfile.ZipFile(bounded)  # it has what zipfile uses
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, OSError, ValueError) as error:
        raise UnsafeArchive([InputProblem("file", f"is not a zip file that can be read: {error}")]) from None
    bounded.most = None
    most_bytes = MOST_TIMES * min(most_zip_bytes, max(file.seek(0, os.SEEK_END), TIMES_FROM_BYTES))
    if problems := [*_problems(archive, most_file_bytes, most_bytes)]:
        raise UnsafeArchive(problems)
    if not entries_of(archive):
        raise NothingReadable("the zip file has no files" if not archive.infolist() else "all its files are empty")
    return archive


@dataclass
class _Bounded:
    """A file of which little is read at once: zipfile reads and parses the whole list of files, however long it is."""

    file: IO[bytes]
    most: int | None = MOST_DIRECTORY_BYTES

    def read(self, size: int = -1) -> bytes:
        if self.most is None:
            return self.file.read(size)
        if size > self.most:
            raise zipfile.LargeZipFile(f"its list of files is larger than {self.most} bytes: send several zip files")
        return self.file.read(self.most if size < 0 else size)  # of less than 0: the comment at its end, of 64 KB

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()

    def seekable(self) -> bool:
        return True


def entries_of(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the files that have content, in the archive's order."""
    return [each for each in _files(archive) if each.file_size]


def empty_in(archive: zipfile.ZipFile) -> list[str]:
    """Return the names of the files that have none."""
    return [each.filename for each in _files(archive) if not each.file_size]


def read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return the content of a file, at most what its entry announces. Blocking. Raises: UnsafeArchive."""
    try:  # zipfile raises NotImplementedError for methods of compression that it lacks
        with archive.open(entry) as file:
            data = file.read(entry.file_size + 1)
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, RuntimeError, NotImplementedError) as error:
        raise UnsafeArchive([InputProblem(_named(entry), f"cannot be unpacked: {error}")]) from None
    if len(data) != entry.file_size:
        raise UnsafeArchive([InputProblem(_named(entry), f"has not the {entry.file_size} bytes that it announces")])
    return data


def _files(archive: zipfile.ZipFile) -> Iterator[zipfile.ZipInfo]:
    for entry in archive.infolist():
        name = entry.filename
        if not entry.is_dir() and not name.startswith(_IGNORED[0]) and name.rpartition("/")[2] not in _IGNORED:
            yield entry


def _problems(archive: zipfile.ZipFile, most_file_bytes: int, most_bytes: int) -> Iterator[InputProblem]:
    files = [*_files(archive)]
    if len(archive.infolist()) > MOST_ENTRIES:
        message = f"has {len(archive.infolist())} files, more than {MOST_ENTRIES}: send several zip files"
        yield InputProblem("file", message)
        return
    if (total := sum(entry.file_size for entry in files)) > most_bytes:
        yield InputProblem("file", f"would unpack to {total} bytes, more than {most_bytes}: send several zip files")
        return
    names = Counter(entry.filename for entry in files)
    for entry in files:
        yield from _problems_of(entry, most_file_bytes)
        if names.pop(entry.filename, 1) > 1:
            yield InputProblem(_named(entry), "is in the zip file more than once")


def _problems_of(entry: zipfile.ZipInfo, most_file_bytes: int) -> Iterator[InputProblem]:
    name = entry.filename
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or parts[0] == "/" or ".." in parts or ":" in parts[0]:
        yield InputProblem(_named(entry), "is outside of the folder: names must be relative, without `..`")
    elif len(name) > MOST_PLACE or not name.isprintable():
        yield InputProblem(_named(entry), f"has unprintable characters, or more than {MOST_PLACE}")
    elif stat.S_ISLNK(entry.external_attr >> 16):
        yield InputProblem(_named(entry), "is a link, expected a file")
    elif entry.flag_bits & 0x1:
        yield InputProblem(_named(entry), "is encrypted: send it unencrypted")
    elif entry.file_size > most_file_bytes:
        yield InputProblem(_named(entry), f"has {entry.file_size} bytes, more than a document's {most_file_bytes}")
    elif entry.file_size > RATIO_FROM_BYTES and entry.file_size > MOST_RATIO * max(entry.compress_size, 1):
        times = entry.file_size // max(entry.compress_size, 1)
        yield InputProblem(_named(entry), f"would unpack to {times} times its size, more than {MOST_RATIO} times")


def _named(entry: zipfile.ZipInfo) -> str:
    return shortened(entry.filename, LONGEST_SHOWN)
