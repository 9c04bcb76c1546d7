"""Learn from people's decisions about a vendor, and apply that to its next documents."""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from statistics import median
from typing import Any

from pydantic import BaseModel, ConfigDict

from docrail.invoices.assessment.confidence import field_confidence
from docrail.invoices.facts import Evidence, Source
from docrail.invoices.model import Candidate, FieldValue, InvoiceData, InvoiceProblem
from docrail.invoices.values.folding import squeeze

REMEMBERED = ("vendor_name", "vendor_vat_id", "iban", "currency")
"""Fields that documents of one vendor share."""
FILLED = ("vendor_name", "vendor_vat_id", "currency")
"""Fields that may be filled from memory. Never the IBAN: a known account must not hide that the page names another."""
MOST_VALUES, MOST_TOTALS = 20, 200
"""Values kept for each field, and totals for each currency; the oldest are dropped first."""
UNUSUAL = 5
FEWEST_TOTALS = 3
"""With fewer amounts, no usual amount is computed."""
LONGEST_KEY = 200
"""Maximum key length in the database index."""
FEWEST_SHAPES = 2
"""Approved numbers needed before their shape counts as the vendor's."""
DIGITS, LETTERS = re.compile(r"\d+"), re.compile(r"[^\W\d_]+")

Counts = dict[str, int]
Facts = dict[str, list[Evidence]]


class VendorMemory(BaseModel):
    """Values approved on one vendor's documents. The last entry of a dict is the newest."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    approvals: int = 0
    values: dict[str, Counts] = {}
    """How often each value of a remembered field was approved."""
    corrections: dict[str, str] = {}
    """Misread names (squeezed), with the corrected name."""
    number_shapes: Counts = {}
    totals: dict[str, tuple[Decimal, ...]] = {}
    """Amounts in each currency, the newest last."""

    def usual(self, name: str) -> str | None:
        """Return the value approved most often; None if there is none."""
        counts = self.values.get(name, {})
        return max(counts, key=lambda value: counts[value]) if counts else None

    def knows(self, name: str, value: object) -> bool:
        """Return whether this value was approved before, regardless of formatting."""
        return squeeze(str(value)) in map(squeeze, self.values.get(name, {}))


def vendor_keys(invoice: InvoiceData) -> tuple[str, ...]:
    """Return the keys that identify the vendor, most reliable first: VAT id, IBAN, folded name."""
    vat_id, iban, name = invoice.vendor_vat_id.value, invoice.iban.value, squeeze(invoice.vendor_name.value or "")
    keys = (("vat", vat_id), ("iban", iban), ("name", name))
    return tuple(key_of(kind, value) for kind, value in keys if value)


def key_of(kind: str, value: str) -> str:
    """Return a key: `vat`, `iban` or `name`, and the normalized value."""
    return f"{kind}:{value}"[:LONGEST_KEY]


def misread_keys(approved: InvoiceData) -> tuple[str, ...]:
    """Return the keys of the misread names that a person then corrected."""
    return tuple(key_of("name", name) for name in misread_names(approved))


def misread_names(approved: InvoiceData) -> list[str]:
    """Return the vendor names from readers that a person replaced, squeezed."""
    field = approved.vendor_name
    if field.lock is None or field.value is None:
        return []
    read = (squeeze(candidate.value) for candidate in field.candidates if candidate.source is not Source.HUMAN)
    return [name for name in dict.fromkeys(read) if name and name != squeeze(field.value)]


def learn(memory: VendorMemory | None, approved: InvoiceData) -> VendorMemory:
    """Return the memory with one more approved document."""
    memory = memory or VendorMemory()
    number, name = approved.invoice_number.value, approved.vendor_name.value
    corrections = {**memory.corrections, **dict.fromkeys(misread_names(approved), name or "")}
    return VendorMemory(
        approvals=memory.approvals + 1,
        values=_values(memory, approved, _counted),
        corrections=dict(list(corrections.items())[-MOST_VALUES:]),
        number_shapes=_counted(memory.number_shapes, shape(number)) if number else memory.number_shapes,
        totals=_with_total(memory.totals, approved),
    )


def unlearn(memory: VendorMemory, approved: InvoiceData) -> VendorMemory:
    """Return the memory without a document whose approval was withdrawn."""
    number, misread = approved.invoice_number.value, set(misread_names(approved))
    return VendorMemory(
        approvals=max(memory.approvals - 1, 0),
        values=_values(memory, approved, _discounted),
        corrections={name: right for name, right in memory.corrections.items() if name not in misread},
        number_shapes=_discounted(memory.number_shapes, shape(number)) if number else memory.number_shapes,
        totals=_without_total(memory.totals, approved),
    )


def contradicts_vat_id(invoice: InvoiceData, memory: VendorMemory) -> bool:
    """Return whether the document's VAT id is new for this vendor: another company, or an impostor."""
    known, vat_id = memory.values.get("vendor_vat_id"), invoice.vendor_vat_id.value
    return bool(known) and vat_id is not None and not memory.knows("vendor_vat_id", vat_id)


def recall(invoice: InvoiceData, memory: VendorMemory) -> InvoiceData:
    """Return `invoice` with misread or missing names, ids, currency and number replaced from memory.

    Locked values are kept, and values that were read stay among the candidates. Calling it again changes nothing.
    """
    if contradicts_vat_id(invoice, memory):
        return invoice
    recalled = {name: _recalled(name, getattr(invoice, name), memory) for name in FILLED}
    number = _shaped(invoice.invoice_number, memory)
    return invoice.model_copy(update={**recalled, "invoice_number": number})


def vendor_facts(invoice: InvoiceData, *memories: VendorMemory) -> Facts:
    """Return the history's evidence for each field; a value needs to be known for every matching vendor."""
    if not memories:
        return {}
    facts: Facts = {
        name: [Evidence.AS_VENDOR_HISTORY]
        for name in REMEMBERED
        if (value := getattr(invoice, name).value) is not None and all(each.knows(name, value) for each in memories)
    }
    if any(_iban_changed(invoice, memory, one_of=len(memories)) for memory in memories):
        facts["iban"] = [Evidence.IBAN_CHANGED]
    return facts


def vendor_problems(invoice: InvoiceData, *memories: VendorMemory) -> list[InvoiceProblem]:
    """Return the differences between `invoice` and earlier documents of its vendor (of any, if several match)."""
    found: dict[str, InvoiceProblem] = {}
    for memory in memories:
        for problem in _problems(invoice, memory, one_of=len(memories)):
            found.setdefault(problem.code, problem)
    return list(found.values())


def _problems(invoice: InvoiceData, memory: VendorMemory, *, one_of: int) -> list[InvoiceProblem]:
    name = memory.usual("vendor_name") or "this vendor"
    problems = []
    if _iban_changed(invoice, memory, one_of=one_of):
        known = ", ".join(memory.values.get("iban", {})) or "no account"
        message = (
            f"{name} was paid to {known} so far; this document names {invoice.iban.value}. "
            "Ask the vendor, by a way that is not in the document."
        )
        problems.append(InvoiceProblem.error("iban_changed", message, "iban"))
    if contradicts_vat_id(invoice, memory):
        known = ", ".join(memory.values["vendor_vat_id"])
        message = (
            f"{name} had the VAT id {known} so far; this document names {invoice.vendor_vat_id.value}. "
            "It may be another company."
        )
        problems.append(InvoiceProblem.warning("vat_id_changed", message, "vendor_vat_id"))
    total, totals = invoice.total.value, memory.totals.get(invoice.currency.value or "", ())
    if total is not None and len(totals) >= FEWEST_TOTALS and abs(total) > UNUSUAL * (usual := median(totals)):
        message = f"The total {total} is more than {UNUSUAL} times the usual {usual:.2f} of {name}."
        problems.append(InvoiceProblem.warning("amount_unusual", message, "total"))
    return problems


def shape(number: str) -> str:
    """Return the shape of a number: `RE-2026/0017` has the shape `A-9/9`."""
    return LETTERS.sub("A", DIGITS.sub("9", number.strip()))


def _iban_changed(invoice: InvoiceData, memory: VendorMemory, *, one_of: int) -> bool:
    """Return whether the account is new for the vendor. A first account is no change, unless several vendors match."""
    iban = invoice.iban.value
    if iban is None or memory.knows("iban", iban):
        return False
    return one_of > 1 or bool(memory.values.get("iban"))


def _recalled(name: str, field: FieldValue[Any], memory: VendorMemory) -> FieldValue[Any]:
    if field.lock is not None or field.source in (Source.HUMAN, Source.VENDOR):
        return field
    if field.value is None:
        value = memory.usual(name)
    elif name == "vendor_name" and not memory.knows(name, field.value):
        value = memory.corrections.get(squeeze(field.value)) or memory.usual(name)
    else:
        value = None
    if value is None or _surer(field):
        return field
    own = Candidate[Any](value=value, source=Source.VENDOR)
    return FieldValue[Any](value=value, source=Source.VENDOR, candidates=(own, *_read(field)))


def _surer(field: FieldValue[Any]) -> bool:
    """Return whether the value that was read outweighs the one in memory; each is evidence against the other."""
    if field.value is None:
        return False
    read = field_confidence(field.source, (*field.evidence, Evidence.SECOND_SOURCE_DIFFERS), field.word_score)
    return read >= field_confidence(Source.VENDOR, (Evidence.AS_VENDOR_HISTORY,))


def _read(field: FieldValue[Any]) -> Sequence[Candidate[Any]]:
    """Return the readers' candidates of a field, its value first."""
    if field.candidates or field.value is None:
        return field.candidates
    return (field.as_candidate(),)


def _shaped(field: FieldValue[str], memory: VendorMemory) -> FieldValue[str]:
    """Return the number, or the only other candidate that has the vendor's usual shape if the number does not."""
    usual = {form for form, count in memory.number_shapes.items() if count >= FEWEST_SHAPES}
    if field.value is None or field.lock is not None or not usual or shape(field.value) in usual:
        return field
    fitting = {candidate.value: candidate for candidate in field.candidates if shape(candidate.value) in usual}
    if len(fitting) != 1:
        return field
    [chosen] = fitting.values()
    place = {"page": chosen.page, "box": chosen.box, "word_score": chosen.word_score}
    return FieldValue[str](value=chosen.value, source=chosen.source, candidates=field.candidates, **place)


def _values(memory: VendorMemory, approved: InvoiceData, count: Callable[[Counts, str], Counts]) -> dict[str, Counts]:
    """Return the remembered values after each of the document's was counted; fields without any are left out."""
    read = {name: getattr(approved, name).value for name in REMEMBERED}
    changed = {name: count(memory.values.get(name, {}), value) for name, value in read.items() if value is not None}
    return {name: counts for name, counts in {**memory.values, **changed}.items() if counts}


def _counted(counts: Mapping[str, int], value: str) -> Counts:
    """Return the counts with `value` counted once more as the newest entry; beyond the limit the oldest is dropped."""
    rest = {other: count for other, count in counts.items() if other != value}
    return dict([*rest.items(), (value, counts.get(value, 0) + 1)][-MOST_VALUES:])


def _with_total(totals: Mapping[str, tuple[Decimal, ...]], approved: InvoiceData) -> dict[str, tuple[Decimal, ...]]:
    currency, total = approved.currency.value, approved.total.value
    if currency is None or total is None:
        return dict(totals)
    return {**totals, currency: (*totals.get(currency, ()), abs(total))[-MOST_TOTALS:]}


def _discounted(counts: Mapping[str, int], value: str) -> Counts:
    fewer = {**counts, value: counts.get(value, 0) - 1}
    return {other: count for other, count in fewer.items() if count > 0}


def _without_total(totals: Mapping[str, tuple[Decimal, ...]], approved: InvoiceData) -> dict[str, tuple[Decimal, ...]]:
    currency, total = approved.currency.value, approved.total.value
    newest_first = list(reversed(totals.get(currency or "", ())))
    if currency is None or total is None or abs(total) not in newest_first:
        return dict(totals)
    newest_first.remove(abs(total))
    return {name: kept for name, kept in {**totals, currency: tuple(reversed(newest_first))}.items() if kept}
