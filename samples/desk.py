"""Draw the desk of a clerk: sixty invoices to clear, of several vendors, with the troubles of a usual week."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from docrail.samples.bill import Bill, Line
from docrail.samples.drawing import draw, with_attachment
from docrail.samples.ubl import ubl
from docrail.samples.vendors import CLEANERS, OFFICE, SOFTWARE, VENDORS, Vendor


class Kind(StrEnum):
    """What is special about a document."""

    PLAIN = "plain"
    E_INVOICE = "e-invoice"
    LONG = "long"
    """Its lines fill two pages."""
    WRONG_TOTAL = "wrong total"
    """The printed total is not the sum of net and tax."""
    NO_NUMBER = "no number"
    LOOK_ALIKE = "look-alike"
    """It has the vendor and the number of another one, and other bytes."""
    DUPLICATE = "duplicate"
    """It has the bytes of another one."""
    DISAGREES = "disagrees"
    """An e-invoice with another total than its page."""
    BROKEN = "broken"
    """It cannot be opened."""


@dataclass(frozen=True, slots=True)
class DeskFile:
    """A file on the desk; `bill` is what is printed on it."""

    name: str
    content: bytes
    kind: Kind
    sla_hours: int
    bill: Bill | None


ROUNDS = 4
"""Invoices that each vendor has sent."""
SLA_HOURS = (24, 4, 72, 8, 48, 120, 1)
SPECIAL = {
    (OFFICE, 1): Kind.WRONG_TOTAL,
    (CLEANERS, 2): Kind.NO_NUMBER,
    (VENDORS[1], 2): Kind.WRONG_TOTAL,
    (VENDORS[2], 1): Kind.LONG,
    (SOFTWARE, 2): Kind.DISAGREES,
    (VENDORS[7], 3): Kind.WRONG_TOTAL,
    (VENDORS[6], 3): Kind.E_INVOICE,
    (OFFICE, 3): Kind.E_INVOICE,
}


def draw_desk(today: dt.date) -> list[DeskFile]:
    """Return the sixty files, with dates around `today`. On one day they are always the same."""
    usual = [_drawn(vendor, turn, today) for turn in range(ROUNDS) for vendor in VENDORS]
    copies = [replace(usual[at], name=name, kind=Kind.DUPLICATE) for at, name in ((4, "scan0007.pdf"), (11, "IMG.pdf"))]
    return [*usual, *copies, _reminder(usual[5]), _broken()]


def _drawn(vendor: Vendor, turn: int, today: dt.date) -> DeskFile:
    place = VENDORS.index(vendor) + len(VENDORS) * turn
    kind = SPECIAL.get((vendor, turn), Kind.PLAIN)
    bill = _bill(vendor, place, kind, today)
    name, content = _file(bill, kind, place)
    return DeskFile(name, content, kind, SLA_HOURS[place % len(SLA_HOURS)], bill)


def _bill(vendor: Vendor, place: int, kind: Kind, today: dt.date) -> Bill:
    date = today - dt.timedelta(days=2 + place * 5 % 23)
    count = 34 if kind is Kind.LONG else 1 + place % len(vendor.items)
    return Bill(
        vendor=vendor,
        number="" if kind is Kind.NO_NUMBER else vendor.number.format(n=_counted(place)),
        date=date,
        due=date + dt.timedelta(days=14 if place % 3 else 30),
        lines=tuple(_lines(vendor, place, count)),
        misprint=Decimal("9.00") if kind is Kind.WRONG_TOTAL else Decimal(0),
    )


def _lines(vendor: Vendor, place: int, count: int) -> Iterator[Line]:
    for index in range(count):
        description, price = vendor.items[(place + index) % len(vendor.items)]
        yield Line(description, 1 + (place * 3 + index * 7) % 12, price)


def _counted(place: int) -> int:
    return 211 + place * 17


def _file(bill: Bill, kind: Kind, place: int) -> tuple[str, bytes]:
    number = bill.vendor.number.format(n=_counted(place)).replace("/", "-")
    name = bill.vendor.file_name.format(n=_counted(place), number=number)
    if kind is Kind.E_INVOICE:
        return name.replace(".pdf", ".xml"), ubl(bill)
    if kind is Kind.DISAGREES:
        first, *others = bill.lines
        stated = replace(bill, lines=(replace(first, quantity=first.quantity + 1), *others))
        return name, with_attachment(draw(bill), "factur-x.xml", ubl(stated))
    return name, draw(bill)


def _reminder(original: DeskFile) -> DeskFile:
    """Return the same invoice once more, due a week later."""
    assert original.bill is not None
    bill = replace(original.bill, due=original.bill.due + dt.timedelta(days=7))
    name = original.name.replace(".pdf", " (2).pdf")
    return DeskFile(name, draw(bill), Kind.LOOK_ALIKE, original.sla_hours, bill)


def _broken() -> DeskFile:
    return DeskFile("Scan_defekt.pdf", b"%PDF-1.7\n" + bytes(range(7, 200)) * 9, Kind.BROKEN, 24, None)
