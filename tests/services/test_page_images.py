"""Page images are stored next to the original, and never longer than it."""

from pathlib import Path

import pytest

from docrail.adapters.store.blobs import BlobStore, blob_path
from docrail.invoices.page_text import PlacedWord
from docrail.services.documents.repository.page_images import (
    keep_image,
    keep_words,
    load_image,
    load_words,
    remove_images,
)


async def test_a_picture_is_kept_until_it_is_removed(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    one, other = [(await blobs.put(data)).sha256 for data in (b"one", b"other")]
    for sha256, number in ((one, 1), (one, 2), (other, 1)):
        await keep_image(blobs.folder, sha256, number, "full", f"{sha256} {number}".encode())
    assert await load_image(blobs.folder, one, 2) == f"{one} 2".encode()
    assert await load_image(blobs.folder, other, 2) is None
    remove_images(blobs.folder, one)
    assert [await load_image(blobs.folder, sha256, 1) is None for sha256 in (one, other)] == [True, False]


async def test_a_picture_of_bytes_that_were_deleted_meanwhile_is_not_kept(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    sha256 = (await blobs.put(b"one")).sha256
    blobs.folder.delete(blob_path(sha256))
    await keep_image(blobs.folder, sha256, 1, "full", b"picture")
    assert await load_image(blobs.folder, sha256, 1) is None


@pytest.mark.parametrize("left", [b"", b'[[["re', b'[{"text": "read"}]'])
async def test_words_that_make_no_sense_are_as_good_as_none(tmp_path: Path, left: bytes) -> None:
    blobs = BlobStore(tmp_path)
    sha256 = (await blobs.put(b"one")).sha256
    await keep_words(blobs.folder, sha256, b'[[["read", [0, 0, 1, 1]]]]')
    assert await load_words(blobs.folder, sha256, 1) == [PlacedWord("read", (0, 0, 1, 1))]
    [path] = [info.path for info in blobs.folder.files("pages")]
    blobs.folder.write(path, left)  # by a power failure, or a child that was taken over
    assert await load_words(blobs.folder, sha256, 1) is None
