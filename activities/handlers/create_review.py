"""Handler `create_review`: open a review item for an extracted document, by urgency, or approve it straight through."""

import asyncio
import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, Field

from docrail.handlers import Handler, StepCall
from docrail.invoices.assessment.straight_through import Policy, StraightThrough, decide
from docrail.services.documents.models import Document, WantedReading, each_once
from docrail.services.documents.service import load_documents
from docrail.services.reviews.approvals import ReviewRequest, open_items
from docrail.services.reviews.items import appearance_of
from docrail.services.reviews.models import APPROVED, Question, Review
from docrail.services.reviews.standing import DocumentState, load_states
from docrail.services.tools import Tools

DRAWN = "It is one of the audit sample, which a person always sees."
MOST_REASONS = 20
"""Maximum number of reasons kept in the run: a document may break any number of rules."""


class StraightThroughConfig(BaseModel, extra="forbid", frozen=True):
    """When a document may pass without a person. It must satisfy every rule, whatever is set here."""

    mode: Literal["shadow", "on"] = Field(
        default="shadow",
        description="`shadow`: every document is reviewed, and those that would have passed are counted",
    )
    min_confidence: float = Field(default=0.95, ge=0.5, le=1, description="minimum confidence of every required field")
    max_total: Decimal | None = Field(
        default=Decimal(1000), gt=0, description="largest total that passes; null for any"
    )
    audit_share: float = Field(
        default=0.05, ge=0, le=1, description="share of documents that are always reviewed, as a sample"
    )


class Config(BaseModel, extra="forbid", frozen=True):
    """The document and its deadline."""

    document_id: str = Field(description="a document whose extraction is stored")
    sla_hours: float = Field(
        gt=0, le=8784, allow_inf_nan=False, description="hours from the upload to the deadline of the decision"
    )
    straight_through: StraightThroughConfig = Field(
        default=StraightThroughConfig(), description="when a document passes without a person"
    )


class Output(BaseModel):
    """The review item."""

    review_id: str = Field(description="the document's review item; it has only one")
    priority: float = Field(description="0 to 100; the highest is the most urgent")
    parts: dict[str, float] = Field(description="components of the priority, each 0 to 1")
    status: str = Field(description="`open`, `approved` or `rejected`")
    needs_person: bool = Field(
        description="whether the document is not approved: it awaits a decision, or was rejected"
    )
    straight_through: bool = Field(description="whether it passed without review, or would have in shadow mode")
    held_because: list[str] = Field(description="the reasons for a review, in words; empty if there are none")


async def run(call: StepCall[Config], tools: Tools) -> Output:
    """Open the document's review item, or renew the open one; a decided one stays unchanged.

    Raises: NotStored.
    """
    return (await run_all([call], tools))[0]


async def run_all(calls: Sequence[StepCall[Config]], tools: Tools) -> list[Output]:
    """Open the items of the documents of calls of one tenant. Raises: as `run`."""
    tenant_id, today = calls[0].tenant_id, dt.datetime.now(dt.UTC).date()
    ids = each_once([call.config.document_id for call in calls])
    # Outside the transaction: the documents' values must be visible to documents assessed at the same time.
    states, documents = await asyncio.gather(
        load_states(tools.db, tenant_id, [WantedReading(each) for each in ids], today=today),
        load_documents(tools.db, tenant_id, ids),
    )
    asked = [
        _asked(call, tools, states[WantedReading(each)], documents.get(each))
        for call, each in zip(calls, ids, strict=True)
    ]
    reviews = await open_items(tools.db, tenant_id, [each for each, _ in asked], tools.four_eyes_above)
    for document_id, (each, _), review in zip(ids, asked, reviews, strict=True):
        if review.is_open:
            _draw_ahead(documents.get(document_id), tools, each.invoice.page_count)
    return [_output(review, verdict) for review, (_, verdict) in zip(reviews, asked, strict=True)]


def _asked(
    call: StepCall[Config], tools: Tools, state: DocumentState, document: Document | None
) -> tuple[ReviewRequest, StraightThrough]:
    through = call.config.straight_through
    verdict = decide(state.invoice, _policy(through))
    question = _question(call, state, verdict, tools.four_eyes_above, document.file_name if document else None)
    return ReviewRequest(question, state.invoice, passes=verdict.passes and through.mode == "on"), verdict


def _output(review: Review, verdict: StraightThrough) -> Output:
    return Output(
        review_id=review.review_id,
        priority=review.priority,
        parts=review.parts,
        status=review.status,
        needs_person=review.status != APPROVED,
        straight_through=verdict.passes,
        held_because=_held_because(verdict),
    )


def _draw_ahead(document: Document | None, tools: Tools, pages: int) -> None:
    """Have the first pages drawn before a person opens the item."""
    if tools.drawn_ahead is not None and document is not None and document.original_removed_at is None:
        tools.drawn_ahead.add(document.sha256, pages)


def _held_because(verdict: StraightThrough) -> list[str]:
    return [*verdict.reasons[:MOST_REASONS], *([DRAWN] if verdict.audit_sample else [])]


def _question(
    call: StepCall[Config],
    state: DocumentState,
    verdict: StraightThrough,
    above: Decimal | None,
    file_name: str | None,
) -> Question:
    return Question(
        run_id=call.run_id,
        appearance=appearance_of(state.invoice, above),
        due_at=state.received_at + dt.timedelta(hours=call.config.sla_hours),
        sla_from=state.received_at,
        straight_through=verdict.passes,
        audit_sample=verdict.audit_sample,
        file_name=file_name,
    )


def _policy(config: StraightThroughConfig) -> Policy:
    return Policy(
        enabled=config.mode == "on",
        min_confidence=config.min_confidence,
        max_total=config.max_total,
        audit_share=config.audit_share,
    )


HANDLER = Handler("create_review", Config, Output, run, is_light=True, run_all=run_all)
