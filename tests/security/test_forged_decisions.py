"""A decision that someone changes in the database, with the rights of its owner, is found by the check of the audit."""

import dataclasses
from collections.abc import AsyncIterator

import asyncpg
import pytest

from docrail.dag.values.json_values import Json, digest
from docrail.services.reviews import run_answers
from docrail.services.reviews.models import DECIDED, PersonsDecision, StepEnd, StepQuestion, Unanswered
from docrail.services.reviews.questions import ask, close, record_person
from docrail.services.reviews.repository.steps import step_review_id
from tests.api.conftest import workerless
from tests.api.customer import unique
from tests.api.reviewing import Reviewer, reviewer, waiting
from tests.api.service import Service

__all__ = ["workerless"]

RUN, STEP = "release.4711", "release"
YES: Json = {"approved": True}


@pytest.fixture
def ann(workerless: Service) -> Reviewer:
    return reviewer(workerless)


@pytest.fixture
async def owner(workerless: Service) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(workerless.settings.database_url)
    yield connection
    await connection.close()


async def forge(owner: asyncpg.Connection, who: Reviewer, review_id: str, change: str) -> None:
    """Change the item past every right and trigger."""
    await owner.execute("SET session_replication_role = replica")
    done = await owner.execute(f"{change} WHERE tenant_id = $1 AND review_id = $2", who.tenant, review_id)
    assert done.endswith(" 1"), done
    await owner.execute("RESET session_replication_role")


async def check(who: Reviewer) -> Json:
    return await who.named("op", "operate").get("/audit/verify")


async def is_named(who: Reviewer, review_id: str) -> bool:
    verdict = await check(who)
    assert not verdict["intact"]
    return f"the review item {review_id} is not as its last event left it" in verdict["problem"]


REOPENED = (
    "UPDATE reviews SET status = 'open', decision = NULL, decided_by = NULL, decision_digest = NULL, "
    "decided_invoice = NULL, taught_vendor = NULL, revision = 0"
)
FORGERIES = {
    "decided_by": "UPDATE reviews SET decided_by = 'eve'",
    "decision": """UPDATE reviews SET decision = '{"approved": true, "reason": "eve says so"}'""",
    "status": "UPDATE reviews SET status = 'rejected'",
    "decision_digest": "UPDATE reviews SET decision_digest = repeat('0', 64)",
    "decided_invoice": "UPDATE reviews SET decided_invoice = replace(decided_invoice::text, '119.00', '919.00')::json",
    "taught_vendor": "UPDATE reviews SET taught_vendor = 'iban:eve'",
    "revision": "UPDATE reviews SET revision = revision + 1",
    "decided_so_far": """UPDATE reviews SET decided_so_far = '[{"by": "eve"}]'""",
    "first_approval": """UPDATE reviews SET first_approval = '{"by": "eve"}'""",
    "reopened": REOPENED,
    "removed": "DELETE FROM reviews",
}


@pytest.mark.parametrize("change", FORGERIES)
async def test_a_forged_decision_about_a_document_is_found(
    workerless: Service, ann: Reviewer, owner: asyncpg.Connection, change: str
) -> None:
    item = await waiting(workerless, ann)
    other = await waiting(workerless, ann)
    for each in (item, other):
        await ann.post(f"/reviews/{each['review_id']}/approve", await ann.verdict(each))
    assert (await check(ann))["intact"]
    await forge(owner, ann, item["review_id"], FORGERIES[change])
    assert await is_named(ann, item["review_id"])


@pytest.mark.parametrize(
    "change", [name for name in FORGERIES if name not in {"reopened", "removed", "decided_invoice"}]
)
async def test_a_decision_that_was_never_made_is_found(
    workerless: Service, ann: Reviewer, owner: asyncpg.Connection, change: str
) -> None:
    item = await waiting(workerless, ann)
    assert (await check(ann))["intact"]
    await forge(owner, ann, item["review_id"], FORGERIES[change])
    assert await is_named(ann, item["review_id"])


async def question(service: Service, who: Reviewer, asked_at: float = 100.0) -> str:
    asked = StepQuestion("payments", "Pay?", {}, {}, 50, None, asked_at=asked_at, approvals=2)
    await ask(service.pool, who.tenant, RUN, STEP, asked)
    return step_review_id(who.tenant, RUN, STEP)


async def decide(service: Service, who: Reviewer, by: str, number: int, asked_at: float = 100.0) -> None:
    made = PersonsDecision(by, "2026-11-22T00:00:00+00:00", digest(YES), YES, number)
    await record_person(service.pool, who.tenant, RUN, STEP, asked_at=asked_at, made=made)


@pytest.mark.parametrize(
    "change",
    [
        """UPDATE reviews SET decided_so_far = replace(decided_so_far::text, 'ann', 'eve')::json""",
        "UPDATE reviews SET decided_so_far = '[]'",
        "UPDATE reviews SET decided_by = 'ann, eve', status = 'decided'",
    ],
)
async def test_a_forged_voice_of_several_people_is_found(
    workerless: Service, ann: Reviewer, owner: asyncpg.Connection, change: str
) -> None:
    review_id = await question(workerless, ann)
    await decide(workerless, ann, "ann", 1)
    assert (await check(ann))["intact"]
    await forge(owner, ann, review_id, change)
    assert await is_named(ann, review_id)


async def test_the_decision_of_a_step_is_covered_from_its_question_to_the_next_one(
    workerless: Service, ann: Reviewer, owner: asyncpg.Connection
) -> None:
    review_id = await question(workerless, ann)
    await decide(workerless, ann, "ann", 1)
    await decide(workerless, ann, "bob", 2)
    end = StepEnd(DECIDED, 100.0, YES, "ann, bob")
    for _ in range(2):  # activities are repeated
        await close(workerless.pool, ann.tenant, RUN, STEP, end)
        await question(workerless, ann)
    assert (await check(ann))["intact"]
    events = (await ann.named("op", "operate").get("/audit"))["events"]
    assert [(each["actor"], each["act"]) for each in events] == [
        ("ann", "decided"),
        ("bob", "decided"),
        ("docrail", "settled"),
    ]
    for _ in range(2):
        await question(workerless, ann, asked_at=200.0)
    assert (await check(ann))["intact"]
    events = (await ann.named("op", "operate").get("/audit"))["events"]
    assert [each["act"] for each in events][3:] == ["asked_again"]
    await forge(owner, ann, review_id, "UPDATE reviews SET decided_by = 'ann, bob', status = 'decided'")
    assert await is_named(ann, review_id)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE reviews SET decided_by = 'eve', status = 'decided'",
        """UPDATE reviews SET decision = '{"approved": true}'""",
        """UPDATE reviews SET decided_so_far = '[{"by": "eve"}]'""",
    ],
)
async def test_a_question_that_is_closed_as_its_run_no_longer_waits_is_covered(
    workerless: Service, ann: Reviewer, owner: asyncpg.Connection, change: str
) -> None:
    """The decision is stored, and its run is gone: the sweep closes the question."""
    item = await waiting(workerless, ann)
    asked = StepQuestion("documents", "Pay?", {}, {}, 50, None, asked_at=100.0, document_id=item["document_id"])
    run_id = unique("gone.")
    await ask(workerless.pool, ann.tenant, run_id, STEP, asked)
    await ann.post(f"/reviews/{item['review_id']}/approve", await ann.verdict(item))
    step = step_review_id(ann.tenant, run_id, STEP)
    assert (await ann.get(f"/reviews/{step}"))["status"] == "closed"
    assert (await check(ann))["intact"]
    await forge(owner, ann, step, change)
    assert await is_named(ann, step)


async def test_an_item_that_closes_with_its_last_question_is_in_the_audit_log(
    workerless: Service, ann: Reviewer
) -> None:
    """It was reopened after the sweep had read its decision."""
    item = await waiting(workerless, ann)
    asked = StepQuestion("documents", "Pay?", {}, {}, 50, None, asked_at=100.0, document_id=item["document_id"])
    run_id = unique("gone.")
    await ask(workerless.pool, ann.tenant, run_id, STEP, asked)
    answer: Json = {"approved": True, "reason": ""}
    read = Unanswered(ann.tenant, run_id, STEP, 100.0, item["review_id"], item["document_id"], answer, "ann")
    assert await run_answers._answer(workerless.app, read)  # noqa: SLF001 - the race itself cannot be arranged
    assert (await ann.get(f"/reviews/{item['review_id']}"))["status"] == "closed"
    events = (await ann.get(f"/reviews/{item['review_id']}/audit"))["events"]
    assert [(each["actor"], each["act"]) for each in events] == [("docrail", "closed")]


async def test_what_people_and_readers_do_is_no_forgery(workerless: Service, ann: Reviewer) -> None:
    """Correct, undo, approve, reopen, reject; a new reading changes the open item, and voids a first approval."""
    item = await waiting(workerless, ann)
    document = f"/documents/{item['document_id']}"
    body = {"value": "200.00", "token": await ann.claim(item["review_id"])}
    assert (await ann.ask("PUT", f"{document}/fields/total", json=body)).status_code == 200
    await ann.post(f"{document}/undo", {"token": body["token"]})
    assert (await check(ann))["intact"]
    await ann.post(f"/reviews/{item['review_id']}/approve", await ann.verdict(item))
    await ann.post(f"/reviews/{item['review_id']}/reopen", {"why": "paid twice"})
    assert (await check(ann))["intact"]
    await ann.post(f"/reviews/{item['review_id']}/reject", await ann.verdict(item, why="paid twice"))
    assert (await check(ann))["intact"]


async def test_a_first_approval_is_covered_until_it_is_void(
    workerless: Service, ann: Reviewer, owner: asyncpg.Connection
) -> None:
    """A new reading may void it; no one may put another in its place."""
    from decimal import Decimal

    app = workerless.api.state.app
    workerless.api.state.app = dataclasses.replace(app, four_eyes_above=Decimal(1))
    try:
        item = await waiting(workerless, ann)
        await ann.post(f"/reviews/{item['review_id']}/approve", await ann.verdict(item))
    finally:
        workerless.api.state.app = app
    review_id = item["review_id"]
    assert (await check(ann))["intact"]
    await forge(owner, ann, review_id, "UPDATE reviews SET first_approval = NULL")
    assert (await check(ann))["intact"]
    await forge(owner, ann, review_id, """UPDATE reviews SET first_approval = '{"by": "eve", "digest": "0"}'""")
    assert await is_named(ann, review_id)
