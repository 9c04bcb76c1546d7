"""The activities of human steps keep whatever a run asks, however odd, and have the names that runs call."""

from pathlib import Path

import asyncpg
import pytest
from temporalio.testing import ActivityEnvironment

from docrail.activities.internal.reviews import review_activities
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.store.blobs import BlobStore
from docrail.adapters.store.values import ValueStore
from docrail.dag.language.statuses import StepStatus
from docrail.services.lake.files import Lake
from docrail.services.metrics import Metrics
from docrail.services.reviews.models import Review
from docrail.services.reviews.repository.items import load_full_review, load_review
from docrail.services.reviews.repository.steps import step_review_id
from docrail.services.tools import Tools
from docrail.workflows.contract.messages import ReviewCall, ReviewEnd
from docrail.workflows.contract.names import CLOSE_REVIEW, ESCALATE_REVIEW, OPEN_REVIEW, RECORD_DECISION
from tests.postgres import COMMITTING


@pytest.fixture
def tools(pool: asyncpg.Pool, tmp_path: Path) -> Tools:
    return Tools(pool, BlobStore(tmp_path), ValueStore(tmp_path), Lake(tmp_path), DocumentReader(), Metrics())


def question(run_id: str, **fields: object) -> ReviewCall:
    asked = ReviewCall(
        tenant_id=COMMITTING,
        run_id=run_id,
        step_id="approval",
        document_id=None,
        queue="payments",
        title="Pay?",
        form={"type": "object"},
        show={"amount": 12},
        priority=70,
        due_at=None,
        asked_at=100.0,
    )
    return asked.model_copy(update=fields)


def end(run_id: str, status: StepStatus, **fields: object) -> ReviewEnd:
    ended = ReviewEnd(tenant_id=COMMITTING, run_id=run_id, step_id="approval", status=status, asked_at=100.0)
    return ended.model_copy(update=fields)


async def report(tools: Tools, name: str, reported: ReviewCall | ReviewEnd) -> Review:
    """Run the activity `name` and return the item as it is then."""
    [reported_by] = [found for found in review_activities(tools) if found.__name__ == name]
    await ActivityEnvironment().run(reported_by, reported)
    item = await load_review(tools.db, COMMITTING, step_review_id(COMMITTING, reported.run_id, reported.step_id))
    assert item
    return item


def test_they_have_the_names_that_runs_call(tools: Tools) -> None:
    names = {found.__name__ for found in review_activities(tools)}
    assert names == {OPEN_REVIEW, ESCALATE_REVIEW, CLOSE_REVIEW, RECORD_DECISION}


async def test_a_question_is_opened_handed_on_and_decided(tools: Tools) -> None:
    run_id = "approval.decided"
    opened = await report(tools, OPEN_REVIEW, question(run_id, due_at=1_800_000_000.0))
    assert (opened.status, opened.queue, opened.due_at and opened.due_at.timestamp()) == (
        "open",
        "payments",
        1_800_000_000.0,
    )
    assert (await report(tools, ESCALATE_REVIEW, question(run_id, queue="managers"))).queue == "managers"
    decision = end(run_id, StepStatus.COMPLETED, decision={"approved": True}, decided_by="ann")
    decided = await report(tools, CLOSE_REVIEW, decision)
    assert (decided.status, decided.decided_by) == ("decided", "ann")
    content = await load_full_review(tools.db, COMMITTING, decided.review_id)
    assert content
    assert content.decision == {"approved": True}


@pytest.mark.parametrize("status", [StepStatus.CANCELLED, StepStatus.FAILED])
async def test_an_undecided_question_is_closed(tools: Tools, status: StepStatus) -> None:
    run_id = f"approval.{status}"
    await report(tools, OPEN_REVIEW, question(run_id))
    closed = await report(tools, CLOSE_REVIEW, end(run_id, status))
    assert (closed.status, closed.decided_by) == ("closed", None)


async def test_characters_that_postgresql_cannot_store_are_left_out(tools: Tools) -> None:
    """The run tries until it works: what is refused for ever would be tried for ever, unseen."""
    odd = {"nan": float("nan"), "half": "\ud83d", "nul": "a\x00b"}
    item = await report(tools, OPEN_REVIEW, question("approval.odd", title="a\x00b" + "x" * 9000, show=odd))
    assert item.title.startswith("abxxx")
    assert len(item.title) == 500
    content = await load_full_review(tools.db, COMMITTING, item.review_id)
    assert content
    assert content.show == {"nan": None, "half": "?", "nul": "a\x00b"}
    closed = await report(
        tools, CLOSE_REVIEW, end("approval.odd", StepStatus.COMPLETED, decision=odd, decided_by="a\x00nn")
    )
    assert closed.decided_by == "ann"
