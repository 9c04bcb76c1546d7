"""Turn a document's bytes into an InvoiceData: run all readers and keep the most confident values."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from PIL import Image

from docrail.invoices.assessment.checks import lines_total
from docrail.invoices.assessment.confidence import assess
from docrail.invoices.assessment.reconcile import reconcile
from docrail.invoices.extent import FIRST_PAGES, LAST_PAGES, MAX_PAGES, pages_to_read
from docrail.invoices.facts import Evidence
from docrail.invoices.model import FieldValue, InvoiceData, InvoiceProblem
from docrail.invoices.problems import UnreadableDocument
from docrail.invoices.readers.amounts.currency import find_currency
from docrail.invoices.readers.amounts.money import find_money
from docrail.invoices.readers.amounts.sums import Part
from docrail.invoices.readers.amounts.totals import solve_totals
from docrail.invoices.readers.codes import qr
from docrail.invoices.readers.einvoice.read_xml import is_einvoice, read_einvoice_xml
from docrail.invoices.readers.einvoice.xml_tree import parse_xml
from docrail.invoices.readers.header.day_order import read_dates
from docrail.invoices.readers.header.document_type import find_document_type
from docrail.invoices.readers.header.language import unsupported_language
from docrail.invoices.readers.header.number import find_invoice_number, find_order_reference
from docrail.invoices.readers.header.receipt import receipt_if_paid
from docrail.invoices.readers.header.script import unsupported_script
from docrail.invoices.readers.header.several import beginnings, parts_of, several_invoices
from docrail.invoices.readers.layout.labels import Finder
from docrail.invoices.readers.layout.page import Layout, Page, lay_out
from docrail.invoices.readers.layout.places import Places, computed, found, mostly_ocr, without_label
from docrail.invoices.readers.layout.spelling import spelled
from docrail.invoices.readers.lines.line_items import find_line_items
from docrail.invoices.readers.ocr import read as ocr
from docrail.invoices.readers.page_check import (
    check_against_page,
    check_code_against_einvoice,
    without_computed_due_date,
    without_page,
    without_part_payment,
)
from docrail.invoices.readers.parties.accounts import Parties, find_iban, find_vat_id
from docrail.invoices.readers.parties.blocks import buyer_cells, find_buyer_name, seller_cells
from docrail.invoices.readers.parties.vendor import find_vendor_name
from docrail.invoices.readers.pdf.file import PdfFile, open_pdf
from docrail.invoices.readers.pdf.images import count_pictures, open_pictures
from docrail.invoices.readers.pdf.pages import PdfPages
from docrail.invoices.readers.pdf.words import read_pages
from docrail.invoices.readers.sniff import FileKind, sniff

NO_TEXT = InvoiceProblem.warning(
    "no_text_layer",
    "The document has no text: its pages are blank, or pictures that were not read. Enter the values yourself.",
)
BROKEN_EINVOICE = "einvoice_unreadable"
SUMS, ADJUSTMENTS = frozenset({"net", "tax", "total"}), ("net_adjustment", "total_adjustment")
LABELLED = frozenset({"invoice_number", "date", "due_date", *SUMS})
"""Fields whose labels are looked for again where words are garbled."""


def read_document(data: bytes, *, today: dt.date, max_pages: int = MAX_PAGES) -> InvoiceData:
    """Read one document and check its rules. Run it only in a limited child process.

    A document on which nothing is found is not an error: its fields are empty, and its low confidence sends it to a
    person.

    Raises: UnreadableDocument.
    """
    return read_with_pages(data, today=today, max_pages=max_pages)[0]


def read_with_pages(data: bytes, *, today: dt.date, max_pages: int = MAX_PAGES) -> tuple[InvoiceData, Sequence[Page]]:
    """Return what `read_document` returns, and the pages with their words; an XML file has none."""
    pages: Sequence[Page] = ()
    match sniff(data):
        case FileKind.XML:
            invoice = reconcile([read_einvoice_xml(data)])
        case FileKind.PDF:
            file = open_pdf(data, max_pages)
            with PdfPages(data) as pdf:
                invoice, pages = _read_pdf(file, pdf)
        case FileKind.IMAGE:
            invoice, pages = _read_picture(data, max_pages)
    return assess(invoice, today), pages


def _read_picture(data: bytes, max_pages: int) -> tuple[InvoiceData, Sequence[Page]]:
    codes: list[qr.Code] = []
    count = count_pictures(data, max_pages)
    numbers = pages_to_read(count)
    pages = ocr.read_pictures(_searched(zip(numbers, open_pictures(data, max_pages, numbers), strict=False), codes))
    code, broken = qr.read_codes(codes)
    invoice = _reconciled(None, code, pages, reader="ocr")
    problems = (*invoice.problems, *broken, *ocr.left_out(count))
    return invoice.model_copy(update={"page_count": count, "problems": problems}), pages


def _searched(pictures: Iterable[tuple[int, Image.Image]], codes: list[qr.Code]) -> Iterator[Image.Image]:
    """Append the payment codes of each picture to `codes` as it passes: opening a large one takes half a second."""
    for number, picture in pictures:
        codes += qr.codes_of_picture(picture, number)
        yield picture


def _read_pdf(file: PdfFile, pdf: PdfPages) -> tuple[InvoiceData, Sequence[Page]]:
    numbers = pages_to_read(file.page_count)
    pages = read_pages(pdf, numbers)
    embedded, unreadable = _embedded_einvoice(file)
    codes, unsearched = qr.codes_of_pdf(pdf)
    code, broken = qr.read_codes(codes)
    scans = ocr.scanned_pages(pdf, [pages[number - 1] for number in numbers])
    pages = ocr.read_scans(pdf, pages, scans)
    invoice = _reconciled(embedded, code, pages, reader="text")
    printed = any(page.words for page in pages)
    update = {
        "page_count": file.page_count,
        "parts": () if scans or len(numbers) < file.page_count else invoice.parts,
        "flags": file.flags if printed else (*file.flags, NO_TEXT.code),
        "problems": (
            *(*invoice.problems, *unreadable, *unsearched, *broken),
            *(*_left_out(file.page_count, len(numbers)), *ocr.left_out(len(scans))),
        ),
    }
    return invoice.model_copy(update=update), pages


def _left_out(count: int, read: int) -> tuple[InvoiceProblem, ...]:
    if count == read:
        return ()
    message = f"Of {count} pages, the first {FIRST_PAGES} and the last {LAST_PAGES} were read. Look at the others."
    return (InvoiceProblem.warning("pages_not_read", message),)


def _reconciled(
    embedded: InvoiceData | None, code: InvoiceData | None, pages: Sequence[Page], reader: str
) -> InvoiceData:
    """Merge the data of an e-invoice and a payment code with the printed values into one reading."""
    if embedded and code:
        code = check_code_against_einvoice(code, embedded)
    if not any(page.words for page in pages):
        stated = [*([without_page(embedded)] if embedded else []), *([code] if code else [])]
        return reconcile(stated or [InvoiceData(reader=reader, problems=(NO_TEXT,))])
    finder = Finder(lay_out(pages))
    invoices = beginnings(finder)
    parts = () if embedded else parts_of(finder, invoices)
    if len(invoices) > 1:
        finder = Finder(lay_out([page for page in pages if page.number < invoices[1].page]))
    printed, places = _read_labelled(finder), Places(finder.layout)
    if len(invoices) > 1:
        several = (*printed.problems, several_invoices(invoices))
        printed = printed.model_copy(update={"problems": several, "parts": parts})
    if code:
        totals = [reading.total.value for reading in (embedded, printed) if reading and reading.total.value is not None]
        code = without_part_payment(code, totals, places)
    stated = [check_against_page(reading, printed, places) for reading in (embedded, code) if reading]
    return reconcile([*stated, without_computed_due_date(printed) if embedded else printed])


def _embedded_einvoice(file: PdfFile) -> tuple[InvoiceData | None, tuple[InvoiceProblem, ...]]:
    """Return the first e-invoice attached to the PDF. If another invoice is attached as well, a person must decide."""
    read: InvoiceData | None = None
    broken: list[InvoiceProblem] = []
    for attachment in file.attachments:
        try:
            found = read_einvoice_xml(attachment) if is_einvoice(parse_xml(attachment)) else None
        except UnreadableDocument as error:
            message = f"An XML file in the PDF cannot be read, so only its pages were read. {error.message}"
            broken.append(InvoiceProblem.warning(BROKEN_EINVOICE, message))
            continue
        if found and read and _is_another(found, read):
            return read, (_several(read, found),)
        read = read or found
    return read, () if read else tuple(broken[:1])


def _is_another(found: InvoiceData, read: InvoiceData) -> bool:
    """Return whether two e-invoices describe different invoices; senders may attach the same one in two standards."""
    return (found.invoice_number.value, found.total.value) != (read.invoice_number.value, read.total.value)


def _several(read: InvoiceData, other: InvoiceData) -> InvoiceProblem:
    one, another = (f"number {each.invoice_number.value}, total {each.total.value}" for each in (read, other))
    return InvoiceProblem.error(
        "several_einvoices",
        f"The PDF contains several e-invoices. The first was read ({one}), not the other ({another}). "
        "Ask the sender for one document each.",
    )


def read_text(pages: Sequence[Page]) -> InvoiceData:
    """Return the invoice printed on `pages`; fields that were not found are empty."""
    return read_layout(lay_out(pages))


def read_layout(layout: Layout) -> InvoiceData:
    """Return the invoice printed on a layout; fields that were not found are empty."""
    return _read_labelled(Finder(layout))


def _read_labelled(finder: Finder) -> InvoiceData:
    """Return the invoice of a finder's layout. Missing fields that labels name are looked for at garbled labels."""
    read = _read_once(finder)
    missing = {name for name in LABELLED if getattr(read, name).value is None}
    corrected = spelled(finder.layout) if missing else None
    if corrected is None:
        return read
    again = _read_once(Finder(corrected))
    if "total" in missing and again.total.value is not None:
        missing |= SUMS  # net, tax and total are one assignment
    fields = {name: without_label(getattr(again, name)) for name in missing}
    sums = {name: getattr(again, name) for name in ADJUSTMENTS} if "total" in missing else {}
    return read.model_copy(update={**fields, **sums})


def _read_once(finder: Finder) -> InvoiceData:
    layout = finder.layout
    dates = read_dates(finder)
    amounts = find_money(layout)
    lines = find_line_items(layout, amounts)
    totals = solve_totals(amounts, lines_total(lines))
    buyers = buyer_cells(finder)
    vendor, unsure = find_vendor_name(finder, buyers)
    parties = Parties(buyers, seller_cells(finder, vendor, buyers), unsure)
    buyer, iban = find_buyer_name(finder), find_iban(layout, parties)
    kind = find_document_type(layout, totals.total.value if totals.total else None)
    asks = iban.value is not None or dates.due.value is not None
    return InvoiceData(
        document_type=receipt_if_paid(kind, layout, amounts, has_buyer=buyer.value is not None, asks=asks),
        invoice_number=find_invoice_number(finder),
        order_reference=find_order_reference(finder),
        date=dates.issue,
        due_date=dates.due,
        delivery_date=dates.delivery,
        vendor_name=vendor,
        vendor_vat_id=find_vat_id(layout, parties),
        buyer_name=buyer,
        iban=iban,
        currency=find_currency(finder, amounts, totals),
        net=_amount(layout, totals.net, several=totals.net_unsure),
        tax=_amount(layout, totals.tax),
        total=_amount(layout, totals.total, several=totals.total_unsure),
        net_adjustment=totals.net_adjustment,
        total_adjustment=totals.adjustment,
        line_items=lines,
        reader="ocr" if mostly_ocr(layout) else "text",
        page_count=len(layout.pages),
        problems=(*(unsupported_script(layout.text) or unsupported_language(layout)), *_poor_images(layout)),
    )


def _poor_images(layout: Layout) -> tuple[InvoiceProblem, ...]:
    poor = ", ".join(str(page.number) for page in layout.pages if page.poor)
    message = f"Page {poor}: the picture is too poor to read reliably. Ask for a better one, or compare every value."
    return (InvoiceProblem.error("poor_image", message),) if poor else ()


def _amount(layout: Layout, part: Part | None, *, several: bool = False) -> FieldValue[Decimal]:
    if part is None:
        return FieldValue[Decimal]()
    placed = (
        found(layout, part.value, part.cell, part.source) if part.cell else computed(layout, part.value, part.source)
    )
    return placed.with_fact(Evidence.SEVERAL_SUMS) if several else placed
