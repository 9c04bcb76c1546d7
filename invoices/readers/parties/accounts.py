"""Find the seller's IBAN and VAT id, and exclude the buyer's."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from docrail.invoices.facts import Evidence, Source
from docrail.invoices.features import Feature, leaders
from docrail.invoices.model import FieldValue
from docrail.invoices.readers.layout.page import Cell, Layout
from docrail.invoices.readers.layout.places import found
from docrail.invoices.readers.layout.vocabulary import IBAN_LABEL, VAT_LABEL, YOURS
from docrail.invoices.values.folding import fold
from docrail.invoices.values.identifiers import SWISS_TAX, compact, iban_evidence, vat_evidence

IBAN = re.compile(r"(?<![A-Z0-9])[A-Z]{2} ?\d{2}(?:[ .-]?[A-Z0-9]){11,30}(?![A-Z0-9*])")
IBAN_START = re.compile(r"(?<![A-Z0-9])[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]){0,24}$")
_LENGTHS = (
    "AD24 AT20 BE16 BG22 CH21 CY28 CZ24 DE22 DK18 EE20 ES24 FI18 FR27 GB22 GR27 HR21 HU28 IE22 IS26 IT27 LI21 "
    "LT20 LU20 LV21 MC27 MT31 NL18 NO15 PL28 PT25 RO24 SE24 SI19 SK24 SM27"
)
IBAN_LENGTHS = {each[:2]: int(each[2:]) for each in _LENGTHS.split()}
"""IBAN lengths of the SEPA countries, from the IBAN registry."""
BANK = re.compile(r"iban|ban[ckq]|konto|account|compte|rekening|cuenta|conto")
PAY_TO = re.compile(
    r"\b(?:bonific|transfer|uberweis|virement|overma|overschr|ingres)[a-z]*\W+(?:[a-z]{1,4} )?$"
    r"|\b(?:betaling|zahlung|payment|paiement|reglement|pago|pagamento) [^.:;]{0,40}\b(?:op|auf|into|to|sur|en|su) $"
)
"""A word for a transfer directly before an account, `bonificare su`, or a payment that is to be made on it."""
OF_THE_TAX_OFFICE = re.compile(r"\bg-?rekening\b")
"""Before a Dutch account from which only taxes are paid: a part of the total goes to it."""
SHORTEST_IBAN = 15
VAT = re.compile(
    r"(?:ATU\d{8}|BE[01]\d{9}|BG\d{9,10}|CY\d{8}[A-Z]|CZ\d{8,10}|DE\d{9}|DK\d{8}|EE\d{9}|EL\d{9}|ES[A-Z0-9]\d{7}[A-Z0-9]|"
    r"FI\d{8}|FR[A-Z0-9]{2}\d{9}|GB\d{9}(?:\d{3})?|HR\d{11}|HU\d{8}|IE\d[A-Z0-9+*]\d{5}[A-Z]{1,2}|IT\d{11}|"
    r"LT(?:\d{9}|\d{12})|LU\d{8}|LV\d{11}|MT\d{8}|NL\d{9}B\d{2}|PL\d{10}|PT\d{9}|RO\d{6,10}|SE\d{12}|SI\d{8}|SK\d{10}|"
    r"CHE\d{9}(?:MWST|TVA|IVA)?|NO\d{9}MVA|XI\d{9})$"
)
VAT_START = re.compile(r"(?<![A-Z0-9])[A-Z]{2}(?=[ .\-]?[A-Z0-9])")
NATIONAL = {
    "IT": (re.compile(r"p\.? ?i\.?v\.?a|part(?:ita|\.) ?i\.?v\.?a|\bp\. ?i\."), re.compile(r"(?<!\w)\d{11}(?!\w)")),
    "ES": (
        re.compile(r"\bc\.?[i1]\.?f\b|\bn\.?i\.?[fe]\b|\bd\.?n\.?i\b|\b(?:identificacion|id) fiscal"),
        re.compile(r"(?<!\w)(?:[A-Z][- ]?(?:\d{7}|\d\d\.\d{3}\.\d\d)-?[A-Z0-9]|\d\d\.?\d{3}\.?\d{3}-?[A-Z])(?!\w)"),
    ),
    "NL": (re.compile(r"\bbtw\b"), re.compile(r"(?<!\w)\d{4}\.?\d{2}\.?\d{3}\.?B\.?\d{2}(?!\w)")),
    "GB": (re.compile(r"\bvat\b"), re.compile(r"(?<!\w)(?<!\d )\d{3} ?(?:\d{4} ?\d{2}|\d{3} \d{3})(?!\w|[ .]\d)")),
    "IE": (re.compile(r"\bvat\b"), re.compile(r"(?<!\w)\d[A-Z\d+*]\d{5}[A-W][A-I]?(?!\w)")),
    "BE": (
        re.compile(r"\b(?:btw|tva|ondernemings|bce|kbo|entreprise|rp[mr])"),
        re.compile(r"(?<!\w)[01]\d{3}\.?\d{3}\.?\d{3}(?!\w)"),
    ),
    "PL": (re.compile(r"\bnip\b"), re.compile(r"(?<![\w-])\d{3}-?\d{2,3}-?\d{2}-?\d{2,3}(?![\w-])")),
    "PT": (
        re.compile(r"\bn\.?i\.?p\.?c?\b|\bn\.?i\.?f\b|contribuinte|\bcontr(?:ib)?\.|(?:\bnumero|cao) fiscal|coletiva"),
        re.compile(r"(?<!\w)\d{3}[ .]?\d{3}[ .]?\d{3}(?!\w| \d)"),
    ),
    "DK": (re.compile(r"\bcvr\b|\bse[ -]?nr"), re.compile(r"(?<!\w)\d{2} ?\d{2} ?\d{2} ?\d{2}(?!\w| \d)")),
    "FI": (re.compile(r"\by-?tunnus|\balv-?(?:tunnus|numero|nro|rek)"), re.compile(r"(?<!\w)\d{7}-\d(?!\w)")),
}
"""VAT ids in the national form without a country prefix, which is added: patterns of label and id.

Accepted only with valid check digits."""
DIGIT, SEVEN_DIGITS = re.compile(r"\d"), re.compile(r"\d(?:\W?\d){6}")
"""What a text with a VAT id has at least; in the national forms, seven digits together."""
CUSTOMER_NUMBER = re.compile(
    r"(?:\b(?:your|ihre|votre) )?"
    r"(?:\b(?:n(?:umero|um\.|[.\u00b0\u00bao]+)|code|codice) ?(?:d[eio] |del |du )?client[ei]?\b|"
    r"\b(?:customer|client|kunden|debit(?:eur|or)en?)[ -]?(?:number|no\.?|id|nummer|nr\.?)(?![a-z]))(?=\D*$)"
)
"""Before an account, without a number of its own, it is to be quoted: `indicando o n\u00famero de cliente: IBAN`."""
MAIL = re.compile(r"(?<!\S)[^\s@]+@\S+")
PHONE = re.compile(r"\b(?:tel|tlf|telef\w*|fax|phone|fon|mobil\w*|telemovel)\W*$")
"""Before a number of a telephone, on folded text."""
NEAR = 40
"""Number of characters before an identifier that may name its owner."""
LONGEST_VAT = 22
"""Including spaces and dots between its groups."""
SENTENCE_WORDS = 8
"""Word count above which a line is running text."""


@dataclass(frozen=True, slots=True)
class Parties:
    """The cells of the buyer and of the seller, as far as known."""

    buyers: Sequence[Cell] = ()
    sellers: Sequence[Cell] = ()
    unsure: bool = False
    """Whether another company may be the seller."""


class Owner(Enum):
    """The party that an identifier belongs to, by the text before it or by its block."""

    SELLER = "seller"
    BUYER = "buyer"
    NAMED_BUYER = "buyer by the text before it"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class IdCandidate:
    """An identifier that may be the seller's, with what counts for and against it."""

    value: str
    cell: Cell
    owner: Owner
    evidence: tuple[Evidence, ...]
    labelled: bool
    blocked: bool = False
    """Whether only a part is to be paid to it."""
    national: bool = False
    """Whether it is a VAT id without its country prefix."""


IDENTIFIER: tuple[Feature[IdCandidate], ...] = (
    Feature("it has the form", 1.0, lambda _: True),
    Feature("a label names it", 1.0, lambda c: c.labelled),
    Feature("its check digits are valid", 1.5, lambda c: Evidence.CHECKSUM_VALID in c.evidence),
    # more than for valid check digits, because sellers also print invalid ids
    Feature("it is in the seller's block", 1.6, lambda c: c.owner is Owner.SELLER),
    Feature("it is in the buyer's block", -4.0, lambda c: c.owner is Owner.BUYER),
    Feature("the text before it names the buyer", -5.0, lambda c: c.owner is Owner.NAMED_BUYER),
    Feature("only a part is to be paid to it", -3.0, lambda c: c.blocked),
    Feature("it has no country prefix", -0.5, lambda c: c.national),
)


def find_iban(layout: Layout, parties: Parties) -> FieldValue[str]:
    """Return the IBAN to pay to: valid ones first, without those labelled as the recipient's."""
    return _best(layout, [*_whole_ibans(layout, parties), *_broken_ibans(layout, parties)])


def find_vat_id(layout: Layout, parties: Parties) -> FieldValue[str]:
    """Return the seller's VAT id."""
    candidates = [*_prefixed_ids(layout, parties), *_national_ids(layout, parties)]
    best = _best(layout, candidates)
    others = {each.value for each in candidates if each.owner is not Owner.NAMED_BUYER} - {best.value}
    return best.with_fact(Evidence.VENDOR_UNSURE) if parties.unsure and others and best.value else best


def _best(layout: Layout, candidates: Sequence[IdCandidate]) -> FieldValue[str]:
    best = leaders(IDENTIFIER, candidates, above=0.0)
    if not best:
        return FieldValue()
    first, rivals = best[0], {candidate.value for candidate in best} - {best[0].value}
    evidence = (*first.evidence, Evidence.SEVERAL_CANDIDATES) if rivals else first.evidence
    source = Source.TEXT_LABEL if first.labelled else Source.TEXT_PATTERN
    return found(layout, first.value, first.cell, source, evidence)


def _whole_ibans(layout: Layout, parties: Parties) -> Iterator[IdCandidate]:
    for row in layout.rows:
        for index, cell in enumerate(row.cells):
            left = row.cells[index - 1].folded if index else ""
            for match in IBAN.finditer(cell.text):
                iban = _cut_iban(compact(match.group()) or "")
                if iban is None:
                    continue
                context = f"{left} {cell.folded[: match.start()]}"
                above = layout.rows[row.number - 1].text.lower() if row.number else ""
                iban = _continued(layout, cell, iban) if match.end() == len(cell.text) else iban
                named = match.start() == 0 and BANK.search(above)
                labelled = bool(IBAN_LABEL.search(context) or named or PAY_TO.search(context))
                evidence = iban_evidence(iban)
                if not labelled and Evidence.CHECKSUM_INVALID in evidence:
                    continue  # any long code looks like an IBAN: check digits or a label must confirm it
                blocked = bool(OF_THE_TAX_OFFICE.search(context))
                yield IdCandidate(iban, cell, _owner_of_account(context, cell, parties), evidence, labelled, blocked)


def _broken_ibans(layout: Layout, parties: Parties) -> Iterator[IdCandidate]:
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
                yield IdCandidate(iban, cell, _owner_of_account(context, cell, parties), evidence, labelled)


def _continued(layout: Layout, cell: Cell, iban: str) -> str:
    """Return the IBAN, completed with the digits below it if it is too short for its country and they fit exactly."""
    missing = IBAN_LENGTHS.get(iban[:2], 0) - len(iban)
    for under in _under(layout, cell):
        rest = compact(under.text) or ""
        if missing > 0 and len(rest) == missing and rest.isalnum():
            return iban + rest
    return iban


def _under(layout: Layout, cell: Cell) -> list[Cell]:
    following = layout.rows[cell.row + 1].cells if cell.row + 1 < len(layout.rows) else ()
    return [other for other in following if other.page == cell.page and cell.shares_column(other)]


def _context(layout: Layout, cell: Cell, left: str, before: str, label: re.Pattern[str]) -> str:
    """Return the folded text to the left of an id and before it in its cell; if no label is there, that above it."""
    context = f"{left} {fold(before)}"
    if before or label.search(context):
        return context
    above = layout.rows[cell.row - 1].cells if cell.row else ()
    return " ".join(other.folded for other in above if other.page == cell.page and cell.shares_column(other))


def _cut_iban(iban: str) -> str | None:
    """Cut off text that directly follows an IBAN; None if it is not an IBAN."""
    length = IBAN_LENGTHS.get(iban[:2])
    if length is None:
        return iban if len(iban) >= SHORTEST_IBAN and iban[4:].isdigit() else None
    return iban[:length] if len(iban) >= SHORTEST_IBAN else None


def _prefixed_ids(layout: Layout, parties: Parties) -> Iterator[IdCandidate]:
    for cell, left, text in _texts_with(DIGIT, layout):
        for match in VAT_START.finditer(text):
            vat_id = _longest_vat(text[match.start() : match.start() + LONGEST_VAT])
            if vat_id is None:
                continue
            context = _context(layout, cell, left, text[: match.start()], VAT_LABEL)
            labelled = bool(VAT_LABEL.search(context) or SWISS_TAX.search(vat_id))
            evidence = vat_evidence(vat_id)
            if not labelled and Evidence.CHECKSUM_VALID not in evidence:
                continue
            yield IdCandidate(vat_id, cell, _owner(context, cell, parties), evidence, labelled)


def _national_ids(layout: Layout, parties: Parties) -> Iterator[IdCandidate]:
    for cell, left, text in _texts_with(SEVEN_DIGITS, layout):
        for country, (label, form) in NATIONAL.items():
            for match in form.finditer(text):
                context = _context(layout, cell, left, text[: match.start()], label)
                vat_id = country + (compact(match.group()) or "")
                evidence = vat_evidence(vat_id)
                named = label.search(context[-NEAR:]) or _alone_in_block(country, match, cell, parties)
                if named and Evidence.CHECKSUM_VALID in evidence and not PHONE.search(context):
                    owner = _owner(context, cell, parties)
                    yield IdCandidate(vat_id, cell, owner, evidence, labelled=True, national=True)


def _texts_with(digits: re.Pattern[str], layout: Layout) -> Iterator[tuple[Cell, str, str]]:
    """Yield the cells whose text has such digits, with the folded text of the cell before and their running text."""
    for row in layout.rows:
        for index, cell in enumerate(row.cells):
            text = _running_on(layout, cell)
            if digits.search(text):
                yield cell, row.cells[index - 1].folded if index else "", text


def _alone_in_block(country: str, match: re.Match[str], cell: Cell, parties: Parties) -> bool:
    """Return whether a Spanish id, identified by its letter, is alone in a line of the seller's block."""
    return country == "ES" and match.group() == cell.text and cell in parties.sellers


def _running_on(layout: Layout, cell: Cell) -> str:
    """Return the cell's text; for running text, followed by the start of the next line."""
    if len(cell.words) <= SENTENCE_WORDS:
        return cell.text
    return " ".join([cell.text, *(other.text[:LONGEST_VAT] for other in _under(layout, cell)[:1])])


def _longest_vat(text: str) -> str | None:
    """Return the longest prefix of `text` that has the form of a VAT id and ends at a word boundary."""
    ends = [end for end in range(len(text), 7, -1) if end == len(text) or not text[end].isalnum()]
    beginnings = (compact(text[:end]) or "" for end in ends)
    return next((vat_id for vat_id in beginnings if VAT.match(vat_id)), None)


def _owner_of_account(context: str, cell: Cell, parties: Parties) -> Owner:
    return _owner(CUSTOMER_NUMBER.sub("", context), cell, parties)


def _owner(context: str, cell: Cell, parties: Parties) -> Owner:
    context = MAIL.sub("", context)  # `debitoren@muster.example` is the seller's
    if YOURS.search(context[-NEAR:]) and not PAY_TO.search(context):  # `su` is `your` in Spain and `on` in Italy
        return Owner.NAMED_BUYER
    if cell in parties.buyers:
        return Owner.BUYER
    return Owner.SELLER if cell in parties.sellers else Owner.UNKNOWN
