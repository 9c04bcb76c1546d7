"""Store images of documents' pages next to the bytes that they show: rendered once, deleted with the bytes."""

import asyncio
from collections.abc import Iterator

from docrail.adapters.store.blobs import blob_path
from docrail.adapters.store.folders import Folder

DRAWN_BY = "1"
"""Version of the renderer, part of the stored names. Change it with the rendering."""


def image_tag(sha256: str, number: int) -> str:
    """Return a tag that identifies this image of a page."""
    return f"{sha256}-{number}-{DRAWN_BY}"


async def load_image(blobs: Folder, sha256: str, number: int) -> bytes | None:
    """Return the stored image of a page, or None. Raises: OSError."""
    try:
        return await asyncio.to_thread(blobs.read, _path(sha256, number))
    except FileNotFoundError:
        return None


async def keep_image(blobs: Folder, sha256: str, number: int, image: bytes) -> None:
    """Store the image of a page, unless its document's bytes were deleted meanwhile. Raises: OSError."""
    await asyncio.to_thread(_keep, blobs, sha256, number, image)


def remove_images(blobs: Folder, sha256: str) -> None:
    """Delete all images of these bytes. Blocking. Raises: OSError."""
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
