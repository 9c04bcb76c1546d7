"""Find the seller's IBAN and VAT id, and exclude the buyer's."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from docrail.invoices.facts import Evidence, Source
from docrail.invoices.model import FieldValue
from docrail.invoices.readers.layout.found import found
from docrail.invoices.readers.layout.page import Cell, Layout
from docrail.invoices.readers.layout.vocabulary import IBAN_LABEL, VAT_LABEL, YOURS
from docrail.invoices.values.folding import fold
from docrail.invoices.values.identifiers import SWISS_TAX, compact, iban_evidence, vat_evidence

IBAN = re.compile(r"(?<![A-Z0-9])[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]){11,30}(?![A-Z0-9*])")
IBAN_START = re.compile(r"(?<![A-Z0-9])[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]){0,24}$")
IBAN_LENGTHS = (
    {
        "NO": 15,
        "BE": 16,
        "DK": 18,
        "FI": 18,
        "NL": 18,
        "AT": 20,
        "LT": 20,
        "LU": 20,
        "EE": 20,
        "CH": 21,
        "LV": 21,
        "LI": 21,
    }
    | {
        "HR": 21,
        "BG": 22,
        "DE": 22,
        "GB": 22,
        "IE": 22,
        "CZ": 24,
        "ES": 24,
        "SE": 24,
        "SK": 24,
        "RO": 24,
        "PT": 25,
        "IS": 26,
    }
    | {"FR": 27, "GR": 27, "IT": 27, "MC": 27, "SM": 27, "CY": 28, "HU": 28, "PL": 28, "AD": 24, "SI": 19, "MT": 31}
)
"""IBAN lengths of the SEPA countries, from the IBAN registry."""
BANK = re.compile(r"iban|bank|konto|account|compte|rekening|cuenta|conto")
SHORTEST_IBAN = 15
VAT_FORMATS = (
    r"ATU\d{8}|BE[01]\d{9}|BG\d{9,10}|CY\d{8}[A-Z]|CZ\d{8,10}|DE\d{9}|DK\d{8}|EE\d{9}|EL\d{9}|ES[A-Z0-9]\d{7}[A-Z0-9]|"
    r"FI\d{8}|FR[A-Z0-9]{2}\d{9}|GB\d{9}(?:\d{3})?|HR\d{11}|HU\d{8}|IE\d[A-Z0-9+*]\d{5}[A-Z]{1,2}|IT\d{11}|"
    r"LT(?:\d{9}|\d{12})|LU\d{8}|LV\d{11}|MT\d{8}|NL\d{9}B\d{2}|PL\d{10}|PT\d{9}|RO\d{6,10}|SE\d{12}|SI\d{8}|SK\d{10}|"
    r"CHE\d{9}(?:MWST|TVA|IVA)?|NO\d{9}MVA|XI\d{9}"
)
VAT = re.compile(rf"(?:{VAT_FORMATS})$")
VAT_START = re.compile(
    r"(?<![A-Z0-9])(?:AT|BE|BG|CHE|CY|CZ|DE|DK|EE|EL|ES|FI|FR|GB|HR|HU|IE|IT|LT|LU|LV|MT|NL|NO|PL|PT|"
    r"RO|SE|SI|SK|XI)(?=[ .\-]?[A-Z0-9])"
)
NATIONAL = {
    "IT": (re.compile(r"p\.? ?i\.?v\.?a|part(?:ita|\.) ?iva|\bp\. ?i\."), re.compile(r"(?<!\w)\d{11}(?!\w)")),
    "ES": (
        re.compile(r"\bc\.?i\.?f\b|\bn\.?i\.?f\b|\bd\.?n\.?i\b"),
        re.compile(r"(?<!\w)(?:[A-Z]-?\d{7}-?[A-Z0-9]|\d{8}-?[A-Z])(?!\w)"),
    ),
    "NL": (re.compile(r"\bbtw\b"), re.compile(r"(?<!\w)\d{4}\.?\d{2}\.?\d{3}\.?B\.?\d{2}(?!\w)")),
    "GB": (re.compile(r"\bvat\b"), re.compile(r"(?<!\w)(?<!\d )\d{3} ?(?:\d{4} ?\d{2}|\d{3} \d{3})(?!\w|[ .]\d)")),
    "BE": (
        re.compile(r"\b(?:btw|tva|ondernemings|bce|kbo|entreprise)"),
        re.compile(r"(?<!\w)[01]\d{3}\.?\d{3}\.?\d{3}(?!\w)"),
    ),
}
"""VAT ids in the national form without a country prefix, which is added: patterns of label and id.

Accepted only with valid check digits."""
AT_HOME = 0.5
"""Penalty for a national VAT id compared with one that has its country prefix."""
NEAR = 40
"""Number of characters before an identifier that may name its owner."""
LONGEST_VAT = 22
"""Including spaces and dots between its groups."""
SENTENCE_WORDS = 8
"""Word count above which a line is running text."""


IN_SELLERS_BLOCK = 1.6
"""Score for an id in the seller's block; more than for valid check digits, because sellers also print invalid ids."""


@dataclass(frozen=True, slots=True)
class Parties:
    """The cells of the buyer and of the seller, as far as known."""

    buyers: Sequence[Cell] = ()
    sellers: Sequence[Cell] = ()


@dataclass(frozen=True, slots=True)
class _Candidate:
    value: str
    cell: Cell
    score: float
    evidence: tuple[Evidence, ...]
    labelled: bool


def find_iban(layout: Layout, parties: Parties) -> FieldValue[str]:
    """Return the IBAN to pay to: valid ones first, without those labelled as the recipient's."""
    return _best(layout, [*_ibans(layout, parties), *_broken_ibans(layout, parties)])


def find_vat_id(layout: Layout, parties: Parties) -> FieldValue[str]:
    """Return the seller's VAT id."""
    return _best(layout, [*_vat_ids(layout, parties), *_national_ids(layout, parties)])


def _best(layout: Layout, candidates: list[_Candidate]) -> FieldValue[str]:
    own = [candidate for candidate in candidates if candidate.score > 0]
    if not own:
        return FieldValue()
    best = max(own, key=lambda candidate: candidate.score)
    rivals = {c.value for c in own if c.score >= best.score} - {best.value}
    evidence = (*best.evidence, Evidence.SEVERAL_CANDIDATES) if rivals else best.evidence
    source = Source.TEXT_LABEL if best.labelled else Source.TEXT_PATTERN
    return found(layout, best.value, best.cell, source, evidence)


def _ibans(layout: Layout, parties: Parties) -> Iterator[_Candidate]:
    for row in layout.rows:
        for index, cell in enumerate(row.cells):
            before = row.cells[index - 1].folded if index else ""
            for match in IBAN.finditer(cell.text):
                iban = _cut_iban(compact(match.group()) or "")
                if iban is None:
                    continue
                context = f"{before} {cell.folded[: match.start()]}"
                above = layout.rows[row.number - 1].text.lower() if row.number else ""
                iban = _continued(layout, cell, iban) if match.end() == len(cell.text) else iban
                labelled = bool(IBAN_LABEL.search(context) or (match.start() == 0 and BANK.search(above)))
                evidence = iban_evidence(iban)
                if not labelled and Evidence.CHECKSUM_INVALID in evidence:
                    continue  # any long code looks like an IBAN: check digits or a label must confirm it
                yield _Candidate(
                    iban, cell, _score(context, cell, parties, evidence, labelled=labelled), evidence, labelled
                )


def _broken_ibans(layout: Layout, parties: Parties) -> Iterator[_Candidate]:
    """Yield valid IBANs that are broken over two lines of running text."""
    for cell in layout.cells:
        start = IBAN_START.search(cell.text)
        if start is None:
            continue
        for under in _under(layout, cell)[:1]:
            iban = _cut_iban(compact(start.group() + under.text) or "")
            if iban is not None and Evidence.CHECKSUM_VALID in (evidence := iban_evidence(iban)):
                context = cell.folded[: start.start()]
                labelled = bool(IBAN_LABEL.search(context))
                yield _Candidate(
                    iban, cell, _score(context, cell, parties, evidence, labelled=labelled), evidence, labelled
                )


def _continued(layout: Layout, cell: Cell, iban: str) -> str:
    """Return the IBAN, completed with the digits below it if it is too short for its country and they fit exactly."""
    missing = IBAN_LENGTHS.get(iban[:2], 0) - len(iban)
    for under in _under(layout, cell):
        rest = compact(under.text) or ""
        if missing > 0 and len(rest) == missing and rest.isalnum():
            return iban + rest
    return iban


def _under(layout: Layout, cell: Cell) -> list[Cell]:
    """Return the cells of the next row below the cell."""
    following = layout.rows[cell.row + 1].cells if cell.row + 1 < len(layout.rows) else ()
    return [other for other in following if other.page == cell.page and cell.shares_column(other)]


def _heading(layout: Layout, cell: Cell) -> str:
    """Return the text directly above the cell: its column heading."""
    above = layout.rows[cell.row - 1].cells if cell.row else ()
    return " ".join(other.folded for other in above if other.page == cell.page and cell.shares_column(other))


def _cut_iban(iban: str) -> str | None:
    """Cut off text that directly follows an IBAN; None if it is not an IBAN."""
    length = IBAN_LENGTHS.get(iban[:2])
    if length is None:
        return iban if len(iban) >= SHORTEST_IBAN and iban[4:].isdigit() else None
    return iban[:length] if len(iban) >= SHORTEST_IBAN else None


def _vat_ids(layout: Layout, parties: Parties) -> Iterator[_Candidate]:
    for row in layout.rows:
        for index, cell in enumerate(row.cells):
            before, text = row.cells[index - 1].folded if index else "", _running_on(layout, cell)
            for match in VAT_START.finditer(text):
                vat_id = _longest_vat(text[match.start() : match.start() + LONGEST_VAT])
                if vat_id is None:
                    continue
                context = f"{before} {fold(text[: match.start()])}"
                if match.start() == 0 and not VAT_LABEL.search(context):
                    context = _heading(layout, cell)
                labelled = bool(VAT_LABEL.search(context) or SWISS_TAX.search(vat_id))
                evidence = vat_evidence(vat_id)
                if not labelled and Evidence.CHECKSUM_VALID not in evidence:
                    continue
                yield _Candidate(
                    vat_id, cell, _score(context, cell, parties, evidence, labelled=labelled), evidence, labelled
                )


def _national_ids(layout: Layout, parties: Parties) -> Iterator[_Candidate]:
    for row in layout.rows:
        for index, cell in enumerate(row.cells):
            before, text = row.cells[index - 1].folded if index else "", _running_on(layout, cell)
            for country, (label, form) in NATIONAL.items():
                for match in form.finditer(text):
                    context = f"{before} {fold(text[: match.start()])}"
                    context = context if match.start() or label.search(context) else _heading(layout, cell)
                    vat_id = country + (compact(match.group()) or "")
                    evidence = vat_evidence(vat_id)
                    named = label.search(context[-NEAR:]) or _alone_in_block(country, match, cell, parties)
                    if named and Evidence.CHECKSUM_VALID in evidence:
                        score = _score(context, cell, parties, evidence, labelled=True) - AT_HOME
                        yield _Candidate(vat_id, cell, score, evidence, labelled=True)


def _alone_in_block(country: str, match: re.Match[str], cell: Cell, parties: Parties) -> bool:
    """Return whether a Spanish id, identified by its letter, is alone in a line of the seller's block."""
    return country == "ES" and match.group() == cell.text and cell in parties.sellers


def _running_on(layout: Layout, cell: Cell) -> str:
    """Return the cell's text; for running text, followed by the start of the next line."""
    under = _under(layout, cell)[:1] if len(cell.words) > SENTENCE_WORDS else []
    return " ".join([cell.text, *(other.text[:LONGEST_VAT] for other in under)])


def _longest_vat(text: str) -> str | None:
    """Return the longest prefix of `text` that has the form of a VAT id and ends at a word boundary."""
    ends = [end for end in range(len(text), 7, -1) if end == len(text) or not text[end].isalnum()]
    beginnings = (compact(text[:end]) or "" for end in ends)
    return next((vat_id for vat_id in beginnings if VAT.match(vat_id)), None)


def _score(context: str, cell: Cell, parties: Parties, evidence: tuple[Evidence, ...], *, labelled: bool) -> float:
    score = 1.0 + labelled + 1.5 * (Evidence.CHECKSUM_VALID in evidence)
    if YOURS.search(context[-NEAR:]):
        return score - 5
    if cell in parties.buyers:
        return score - 4
    return score + IN_SELLERS_BLOCK * (cell in parties.sellers)
