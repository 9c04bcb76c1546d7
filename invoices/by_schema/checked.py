"""Combine what was read of a document with what a person made of it: the record that is saved."""

from collections.abc import Mapping
from typing import Any

from docrail.invoices.assessment.confidence import PRIORS
from docrail.invoices.facts import Source
from docrail.invoices.model import FieldValue


def checked_record(
    document_id: str, kind: str, fields: Mapping[str, FieldValue[Any]], answer: Mapping[str, Any] | None, by: str | None
) -> dict[str, Any]:
    """Return the record of a document: its `values`, and each of its `fields` with where its value comes from.

    `answer`: the form as the person `by` sent it; None: no one checked the reading. A field that was left empty has no
    value. What was read is kept as `read` where the person changed it.
    """
    names = dict.fromkeys([*fields, *(answer or {})])
    checked = {name: _field(fields.get(name, FieldValue()), name, answer, by) for name in names}
    return {
        "document_id": document_id,
        "kind": kind,
        "checked_by": None if answer is None else by,
        "values": {name: field["value"] for name, field in checked.items()},
        "fields": checked,
    }


def _field(field: FieldValue[Any], name: str, answer: Mapping[str, Any] | None, by: str | None) -> dict[str, Any]:
    plain = field.model_dump(mode="json", include={"value", "confidence", "source", "page", "box", "evidence"})
    if answer is None:
        return {**plain, "checked_by": None, "read": None}
    sure = {**plain, "confidence": PRIORS[Source.HUMAN], "checked_by": by}
    given = answer.get(name)
    if given == field.value:
        return {**sure, "read": None}
    return {
        **sure,
        "value": given,
        "source": Source.HUMAN.value,
        "page": None,
        "box": None,
        "evidence": [],
        "read": field.value,
    }
