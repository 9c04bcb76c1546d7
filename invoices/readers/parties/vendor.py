"""Choose the vendor's name among the texts that may be it."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from docrail.invoices.facts import Evidence, Source
from docrail.invoices.features import Feature, leaders
from docrail.invoices.model import FieldValue
from docrail.invoices.readers.layout.labels import Finder
from docrail.invoices.readers.layout.page import Cell
from docrail.invoices.readers.layout.places import found
from docrail.invoices.readers.parties import names
from docrail.invoices.readers.parties.candidates import (
    ADDRESS_LINES,
    FORM_LAST,
    LARGER,
    LOGO,
    NameAt,
    NameCandidate,
    is_addressed,
    vendor_names,
)
from docrail.invoices.values.folding import fold, squeeze

LEAST_SURNAME = 4
"""Fewest letters of a name that may be matched inside another: `Ziegler` in `Malerbetrieb Ziegler e.K.`"""
INITIAL = re.compile(r"[a-z]\.")
"""A first name of one letter, on folded text."""
CLOSE = 1.0
"""Difference in score up to which another company may be the vendor."""
ALIKE = 0.85
"""Least similarity of two readings of one name."""

VENDOR_NAME: tuple[Feature[NameCandidate], ...] = (
    Feature("a label names the seller", 3.6, lambda c: c.basis is NameAt.SELLER_LABEL),
    Feature("it begins a one-line sender", 2.2, lambda c: c.basis is NameAt.SENDER_LINE),
    Feature("a label names the payee", 2.1, lambda c: c.basis is NameAt.PAYEE_LABEL),
    Feature("it is a line of the letterhead or the foot", 0.4, lambda c: c.basis is NameAt.LINE),
    Feature("distance from the label", -0.25, lambda c: c.place),
    Feature("legal form", 1.3, lambda c: c.legal),
    Feature("larger type than usual", 0.6, lambda c: c.size),
    Feature("first line", 0.7, lambda c: c.first),
    Feature("register details or an owner follow", 1.0, lambda c: c.registered),
    Feature("a company states its register details", 2.3, lambda c: c.is_the_issuer),
    Feature("depth in the head", -0.8, lambda c: c.depth),
    Feature("like a domain on the page", 1.5, lambda c: c.on_the_net),
    Feature("register details are at another name", -3.0, lambda c: c.passed_over),
    Feature("further mentions", 0.3, lambda c: c.mentions),
)


def find_vendor_name(finder: Finder, buyers: Sequence[Cell]) -> tuple[FieldValue[str], bool]:
    """Return the most likely name of the vendor, and whether another company may be the vendor as well.

    A name is labelled, in the letterhead or in the footer.
    """
    own = vendor_names(finder, buyers)
    if not own:
        return FieldValue(), False
    best = leaders(VENDOR_NAME, own)[0]
    rivals = [each for each in leaders(VENDOR_NAME, own, within=CLOSE) if each.first or not each.is_plain]
    best = next((each for each in own if _spells_out(each, best) or _is_at_its_domain(finder, each, best)), best)
    best = next((candidate for candidate in own if _ends_in_its_form(candidate, best)), best)
    best = next((candidate for candidate in own if _has_the_first_name(candidate, best)), best)
    best = next((candidate for candidate in own if _is_in_larger_print(candidate, best)), best)
    if not any(candidate.legal for candidate in own):
        best = next((candidate for candidate in own if _is_of_the_trade(candidate, best)), best)
    evidence = (Evidence.NAMED_AGAIN,) if best.on_the_net or best.mentions > 0 else ()
    unsure = any(names.are_unlike(rival.name, best.name) for rival in rivals)
    labelled = best.basis in (NameAt.SELLER_LABEL, NameAt.PAYEE_LABEL)
    source = Source.TEXT_LABEL if labelled else Source.TEXT_PATTERN
    return found(finder.layout, best.name, best.cell, source, evidence), unsure


def _spells_out(candidate: NameCandidate, logo: NameCandidate) -> bool:
    """Return whether the candidate is the full name, with its legal form or register details, of that in a logo."""
    folded, lettering = fold(candidate.name), fold(logo.name)
    short, long = squeeze(logo.name), squeeze(candidate.name)
    form = names.legal_form(folded)
    if len(short) <= LOGO or long == short or not (form or candidate.registered):
        return False
    if ends := names.legal_form(lettering):
        shortened = form and ends.group() == form.group() and folded.startswith(lettering[: ends.start()])
        return bool(shortened or long.startswith(short)) and bool(FORM_LAST.search(folded))  # `Silver & Co`
    words, others = lettering.split(), folded.split()
    within = long.startswith(short) or (len(short) > LEAST_SURNAME and f" {lettering} " in f" {folded} ")
    return within or (bool(form) and len(words) > 1 and all(_begins(others, word) for word in words))


def _has_the_first_name(candidate: NameCandidate, person: NameCandidate) -> bool:
    """Return whether the candidate has the first name of which the other has the initial: `F. Muster`."""
    words, others = fold(person.name).split(), fold(candidate.name).split()
    initials = [word[0] for word in words if INITIAL.fullmatch(word)]
    firsts = {word[0] for word in others[:-1] if len(word) > 1 and word.isalpha()}
    return bool(initials) and words[-1] == others[-1] and firsts.issuperset(initials)


def _ends_in_its_form(candidate: NameCandidate, longer: NameCandidate) -> bool:
    """Return whether the candidate is the name up to its legal form: `Muster KG` in `Muster KG Großhandel`."""
    short, long = fold(candidate.name), fold(longer.name)
    return long.startswith(f"{short} ") and bool(FORM_LAST.search(short)) and not FORM_LAST.search(long)


def _is_at_its_domain(finder: Finder, company: NameCandidate, brand: NameCandidate) -> bool:
    """Return whether the domain of a brand is in the address of a company."""
    if not company.legal or brand.legal or company.is_a_bank:
        return False
    below = " ".join(cell.text for cell in finder.below(company.cell)[: ADDRESS_LINES + 2])
    domains = {squeeze(domain) for domain in names.DOMAIN.findall(below)}
    return squeeze(brand.name) in domains and is_addressed(finder.layout, company.cell)


def _is_in_larger_print(candidate: NameCandidate, small: NameCandidate) -> bool:
    """Return whether the candidate is the same name in larger print, of which OCR gets fewer letters wrong."""
    one, other = squeeze(candidate.name), squeeze(small.name)
    if small.cell.words[0].score is None or candidate.size <= small.size + LARGER:
        return False
    if bool(names.legal_form(fold(candidate.name))) != bool(names.legal_form(fold(small.name))):
        return False
    return one != other and SequenceMatcher(None, one, other).ratio() >= ALIKE


def _is_of_the_trade(candidate: NameCandidate, person: NameCandidate) -> bool:
    """Return whether a person trades under the candidate: a name in large print with the surname, `Atelier Moreau`."""
    words, others = fold(candidate.name).split(), fold(person.name).split()
    apart = others[0] not in words and fold(candidate.name) not in fold(person.name) and not person.registered
    return candidate.size >= names.OF_A_LOGO and others[-1] in words and apart


def _begins(words: Sequence[str], word: str) -> bool:
    """Return whether one of the words starts with `word`: logos shorten and reorder names."""
    return any(other == word or (len(word) >= LEAST_SURNAME and other.startswith(word)) for other in words)
