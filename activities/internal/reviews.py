"""Activities that open, escalate and close the review item of a human step.

Definitions cannot name them. Temporal retries each until it succeeds, so none may refuse its input permanently.
"""

import datetime as dt
import json
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
from temporalio import activity

from docrail.dag.language.statuses import StepStatus
from docrail.dag.values.json_values import Json, digest, shortened
from docrail.services.documents.service import load_document
from docrail.services.reviews.models import CLOSED, DECIDED, ESCALATED, FIRST, PersonsDecision, StepEnd, StepQuestion
from docrail.services.reviews.questions import ask, close, record_person
from docrail.services.tools import Tools
from docrail.workflows.contract.messages import DecisionCall, ReviewCall, ReviewEnd

LONGEST_TITLE = 500
"""Maximum length of a title in the queue; the definition's own limit applies before its templates are resolved."""


def review_activities(tools: Tools) -> list[Callable[[Any], Awaitable[None]]]:
    """Return the activities. A run retries each until it succeeds; in any order, the end prevails."""

    @activity.defn(name="open_review")
    async def open_review(call: ReviewCall) -> None:
        await _ask(tools.db, call, FIRST)

    @activity.defn(name="escalate_review")
    async def escalate_review(call: ReviewCall) -> None:
        await _ask(tools.db, call, ESCALATED)

    @activity.defn(name="close_review")
    async def close_review(end: ReviewEnd) -> None:
        is_decided = end.status is StepStatus.COMPLETED
        ended = StepEnd(
            status=DECIDED if is_decided else CLOSED,
            asked_at=end.asked_at,
            decision=_storable(end.decision) if is_decided else None,
            decided_by=end.decided_by.replace("\0", "") if is_decided else None,
        )
        await close(tools.db, end.tenant_id, end.run_id, end.step_id, ended)

    @activity.defn(name="record_decision")
    async def record_decision(call: DecisionCall) -> None:
        await _keep(tools.db, call)

    return [open_review, escalate_review, close_review, record_decision]


async def _ask(db: asyncpg.Pool, call: ReviewCall, band: int) -> None:
    document = None if call.document_id is None else await load_document(db, call.tenant_id, call.document_id)
    question = StepQuestion(
        queue=call.queue,
        title=shortened(_storable(call.title).replace("\0", ""), LONGEST_TITLE) or call.step_id,
        form=_storable(call.form),
        show=_storable(call.show),
        priority=call.priority,
        due_at=None if call.due_at is None else dt.datetime.fromtimestamp(call.due_at, dt.UTC),
        asked_at=call.asked_at,
        group=call.group,
        may_not_decide=call.may_not_decide,
        approvals=call.approvals,
        document_id=call.document_id,
        file_name=document.file_name if document else None,
        band=band,
    )
    await ask(db, call.tenant_id, call.run_id, call.step_id, question)


async def _keep(db: asyncpg.Pool, call: DecisionCall) -> None:
    at = dt.datetime.fromtimestamp(call.decided_at, dt.UTC)
    by = call.by.replace("\0", "")
    made = PersonsDecision(
        by, at.isoformat(), digest(call.decision), _storable(call.decision), call.number, call.known_to
    )
    await record_person(db, call.tenant_id, call.run_id, call.step_id, asked_at=call.asked_at, made=made)


def _storable(value: Json) -> Json:
    """Return `value` in a form that PostgreSQL can store: earlier steps may have produced NaN or lone surrogates."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    return json.loads(text, parse_constant=lambda _: None)
