"""Store images of documents' pages, and their words, next to the bytes that they show: made once, deleted with them."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from docrail.adapters.store.blobs import blob_path
from docrail.adapters.store.folders import Folder
from docrail.invoices.model import Box
from docrail.invoices.page_text import PlacedWord

DRAWN_BY = "2"
"""Version of the renderer and of the words, part of the stored names. Change it with them."""

Size = Literal["full", "small"]

_PAGES = TypeAdapter(list[list[tuple[str, Box]]])
"""Text and box of each word of each page."""


def image_tag(sha256: str, number: int, size: Size) -> str:
    """Return a tag that identifies this image of a page."""
    return f"{sha256}-{number}-{size}-{DRAWN_BY}"


async def load_image(blobs: Folder, sha256: str, number: int, size: Size = "full") -> bytes | None:
    """Return the stored image of a page, or None. Raises: OSError."""
    return await _load(blobs, _image_path(sha256, number, size))


async def keep_image(blobs: Folder, sha256: str, number: int, size: Size, image: bytes) -> None:
    """Store the image of a page, unless its document's bytes were deleted meanwhile. Raises: OSError."""
    await asyncio.to_thread(_keep, blobs, sha256, _image_path(sha256, number, size), image)


async def load_words(blobs: Folder, sha256: str, number: int) -> list[PlacedWord] | None:
    """Return the stored words of a page; None if they are not stored. Raises: OSError."""
    if (stored := await _load(blobs, _words_path(sha256, None))) is not None:
        with suppress(ValidationError):  # incomplete since a power failure
            pages = await asyncio.to_thread(_PAGES.validate_json, stored)
            if number <= len(pages) and pages[number - 1]:  # none: blank, or not among the pages that were read
                return _placed(pages[number - 1])
    stored = await _load(blobs, _words_path(sha256, number))
    return None if stored is None else _placed(_PAGES.validate_json(stored)[0])


async def keep_words(blobs: Folder, sha256: str, pages: bytes) -> None:
    """Store the words of all pages: JSON, validated when it is loaded. Not durable on return. Raises: OSError."""
    await asyncio.to_thread(_keep, blobs, sha256, _words_path(sha256, None), pages, durable=False)


async def keep_words_of_page(blobs: Folder, sha256: str, number: int, words: Sequence[PlacedWord]) -> None:
    """Store the words of one page. Raises: OSError."""
    written = _PAGES.dump_json([[(word.text, word.box) for word in words]])
    await asyncio.to_thread(_keep, blobs, sha256, _words_path(sha256, number), written)


def _placed(words: list[tuple[str, Box]]) -> list[PlacedWord]:
    return [PlacedWord(text, box) for text, box in words]


def remove_images(blobs: Folder, sha256: str) -> None:
    """Delete all images and words of these bytes. Blocking. Raises: OSError."""
    for path in list(_kept(blobs, sha256)):
        blobs.delete(path)


async def _load(blobs: Folder, path: str) -> bytes | None:
    try:
        return await asyncio.to_thread(blobs.read, path)
    except FileNotFoundError:
        return None


def _keep(blobs: Folder, sha256: str, path: str, data: bytes, *, durable: bool = True) -> None:
    blobs.write(path, data, durable=durable)
    if blobs.stat(blob_path(sha256)) is None:
        remove_images(blobs, sha256)


def _kept(blobs: Folder, sha256: str) -> Iterator[str]:
    return (info.path for info in blobs.files(_folder(sha256)))


def _image_path(sha256: str, number: int, size: Size) -> str:
    return f"{_folder(sha256)}/{number}.{size}.{DRAWN_BY}.png"


def _words_path(sha256: str, number: int | None) -> str:
    return f"{_folder(sha256)}/{number or 'all'}.words.{DRAWN_BY}.json"


def _folder(sha256: str) -> str:
    return f"pages/{blob_path(sha256)}"
