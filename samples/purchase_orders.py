"""Draw invented purchase orders as PDFs with text, in three languages and three looks. The companies do not exist."""

import datetime as dt
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pikepdf

from docrail.samples.drawing import LEFT, PLAIN, RIGHT, SMALL, STRONG, Style, add_page, fonts_in, rule, saved, text

ENDING, TITLE = Style(right=True), Style(15, bold=True)


@dataclass(frozen=True, slots=True)
class OrderWords:
    """The words of an order in one language, and how it writes numbers and days."""

    title: str
    number: str
    date: str
    delivery: str
    supplier: str
    buyer: str
    terms: str
    currency: str
    columns: tuple[str, str, str, str]
    net: str
    tax: str
    total: str
    partial: str
    yes: str
    no: str
    separators: tuple[str, str]
    """Between thousands, and before decimals."""
    day: str


ENGLISH = OrderWords(
    title="PURCHASE ORDER",
    number="PO number",
    date="Order date",
    delivery="Deliver by",
    supplier="Supplier",
    buyer="Bill to",
    terms="Payment terms",
    currency="Currency",
    columns=("Description", "Quantity", "Unit price", "Amount"),
    net="Subtotal",
    tax="VAT",
    total="Order total",
    partial="Partial deliveries allowed",
    yes="Yes",
    no="No",
    separators=(",", "."),
    day="%d %b %Y",
)
GERMAN = OrderWords(
    title="BESTELLUNG",
    number="Bestellnummer",
    date="Bestelldatum",
    delivery="Liefertermin",
    supplier="Lieferant",
    buyer="Rechnungsadresse",
    terms="Zahlungsbedingungen",
    currency="Währung",
    columns=("Bezeichnung", "Menge", "Einzelpreis", "Betrag"),
    net="Nettosumme",
    tax="USt",
    total="Bestellsumme",
    partial="Teillieferung erlaubt",
    yes="Ja",
    no="Nein",
    separators=(".", ","),
    day="%d.%m.%Y",
)
FRENCH = OrderWords(
    title="BON DE COMMANDE",
    number="N° de commande",
    date="Date de commande",
    delivery="Date de livraison",
    supplier="Fournisseur",
    buyer="Facturer à",
    terms="Conditions de paiement",
    currency="Devise",
    columns=("Désignation", "Quantité", "Prix unitaire", "Montant"),
    net="Total HT",
    tax="TVA",
    total="Total de la commande",
    partial="Livraison partielle autorisée",
    yes="Oui",
    no="Non",
    separators=(" ", ","),
    day="%d/%m/%Y",
)


@dataclass(frozen=True, slots=True)
class Order:
    """A purchase order. `look`: labels before values, above them, or in a table at the right."""

    words: OrderWords
    look: str
    number: str | None
    date: dt.date
    delivery: dt.date
    supplier: str
    buyer: str
    terms: str
    currency: str
    partial: bool
    lines: tuple[tuple[str, int, Decimal], ...]
    tax_percent: int = 20

    @property
    def net(self) -> Decimal:
        """Return the sum of the lines."""
        return sum((count * price for _, count, price in self.lines), Decimal(0))

    @property
    def total(self) -> Decimal:
        """Return the sum with tax."""
        return (self.net * (100 + self.tax_percent) / 100).quantize(Decimal("0.01"))


ORDERS = {
    "order_english": Order(
        *(ENGLISH, "right", "PO-2026-00417", dt.date(2026, 10, 27), dt.date(2026, 11, 20)),
        *("Brackwater Timber Ltd", "Fennel & Rye Kitchens Ltd", "30 days net", "GBP", True),
        (("Oak worktop 40 mm", 6, Decimal("214.50")), ("Beech edging", 24, Decimal("8.75"))),
    ),
    "order_german": Order(
        *(GERMAN, "before", "B-26-1183", dt.date(2026, 9, 3), dt.date(2026, 9, 28)),
        *("Nordhang Messtechnik GmbH", "Stadtwerke Ellerau", "14 Tage netto", "EUR", False),
        (("Drucksensor DS-4", 12, Decimal("189.00")), ("Kabelsatz", 12, Decimal("21.40")), ("Versand", 1, Decimal(35))),
        19,
    ),
    "order_french": Order(
        *(FRENCH, "above", "CF26/0925", dt.date(2026, 10, 14), dt.date(2026, 11, 2)),
        *("Papeterie du Vallon SARL", "Cabinet Lorimer", "45 jours fin de mois", "EUR", True),
        (("Papier A4 80 g", 50, Decimal("4.90")), ("Classeurs", 30, Decimal("3.25"))),
    ),
    "order_without_number": Order(
        *(ENGLISH, "before", None, dt.date(2026, 11, 5), dt.date(2026, 12, 4)),
        *("Hollin Cross Bearings", "Marrow Bank Engineering", "60 days net", "USD", False),
        (("Bearing 6204", 400, Decimal("1.85")),),
    ),
}
"""The orders by the name of their file. One has no number, so that a person must look at it."""


def main() -> None:
    """Draw the orders into a folder."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "orders")
    folder.mkdir(parents=True, exist_ok=True)
    for name, order in ORDERS.items():
        (folder / f"{name}.pdf").write_bytes(draw_order(order))


def expected(order: Order) -> dict[str, object]:
    """Return what a reader should find, as definitions/purchase_order.yaml names it."""
    return {
        "order_number": order.number,
        "order_date": order.date.isoformat(),
        "delivery_date": order.delivery.isoformat(),
        "supplier": order.supplier,
        "buyer": order.buyer,
        "payment_terms": order.terms,
        "currency": order.currency,
        "partial_deliveries": order.partial,
        "net": float(order.net),
        "total": float(order.total),
    }


def draw_order(order: Order) -> bytes:
    """Return the order as a PDF of one page."""
    pdf = pikepdf.new()
    add_page(pdf, fonts_in(pdf, ("Helvetica", "Helvetica-Bold")), _page(order))
    return saved(pdf)


def _page(order: Order) -> Iterator[str]:
    yield text(LEFT, 66, order.words.title, TITLE)
    yield rule(LEFT, RIGHT, 76, (0.2, 0.3, 0.4), 1)
    yield from {"before": _before, "above": _above, "right": _right}[order.look](order)
    yield from _table(order, 320)
    yield text(LEFT, 790, order.buyer, SMALL)


def _facts(order: Order) -> list[tuple[str, str]]:
    words = order.words
    facts = [
        (words.number, order.number),
        (words.date, order.date.strftime(words.day)),
        (words.delivery, order.delivery.strftime(words.day)),
        (words.currency, order.currency),
        (words.terms, order.terms),
        (words.partial, words.yes if order.partial else words.no),
    ]
    return [(label, value) for label, value in facts if value is not None]


def _parties(order: Order) -> list[tuple[str, str]]:
    return [(order.words.supplier, order.supplier), (order.words.buyer, order.buyer)]


def _before(order: Order) -> Iterator[str]:
    for index, (label, value) in enumerate([*_parties(order), *_facts(order)]):
        yield text(LEFT, 110 + 18 * index, f"{label}: {value}", PLAIN)


def _above(order: Order) -> Iterator[str]:
    for index, (label, value) in enumerate([*_parties(order), *_facts(order)]):
        x, y = LEFT + 165 * (index % 3), 120 + 50 * (index // 3)
        yield text(x, y, label, SMALL)
        yield text(x, y + 14, value, STRONG)


def _right(order: Order) -> Iterator[str]:
    for index, (label, value) in enumerate(_parties(order)):
        yield text(LEFT, 110 + 60 * index, label, SMALL)
        yield text(LEFT, 124 + 60 * index, value, PLAIN)
    for index, (label, value) in enumerate(_facts(order)):
        yield text(310, 110 + 18 * index, label, PLAIN)
        yield text(RIGHT, 110 + 18 * index, value, ENDING)


def _table(order: Order, top: float) -> Iterator[str]:
    words, columns = order.words, (LEFT, 350, 440, RIGHT)
    for x, heading in zip(columns, words.columns, strict=True):
        yield text(x, top, heading, Style(9, bold=True, right=x != LEFT))
    yield rule(LEFT, RIGHT, top + 6, (0.4, 0.4, 0.4), 0.6)
    for index, (description, count, price) in enumerate(order.lines):
        cells = (description, str(count), _amount(price, words), _amount(count * price, words))
        for x, cell in zip(columns, cells, strict=True):
            yield text(x, top + 24 + 16 * index, cell, PLAIN if x == LEFT else ENDING)
    sums = [
        (words.net, order.net),
        (f"{words.tax} {order.tax_percent} %", order.total - order.net),
        (words.total, order.total),
    ]
    for index, (label, value) in enumerate(sums):
        y = top + 60 + 16 * (len(order.lines) + index)
        yield text(350, y, label, PLAIN)
        yield text(RIGHT, y, _amount(value, words), ENDING)


def _amount(value: Decimal, words: OrderWords) -> str:
    thousands, decimal = words.separators
    whole, _, cents = f"{value:,.2f}".partition(".")
    return whole.replace(",", thousands) + decimal + cents


if __name__ == "__main__":
    main()
