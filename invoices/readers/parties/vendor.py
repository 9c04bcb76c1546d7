"""Choose the vendor's name among the texts that may be it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from docrail.invoices.facts import Evidence, Source
from docrail.invoices.features import Feature, leaders
from docrail.invoices.model import FieldValue
from docrail.invoices.readers.layout.labels import Finder
from docrail.invoices.readers.layout.page import Cell, Page
from docrail.invoices.readers.layout.places import found
from docrail.invoices.readers.layout.vocabulary import VAT_LABEL
from docrail.invoices.readers.parties import names
from docrail.invoices.readers.parties.blocks import BOTTOM, CONTACT
from docrail.invoices.readers.parties.candidates import (
    ADDRESS_LINES,
    FORM_LAST,
    LARGER,
    LOGO,
    NameAt,
    NameCandidate,
    domains_below,
    is_addressed,
    vendor_names,
)
from docrail.invoices.values.folding import fold, squeeze

LEAST_SURNAME = 4
"""Fewest letters of a name that may be matched inside another: `Ziegler` in `Malerbetrieb Ziegler e.K.`"""
INITIAL = re.compile(r"[a-z]\.")
"""A first name of one letter, on folded text."""
CLOSE = 2.0
"""Difference in score up to which another name may be the vendor's: it is then at least an eighth as probable."""
MOST_NAMES = 50
"""Candidates that are compared; invoices have five."""
MOST_WORDS = 3
"""Words of a sentence that are counted."""
ALIKE = 0.85
"""Least similarity of two readings of one name."""
LABELLED = (NameAt.SELLER_LABEL, NameAt.PAYEE_LABEL)


@dataclass(frozen=True, slots=True)
class Among:
    """A candidate among all those of its document."""

    finder: Finder
    own: NameCandidate
    every: Sequence[NameCandidate]

    @property
    def others(self) -> Iterator[NameCandidate]:
        """The other candidates."""
        return (each for each in self.every if each is not self.own)

    @property
    def page(self) -> Page:
        """Its page."""
        return self.finder.layout.pages[self.own.cell.page - 1]

    @property
    def is_in_foot(self) -> bool:
        """Whether it is in the foot of its page."""
        return self.own.cell.top >= BOTTOM * self.page.height

    @property
    def is_registered(self) -> bool:
        """Whether register details or an owner follow it; a plain name's are next to the first line, or in the foot."""
        firsts = [each.cell for each in self.every if each.first]
        known = self.own.is_a_company or self.own.stated or not firsts
        return self.own.registered and (known or any(cell.shares_column(self.own.cell) for cell in firsts))

    @property
    def is_without_companies(self) -> bool:
        """Whether no candidate is a company but a bank."""
        return not any(each.is_a_company for each in self.every)

    @property
    def spells_out(self) -> int:
        """How many others it spells out; without a legal form, only if there is no company."""
        may = names.legal_form(fold(self.own.name)) or self.is_without_companies
        return sum(_spells_out(self.own, each) for each in self.others) if may else 0

    def has_below(self, pattern: re.Pattern[str]) -> bool:
        """Return whether one of the lines below matches a pattern, folded."""
        return any(pattern.search(cell.folded) for cell in self.finder.below(self.own.cell)[:ADDRESS_LINES])


VENDOR_NAME: tuple[Feature[Among], ...] = (
    Feature("a label names the seller", 4.1, lambda c: c.own.basis is NameAt.SELLER_LABEL),
    Feature("a label names the payee", -1.6, lambda c: c.own.basis is NameAt.PAYEE_LABEL),
    Feature("it begins a one-line sender", 1.9, lambda c: c.own.basis is NameAt.SENDER_LINE),
    Feature("it follows a label in its cell", 2.6, lambda c: ":" in c.own.cell.text),
    Feature("company", 0.8, lambda c: c.own.is_a_company),
    Feature("legal form at an end", 1.4, lambda c: c.own.has_form_at_an_end),
    Feature("only company", 1.4, lambda c: c.own.is_a_company and not any(o.is_a_company for o in c.others)),
    Feature("first line", 2.5, lambda c: c.own.first),
    Feature("first line, if there is no company", -1.3, lambda c: c.own.first and c.is_without_companies),
    Feature("larger type, if there is no company", 1.3, lambda c: c.own.size * c.is_without_companies),
    Feature("depth in the head", -7.1, lambda c: c.own.depth),
    Feature("distance from the left", -2.2, lambda c: c.own.cell.left / c.page.width),
    Feature("in the foot", 1.6, lambda c: c.is_in_foot),
    Feature("register details or an owner follow", 1.6, lambda c: c.is_registered),
    Feature("a company states its register details", 1.1, lambda c: c.own.is_the_issuer),
    Feature("register details are at another name", -0.5, lambda c: c.own.passed_over),
    Feature("a phone number or a web address below", 0.9, lambda c: c.has_below(CONTACT)),
    Feature("a tax number below", 0.3, lambda c: c.has_below(VAT_LABEL)),
    Feature("like a domain on the page", 1.4, lambda c: c.own.on_the_net),
    Feature("a domain on the page", -2.4, lambda c: c.own.is_a_domain),
    Feature("further mentions", 0.9, lambda c: c.own.mentions),
    Feature(
        "one word without register details",
        -2.6,
        lambda c: " " not in c.own.name and not (c.own.registered and c.own.stated),
    ),
    Feature(
        "begins a longer name", -1.8, lambda c: any(fold(o.name).startswith(f"{fold(c.own.name)} ") for o in c.others)
    ),
    Feature("words of a sentence", -0.9, lambda c: min(MOST_WORDS, len(names.SLOGAN.findall(c.own.name)))),
    Feature("capitals", -0.9, lambda c: c.own.name.isupper()),
    Feature("spells out shorter names", 3.0, lambda c: c.spells_out),
    Feature(
        "a brand's domain is in its address",
        2.2,
        lambda c: any(_is_at_its_domain(c.finder, c.own, each) for each in c.others),
    ),
    Feature(
        "another name up to its legal form", 2.7, lambda c: any(_ends_in_its_form(c.own, each) for each in c.others)
    ),
    Feature("goes on after its legal form", -3.0, lambda c: any(_ends_in_its_form(each, c.own) for each in c.others)),
    Feature("first name for an initial", 8.9, lambda c: any(_has_the_first_name(c.own, each) for each in c.others)),
    Feature(
        "name under which a person trades",
        3.7,
        lambda c: c.is_without_companies and any(_is_of_the_trade(c.own, each) for each in c.others),
    ),
    Feature(
        "person who trades under a name",
        -2.5,
        lambda c: c.is_without_companies and any(_is_of_the_trade(each, c.own) for each in c.others),
    ),
)


def find_vendor_name(finder: Finder, buyers: Sequence[Cell]) -> tuple[FieldValue[str], bool]:
    """Return the most likely name of the vendor, and whether another company may be the vendor as well.

    A name is labelled, in the letterhead or in the footer.
    """
    own = _at_most(MOST_NAMES, vendor_names(finder, buyers))
    if not own:
        return FieldValue(), False
    among = [Among(finder, candidate, own) for candidate in own]
    close = leaders(VENDOR_NAME, among, within=CLOSE)
    best = leaders(VENDOR_NAME, close)[0].own
    companies = (each for each in own if each.is_a_company and each.registered)
    rivals = [*(each.own for each in close if each.own.first or not each.own.is_plain), *companies]
    best = next((candidate for candidate in own if _is_in_larger_print(candidate, best)), best)
    alike = (candidate for candidate in own if squeeze(candidate.name) == squeeze(best.name))
    best = next((candidate for candidate in alike if candidate.basis in LABELLED), best)
    evidence = (Evidence.NAMED_AGAIN,) if best.on_the_net or best.mentions > 0 else ()
    unsure = any(names.are_unlike(rival.name, best.name) for rival in rivals)
    source = Source.TEXT_LABEL if best.basis in LABELLED else Source.TEXT_PATTERN
    return found(finder.layout, best.name, best.cell, source, evidence), unsure


def _at_most(most: int, candidates: Sequence[NameCandidate]) -> Sequence[NameCandidate]:
    """Return the candidates, or of more than `most` those that are not plain lines first: each is compared with all."""
    likely = sorted(candidates, key=lambda each: each.is_plain and not each.first)
    return candidates if len(candidates) <= most else likely[:most]


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
    at_it = squeeze(brand.name) in domains_below(finder, company.cell)
    return at_it and is_addressed(finder.layout, company.cell)


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
