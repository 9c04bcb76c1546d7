"""Read an invoice from its pages' text by general rules on labels, positions, arithmetic and check digits."""

import re
from collections.abc import Sequence
from decimal import Decimal

from docrail.invoices.model import FieldValue, InvoiceData
from docrail.invoices.readers.amounts.currency import find_currency
from docrail.invoices.readers.amounts.money import find_money
from docrail.invoices.readers.amounts.sums import Part
from docrail.invoices.readers.amounts.totals import solve_totals
from docrail.invoices.readers.header.dates import find_delivery_date, find_due_date, find_issue_date
from docrail.invoices.readers.header.number import document_type, find_invoice_number, find_order_reference
from docrail.invoices.readers.layout.found import computed, found, mostly_ocr
from docrail.invoices.readers.layout.labels import Finder
from docrail.invoices.readers.layout.page import Layout, Page, lay_out
from docrail.invoices.readers.lines.line_items import find_line_items, sum_of_lines
from docrail.invoices.readers.parties.accounts import Parties, find_iban, find_vat_id
from docrail.invoices.readers.parties.blocks import buyer_cells, find_buyer_name, seller_cells
from docrail.invoices.readers.parties.vendor import find_vendor_name
from docrail.invoices.values.dates import month_comes_first

STATES = (
    "AL AK AZ AR CA CO CT FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA "
    "RI SC SD TN TX UT VT VA WA WV WI WY DC"
).replace(" ", "|")
"""US state codes without Delaware: DE usually means Germany."""
AMERICAN = re.compile(rf"\b(?:united states|usa|u\.s\.a?)\b|\b(?-i:{STATES}) \d{{5}}(?:-\d{{4}})?\b", re.IGNORECASE)
"""Signs of an American document: the country, or a state code with a ZIP code."""


def read_text(pages: Sequence[Page]) -> InvoiceData:
    """Return the invoice printed on `pages`; fields that were not found are empty."""
    return read_layout(lay_out(pages))


def read_layout(layout: Layout) -> InvoiceData:
    """Return the invoice printed on a layout; fields that were not found are empty."""
    finder = Finder(layout)
    month_first = month_comes_first((row.text for row in layout.rows), american=bool(AMERICAN.search(layout.text)))
    amounts = find_money(layout)
    lines = find_line_items(layout, amounts)
    totals = solve_totals(amounts, sum_of_lines(lines))
    buyers = buyer_cells(finder)
    vendor = find_vendor_name(finder, buyers)
    parties = Parties(buyers, seller_cells(finder, vendor, buyers))
    return InvoiceData(
        document_type=document_type(layout),
        invoice_number=find_invoice_number(finder),
        order_reference=find_order_reference(finder),
        date=find_issue_date(finder, month_first=month_first),
        due_date=find_due_date(finder, month_first=month_first),
        delivery_date=find_delivery_date(finder, month_first=month_first),
        vendor_name=vendor,
        vendor_vat_id=find_vat_id(layout, parties),
        buyer_name=find_buyer_name(finder),
        iban=find_iban(layout, parties),
        currency=find_currency(finder, amounts, totals),
        net=_amount(layout, totals.net),
        tax=_amount(layout, totals.tax),
        total=_amount(layout, totals.total),
        total_adjustment=totals.adjustment,
        line_items=lines,
        reader="ocr" if mostly_ocr(layout) else "text",
        page_count=len(layout.pages),
    )


def _amount(layout: Layout, part: Part | None) -> FieldValue[Decimal]:
    if part is None:
        return FieldValue[Decimal]()
    if part.cell is None:
        return computed(layout, part.value, part.source)
    return found(layout, part.value, part.cell, part.source)
