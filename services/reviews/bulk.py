"""Approve many documents at once: preview what would happen, and approve exactly what was previewed.

Each item is decided by the rules and in the transaction of a single decision (decisions.py). A document that has
problems, or that two people must approve, stays open.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import ClassVar

from pydantic import ConfigDict

from docrail.adapters.postgres.pool import transaction
from docrail.dag.language.inputs import InputProblem
from docrail.dag.values.json_values import Json
from docrail.invoices.assessment.review_summary import review_reasons, shown_digest, why_two_approvals
from docrail.invoices.model import InvoiceData, InvoiceProblem
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.documents.models import SumOfCurrency
from docrail.services.errors import InvalidInput, OperationError
from docrail.services.model_config import SHOWN
from docrail.services.reviews.decisions import DocumentVerdict, approve_locked, checked, decidable, made_before
from docrail.services.reviews.items import find_item, lock_item
from docrail.services.reviews.models import APPROVED, Review
from docrail.services.reviews.preview_tokens import ShownItem, items_of, token_for
from docrail.services.reviews.repository.items import load_review
from docrail.services.reviews.run_answers import answer_runs_of_many

MOST_AT_ONCE = 100
"""Maximum number of items in a bulk approval: each is a transaction of its own."""
MOST_PREVIEWED = 500
"""Maximum number of items in the preview of one."""


@dataclass(frozen=True, slots=True)
class BulkOutcome:
    """The result for one item of a bulk approval; `why` gives the reason if it was not approved."""

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    review_id: str
    approved: bool
    why: str | None
    reasons: list[InvoiceProblem] = field(default_factory=list)
    """The problems that `why` lists, with their codes; empty if something else keeps the item open."""


@dataclass(frozen=True, slots=True)
class BulkResult:
    """The result for each item, in the given order."""

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    items: list[BulkOutcome]
    """What became of each."""
    token: str | None
    """The token for the items of the preview that are left; null if all were tried."""


@dataclass(frozen=True, slots=True)
class PreviewedItem:
    """What a bulk approval would do with one item; `why` gives the reason if it would stay open."""

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    review_id: str
    document_id: str | None
    file_name: str | None
    vendor: str | None
    """Name of the vendor."""
    number: str | None
    """The vendor's number of the invoice."""
    total: Decimal | None
    currency: str | None
    approved: bool
    why: str | None
    reasons: list[InvoiceProblem]
    """The problems that `why` lists, with their codes; empty if something else keeps the item open."""


@dataclass(frozen=True, slots=True)
class ApprovalPreview:
    """What a bulk approval would do. Nothing is changed."""

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    items: list[PreviewedItem]
    """What would become of each."""
    approved: int
    """Number of items that would be approved."""
    sums: list[SumOfCurrency]
    """Their totals by currency."""
    matching: int
    """Number of items that match; of more than 500, the first are previewed."""
    token: str | None
    """For the approval of exactly these items as they are now; null if none would be approved."""


async def approve_many(app: App, principal: Principal, wanted: Sequence[ShownItem]) -> list[BulkOutcome]:
    """Approve the items, each with its digest as shown, that have no problems and need only one approval.

    Raises: InvalidInput (too many); obstacles of single items are reported per item.
    """
    if len(wanted) > MOST_AT_ONCE:
        raise InvalidInput([InputProblem("items", f"expected at most {MOST_AT_ONCE}, found {len(wanted)}")])
    outcomes = [await _approve_one(app, principal, each.review_id, each.digest) for each in wanted]
    await answer_runs_of_many(app, principal.tenant_id, [each.review_id for each in outcomes if each.approved])
    return outcomes


async def approve_previewed(app: App, principal: Principal, token: str) -> BulkResult:
    """Approve the first items of a preview as it showed them, at most MOST_AT_ONCE; an item that changed stays open.

    Raises: InvalidInput (no token of the principal's previews).
    """
    items = items_of(principal, token)
    outcomes = await approve_many(app, principal, items[:MOST_AT_ONCE])
    return BulkResult(outcomes, token_for(principal, items[MOST_AT_ONCE:]))


async def preview_many(app: App, principal: Principal, review_ids: Sequence[str]) -> ApprovalPreview:
    """Return what a bulk approval of these items would do, by the rules of the approval itself.

    Raises: InvalidInput (too many).
    """
    if len(review_ids) > MOST_PREVIEWED:
        raise InvalidInput([InputProblem("review_ids", f"expected at most {MOST_PREVIEWED}, found {len(review_ids)}")])
    found = [await _preview_one(app, principal, review_id) for review_id in dict.fromkeys(review_ids)]
    good = [(item, digest) for item, digest in found if item.approved]
    token = token_for(principal, [ShownItem(item.review_id, digest) for item, digest in good])
    items = [item for item, _ in found]
    return ApprovalPreview(items, len(good), _sums([item for item, _ in good]), len(items), token)


async def _preview_one(app: App, principal: Principal, review_id: str) -> tuple[PreviewedItem, str]:
    review: Review | None = None
    try:
        review = await find_item(load_review, app.db, principal, review_id)
        invoice = await decidable(app.db, principal, review, "approve", token=None)
    except OperationError as error:
        return _previewed(review_id, review, str(error), []), ""
    found = _obstacles(app, invoice)
    return _previewed(review_id, review, _messages(found) or None, found), shown_digest(invoice)


def _previewed(review_id: str, review: Review | None, why: str | None, reasons: list[InvoiceProblem]) -> PreviewedItem:
    shown: Mapping[str, Json] = review.summary if review else {}
    return PreviewedItem(
        review_id=review_id,
        document_id=review.document_id if review else None,
        file_name=review.file_name if review else None,
        vendor=shown.get("vendor"),
        number=shown.get("number"),
        total=None if shown.get("total") is None else Decimal(str(shown["total"])),
        currency=shown.get("currency"),
        approved=why is None,
        why=why,
        reasons=reasons,
    )


def _sums(items: Sequence[PreviewedItem]) -> list[SumOfCurrency]:
    by_currency: dict[str | None, list[Decimal]] = {}
    for item in items:
        by_currency.setdefault(item.currency, []).append(item.total or Decimal(0))
    return [SumOfCurrency(each, len(totals), f"{sum(totals, Decimal(0)):f}") for each, totals in by_currency.items()]


def _obstacles(app: App, invoice: InvoiceData) -> list[InvoiceProblem]:
    """Return why a document is not approved in bulk: its problems, and why two people must approve it."""
    return [*review_reasons(invoice), *why_two_approvals(invoice, app.four_eyes_above)]


def _messages(problems: Sequence[InvoiceProblem]) -> str:
    return " ".join(problem.message for problem in problems)


async def _approve_one(app: App, principal: Principal, review_id: str, digest: str) -> BulkOutcome:
    try:
        async with transaction(app.db) as tx:
            review = await lock_item(tx, principal, review_id)
            verdict = DocumentVerdict(0, digest)
            if await made_before(app, tx, principal, review, APPROVED, verdict) == []:
                return BulkOutcome(review_id, approved=True, why=None)
            invoice = await checked(tx, principal, review, verdict, "approve", is_bulk=True)
            if wrong := _obstacles(app, invoice):
                return BulkOutcome(review_id, approved=False, why=_messages(wrong), reasons=wrong)
            await approve_locked(app, tx, principal, review, invoice, "")
    except OperationError as error:
        return BulkOutcome(review_id, approved=False, why=str(error))
    return BulkOutcome(review_id, approved=True, why=None)
