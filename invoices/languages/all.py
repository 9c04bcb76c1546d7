"""Every supported language, and the patterns made of all of them."""

from collections.abc import Mapping

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages import cs, da, de, en, es, fi, fr, it, nl, no, pl, pt, sv, tr
from docrail.invoices.languages.language import Label

LANGUAGES = tuple(module.LANGUAGE for module in (en, de, fr, nl, es, it, pl, pt, sv, da, no, fi, cs, tr))

MONTH_OF: Mapping[str, int] = {
    name: month
    for language in LANGUAGES
    for month, names in enumerate(language.months, start=1)
    for name in names.split()
}
"""The number of a month by its folded name; no two languages use a name for different months."""

LABELS: Mapping[Label, str] = {
    label: "|".join(pattern for language in LANGUAGES for pattern in language.labels.get(label, ())) for label in Label
}
"""A pattern of each label in every language that has its labels in its file."""

OTHER_PAPERS: Mapping[DocumentType, tuple[str, ...]] = {
    kind: tuple(name for language in LANGUAGES for name in language.papers.get(kind, ()))
    for kind in DocumentType
    if not kind.is_invoice
}
"""Titles of papers that are no invoices."""
