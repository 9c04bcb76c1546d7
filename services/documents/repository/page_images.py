"""Keeps pictures of documents' pages beside the bytes that they show: drawn once, and gone when those are."""

import asyncio
from collections.abc import Iterator

from docrail.adapters.store.blobs import blob_path
from docrail.adapters.store.folders import Folder

DRAWN_BY = "1"
"""In the names of what is kept. Another drawing needs another one."""


def image_tag(sha256: str, number: int) -> str:
    """Return what tells this picture of a page from any other one."""
    return f"{sha256}-{number}-{DRAWN_BY}"


async def load_image(blobs: Folder, sha256: str, number: int) -> bytes | None:
    """Return the kept picture of a page, None if there is none. Raises: OSError."""
    try:
        return await asyncio.to_thread(blobs.read, _path(sha256, number))
    except FileNotFoundError:
        return None


async def keep_image(blobs: Folder, sha256: str, number: int, image: bytes) -> None:
    """Keep the picture of a page, unless the bytes that it shows were deleted meanwhile. Raises: OSError."""
    await asyncio.to_thread(_keep, blobs, sha256, number, image)


def remove_images(blobs: Folder, sha256: str) -> None:
    """Delete all pictures of these bytes. Blocking; raises: OSError."""
    for path in list(_kept(blobs, sha256)):
        blobs.delete(path)


def _keep(blobs: Folder, sha256: str, number: int, image: bytes) -> None:
    blobs.write(_path(sha256, number), image)
    if blobs.stat(blob_path(sha256)) is None:
        remove_images(blobs, sha256)


def _kept(blobs: Folder, sha256: str) -> Iterator[str]:
    return (info.path for info in blobs.files(_folder(sha256)))


def _path(sha256: str, number: int) -> str:
    return f"{_folder(sha256)}/{number}.{DRAWN_BY}.png"


def _folder(sha256: str) -> str:
    return f"pages/{blob_path(sha256)}"
