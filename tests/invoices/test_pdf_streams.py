"""A PDF's streams are unpacked as PDF readers do, and never further than asked."""

import random
import tracemalloc
import zlib

import pikepdf
import pytest

from docrail.invoices.readers.pdf.bombs import plainly_packed, unpack
from tests.invoices.hostile import packed

PDF = pikepdf.new()
LIMIT = 1 << 20
TEXT = b"BT /F1 10 Tf (Invoice) Tj ET\n" * 100


def stream(data: bytes, *filters: str, **entries: object) -> pikepdf.Stream:
    return pikepdf.Stream(PDF, data, Filter=pikepdf.Array([pikepdf.Name(name) for name in filters]), **entries)


@pytest.mark.parametrize(
    ("data", "filters"),
    [
        (TEXT, []),
        (zlib.compress(TEXT), ["/FlateDecode"]),
        (zlib.compress(TEXT), ["/Fl"]),
        (zlib.compress(zlib.compress(TEXT)), ["/FlateDecode", "/FlateDecode"]),
        (TEXT.hex().encode() + b">", ["/ASCIIHexDecode"]),
        (b'<~87cURD]i,"Ebo80~>', ["/ASCII85Decode"]),
        (zlib.compress(TEXT).hex(" ").encode() + b"\n>rest", ["/AHx", "/Fl"]),
        (zlib.compress(TEXT) + b"more", ["/FlateDecode"]),
        (zlib.compress(TEXT)[:-4], ["/FlateDecode"]),
    ],
)
def test_plain_compression_is_unpacked(data: bytes, filters: list[str]) -> None:
    packed_so = stream(data, *filters)
    assert plainly_packed(packed_so)
    assert unpack(packed_so, LIMIT) in (TEXT, b"Hello World!")


@pytest.mark.parametrize("filters", [["/FlateDecode"], ["/FlateDecode", "/FlateDecode"]])
def test_a_bomb_is_unpacked_to_the_limit_only(filters: list[str]) -> None:
    bomb = stream(packed(300 << 20, times=len(filters)), *filters)
    tracemalloc.start()
    try:
        assert len(unpack(bomb, LIMIT)) == LIMIT + 1
        assert tracemalloc.get_traced_memory()[1] < 8 * LIMIT
    finally:
        tracemalloc.stop()


def test_data_before_a_damaged_part_counts() -> None:
    """A bomb with a broken end was taken for an empty page, and unpacked by the next library."""
    noise = random.Random(1).randbytes(LIMIT)
    data = zlib.compress(noise)
    damaged = data[: len(data) // 2] + bytes(64) + data[len(data) // 2 + 64 :]
    assert len(unpack(stream(damaged, "/FlateDecode"), LIMIT)) > LIMIT // 3


@pytest.mark.parametrize("name", ["/LZWDecode", "/RunLengthDecode", "/DCTDecode", "/Strange"])
def test_other_filters_are_left_alone(name: str) -> None:
    other = stream(b"packed", name)
    assert unpack(other, LIMIT) == b"packed"
    assert not plainly_packed(other)


def test_rows_stored_as_differences_are_not_plain() -> None:
    parameters = pikepdf.Dictionary(Predictor=12, Columns=5)
    assert not plainly_packed(stream(zlib.compress(TEXT), "/FlateDecode", DecodeParms=parameters))


@pytest.mark.parametrize("data", [b"<~!!~>", b"<~zzz", b"~>", b"\xff\xfe~>", b""])
def test_nonsense_in_text_filters_is_nothing_much(data: bytes) -> None:
    assert len(unpack(stream(data, "/ASCII85Decode"), LIMIT)) < 20
    assert len(unpack(stream(data, "/ASCIIHexDecode"), LIMIT)) < 20
