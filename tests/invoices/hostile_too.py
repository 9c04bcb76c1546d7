"""More files that mean harm: what lies about its size, shape, encoding or name. They are as those of hostile.py."""

import io
import re
import struct
import zlib
from collections.abc import Callable, Mapping
from functools import partial

import pikepdf
from PIL import Image

from tests.invoices.documents import attach, make_pdf, pdf_bytes, ubl_invoice
from tests.invoices.hostile import EMPTY, PRINTED, READ, Made, packed

BODY = ubl_invoice().partition(b"?>")[2]


def _changed(change: Callable[[pikepdf.Pdf], object]) -> bytes:
    pdf = make_pdf(PRINTED)
    change(pdf)
    return pdf_bytes(pdf, compress_streams=False, stream_decode_level=pikepdf.StreamDecodeLevel.none)


def _drawing(more: bytes) -> Made:
    def change(pdf: pikepdf.Pdf) -> None:
        pdf.pages[0].Contents = pdf.make_stream(pdf.pages[0].Contents.read_bytes() + b"\n" + more)

    return lambda: _changed(change)


def _page_box(box: bytes) -> Made:
    return lambda: re.sub(rb"/MediaBox \[[^\]]*\]", b"/MediaBox " + box, _changed(lambda _: None))


def _root(**facts: int) -> Made:
    def change(pdf: pikepdf.Pdf) -> None:
        for name, value in facts.items():
            pdf.Root.Pages[f"/{name}"] = value

    return lambda: _changed(change)


def _own_parent(pdf: pikepdf.Pdf) -> None:
    pdf.pages[0].obj.Parent = pdf.pages[0].obj


def _own_kid(pdf: pikepdf.Pdf) -> None:
    pdf.pages[0].obj.Kids = pikepdf.Array([pdf.pages[0].obj])


def _one_page_often(pdf: pikepdf.Pdf) -> None:
    pdf.Root.Pages.Kids = pikepdf.Array([pdf.pages[0].obj] * 20_000)
    pdf.Root.Pages.Count = 20_000


def _font_of_itself(pdf: pikepdf.Pdf) -> None:
    font = pdf.make_indirect(
        pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type0, BaseFont=pikepdf.Name("/X"))
    )
    font.DescendantFonts = pikepdf.Array([font])
    pdf.pages[0].Resources.Font.F1 = font


def _letters(table: bytes) -> Made:
    def change(pdf: pikepdf.Pdf) -> None:
        pdf.pages[0].Resources.Font.F1.ToUnicode = pdf.make_stream(table)

    return lambda: _changed(change)


def _run_lengths(pdf: pikepdf.Pdf) -> None:
    data = zlib.compress(b"\x81 " * (4 << 20) + b"\x80", 9)  # 128 spaces for each two bytes
    filters = pikepdf.Array([pikepdf.Name.FlateDecode, pikepdf.Name.RunLengthDecode])
    pdf.pages[0].Contents = pikepdf.Stream(pdf, data, Filter=filters)


def _attached(*files: tuple[str, bytes]) -> Made:
    def change(pdf: pikepdf.Pdf) -> None:
        for name, data in files:
            attach(pdf, name, data)

    return lambda: _changed(change)


def _encoded(name: str, data: bytes = BODY) -> Made:
    return lambda: f'<?xml version="1.0" encoding="{name}"?>'.encode() + data


def _with_number(number: bytes) -> Made:
    return lambda: BODY.replace(b"RE-1", number, 1)


def _saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def _png_with(chunk: bytes) -> Made:
    def make() -> bytes:
        png = _saved(Image.new("L", (100, 100), 255), "PNG")
        place = png.index(b"IDAT") - 4
        data = chunk + b"a\0\0" + packed(256 << 20)
        return png[:place] + struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data)) + png[place:]

    return make


def _tiff_of_itself() -> bytes:
    tiff = _saved(Image.new("L", (100, 100), 255), "TIFF")
    (table,) = struct.unpack("<I", tiff[4:8])
    (count,) = struct.unpack("<H", tiff[table : table + 2])
    place = table + 2 + 12 * count
    return tiff[:place] + struct.pack("<I", table) + tiff[place + 4 :]


def _frames(kind: str) -> Made:
    frames = [Image.new("P", (300, 300), number) for number in range(200)]
    return lambda: _saved(frames[0], kind, save_all=True, append_images=frames[1:])


XXE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'
REFERENCES = b"<</Type/XRef/Size 2000000000/W[2000000000 2000000000 8]/Root 2 0 R/Index[0 2000000000]/Length 5>>"

FILES: Mapping[str, tuple[Made, str]] = {
    # PDFs whose trees and tables lie
    "page that is its own parent": (lambda: _changed(_own_parent), READ),
    "page that is its own child": (lambda: _changed(_own_kid), "damaged"),
    "one page 20,000 times": (lambda: _changed(_one_page_often), "too_many_pages"),
    "a thousand million pages": (_root(Count=10**9), READ),
    "less than no pages": (_root(Count=-5), READ),
    "table of endless columns": (
        lambda: b"%PDF-1.5\n3 0 obj " + REFERENCES + b" stream\nabcde\nendstream endobj\nstartxref 9\n%%EOF",
        "damaged",
    ),
    "dictionaries in dictionaries": (
        lambda: b"%PDF-1.7\n1 0 obj " + b"<</A " * 200_000 + b">>" * 200_000 + b" endobj\ntrailer <</Root 1 0 R>>\n",
        "damaged",
    ),
    "length that is itself": (
        lambda: _changed(lambda _: None).replace(b"/Length ", b"/Length 4 0 R /X "),
        READ,
    ),
    # places and sizes that are none
    "page of no numbers": (_page_box(b"[0 0 nan nan]"), READ),
    "page of texts": (_page_box(b"[(a)(b)(c)(d)]"), READ),
    "page as wide as numbers go": (_page_box(b"[-1e308 -1e308 1e308 1e308]"), READ),
    "text nowhere": (_drawing(b"BT /F1 9 Tf nan inf Td (Total 5.00) Tj 1e309 -1e309 Td (Total 6.00) Tj ET"), READ),
    "letters of all sizes": (_drawing(b"BT /F1 1e30 Tf 50 400 Td (Total: 7.00) Tj /F1 -1e30 Tf (x) Tj ET"), READ),
    "100,000 texts": (_drawing(b"BT /F1 1 Tf 9 9 Td (1) Tj ET\n" * 100_000), READ),
    "a million saved states": (_drawing(b"q " * 1_000_000), READ),
    "lists in lists": (_drawing(b"[" * 1_000_000), READ),
    "run lengths": (lambda: _changed(_run_lengths), EMPTY),
    # fonts
    "font within itself": (lambda: _changed(_font_of_itself), EMPTY),
    "letters without end": (
        _letters(b"begincmap 100 beginbfrange " + b"<00000000> <ffffffff> <0041> " * 100 + b"endbfrange endcmap"),
        EMPTY,
    ),
    "letters of a table in a table": (_letters(b"begincmap /Identity-H usecmap " * 1_000), READ),
    # what a PDF brings along
    "attachments named as paths": (
        _attached(("../../etc/passwd", ubl_invoice()), ("C:\\x.xml", b"<a/>"), ("a\x00.xml", b"<b/>")),
        READ,
    ),
    "several e-invoices": (
        _attached(("factur-x.xml", ubl_invoice()), ("xrechnung.xml", ubl_invoice(total="3.00"))),
        READ,
    ),
    "attached external entity": (_attached(("factur-x.xml", XXE.encode())), READ),
    "attached deep XML": (_attached(("factur-x.xml", b"<a>" * 1_000_000)), READ),
    "picture of vectors first": (lambda: b"<svg onload='alert(1)'>" + _changed(lambda _: None), READ),
    # XML
    "external entity in UTF-16": (
        lambda: f'<?xml version="1.0" encoding="UTF-16"?>{XXE}'.encode("utf-16"),
        "unsafe",
    ),
    "UTF-16 that is none": (_encoded("UTF-16"), "damaged"),
    "UTF-7": (_encoded("UTF-7"), READ),
    "codec that is not an encoding": (_encoded("bz2"), "damaged"),
    "unknown encoding": (_encoded("x-unknown"), READ),
    "million processing instructions": (lambda: b"<?xml version='1.0'?>" + b"<?a b?>" * 990_000 + BODY, READ),
    "million unknown elements": (lambda: BODY.replace(b"</Invoice>", b"<a/>" * 990_000 + b"</Invoice>"), READ),
    "letter that is none": (_with_number(b"RE&#0;1"), "damaged"),
    "half a character": (_with_number(b"RE&#xD800;1"), "damaged"),
    **{
        f"amount {amount}": (partial(ubl_invoice, total=amount), READ)
        for amount in ("1e999", "NaN", "INF", "-INF", "1e308", "0x10", "9" * 15)
    },
    # pictures
    "texts of 256 MB": (_png_with(b"zTXt"), "damaged"),
    "colours of 256 MB": (_png_with(b"iCCP"), "damaged"),
    "TIFF that follows itself": (_tiff_of_itself, EMPTY),
    "moving GIF": (_frames("GIF"), EMPTY),
}
