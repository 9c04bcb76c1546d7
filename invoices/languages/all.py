"""Every supported language, and the patterns made of all of them.

A language is a file of this folder that defines LANGUAGE; no list names it.
"""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from docrail.invoices import languages
from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Label, Language

CODE_LENGTH = 2
"""Files with names of this length are languages."""
SHORTEST_CUT = 4
"""Fewest letters left of a month's name that is cut off; shorter ones are listed as abbreviations."""
LANGUAGES: tuple[Language, ...] = tuple(
    import_module(f"{languages.__name__}.{found.name}").LANGUAGE
    for found in sorted(iter_modules(languages.__path__), key=lambda found: found.name)
    if len(found.name) == CODE_LENGTH
)

MONTH_OF: Mapping[str, int] = {
    name: month
    for language in LANGUAGES
    for month, names in enumerate(language.months, start=1)
    for name in names.split()
}
"""The number of a month by its folded name; no two languages use a name for different months."""
_CUT = {(name[:end], month) for name, month in MONTH_OF.items() for end in range(SHORTEST_CUT, len(name))}
CUT_MONTH_OF: Mapping[str, int] = {
    **{cut: month for cut, month in _CUT if {other for name, other in _CUT if name == cut} == {month}},
    **MONTH_OF,
}
"""The same with names cut off, as narrow columns do, as far as only one month begins so: `septem`, `juill`."""

LABELS: Mapping[Label, str] = {
    label: "|".join(dict.fromkeys(pattern for language in LANGUAGES for pattern in language.labels.get(label, ())))
    for label in Label
}
"""A pattern of each label in every language."""

PAPERS: Mapping[DocumentType, tuple[str, ...]] = {
    kind: tuple(dict.fromkeys(name for language in LANGUAGES for name in language.papers.get(kind, ())))
    for kind in DocumentType
    if kind is not DocumentType.INVOICE
}
"""Titles of papers that are called something else than an invoice."""
