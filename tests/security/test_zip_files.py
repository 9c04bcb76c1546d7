"""Zip files of a batch that are made to cost: long lists of files, and many files that unpack to much."""

import io
import struct
import zipfile

import pytest

from docrail.services.batches.archives import MOST_DIRECTORY_BYTES, TIMES_FROM_BYTES, open_archive, read_entry
from docrail.services.errors import UnsafeArchive

ENTRY = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0) + b"12345678"


def only_a_list(count: int) -> bytes:
    """Return a zip file that lists so many empty files, and has none of them."""
    listed = ENTRY * count
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count & 0xFFFF, count & 0xFFFF, len(listed), 0, 0)
    return listed + end


def opened(data: bytes) -> zipfile.ZipFile:
    return open_archive(io.BytesIO(data), most_file_bytes=2**25, most_zip_bytes=2**29)


class Counting(io.BytesIO):
    """A file that counts what is read of it."""

    count = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.count += len(data)
        return data


def test_a_list_of_a_million_files_is_not_read() -> None:
    file = Counting(only_a_list(1_000_000))
    with pytest.raises(UnsafeArchive, match="its list of files is larger than"):
        open_archive(file, most_file_bytes=2**25, most_zip_bytes=2**29)
    assert file.count < MOST_DIRECTORY_BYTES


def test_many_small_files_do_not_unpack_to_much_more_than_their_zip_file() -> None:
    """Each is too small to be a bomb alone."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(500):
            archive.writestr(f"{number}.txt", bytes(2**20))
    assert len(packed.getvalue()) < TIMES_FROM_BYTES
    with pytest.raises(UnsafeArchive, match="would unpack to 524288000 bytes"):
        opened(packed.getvalue())


def test_what_is_before_the_first_file_and_a_long_comment_do_no_harm() -> None:
    packed = io.BytesIO(b"#!/bin/sh\n" * 500_000)
    packed.seek(0, io.SEEK_END)
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", b"text")
        archive.comment = b"c" * 65_535
    found = opened(packed.getvalue())
    assert [read_entry(found, entry) for entry in found.infolist()] == [b"text"]


def test_two_files_of_a_zip_file_cannot_share_their_content() -> None:
    """Overlapping files unpack to much more than the zip file has."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", b"text")
        archive.writestr("b.txt", b"text")
        archive.infolist()[1].header_offset = 0
    archive = opened(packed.getvalue())
    with pytest.raises(UnsafeArchive, match="cannot be unpacked"):
        read_entry(archive, archive.infolist()[1])
