"""Files that mean harm or are broken, made by code, each with what must come of it."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import pikepdf
from PIL import Image

from tests.invoices.codes import epc, pdf_with_code
from tests.invoices.documents import Line, attach, make_pdf, pdf_bytes, ubl_invoice

NUMBER = "RE-1"
PRINTED: list[Line] = [
    (50, 60, "Muster GmbH"),
    (50, 100, f"Invoice number: {NUMBER}"),
    (50, 120, "Invoice date: 02.03.2026"),
    (50, 200, "Total amount: 119.00 EUR"),
]
READ, EMPTY = "read", "empty reading"
"""The invoice's number is read all the same; nothing is read, and a person sees it."""


def _pdf(change: Callable[[pikepdf.Pdf], object]) -> bytes:
    pdf = make_pdf(PRINTED)
    change(pdf)
    return pdf_bytes(pdf)


def _raw(pdf: pikepdf.Pdf) -> bytes:
    """Return the file as it is, without unpacking and packing its streams again."""
    options = {"compress_streams": False, "stream_decode_level": pikepdf.StreamDecodeLevel.none}
    return pdf_bytes(pdf, **options)


def packed(size: int, times: int = 1) -> bytes:
    """Return zeros, packed as small as zlib can."""
    packer = zlib.compressobj(9)
    piece = bytes(1 << 20)
    data = b"".join(packer.compress(piece) for _ in range(size >> 20)) + packer.flush()
    for _ in range(times - 1):
        data = zlib.compress(data, 9)
    return data


def content_bomb(filters: list[str], data: bytes) -> bytes:
    """Return a page whose instructions unpack to far too much."""
    pdf = make_pdf(PRINTED)
    names = pikepdf.Array([pikepdf.Name(name) for name in filters])
    pdf.pages[0].Contents = pikepdf.Stream(pdf, data, Filter=names)
    return _raw(pdf)


def attachment_bomb() -> bytes:
    """Return an invoice with an attachment of 512 MB in 2 kB."""
    pdf = make_pdf(PRINTED)
    attach(pdf, "factur-x.xml", b"<x/>")
    specification = pdf.attachments["factur-x.xml"].obj
    filters = pikepdf.Array([pikepdf.Name.FlateDecode, pikepdf.Name.FlateDecode])
    specification.EF.F = pdf.make_indirect(pikepdf.Stream(pdf, packed(512 << 20, times=2), Filter=filters))
    del specification.EF["/UF"]
    return _raw(pdf)


def _form(pdf: pikepdf.Pdf, drawing: bytes, **forms: pikepdf.Object) -> pikepdf.Object:
    resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary({f"/{name}": form for name, form in forms.items()}))
    form = pikepdf.Stream(
        pdf, drawing, Type=pikepdf.Name.XObject, Subtype=pikepdf.Name.Form, BBox=[0, 0, 595, 842], Resources=resources
    )
    return pdf.make_indirect(form)


def _draw_too(pdf: pikepdf.Pdf, form: pikepdf.Object) -> None:
    page = pdf.pages[0]
    page.Resources.XObject = pikepdf.Dictionary(F=form)
    page.Contents = pdf.make_stream(page.Contents.read_bytes() + b"\n/F Do")


def nested_forms(pdf: pikepdf.Pdf) -> None:
    """Draw ten million forms with nine."""
    form = _form(pdf, b"0 0 5 5 re f")
    for _ in range(7):
        form = _form(pdf, b"/F Do\n" * 10, F=form)
    _draw_too(pdf, form)


def form_that_draws_itself(pdf: pikepdf.Pdf) -> None:
    """Draw a form that draws itself twice."""
    form = _form(pdf, b"/F Do /F Do")
    form.Resources.XObject = pikepdf.Dictionary(F=form)
    _draw_too(pdf, form)


def deep_page_tree(pdf: pikepdf.Pdf) -> None:
    """Hang the page under 20,000 nodes of one child each."""
    node = pdf.Root.Pages
    for _ in range(20_000):
        parent = pdf.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.Pages, Count=1, Kids=[node]))
        node.Parent = parent
        node = parent
    pdf.Root.Pages = node


def endless_page_tree(pdf: pikepdf.Pdf) -> None:
    """Make the tree of pages its own child."""
    pdf.Root.Pages.Kids.append(pdf.Root.Pages)


def form_without_resources(pdf: pikepdf.Pdf) -> None:
    """Draw a form that finds itself among the page's forms, as its own are none."""
    form = _form(pdf, b"/F Do /F Do")
    form.Resources.XObject = pikepdf.Dictionary()
    _draw_too(pdf, form)


def endless_actions(pdf: pikepdf.Pdf) -> None:
    """Make an action its own successor."""
    action = pdf.make_indirect(pikepdf.Dictionary(S=pikepdf.Name.URI, URI="x"))
    action.Next = action
    pdf.Root.OpenAction = action


def script_after_a_list(pdf: pikepdf.Pdf) -> None:
    """Hide a script among the successors of a harmless action."""
    script = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS="app.alert(1)")
    pdf.Root.OpenAction = pikepdf.Dictionary(S=pikepdf.Name.URI, URI="x", Next=pikepdf.Array([script]))


def launch_in_a_field(pdf: pikepdf.Pdf) -> None:
    """Start a program when a form's field is left."""
    launch = pikepdf.Dictionary(S=pikepdf.Name.Launch, F="cmd.exe")
    widget = pikepdf.Dictionary(
        Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Widget, Rect=[0, 0, 9, 9], AA=pikepdf.Dictionary(Bl=launch)
    )
    field = pdf.make_indirect(widget)
    pdf.pages[0].Annots = pikepdf.Array([field])
    pdf.Root.AcroForm = pikepdf.Dictionary(Fields=pikepdf.Array([field]))


def hostile_attachments(pdf: pikepdf.Pdf) -> None:
    """Attach a program, an archive and an e-invoice-like XML under names that lead elsewhere."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as writer:
        writer.writestr("../../evil.sh", "rm -rf /")
    attach(pdf, "../../../../tmp/evil.exe", b"MZ" + bytes(400))
    attach(pdf, "factur-x.xml\x00.exe", archive.getvalue())
    attach(pdf, "/etc/passwd", b"<root/>")


def endless_names(pdf: pikepdf.Pdf) -> None:
    """Make the tree of attachments its own child."""
    attach(pdf, "factur-x.xml", ubl_invoice())
    tree = pdf.Root.Names.EmbeddedFiles
    tree.Kids = pikepdf.Array([tree])


def page_box(*box: float) -> Callable[[pikepdf.Pdf], None]:
    """Return what gives the page this size."""

    def change(pdf: pikepdf.Pdf) -> None:
        pdf.pages[0].obj.MediaBox = pikepdf.Array(list(box))

    return change


def giant_picture(filter_name: str) -> Callable[[pikepdf.Pdf], None]:
    """Return what covers the page with a picture that claims 3.6 gigapixels."""

    def change(pdf: pikepdf.Pdf) -> None:
        picture = pikepdf.Stream(
            pdf,
            packed(1 << 20),
            Type=pikepdf.Name.XObject,
            Subtype=pikepdf.Name.Image,
            Width=60_000,
            Height=60_000,
            ColorSpace=pikepdf.Name.DeviceGray,
            BitsPerComponent=8,
            Filter=pikepdf.Name(filter_name),
        )
        pdf.pages[0].Resources.XObject = pikepdf.Dictionary(P=picture)
        pdf.pages[0].Contents = pdf.make_stream(pdf.pages[0].Contents.read_bytes() + b"\nq 595 0 0 842 0 0 cm /P Do Q")

    return change


def font_of(unicode_text: str) -> Callable[[pikepdf.Pdf], None]:
    """Return what makes the font say `unicode_text` for each letter A."""

    def change(pdf: pikepdf.Pdf) -> None:
        code = unicode_text.encode("utf-16-be", "surrogatepass").hex()
        table = f"1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <41> <{code}> endbfchar"
        page = pdf.pages[0]
        page.Resources.Font.F1.ToUnicode = pdf.make_stream(
            f"/CIDInit /ProcSet findresource begin begincmap {table} endcmap end".encode()
        )
        page.Contents = pdf.make_stream(page.Contents.read_bytes() + b"\nBT /F1 10 Tf 50 700 Td (Note: AAA) Tj ET")

    return change


def object_stream_bomb() -> bytes:
    """Return a PDF whose objects lie in a stream that unpacks to 512 MB."""
    data = packed(512 << 20)
    head = f"1 0 obj <</Type/ObjStm/N 1/First 4/Filter/FlateDecode/Length {len(data)}>> stream\n".encode()
    first = b"%PDF-1.5\n" + head + data + b"\nendstream endobj\n"
    table = struct.pack(">BIH", 0, 0, 0) + struct.pack(">BIH", 1, 9, 0) + struct.pack(">BIH", 2, 1, 0)
    last = f"3 0 obj <</Type/XRef/Size 4/W[1 4 2]/Root 2 0 R/Index[0 3]/Length {len(table)}>> stream\n".encode()
    return first + last + table + f"\nendstream endobj\nstartxref {len(first)}\n%%EOF".encode()


def endless_cross_references() -> bytes:
    """Return a PDF that claims two thousand million objects, and a table of them that comes before itself."""
    pdf = pdf_bytes(make_pdf(PRINTED))
    return pdf.replace(b"/Size ", b"/Size 2000000000 /Prev 0 /X ")


def shifted_cross_references() -> bytes:
    """Return a PDF whose table points a few bytes away from each object."""
    start = pdf_bytes(make_pdf(PRINTED), object_stream_mode=pikepdf.ObjectStreamMode.disable)
    return start.replace(b"%PDF-", b"%PDF-1.4 \n%%%%%%%\n%PDF-", 1)


def encrypted(user: str, level: int) -> bytes:
    """Return a PDF that is locked, as PDF's security handlers of this revision do it."""
    lock = pikepdf.Encryption(owner="owner", user=user, R=level, aes=level >= 4, metadata=level >= 4)  # type: ignore[arg-type]
    return pdf_bytes(make_pdf(PRINTED), encryption=lock)


def picture_header(kind: str) -> bytes:
    """Return the beginning of a picture that claims 60,000 by 60,000 pixels, or as many as the format can."""
    side = struct.pack(">II", 60_000, 60_000)
    header = side + b"\x08\x02\x00\x00\x00"
    png = (
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I", 13)
        + b"IHDR"
        + header
        + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    )
    pixels = zlib.compress(bytes(1 << 16))
    chunk = struct.pack(">I", len(pixels)) + b"IDAT" + pixels + struct.pack(">I", zlib.crc32(b"IDAT" + pixels))
    tags = [
        (256, 60_000),
        (257, 60_000),
        (258, 8),
        (259, 1),
        (262, 1),
        (273, 8),
        (277, 1),
        (278, 60_000),
        (279, 1 << 31),
    ]
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    pictures = {
        "png": png + chunk,
        "gif": b"GIF89a" + struct.pack("<HH", 65_535, 65_535) + b"\x80\x00\x00" + bytes(6) + b",",
        "bmp": b"BM"
        + struct.pack("<IHHI", 54, 0, 0, 54)
        + struct.pack("<IiiHHIIiiII", 40, 60_000, -60_000, 1, 24, *[0] * 6),
        "tiff": b"II*\x00" + struct.pack("<I", 8) + struct.pack("<H", len(tags)) + entries + bytes(4),
        "endless tiff": b"II*\x00" + struct.pack("<I", 8) + struct.pack("<H", 0) + struct.pack("<I", 8),
        "jpeg": b"\xff\xd8\xff\xc0\x00\x11\x08"
        + struct.pack(">HH", 65_500, 65_500)
        + b"\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01",
    }
    return pictures[kind]


def many_frames() -> bytes:
    """Return a TIFF of 1,001 pages."""
    buffer = io.BytesIO()
    frames = [Image.new("1", (8, 8), 1) for _ in range(1001)]
    frames[0].save(buffer, "TIFF", save_all=True, append_images=frames[1:])
    return buffer.getvalue()


def many_attachments(pdf: pikepdf.Pdf) -> None:
    """Attach two hundred bombs of 50 MB, and an e-invoice after them."""
    specification = attach_bomb(pdf)
    names = [item for number in range(200) for item in (pikepdf.String(f"{number:03}.xml"), specification)]
    pdf.Root.Names = pikepdf.Dictionary(EmbeddedFiles=pikepdf.Dictionary(Names=pikepdf.Array(names)))


def attach_bomb(pdf: pikepdf.Pdf) -> pikepdf.Object:
    """Return a file specification whose file unpacks to 50 MB of XML's beginning."""
    data = zlib.compress(b"<a>" + bytes(50 << 20), 9)
    stream = pdf.make_indirect(pikepdf.Stream(pdf, data, Filter=pikepdf.Name.FlateDecode))
    files = pikepdf.Dictionary(F=stream)
    return pdf.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.Filespec, F="x.xml", EF=files))


def deep_xml(levels: int) -> bytes:
    """Return elements within elements."""
    return b"<Invoice>" + b"<a>" * levels + b"</a>" * levels + b"</Invoice>"


def xml_with(declaration: bytes, root: bytes = b"<Invoice/>") -> bytes:
    """Return XML that begins with a document type declaration."""
    return b'<?xml version="1.0"?>' + declaration + root


def invoice_of(lines: int) -> bytes:
    """Return an e-invoice with this many lines."""
    one = ubl_invoice()
    start, end = one.index(b"<cac:InvoiceLine>"), one.index(b"</cac:InvoiceLine>") + len(b"</cac:InvoiceLine>")
    return one[:start] + one[start:end] * lines + one[end:]


def many_fields() -> bytes:
    """Return a page with 100,000 boxes to click."""
    pdf = make_pdf(PRINTED)
    box = pdf.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Link, Rect=[0, 0, 9, 9]))
    pdf.pages[0].Annots = pikepdf.Array([box] * 100_000)
    return pdf_bytes(pdf)


LAUGHS = b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9))
QUADRATIC = b'<!DOCTYPE x [<!ENTITY a "' + b"a" * 50_000 + b'">]>'
Made = Callable[[], bytes]

FILES: Mapping[str, tuple[Made, str]] = {
    # PDFs that unpack or draw far more than they hold
    "content bomb": (lambda: content_bomb(["/FlateDecode"], packed(300 << 20)), "unsafe"),
    "content bomb, packed twice": (lambda: content_bomb(["/FlateDecode"] * 2, packed(512 << 20, times=2)), "unsafe"),
    "content bomb, in short names": (lambda: content_bomb(["/Fl"], packed(300 << 20)), "unsafe"),
    "content bomb, in hexadecimal": (
        lambda: content_bomb(["/ASCIIHexDecode", "/FlateDecode"], packed(300 << 20).hex().encode() + b">"),
        "unsafe",
    ),
    "attachment bomb": (attachment_bomb, READ),
    "object stream bomb": (object_stream_bomb, "damaged"),
    "nested forms": (lambda: _pdf(nested_forms), "unsafe"),
    "form that draws itself": (lambda: _pdf(form_that_draws_itself), "unsafe"),
    "form that finds itself": (lambda: _pdf(form_without_resources), "unsafe"),
    "giant picture": (lambda: _pdf(giant_picture("/FlateDecode")), READ),
    "giant fax": (lambda: _pdf(giant_picture("/CCITTFaxDecode")), READ),
    "giant JPEG 2000": (lambda: _pdf(giant_picture("/JPXDecode")), READ),
    "giant JBIG2": (lambda: _pdf(giant_picture("/JBIG2Decode")), READ),
    # PDFs with odd trees, tables and boxes
    "deep page tree": (lambda: _pdf(deep_page_tree), "damaged"),
    "endless page tree": (lambda: _pdf(endless_page_tree), "damaged"),
    "endless names": (lambda: _pdf(endless_names), READ),
    "endless cross references": (endless_cross_references, READ),
    "shifted cross references": (shifted_cross_references, READ),
    "page without size": (lambda: _pdf(page_box(0, 0, 0, 0)), READ),
    "page of a million kilometres": (lambda: _pdf(page_box(0, 0, 1e12, 1e12)), READ),
    "page inside out": (lambda: _pdf(page_box(595, 842, 0, 0)), READ),
    "100,000 links": (many_fields, READ),
    # PDFs that act, and what they bring along
    "script after a list": (lambda: _pdf(script_after_a_list), "has_active_content"),
    "launch in a field": (lambda: _pdf(launch_in_a_field), "has_active_content"),
    "hostile attachments": (lambda: _pdf(hostile_attachments), READ),
    "200 attachments": (lambda: _pdf(many_attachments), READ),
    "also an archive": (lambda: _pdf(lambda _: None) + b"PK\x03\x04" + bytes(200), READ),
    "archive first": (lambda: b"PK\x03\x04" + bytes(200) + _pdf(lambda _: None), "unknown_type"),
    "locked, RC4": (lambda: encrypted("secret", 3), "encrypted"),
    "locked, AES-256": (lambda: encrypted("secret", 6), "encrypted"),
    "open lock": (lambda: encrypted("", 6), "encrypted flag"),
    "endless actions": (lambda: _pdf(endless_actions), "has_active_content"),
    # fonts with characters that must not be stored
    "font of zeros": (lambda: _pdf(font_of("\x00")), READ),
    "font of half characters": (lambda: _pdf(font_of("\ud800")), READ),
    "font of long texts": (lambda: _pdf(font_of("x" * 500)), READ),
    "font of a terminal's commands": (lambda: _pdf(font_of("\x1b]0;\x9b\x07")), READ),
    "font from right to left": (lambda: _pdf(font_of("\u202e")), READ),
    # pictures
    "giant png": (lambda: picture_header("png"), "too_large"),
    "giant gif": (lambda: picture_header("gif"), "damaged"),
    "giant bmp": (lambda: picture_header("bmp"), "too_large"),
    "giant tiff": (lambda: picture_header("tiff"), "too_large"),
    "endless tiff": (lambda: picture_header("endless tiff"), "damaged"),
    "1,001 frames": (many_frames, "too_many_pages"),
    "giant jpeg": (lambda: picture_header("jpeg"), "too_large"),
    # XML
    "billion laughs": (lambda: xml_with(b'<!DOCTYPE x [<!ENTITY a "lol">' + LAUGHS + b"]>", b"<x>&j;</x>"), "unsafe"),
    "quadratic blowup": (lambda: xml_with(QUADRATIC, b"<x>" + b"&a;" * 50_000 + b"</x>"), "unsafe"),
    "external entity": (
        lambda: xml_with(b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>', b"<x>&a;</x>"),
        "unsafe",
    ),
    "external parameter entity": (
        lambda: xml_with(b'<!DOCTYPE x [<!ENTITY % a SYSTEM "http://127.0.0.1:9/a.dtd"> %a;]>'),
        "unsafe",
    ),
    "external document type": (lambda: xml_with(b'<!DOCTYPE Invoice SYSTEM "http://127.0.0.1:9/a.dtd">'), "unsafe"),
    "deep XML": (lambda: deep_xml(100_000), "damaged"),
    "attribute of 20 MB": (lambda: b'<Invoice a="' + b"x" * (20 << 20) + b'"/>', "damaged"),
    "included file": (
        lambda: (
            b'<Invoice xmlns:i="http://www.w3.org/2001/XInclude"><i:include href="/etc/passwd" parse="text"/></Invoice>'
        ),
        "not_an_invoice",
    ),
    "100,000 lines": (lambda: invoice_of(100_000), "too_large"),
    "name of 5 MB": (lambda: ubl_invoice(vendor="x" * (5 << 20)), READ),
    "number of 5 MB": (lambda: ubl_invoice(total="9" * (5 << 20)), READ),
    # payment codes
    "code of a fortune": (lambda: pdf_with_code(PRINTED, epc(amount="EUR" + "9" * 300)), READ),
    "code of zeros": (lambda: pdf_with_code(PRINTED, epc(name="Muster\x00GmbH")), READ),
}
"""By name: how it is made, and the code it is refused with, READ, EMPTY, or the flag it is read with."""


def outcome_of(invoice: Any) -> str:
    """Return what came of a file that was read, in the words of FILES."""
    flags = {"has_active_content": "has_active_content", "encrypted": "encrypted flag"}
    named = next((words for flag, words in flags.items() if flag in invoice.flags), None)
    return named or (READ if invoice.invoice_number.value == NUMBER else EMPTY)
