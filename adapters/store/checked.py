"""Open a stored file whose content is as it was written, to send it in pieces: a slow reader must hold no memory."""

import asyncio
import hashlib
import io
from collections.abc import AsyncIterator
from dataclasses import dataclass

from docrail.adapters.store.folders import Folder

PIECE_BYTES = 2**18


class FileDamaged(OSError):  # noqa: N818  # a statement about the file
    """The file has another sha256 than it was written with: `found`."""

    def __init__(self, path: str, found: str) -> None:
        super().__init__(f"{path} contains bytes with the sha256 {found}")
        self.found = found


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """An open file; `size` in bytes."""

    size: int
    _file: io.BufferedReader

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the content, once. Raises: OSError."""
        try:
            while piece := await asyncio.to_thread(self._file.read, PIECE_BYTES):
                yield piece
        finally:  # in a thread: another one may still read
            asyncio.get_running_loop().run_in_executor(None, self._file.close)


def open_checked(folder: Folder, path: str, sha256: str) -> CheckedFile:
    """Open a file once its content was read and compared. Blocks. Raises: FileNotFoundError, FileDamaged, OSError."""
    file, digest = folder.open(path), hashlib.sha256()
    while piece := file.read(PIECE_BYTES):
        digest.update(piece)
    if digest.hexdigest() != sha256:
        file.close()
        raise FileDamaged(path, digest.hexdigest())
    size = file.tell()
    file.seek(0)
    return CheckedFile(size, file)
