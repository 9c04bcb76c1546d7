"""Merge several readings into one: each field takes the most confident value and keeps all values as evidence."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from docrail.invoices.assessment.checks import EXACT, RULES, lines_agree, lines_total
from docrail.invoices.assessment.confidence import BY_RULES, field_confidence
from docrail.invoices.facts import Evidence, Source
from docrail.invoices.model import FIELD_NAMES, Candidate, FieldValue, InvoiceData, LineItem, TaxPart, agree
from docrail.invoices.values.currencies import tolerance

PAGE = frozenset({Source.TEXT_LABEL, Source.TEXT_PATTERN, Source.OCR_LABEL, Source.OCR_PATTERN})
"""Sources that make the same mistakes count as one: the same rules read text layers and OCR words."""
FIRST_FOUND = ("account", "account_scheme", "vendor_trade_name", "vendor_country")
ORIGIN = ("document_id", "model", "prompt_version")
"""Texts of the reading itself; empty if unknown."""
PARTIAL_READERS = frozenset({"qr"})
"""A payment code contains no lines, taxes or document type."""
JOINT = BY_RULES.keys() | {Evidence.SECOND_SOURCE_AGREES, Evidence.SECOND_SOURCE_DIFFERS}
"""Evidence about several fields or readings together; it does not carry over from one reading to the merged one."""


def reconcile(readings: Sequence[InvoiceData]) -> InvoiceData:
    """Merge `readings`, given most confident first, into one; call `assess` on the result.

    Document type, lines, tax rows and adjustments come from the first reading that has them. A value without a place on
    the page takes the place of a reading that agrees.

    Raises: ValueError if there are no readings.
    """
    if not readings:
        raise ValueError("no readings to reconcile: expected at least one InvoiceData")
    main = next((reading for reading in readings if reading.reader not in PARTIAL_READERS), readings[0])
    ordered = [main, *(reading for reading in readings if reading is not main)]
    fields = {name: _field(name, [getattr(reading, name) for reading in readings]) for name in FIELD_NAMES}
    problems = (problem for reading in readings for problem in reading.problems if problem.code not in RULES)
    found = [name for reading in ordered[1:] if _found_something(reading) for name in _names(reading)]
    whole = main.model_copy(
        update={
            **fields,
            **{name: _first(getattr(reading, name) for reading in ordered) for name in FIRST_FOUND},
            **{name: _first(getattr(reading, name) for reading in ordered) or "" for name in ORIGIN},
            "payment_reference": _first(reading.payment_reference for reading in readings),
            "problems": tuple(dict.fromkeys(problems)),
            "confidence": 0.0,
            "readers": tuple(dict.fromkeys([*_names(ordered[0]), *found])),
            "calibration": "",
            "page_count": max(reading.page_count for reading in readings),
            "flags": tuple(dict.fromkeys(flag for reading in readings for flag in reading.flags)),
        }
    )
    return whole.model_copy(update={"line_items": _lines(whole, ordered), "tax_parts": _tax_parts(whole, ordered)})


def _field(name: str, values: Sequence[FieldValue[Any]]) -> FieldValue[Any]:
    """Return the most confident value with evidence and candidates; none if an exact source says there is none."""
    stated_none = next((field for field in values if field.value is None and field.source in EXACT), None)
    own = [_without_joint_evidence(field) for field in values if field.value is not None]
    if stated_none or not own:
        return stated_none or values[0]
    ranked = sorted(own, key=_sureness, reverse=True)  # stable: earlier readings stay first among equals
    best = _in_place(name, ranked)
    candidates = _candidates([best, *ranked[1:]])
    evidence = best.evidence + _second_source(name, best, candidates)
    return best.model_copy(update={"candidates": candidates, "evidence": evidence})


def _in_place(name: str, ranked: Sequence[FieldValue[Any]]) -> FieldValue[Any]:
    """Return the first value; if it has no place on the page, it takes the place of an agreeing value."""
    best, *others = ranked
    agreeing = (other for other in others if other.box is not None and agree(name, best.value, other.value))
    other = next(agreeing, None) if best.box is None else None
    return best.model_copy(update={"page": other.page, "box": other.box}) if other else best


def _without_joint_evidence(field: FieldValue[Any]) -> FieldValue[Any]:
    kept = tuple(fact for fact in field.evidence if fact not in JOINT)
    return field.model_copy(update={"evidence": kept, "confidence": 0.0})


def _sureness(field: FieldValue[Any]) -> tuple[int, float]:
    if field.source in EXACT:
        return len(EXACT) - EXACT.index(field.source), 0.0
    return 0, field_confidence(field.source, field.evidence, field.word_score)


def _candidates(ranked: Sequence[FieldValue[Any]]) -> tuple[Candidate[Any], ...]:
    """Return the candidates: the readings' chosen values first, then their other candidates."""
    chosen = [field.as_candidate() for field in ranked]
    passed_over = [candidate for field in ranked for candidate in field.candidates]
    kept: dict[tuple[object, Source], Candidate[Any]] = {}
    for candidate in (*chosen, *passed_over):
        key = (candidate.value, candidate.source)
        if key not in kept or (kept[key].box is None and candidate.box is not None):
            kept[key] = candidate
    return tuple(kept.values())


def _second_source(name: str, best: FieldValue[Any], candidates: Sequence[Candidate[Any]]) -> tuple[Evidence, ...]:
    """Return evidence from independent sources for the chosen value. One that agrees outweighs one that differs.

    Only the first candidate of each source family counts; its other candidates prove nothing.
    """
    words = {_family(candidate.source): candidate.value for candidate in reversed(candidates)}
    words.pop(_family(best.source), None)
    verdicts = {agree(name, best.value, value) for value in words.values()}
    if True in verdicts:
        return (Evidence.SECOND_SOURCE_AGREES,)
    if False in verdicts and Evidence.PAGE_CONTRADICTS not in best.evidence:  # PAGE_CONTRADICTS already states this
        return (Evidence.SECOND_SOURCE_DIFFERS,)
    return ()


def _family(source: Source) -> str:
    return "page" if source in PAGE else source


def _lines(whole: InvoiceData, ordered: Sequence[InvoiceData]) -> tuple[LineItem, ...]:
    """Return the main reading's lines, or another reading's that add up; with their places, if known."""
    if whole.line_items:
        return _placed(whole.line_items, [line for reading in ordered[1:] for line in reading.line_items])
    for reading in ordered[1:]:
        tried = whole.model_copy(update={"line_items": reading.line_items})
        total = lines_total(reading.line_items)
        if total is not None and whole.net.value is not None and lines_agree(tried, total):
            return reading.line_items
    return ()


def _placed(lines: Sequence[LineItem], others: Iterable[LineItem]) -> tuple[LineItem, ...]:
    """Give each line the place of the first other line with the same amount; each place is used once."""
    places = [line for line in others if line.box is not None]
    placed = []
    for line in lines:
        same = next((other for other in places if line.box is None and other.amount == line.amount), None)
        if same:
            places.remove(same)
            line = line.model_copy(update={"page": same.page, "box": same.box})  # noqa: PLW2901
        placed.append(line)
    return tuple(placed)


def _tax_parts(whole: InvoiceData, ordered: Sequence[InvoiceData]) -> tuple[TaxPart, ...]:
    """Return the main reading's tax rows, or another reading's that add up to the tax."""
    if whole.tax_parts or whole.tax.value is None:
        return whole.tax_parts
    slack = tolerance(whole.currency.value)
    for reading in ordered[1:]:
        if reading.tax_parts and abs(_sum(reading.tax_parts) - whole.tax.value) <= slack:
            return reading.tax_parts
    return ()


def _sum(parts: Iterable[TaxPart]) -> Decimal:
    return sum((part.tax for part in parts), Decimal(0))


def _names(reading: InvoiceData) -> tuple[str, ...]:
    return reading.readers or ((reading.reader,) if reading.reader else ())


def _found_something(reading: InvoiceData) -> bool:
    return any(getattr(reading, name).value is not None for name in FIELD_NAMES)


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)
