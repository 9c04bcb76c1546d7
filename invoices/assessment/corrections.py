"""Apply people's corrections to a reading: corrected values are locked, and differing readings become proposals."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from docrail.invoices.facts import Source
from docrail.invoices.fields import parse_value
from docrail.invoices.model import FIELDS, Box, Candidate, FieldValue, InvoiceData, Lock


@dataclass(frozen=True, slots=True)
class Correction:
    """A person's correction of one field, as text (see fields.py); `value` None: the document does not state it."""

    field: str
    value: str | None
    by: str
    at: dt.datetime
    why: str = ""
    page: int | None = None
    box: Box | None = None
    """Where on the page the value is, if the person marked it."""


def merge(invoice: InvoiceData, corrections: Sequence[Correction]) -> InvoiceData:
    """Return `invoice` with the corrections applied; the last one of each field counts.

    Values from readers stay in the field's candidates. A corrected field loses its earlier evidence and problems until
    the rules are checked again.

    Raises: FieldError.
    """
    updates: dict[str, Any] = {each.field: _corrected(invoice, each) for each in corrections}
    problems = tuple(problem for problem in invoice.problems if problem.field not in updates)
    return invoice.model_copy(update={**updates, "problems": problems}) if updates else invoice


def proposals(field: FieldValue[Any]) -> tuple[Candidate[Any], ...]:
    """Return the candidates of a locked field that differ from its value, most confident first."""
    if field.lock is None:
        return ()
    return tuple(each for each in field.candidates if each.source is not Source.HUMAN and each.value != field.value)


def _corrected(invoice: InvoiceData, correction: Correction) -> Any:
    value = parse_value(correction.field, correction.value)
    if correction.field not in FIELDS:
        return value
    read: FieldValue[Any] = getattr(invoice, correction.field)
    candidates = _with_own(read)
    same = next((each for each in candidates if each.value == value and each.page is not None), None)
    page, box = (correction.page, correction.box) if correction.page or not same else (same.page, same.box)
    return read.model_copy(
        update={
            "value": value,
            "source": Source.HUMAN,
            "page": page,
            "box": box,
            "word_score": None,
            "evidence": () if value is None else FIELDS[correction.field].kind.evidence(value),
            "candidates": candidates,
            "lock": Lock(by=correction.by, at=correction.at, why=correction.why),
        }
    )


def _with_own(read: FieldValue[Any]) -> tuple[Candidate[Any], ...]:
    """Return the field's candidates, including its own value."""
    known = read.source is Source.HUMAN or any(each.value == read.value for each in read.candidates)
    if read.value is None or known:
        return read.candidates
    return (read.as_candidate(), *read.candidates)
