"""Compare readings with labels or with people's corrections."""

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

from docrail.invoices.assessment.calibration import Observation
from docrail.invoices.assessment.confidence import field_confidence
from docrail.invoices.facts import DocumentType, Source
from docrail.invoices.kinds import Arrow, is_right_text
from docrail.invoices.model import FIELD_NAMES, FIELDS, FieldValue, InvoiceData, agree

LINE_COUNT = "line_count"
"""A label that is not a field: the number of line items. Extraction scores compare it."""
LABELS = (*FIELD_NAMES, LINE_COUNT)
EXPECTED = {Arrow.AMOUNT: "a finite decimal such as 1234.56", Arrow.DATE: "a date such as 2026-11-30"}
UNJUDGED = frozenset({Source.NOWHERE, Source.HUMAN, Source.VENDOR})
"""Sources that show nothing about the quality of the readers."""


class LabelledFile(BaseModel):
    """One file of a labelled folder's MANIFEST.json: its labels, and which of them are printed."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    file: str
    expected: dict[str, Any] = {}
    visible: tuple[str, ...] | None = None
    """Names of the fields that are printed; None means all expected ones."""
    family: str = ""
    """Group of documents with one layout; if empty, the file is its own group."""
    document_type: DocumentType = DocumentType.INVOICE

    @field_validator("file")
    @classmethod
    def _lies_in_the_folder(cls, file: str) -> str:
        path = PurePosixPath(file)
        if not file or path.is_absolute() or ".." in path.parts or "\0" in file:
            raise ValueError(f"found {file!r}, expected the path of a file inside the folder")
        return file

    @field_validator("visible")
    @classmethod
    def _names_fields(cls, visible: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for name in visible or ():
            _check_name(name)
        return visible

    @field_validator("expected")
    @classmethod
    def _labels_fields(cls, expected: dict[str, Any]) -> dict[str, Any]:
        for name, value in expected.items():
            _check_name(name)
            if value is not None:
                _check_label(name, value)
        return expected

    def truths(self) -> dict[str, Any]:
        """Return the labels of the fields that can be read, by field."""
        names = self.expected if self.visible is None else self.visible
        known = {name: self.expected.get(name) for name in names if name in FIELD_NAMES}
        return {name: value for name, value in known.items() if value is not None}


class Manifest(BaseModel):
    """The MANIFEST.json of a labelled folder."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    files: tuple[LabelledFile, ...]


def _check_name(name: str) -> None:
    if name not in LABELS:
        raise ValueError(f"there is no field {name!r}: expected one of {', '.join(LABELS)}")


def _check_label(name: str, value: object) -> None:
    """Raise ValueError unless the label can be compared with values of the field."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{name}: expected a text or a number, found {value!r}")  # noqa: TRY004  # for pydantic
    arrow = FIELDS[name].kind.arrow if name in FIELDS else Arrow.TEXT
    if not _is_written_as(arrow, str(value)):
        raise ValueError(f"{name}: expected {EXPECTED[arrow]}, found {value!r}")


def _is_written_as(arrow: Arrow, text: str) -> bool:
    try:
        match arrow:
            case Arrow.AMOUNT:
                return Decimal(text).is_finite()
            case Arrow.DATE:
                return dt.date.fromisoformat(text).isoformat() == text
    except (InvalidOperation, ValueError):
        return False
    return True


def observe(reading: InvoiceData, labelled: LabelledFile) -> Iterator[Observation]:
    """Yield an observation for every labelled value that was read."""
    credit_note = labelled.document_type is DocumentType.CREDIT_NOTE
    for name, truth in labelled.truths().items():
        field: FieldValue[Any] = getattr(reading, name)
        if field.value is not None and field.source not in UNJUDGED:
            right = is_right(name, field.value, truth, credit_note=credit_note)
            yield Observation(name, raw_confidence(field), right, labelled.family or labelled.file)


def observe_decision(reading: InvoiceData, approved: InvoiceData, family: str) -> Iterator[Observation]:
    """Yield an observation for every value that was read, compared with the approved one."""
    for name in FIELD_NAMES:
        field, final = getattr(reading, name), getattr(approved, name)
        if field.value is not None and field.source not in UNJUDGED and final.value is not None:
            yield Observation(name, raw_confidence(field), agree(name, field.value, final.value) is True, family)


def raw_confidence(field: FieldValue[Any]) -> float:
    """Return a value's confidence before calibration, from its source and evidence."""
    return field_confidence(field.source, field.evidence, field.word_score)


def is_right(name: str, value: object, truth: object, *, credit_note: bool = False) -> bool:
    """Return whether a value matches its label, regardless of formatting.

    Amounts of credit notes may have either sign: the page prints a minus where the XML has none.
    """
    spec = FIELDS.get(name)
    if spec is None:
        return is_right_text(value, truth)
    if credit_note and isinstance(value, Decimal):
        value, truth = abs(value), abs(Decimal(str(truth)))
    return spec.kind.is_right(value, truth)
