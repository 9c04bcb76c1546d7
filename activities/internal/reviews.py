"""Activities that open, escalate and close the review item of a human step.

Definitions cannot name them. Temporal retries each until it succeeds, so none may refuse its input permanently.
"""

import datetime as dt
import json
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
from temporalio import activity

from docrail.adapters.postgres.pool import transaction
from docrail.dag.language.statuses import StepStatus
from docrail.dag.values.json_values import Json, digest, shortened
from docrail.services.audit.models import Act
from docrail.services.audit.repository import append_event
from docrail.services.reviews.models import CLOSED, DECIDED, ESCALATED, FIRST, PersonsDecision, StepEnd, StepQuestion
from docrail.services.reviews.repository.steps import ask_question, close_question, keep_decision
from docrail.services.tools import Tools
from docrail.workflows.contract.messages import DecisionCall, ReviewCall, ReviewEnd

RUN = "docrail"
"""The actor in the audit log if a run ended without a person's answer."""

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
        async with transaction(tools.db) as tx:
            settled = await close_question(tx, end.tenant_id, end.run_id, end.step_id, ended)
            if settled is not None:
                detail: dict[str, Json] = {"by": f"the run {end.run_id}"}
                act = Act(RUN, CLOSED, settled.review_id, settled.document_id, detail)
                await append_event(tx, end.tenant_id, act)

    @activity.defn(name="record_decision")
    async def record_decision(call: DecisionCall) -> None:
        await _keep(tools.db, call)

    return [open_review, escalate_review, close_review, record_decision]


async def _ask(db: asyncpg.Pool, call: ReviewCall, band: int) -> None:
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
        band=band,
    )
    async with transaction(db) as tx:
        await ask_question(tx, call.tenant_id, call.run_id, call.step_id, question)


async def _keep(db: asyncpg.Pool, call: DecisionCall) -> None:
    """Store the decision of one of several people, and add it to the audit log once, however often it is sent."""
    at = dt.datetime.fromtimestamp(call.decided_at, dt.UTC)
    decided, by = digest(call.decision), call.by.replace("\0", "")
    made = PersonsDecision(by, at.isoformat(), decided, _storable(call.decision), call.number)
    place = (call.tenant_id, call.run_id, call.step_id)
    async with transaction(db) as tx:
        review_id = await keep_decision(tx, *place, asked_at=call.asked_at, made=made)
        if review_id is not None:
            detail: dict[str, Json] = {"run_id": call.run_id, "step_id": call.step_id, "digest": decided}
            await append_event(tx, call.tenant_id, Act(by, DECIDED, review_id, None, detail))


def _storable(value: Json) -> Json:
    """Return `value` in a form that PostgreSQL can store: earlier steps may have produced NaN or lone surrogates."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    return json.loads(text, parse_constant=lambda _: None)
