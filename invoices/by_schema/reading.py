"""Define what was read of a document by a schema, and judge it: confidences, notes, and why a person must look."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from docrail.invoices.assessment.confidence import (
    EITHER_DATE,
    WORD_ALONE,
    field_confidence,
    is_either_date,
    rests_on_its_word,
)
from docrail.invoices.by_schema.schema import FieldsSchema
from docrail.invoices.by_schema.values import is_same
from docrail.invoices.facts import Evidence, Source
from docrail.invoices.model import FieldValue

REMARKS = {
    Evidence.AMBIGUOUS_DATE: "day and month may be swapped",
    Evidence.SEVERAL_CANDIDATES: "the page has another value at an equally good label",
    Evidence.NOT_ON_PAGE: "not found on the page",
    Evidence.SECOND_SOURCE_DIFFERS: "the readers disagree",
}
"""What a fact against a value means to a person."""


class FieldsReading(BaseModel):
    """The fields of a document. Values are plain JSON: dates as YYYY-MM-DD, numbers as numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fields: dict[str, FieldValue[Any]]
    reader: str = ""
    """`text` or `ocr`; `gemini` if a model read it too; empty if there is no text."""
    page_count: int = 0
    problems: tuple[str, ...] = ()
    """Problems of the whole document, in words."""

    def values(self) -> dict[str, Any]:
        """Return the values by field, null where none was found."""
        return {name: field.value for name, field in self.fields.items()}


def judged(reading: FieldsReading) -> FieldsReading:
    """Return the reading with the confidence of each value."""
    return reading.model_copy(update={"fields": {name: _judged(field) for name, field in reading.fields.items()}})


def together(schema: FieldsSchema, answered: FieldsReading, local: FieldsReading) -> FieldsReading:
    """Return the reading of a model and that of the local readers as one: each is evidence for or against the other."""
    fields = {name: _either(schema, name, answered.fields[name], local.fields[name]) for name in schema.properties}
    return judged(answered.model_copy(update={"fields": fields, "page_count": local.page_count}))


def reasons_of(schema: FieldsSchema, reading: FieldsReading, min_confidence: float) -> list[str]:
    """Return why a person must look at the reading; empty if nothing is in doubt."""
    return [*reading.problems, *_reasons(schema, reading, min_confidence)]


def notes_of(reading: FieldsReading) -> dict[str, str]:
    """Return a remark on each field for a form: how sure its value is, where it is, and what is against it."""
    return {name: _note(field) for name, field in reading.fields.items()}


def _reasons(schema: FieldsSchema, reading: FieldsReading, min_confidence: float) -> Iterator[str]:
    for name, field in reading.fields.items():
        title = schema.title_of(name)
        if field.value is None:
            if name in schema.required:
                yield f"{title} is required, and was not found"
        elif field.confidence < min_confidence:
            remarks = "".join(f", {remark}" for remark in _remarks(field))
            yield f"{title} has a confidence of {field.confidence:.2f}, less than {min_confidence:.2f}{remarks}"


def _note(field: FieldValue[Any]) -> str:
    if field.value is None:
        return "not found"
    page = [] if field.page is None else [f"page {field.page}"]
    return ", ".join([f"confidence {field.confidence:.2f}", *page, *_remarks(field)])


def _remarks(field: FieldValue[Any]) -> list[str]:
    return [remark for fact, remark in REMARKS.items() if fact in field.evidence]


def _judged(field: FieldValue[Any]) -> FieldValue[Any]:
    """Return the field with its confidence, uncalibrated: the curves were fitted on the fields of invoices."""
    if field.value is None:
        return field
    confidence = field_confidence(field.source, field.evidence, field.word_score)
    if is_either_date(field):
        confidence = min(confidence, EITHER_DATE)
    if rests_on_its_word(field):
        confidence = min(confidence, WORD_ALONE)
    return field.model_copy(update={"confidence": confidence})


def _either(schema: FieldsSchema, name: str, one: FieldValue[Any], other: FieldValue[Any]) -> FieldValue[Any]:
    """Return the surer of two values, with the other as its candidate."""
    if one.value is None or other.value is None:
        return other if one.value is None else one
    same = is_same(schema.properties[name], one.value, other.value)
    facts = {True: (Evidence.SECOND_SOURCE_AGREES,), False: (Evidence.SECOND_SOURCE_DIFFERS,), None: ()}[same]
    both = [_judged(each.model_copy(update={"evidence": (*each.evidence, *facts)})) for each in (one, other)]
    best, rest = sorted(both, key=lambda each: (-each.confidence, each.source is not Source.GEMINI))
    return best.model_copy(update={"candidates": (best.as_candidate(), rest.as_candidate())})
