"""What people say of a document, laid over what was read: their values are locked, what differs is proposed."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from docrail.invoices.facts import Evidence, Source
from docrail.invoices.fields import parse_value
from docrail.invoices.model import FIELDS, Box, Candidate, FieldValue, InvoiceData, Lock


@dataclass(frozen=True, slots=True)
class Correction:
    """One field as a person says it is, in the text of `field_values`; `value` None: the document does not say it."""

    field: str
    value: str | None
    by: str
    at: dt.datetime
    why: str = ""
    page: int | None = None
    box: Box | None = None
    """Where on the page the person took it from, if they pointed there."""


def merge(invoice: InvoiceData, corrections: Sequence[Correction]) -> InvoiceData:
    """Return `invoice` with the corrections in place, the last one of a field counting.

    What was read stays in the field's candidates. What the readers held against a field is settled with it: its
    evidence and its problems are gone, until the rules are checked anew. Raises: FieldError.
    """
    updates: dict[str, Any] = {each.field: _corrected(invoice, each) for each in corrections}
    problems = tuple(problem for problem in invoice.problems if problem.field not in updates)
    return invoice.model_copy(update={**updates, "problems": problems}) if updates else invoice


def proposals(field: FieldValue[Any]) -> tuple[Candidate[Any], ...]:
    """Return what the readers say against a person: the candidates of a locked field that differ, surest first."""
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
            "evidence": _evidence(correction.field, value),
            "candidates": candidates,
            "lock": Lock(by=correction.by, at=correction.at, why=correction.why),
        }
    )


def _with_own(read: FieldValue[Any]) -> tuple[Candidate[Any], ...]:
    """Return the field's candidates, its own value among them."""
    known = read.source is Source.HUMAN or any(each.value == read.value for each in read.candidates)
    if read.value is None or known:
        return read.candidates
    own = Candidate[Any](value=read.value, source=read.source, page=read.page, box=read.box, word_score=read.word_score)
    return (own, *read.candidates)


def _evidence(field: str, value: Any) -> tuple[Evidence, ...]:
    """Return what the value itself shows: check digits hold for people too."""
    return () if value is None else FIELDS[field].kind.evidence(value)
