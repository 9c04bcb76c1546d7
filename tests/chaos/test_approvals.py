"""Workers and API die between the decisions of several people: each decision counts, and is recorded once."""

import asyncio
import os
import signal
from contextlib import suppress

import httpx

from docrail.dag.values.json_values import Json
from tests.chaos.conftest import PATIENCE_SECONDS, Rig
from tests.chaos.test_decisions import value
from tests.keys import key_of
from tests.stack import eventually

YES: dict[str, Json] = {"approved": True}
FORM: dict[str, Json] = {"type": "object", "required": ["approved"], "properties": {"approved": {"type": "boolean"}}}
DEFINITION: dict[str, Json] = {
    "id": "three_approve",
    "steps": [
        {"id": "ask", "human": {"form": FORM, "title": "Pay?", "assignees": {"approvals": 3}}},
        {"id": "pay", "depends_on": ["ask"], "handler": "output", "config": {"paid": "{{ ask.approved }}"}},
    ],
    "outputs": {"paid": "{{ pay.paid }}"},
}


async def question(rig: Rig) -> dict[str, Json]:
    """Start a run that asks three people, and return its open review item."""
    started = await rig.stack.http.post("/v1/runs", json={"definition": DEFINITION, "inputs": {}})
    assert started.is_success, started.text
    run_id: str = started.json()["run_id"]
    found: dict[str, Json] = {}

    async def is_asked() -> bool:
        listed = (await rig.stack.http.get("/v1/reviews", params={"kind": "step", "limit": "500"})).json()["reviews"]
        found.update(next((item for item in listed if item["run_id"] == run_id), {}))
        return bool(found)

    await eventually(is_asked, "the question is in the queue", timeout_seconds=PATIENCE_SECONDS)
    return found


async def decide(rig: Rig, item: dict[str, Json], by: str) -> httpx.Response:
    path = f"/v1/reviews/{item['review_id']}/decision"
    headers = {"Authorization": f"Bearer {await key_of(rig.stack.postgres.dsn, by)}"}
    return await rig.stack.http.post(path, json={"decision": YES}, headers=headers)


async def decide_until_taken(rig: Rig, item: dict[str, Json], by: str) -> None:
    """Decide as a person who got no answer would: again, until there is one."""

    async def is_taken() -> bool:
        with suppress(httpx.TransportError):
            return (await decide(rig, item, by)).status_code == 200
        return False

    await eventually(is_taken, f"the decision of {by} is taken", timeout_seconds=PATIENCE_SECONDS)


async def until_kept(rig: Rig, item: dict[str, Json], *people: str) -> None:
    """Wait until the audit has these people's decisions, in their order."""
    kept = "SELECT array_agg(actor ORDER BY sequence) FROM audit_events WHERE review_id = $1 AND act = 'decided'"

    async def are_kept() -> bool:
        return bool(await value(rig, kept, item["review_id"]) == list(people))

    await eventually(are_kept, f"{', '.join(people)} are kept", timeout_seconds=PATIENCE_SECONDS)


async def kill_all(rig: Rig) -> None:
    """Kill the workers and the API with SIGKILL, and leave them dead."""
    for process in (*rig.stack.workers, rig.stack.api):
        await process.kill()
        assert process.pid is None


async def start_all(rig: Rig) -> None:
    for process in (*rig.stack.workers, rig.stack.api):
        await process.start()
    await rig.stack.wait_ready()


async def check_decided_once(rig: Rig, item: dict[str, Json], *people: str) -> None:
    [report] = await rig.wait_for_end([item])
    assert (report["status"], report["outputs"]) == ("completed", {"paid": True})
    assert report["steps"]["ask"]["answered_by"] == ", ".join(people)
    await until_kept(rig, item, *people)
    reported = "SELECT status FROM reviews WHERE review_id = $1"

    async def is_closed() -> bool:
        return bool(await value(rig, reported, item["review_id"]) == "decided")

    await eventually(is_closed, "the question is closed", timeout_seconds=PATIENCE_SECONDS)
    assert await value(rig, "SELECT count(*) FROM reviews WHERE run_id = $1", item["run_id"]) == 1
    late = await decide(rig, item, "dan")
    assert late.status_code == 409, late.text


async def test_workers_and_api_killed_between_the_second_and_the_third_approval(rig: Rig) -> None:
    item = await question(rig)
    for by in ("ann", "bob"):
        assert (await decide(rig, item, by)).status_code == 200
    await until_kept(rig, item, "ann", "bob")
    await kill_all(rig)
    await start_all(rig)
    shown = (await rig.stack.http.get(f"/v1/reviews/{item['review_id']}")).json()
    assert (shown["status"], shown["approvals_missing"]) == ("open", 1)
    await decide_until_taken(rig, item, "cy")
    await check_decided_once(rig, item, "ann", "bob", "cy")


async def test_workers_and_api_killed_before_two_approvals_were_reported(rig: Rig) -> None:
    """They die as soon as the run has accepted the decisions: the next worker records them."""
    item = await question(rig)
    await decide_until_taken(rig, item, "ann")
    await decide_until_taken(rig, item, "bob")
    await kill_all(rig)
    await start_all(rig)
    await decide_until_taken(rig, item, "bob")  # who got no answer decides again: it counts once
    await decide_until_taken(rig, item, "cy")
    await check_decided_once(rig, item, "ann", "bob", "cy")


async def test_workers_and_api_killed_while_the_third_decides(rig: Rig) -> None:
    item = await question(rig)
    for by in ("ann", "bob"):
        await decide_until_taken(rig, item, by)
    for worker in rig.stack.workers:
        assert worker.pid
        os.kill(worker.pid, signal.SIGSTOP)  # so that the third one's decision is on its way when all die
    deciding = asyncio.create_task(decide(rig, item, "cy"))
    await asyncio.wait([deciding], timeout=1)
    assert not deciding.done()
    await kill_all(rig)
    with suppress(httpx.TransportError):
        await deciding
    await start_all(rig)
    await decide_until_taken(rig, item, "cy")
    await check_decided_once(rig, item, "ann", "bob", "cy")
