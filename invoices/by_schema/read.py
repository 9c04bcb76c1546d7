"""Read the fields of a schema on pages by their labels, and look up values that a model read."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from docrail.invoices.by_schema.reading import FieldsReading, judged
from docrail.invoices.by_schema.schema import FieldsSchema, words_of
from docrail.invoices.by_schema.values import Found, find_value, is_same, looked_up
from docrail.invoices.document_text import printed_pages, readable_pages
from docrail.invoices.extent import pages_to_read
from docrail.invoices.facts import Evidence, Source
from docrail.invoices.features import Feature, leaders
from docrail.invoices.llm.page_check import check_field
from docrail.invoices.model import FieldValue
from docrail.invoices.readers.header.number import heads_lines, is_in_a_sentence
from docrail.invoices.readers.layout.labels import Finder, Labelled
from docrail.invoices.readers.layout.page import Cell, Layout, Page, lay_out
from docrail.invoices.readers.layout.places import Places, found, mostly_ocr
from docrail.invoices.values.dates import month_comes_first
from docrail.invoices.values.folding import fold

NO_TEXT = "the document has no text that could be read"
MOST_PLACES = 200
"""Texts at the labels of one field that are examined; a hostile page may have tens of thousands."""
COLON = re.compile(r"[\s.]*:")
BETWEEN_WORDS = r"[\W_]{0,4}"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value at one of a field's labels."""

    found: Found
    at: Labelled
    heads_column: bool
    """Whether the label heads a column of the lines."""


FIELD: tuple[Feature[Candidate], ...] = (
    Feature("distance from the label", -0.4, lambda c: c.at.place),
    Feature("the label begins its cell", 0.6, lambda c: c.at.leads),
    Feature("the text is nothing but the value", 0.5, lambda c: c.found.whole),
    Feature("words of the label", 0.1, lambda c: min(len(words_of(c.at.label)), 4)),
    Feature("the label is in a sentence", -1.0, lambda c: is_in_a_sentence(c.at)),
    Feature("the label heads a column of the lines", -1.0, lambda c: c.heads_column),
)


def perform(
    data: bytes, schema: Mapping[str, Any], answered: Mapping[str, Any] | None, *, max_pages: int
) -> FieldsReading:
    """Return `read_fields`, or `check_fields` of a model's `answered` reading, for parameters in JSON.

    Raises: UnreadableDocument.
    """
    fields = FieldsSchema.model_validate(schema)
    if answered is None:
        return read_fields(data, fields, max_pages=max_pages)
    reading = FieldsReading.model_validate(answered["reading"])
    return check_fields(data, fields, reading, answered["quotes"], max_pages=max_pages)


def read_fields(data: bytes, schema: FieldsSchema, *, max_pages: int) -> FieldsReading:
    """Return the fields of a document as its labels name them.

    Run it only in a limited child process. Raises: UnreadableDocument.
    """
    pages = readable_pages(data, max_pages=max_pages)
    reading = read_pages_by_schema(pages, schema)
    if left_out := len(pages) - len(pages_to_read(len(pages))):
        problem = f"{left_out} of the {len(pages)} pages were not read"
        reading = reading.model_copy(update={"problems": (*reading.problems, problem)})
    return reading


def read_pages_by_schema(pages: Sequence[Page], schema: FieldsSchema) -> FieldsReading:
    """Return the fields that are printed on `pages`."""
    if not any(page.words for page in pages):
        empty: dict[str, FieldValue[Any]] = {name: FieldValue() for name in schema.properties}
        return FieldsReading(fields=empty, page_count=len(pages), problems=(NO_TEXT,))
    layout = lay_out(pages)
    fields = _Reader(layout, schema).fields()
    reader = "ocr" if mostly_ocr(layout) else "text"
    return judged(FieldsReading(fields=fields, reader=reader, page_count=len(pages)))


def check_fields(
    data: bytes, schema: FieldsSchema, reading: FieldsReading, quotes: Mapping[str, str], *, max_pages: int
) -> FieldsReading:
    """Return a model's reading with what the pages say for and against each value, and its places.

    Run it only in a limited child process. Raises: UnreadableDocument.
    """
    pages = printed_pages(data, max_pages=max_pages)
    if not any(page.words for page in pages):
        return reading
    places = Places(lay_out(pages))
    fields = dict(reading.fields)
    for name, field in reading.fields.items():
        value = None if field.value is None else looked_up(schema.properties[name], field.value)
        if value is not None:
            fields[name] = check_field(field, value, places, quotes.get(name, ""))
    return reading.model_copy(update={"fields": fields})


class _Reader:
    """The search for the fields of one document."""

    def __init__(self, layout: Layout, schema: FieldsSchema) -> None:
        self._layout = layout
        self._schema = schema
        self._finder = Finder(layout)
        self._labels = {name: _pattern(schema.labels_of(name)) for name in schema.properties}
        self._month_first = month_comes_first(cell.text for cell in layout.cells)

    def fields(self) -> dict[str, FieldValue[Any]]:
        return {name: self._field(name) for name in self._schema.properties}

    def _field(self, name: str) -> FieldValue[Any]:
        candidates = list(islice(self._candidates(name), MOST_PLACES))
        best = leaders(FIELD, candidates)
        if not best:
            return FieldValue()
        first, same = best[0], partial(is_same, self._schema.properties[name], best[0].found.value)
        evidence = [
            (Evidence.SEVERAL_CANDIDATES, any(same(other.found.value) is False for other in best[1:])),
            (Evidence.NAMED_AGAIN, any(_elsewhere(first, other) and same(other.found.value) for other in candidates)),
            (Evidence.AMBIGUOUS_DATE, first.found.ambiguous),
        ]
        facts = tuple(fact for fact, holds in evidence if holds)
        return found(self._layout, first.found.value, first.at.cell, Source.TEXT_LABEL, facts)

    def _candidates(self, name: str) -> Iterator[Candidate]:
        field = self._schema.properties[name]
        for labelled in self._finder.at(self._labels[name]):
            if self._names_another(name, labelled):
                continue
            text = self._up_to_next_label(labelled.text)
            value = find_value(field, text, month_first=self._month_first) if text else None
            if value is not None:
                yield Candidate(value, labelled, heads_lines(self._layout.rows[labelled.label_cell.row]))

    def _names_another(self, name: str, labelled: Labelled) -> bool:
        """Return whether the label is only a part of another field's label: `Order` in `Order date`."""
        ours = labelled.label_cell.folded.find(labelled.label)
        others = (label for other, label in self._labels.items() if other != name)
        return any(
            match.start() <= ours < match.end() and len(match.group()) > len(labelled.label)
            for label in others
            for match in label.finditer(labelled.label_cell.folded)
        )

    def _up_to_next_label(self, text: str) -> str:
        """Return the text before the next field's label in it; empty if it is a label itself.

        A label in a text has a colon after it: in `30 days net`, `net` is only a word.
        """
        folded = fold(text)
        matches = [match for label in self._labels.values() for match in label.finditer(folded)]
        if any(not words_of(folded[: match.start()] + folded[match.end() :]) for match in matches):
            return ""
        return text[: min((match.start() for match in matches if COLON.match(folded, match.end())), default=None)]


def _pattern(labels: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for the labels, the longest first, on whole words whatever is between them."""
    words = sorted({tuple(words_of(label)) for label in labels}, key=lambda each: -len("".join(each)))
    return re.compile("|".join(rf"(?<![^\W_]){BETWEEN_WORDS.join(map(re.escape, each))}(?![^\W_])" for each in words))


def _elsewhere(one: Candidate, other: Candidate) -> bool:
    return _place(one.at.cell) != _place(other.at.cell)


def _place(cell: Cell) -> tuple[int, float, float]:
    return cell.page, cell.top, cell.left
