"""Reads an invoice from the text layer of its pages: general rules over labels, places, arithmetic and checksums."""

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

from invoices.checks import CURRENCIES
from invoices.model import FieldValue, InvoiceData, Source
from invoices.readers.accounts import find_iban, find_vat_id
from invoices.readers.dates import month_comes_first
from invoices.readers.found import found
from invoices.readers.geometry import Layout, Page, lay_out
from invoices.readers.heading import document_type, find_due_date, find_invoice_number, find_issue_date
from invoices.readers.labels import Finder
from invoices.readers.line_items import find_line_items
from invoices.readers.money import Money, find_money
from invoices.readers.parties import buyer_cells, find_buyer_name, find_vendor_name
from invoices.readers.totals import Part, Totals, solve_totals

CODE = re.compile(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")
AMERICAN = re.compile(r"\b(?:united states|usa|u\.s\.a?)\b|\b[A-Z]{2} \d{5}(?:-\d{4})?\b", re.IGNORECASE)
"""Signs of an American document: the country, or a state with its ZIP code."""


def read_text(pages: Sequence[Page]) -> InvoiceData:
    """Return what is printed on `pages`; empty fields where nothing was found."""
    layout = lay_out(pages)
    finder = Finder(layout)
    month_first = month_comes_first((row.text for row in layout.rows), american=bool(AMERICAN.search(layout.text)))
    amounts = find_money(layout)
    totals = solve_totals(amounts)
    buyers = buyer_cells(finder)
    return InvoiceData(
        document_type=document_type(layout),
        invoice_number=find_invoice_number(finder),
        date=find_issue_date(finder, month_first=month_first),
        due_date=find_due_date(finder, month_first=month_first),
        vendor_name=find_vendor_name(finder, buyers),
        vendor_vat_id=find_vat_id(layout, buyers),
        buyer_name=find_buyer_name(finder),
        iban=find_iban(layout, buyers),
        currency=_currency(layout, amounts, totals),
        net=_amount(layout, totals.net),
        tax=_amount(layout, totals.tax),
        total=_amount(layout, totals.total),
        total_adjustment=totals.adjustment,
        line_items=find_line_items(layout),
        reader="text",
        page_count=len(pages),
    )


def _amount(layout: Layout, part: Part | None) -> FieldValue[Decimal]:
    if part is None:
        return FieldValue[Decimal]()
    if part.cell is None:
        return FieldValue[Decimal](value=part.value, source=part.source)
    return found(layout, part.value, part.cell, part.source)


def _currency(layout: Layout, amounts: Sequence[Money], totals: Totals) -> FieldValue[str]:
    """Return the currency at the total; else the one at most amounts; else the code most often named."""
    total_cell = totals.total.cell if totals.total else None
    marked = [money for money in amounts if money.currency]
    at_total = next((money for money in marked if money.cell is total_cell), None)
    if at_total and at_total.currency:
        return found(layout, at_total.currency, at_total.cell, Source.TEXT_LABEL)
    counts = Counter(money.currency for money in marked)
    codes = [(code, cell) for cell in layout.cells for code in CODE.findall(cell.text) if code in CURRENCIES]
    if counts:
        best = counts.most_common(1)[0][0]
        first = next(money for money in marked if money.currency == best)
        return found(layout, str(best), first.cell, Source.TEXT_LABEL)
    if codes:
        code = Counter(code for code, _ in codes).most_common(1)[0][0]
        return found(layout, code, next(cell for name, cell in codes if name == code), Source.TEXT_PATTERN)
    return FieldValue[str]()
