"""Find the payment term of a document: the number of days from the date of issue, `14 days net`."""

import re
from collections.abc import Iterator

from docrail.invoices.languages.all import LANGUAGES
from docrail.invoices.readers.layout.page import Cell, Layout
from docrail.invoices.readers.layout.vocabulary import PAYMENT_TERMS

DAYS = "|".join(language.days for language in LANGUAGES)
WEEKS = "|".join(language.weeks for language in LANGUAGES if language.weeks)
COUNTS = {word: int(n) for language in LANGUAGES for word, n in (c.split("=") for c in language.counts.split())}
PAYING = re.compile(rf"(?<![a-z])(?:{'|'.join(language.paying for language in LANGUAGES)})(?![a-z])")
TERM = re.compile(
    rf"(?<![\d.,/%-])(?P<count>\d{{1,3}}|\b(?:{'|'.join(COUNTS)}))[ -]?(?:{DAYS}|(?P<weeks>{WEEKS}))(?![a-z])"
    r"|\bnet ?(?P<net>\d{1,3})(?![\d.,/%]|\s?[a-z€$£])"
)
CLAUSE = re.compile(r"[.;,]\s|[.;,]$|\s[-\u2013\u2014|\u2022]\s|\s(?:oder|or|ou)\s")
_DELIVERY = "deliver|liefer|livraison|levering|entrega|consegna"
DELIVERY = re.compile(_DELIVERY)
"""Labels of another time, although words such as `plazo` are in them."""
NOT_FROM_ISSUE = re.compile(
    r"%|skonto|discount|escompte|korting|descuento|sconto|rabat|alennus|sleva|iskonto|"
    r"receipt|receiving|erhalt|eingang|reception|ontvangst|recepcion|ricevimento|rece[bp]|odbior|mottag|modtag|"
    rf"{_DELIVERY}|"
    r"end of (?:the )?month|e\.?o\.?m\b|monatsende|fin de mois|fine mese|f\.m\.|einde (?:van de )?maand|fin de mes|"
    r"late|overdue|interest|verzug|mahn|retard|penalit|return|refund|cancel|widerruf|remind|claim|complain|reklam|"
    r"ruckgabe|retour|vertrag|notice|kundig|valid|gultig|after that|nach ablauf|"
    r"devoluc|reclamac|garant|guarant|warrant|"
    r"bezwaar|einspruch|widerspruch|recours|recurso|ricorso|objection|appeal"
)
"""Terms that begin on another day, discounts, and periods that are no payment terms."""
PAID_BY = re.compile(
    r"\b(?:payee?|reglee?|versee?|recue?|(?:pagad|abonad|recibid|efectuad|pagat|versat|ricevut)[oa]) "
    r"(?:par|por|con|mediante|tramite) $"
)
"""Before the label of a way of payment, which then was used: `pag\u00e9 par virement le`."""
MOST_DAYS = 180
ROWS_OF_BOX = 2
"""Rows from a box's caption to its value: another column's row may be between them."""


def payment_term(layout: Layout) -> tuple[int, Cell] | None:
    """Return the days after the date of issue at which payment is due, and where; None unless there is exactly one."""
    found = list(_terms(layout))
    return found[0] if len({days for days, _ in found}) == 1 else None


def _terms(layout: Layout) -> Iterator[tuple[int, Cell]]:
    for row in layout.rows:
        label = ""
        for cell in row.cells:
            for clause in CLAUSE.split(cell.folded):
                term = TERM.search(clause)
                if not term or NOT_FROM_ISSUE.search(clause):
                    continue
                paying = PAYING.search(cell.folded) or (PAYING.search(label) and not DELIVERY.search(label))
                if paying or (term.group() == cell.folded and _is_in_a_box(layout, cell)):
                    count = term["count"] or term["net"]
                    days = (COUNTS.get(count) or int(count)) * (7 if term["weeks"] else 1)
                    if 0 < days <= MOST_DAYS:
                        yield days, cell
            label = cell.folded


def _is_in_a_box(layout: Layout, cell: Cell) -> bool:
    """Return whether the words directly above a cell name the terms of payment, as in a form's box."""
    rows = layout.rows[max(0, cell.row - ROWS_OF_BOX) : cell.row]
    above = (other for row in reversed(rows) for other in row.cells if other.page == cell.page)
    caption = next((other for other in above if abs(other.left - cell.left) < cell.height / 2), None)
    if caption is None or cell.top - caption.bottom >= cell.height:
        return False
    return PAYMENT_TERMS.fullmatch(caption.folded.strip(" .:")) is not None
