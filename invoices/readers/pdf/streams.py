"""Decompress a PDF's streams up to a limit: untrusted data may expand to a thousand times its size."""

import base64
import re
import zlib
from collections.abc import Callable

import pikepdf

PIECE = 1 << 14
"""Bytes passed to zlib and returned by it at a time, so that the output before a damaged part is kept."""


def unpack(stream: pikepdf.Stream, limit: int) -> bytes:
    """Return the stream's content, cut off one byte after `limit`; a longer result shows that there is more.

    Stops at filters that cannot be limited (pictures, and LZW, which has not been used since 1996); the child process's
    limits cover those.
    """
    raw: bytes = stream.read_raw_bytes()
    for name in _filters(stream):
        decode = DECODERS.get(name)
        if decode is None:
            break
        raw = decode(raw, limit)
    return raw[: limit + 1]


def plainly_packed(stream: pikepdf.Stream) -> bool:
    """Return whether `unpack` reverses all of the stream's filters."""
    parameters = stream.get("/DecodeParms")
    return all(name in DECODERS for name in _filters(stream)) and (
        parameters is None or "/Predictor" not in repr(parameters)
    )


def _filters(stream: pikepdf.Stream) -> list[str]:
    filters = stream.get("/Filter")
    return [str(name) for name in ([filters] if isinstance(filters, pikepdf.Name) else list(filters or []))]


def _inflate(raw: bytes, limit: int) -> bytes:
    """Return the zlib-decompressed data, up to a damaged part if there is one, as PDF readers do."""
    inflater, unpacked = zlib.decompressobj(), bytearray()
    try:
        for start in range(0, len(raw), PIECE):
            rest = raw[start : start + PIECE]
            while rest and len(unpacked) <= limit and not inflater.eof:
                unpacked += inflater.decompress(rest, PIECE)
                rest = inflater.unconsumed_tail
    except zlib.error:
        pass
    return bytes(unpacked[: limit + 1])


def _ascii85(raw: bytes, _: int) -> bytes:
    try:
        return base64.a85decode(raw.strip().removeprefix(b"<~").partition(b"~>")[0])
    except ValueError:
        return b""


def _hexadecimal(raw: bytes, _: int) -> bytes:
    digits = re.sub(rb"[^0-9A-Fa-f]", b"", raw.partition(b">")[0])
    return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode())


DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "/FlateDecode": _inflate,
    "/Fl": _inflate,
    "/ASCII85Decode": _ascii85,
    "/A85": _ascii85,
    "/ASCIIHexDecode": _hexadecimal,
    "/AHx": _hexadecimal,
}
"""Decoders by filter name, including the abbreviations that PDF readers accept."""
