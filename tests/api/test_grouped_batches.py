"""Batches whose documents share workflows: from outside, each document has a run as any other."""

import asyncio
import datetime as dt
from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError

from docrail.dag.language.inputs import InputProblem
from docrail.dag.values.json_values import Json
from docrail.services.batches import chunk_ends, repository, window
from docrail.services.batches.service import start_waiting_batches
from docrail.services.errors import InvalidInput
from docrail.services.runs import chunks, leaving
from docrail.services.runs.chunks import may_share
from docrail.services.runs.ended_runs import delete_ended_runs
from docrail.services.runs.models import StoredChunkedRun
from docrail.services.runs.repository import load_chunk
from docrail.services.runs.views.reports import DELETED
from docrail.workflows.contract.names import document_chunk_id, workflow_id
from docrail.workflows.grouping import Groups
from tests.api.customer import unique
from tests.api.invoices import e_invoice
from tests.api.reviewing import Reviewer
from tests.api.service import ALL_SCOPES, Service
from tests.api.test_batches import (
    QUICK,
    act,
    completed,
    documents,
    order,
    packed,
    publish,
    send_zip,
    shown,
    some,
    until,
)
from tests.api.test_unanswered_runs import delete_workflow
from tests.stack import eventually

FAILING: Json = {
    "inputs": {"document_id": {"type": "string"}},
    "steps": [
        {"id": "say", "handler": "echo", "config": {"value": "{{ inputs.document_id }}"}},
        {
            "id": "check",
            "handler": "fail",
            "depends_on": ["say"],
            "condition": "document.file_name == '1.txt'",
            "config": {"times": 9, "error": "ValueError", "message": "not this one"},
        },
        {"id": "after", "handler": "noop", "depends_on": ["check"]},
    ],
    "outputs": {"said": "{{ steps.say.output.value }}"},
}
TWO_STEPS: Json = {
    **QUICK,
    "steps": [
        *QUICK["steps"],
        {"id": "again", "handler": "echo", "depends_on": ["say"], "config": {"value": "{{ steps.say.output.value }}"}},
    ],
}
SLOW_ONE: Json = {
    "inputs": {"document_id": {"type": "string"}},
    "steps": [
        {"id": "say", "handler": "echo", "config": {"value": "{{ inputs.document_id }}"}},
        {
            "id": "nap",
            "handler": "sleep",
            "depends_on": ["say"],
            "condition": "document.file_name == '1.txt'",
            "config": {"seconds": 3600},
        },
    ],
    "outputs": {"said": "{{ steps.say.output.value }}"},
}


async def grouped(
    http: httpx.AsyncClient, definition: Json, count: int, *, max_concurrency: int = 50, **more: Any
) -> tuple[str, str]:
    """Order a batch whose documents share workflows, and return its id and the definition's.

    Its documents are all there when it begins, so that none is the first and alone.
    """
    definition_id = await publish(http, definition)
    batch_id = await order(http, definition=definition_id, grouped=True, max_concurrency=max_concurrency, **more)
    await act(http, batch_id, "pause")
    assert (await send_zip(http, batch_id, packed(some(count)))).json()["added"] == count
    await act(http, batch_id, "resume")
    return batch_id, definition_id


async def has_workflow(service: Service, run_id: str) -> bool:
    try:
        await service.app.temporal.get_workflow_handle(workflow_id("default", run_id)).describe()
    except RPCError:
        return False
    return True


async def count_workflows(service: Service, run_id: str) -> int:
    """Return how many executions a run has had, as soon as Temporal lists any."""
    query = f'WorkflowId = "{workflow_id("default", run_id)}"'
    found = [0]

    async def is_listed() -> bool:
        found[0] = (await service.app.temporal.count_workflows(query)).count
        return found[0] > 0

    await eventually(is_listed, f"the workflow of {run_id} in Temporal's list")
    return found[0]


async def status_of(service: Service, chunk: str) -> WorkflowExecutionStatus | None:
    return (await service.app.temporal.get_workflow_handle(chunk).describe()).status


def _no_second_step(groups: Groups) -> bool:
    if any(each.step.id == "again" for each in groups._waiting):  # noqa: SLF001
        raise RuntimeError("planted")
    return True


async def chunk_of(service: Service, run_id: str) -> str:
    found = await service.pool.fetchval("SELECT chunk_id FROM chunked_runs WHERE run_id = $1", run_id)
    return str(found)


async def test_documents_share_a_workflow_and_can_be_read_as_any_run(http: httpx.AsyncClient, service: Service) -> None:
    batch_id, _ = await grouped(http, QUICK, 12)
    batch = await completed(http, batch_id)
    assert batch["counts"]["done"] == 12
    found = await documents(http, batch_id)
    runs = [each["run_id"] for each in found]
    assert not any([await has_workflow(service, run_id) for run_id in runs])
    result = (await http.get(f"/v1/batches/{batch_id}/result")).json()
    assert [each["outputs"]["said"] for each in result["documents"]] == [each["document_id"] for each in found]
    assert {each["status"] for each in result["documents"]} == {"completed"}
    first = runs[0]
    report = (await http.get(f"/v1/runs/{first}")).json()
    assert (report["run_id"], report["status"]) == (first, "completed")
    assert report["steps"]["say"]["output"] == {"value": found[0]["document_id"]}
    explained = (await http.get(f"/v1/runs/{first}/explain")).json()
    assert explained["steps"]["say"]["status"] == "completed"
    listed = (await http.get("/v1/runs", params={"document": found[0]["document_id"]})).json()["runs"]
    assert [each["run_id"] for each in listed] in ([], [first])  # the list may lag
    events = "SELECT object_id FROM events WHERE kind = 'run' AND object_id = ANY ($1)"
    changed = Counter(row["object_id"] for row in await service.pool.fetch(events, runs))
    assert all(changed[run_id] >= 2 for run_id in runs), "its start and its end are reported"
    assert [await has_workflow(service, run_id) for run_id in runs[:2]] == [True, False]


async def test_a_document_whose_chunk_temporal_has_deleted_is_shown_with_its_end(
    http: httpx.AsyncClient, service: Service
) -> None:
    batch_id, definition_id = await grouped(http, QUICK, 3)
    await completed(http, batch_id)
    run_id = (await documents(http, batch_id))[0]["run_id"]
    await delete_workflow(service, document_chunk_id("default", await chunk_of(service, run_id)))
    report = (await http.get(f"/v1/runs/{run_id}")).json()
    assert (report["definition_id"], report["status"], report["why"]) == (definition_id, "completed", [DELETED])
    assert report["ended_at"] >= report["started_at"]
    drawn = (await http.get(f"/v1/runs/{run_id}/graph")).json()
    assert (drawn["run"]["status"], drawn["states"]) == ("completed", {})
    later = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=1)
    await delete_ended_runs(service.pool, later)
    assert (await http.get(f"/v1/runs/{run_id}")).status_code == 404


async def test_a_failed_document_is_in_the_inbox_and_is_retried_as_any_run(
    http: httpx.AsyncClient, service: Service
) -> None:
    batch_id, _ = await grouped(http, FAILING, 4)
    batch = await completed(http, batch_id)
    assert (batch["counts"]["done"], batch["counts"]["failed"]) == (3, 1)
    [failed] = await documents(http, batch_id, state="failed")
    letter = (await http.get(f"/v1/dead-letters/{failed['run_id']}/check")).json()
    assert (letter["step_id"], letter["document_id"]) == ("check", failed["document_id"])
    steps = {"check": {"skip": True}}
    response = await http.post(f"/v1/runs/{failed['run_id']}/retry", json={"steps": steps})
    assert response.status_code in (200, 202), response.text
    assert response.json()["steps"]["say"]["fate"] == "reused"
    report = await service.ended(failed["run_id"])
    assert report["status"] == "completed"
    await start_waiting_batches(service.app)  # as the background tasks do each minute
    await until(http, batch_id, "the retried one", lambda batch: batch["counts"]["done"] == 4)


@pytest.fixture
def is_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a batch wait for the end of a run that is paused for a moment, instead of counting it as one that asks."""
    monkeypatch.setattr(window, "FIRST_WAIT", 3600.0)


@pytest.mark.usefixtures("is_patient")
async def test_a_document_that_someone_acts_on_leaves_and_the_others_are_done(
    http: httpx.AsyncClient, service: Service
) -> None:
    batch_id, _ = await grouped(http, SLOW_ONE, 4)
    await until(http, batch_id, "the others", lambda batch: batch["counts"]["done"] == 3)
    [slow] = await documents(http, batch_id, state="running")
    assert not await has_workflow(service, slow["run_id"])
    paused = await http.post(f"/v1/runs/{slow['run_id']}/pause", json={})
    assert paused.status_code == 200, paused.text
    report = (await http.get(f"/v1/runs/{slow['run_id']}")).json()
    assert (report["status"], report["steps"]["say"]["status"]) == ("paused", "completed")
    assert (await http.post(f"/v1/runs/{slow['run_id']}/abort", json={"reason": "enough"})).status_code == 200
    batch = await completed(http, batch_id)
    assert (batch["counts"]["done"], batch["counts"]["cancelled"]) == (3, 1)
    handle = service.app.temporal.get_workflow_handle(
        document_chunk_id("default", await chunk_of(service, slow["run_id"]))
    )
    ends = (await handle.result())["ends"]
    assert sorted(end["status"] or "left" for end in ends) == ["completed", "completed", "completed", "left"]


async def test_the_places_that_a_slow_document_leaves_are_filled_with_whole_chunks(
    http: httpx.AsyncClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_ends, "FIRST_WAIT", 0.05)
    monkeypatch.setattr(window, "LONGEST_FREE_SECONDS", 3600.0)
    batch_id, _ = await grouped(http, SLOW_ONE, 20, max_concurrency=4)
    await until(http, batch_id, "the others", lambda batch: batch["counts"]["done"] == 19)
    run_ids = [each["run_id"] for each in await documents(http, batch_id)]
    places = await chunks.find_chunked(service.app, "default", run_ids)
    assert Counter(Counter(place.chunk_id for place in places).values()) == {2: 10}
    assert (await http.post(f"/v1/batches/{batch_id}/cancel", json={})).status_code == 200
    await completed(http, batch_id)


async def test_a_chunk_that_is_ended_by_force_loses_no_document(http: httpx.AsyncClient, service: Service) -> None:
    batch_id, _ = await grouped(http, SLOW_ONE, 4)
    await until(http, batch_id, "the others", lambda batch: batch["counts"]["done"] == 3)
    [slow] = await documents(http, batch_id, state="running")
    chunk = document_chunk_id("default", await chunk_of(service, slow["run_id"]))
    await service.app.temporal.get_workflow_handle(chunk).terminate()
    await eventually(lambda: has_workflow(service, slow["run_id"]), "the run to go on alone")
    assert (await http.post(f"/v1/batches/{batch_id}/cancel", json={})).status_code == 200
    batch = await completed(http, batch_id)
    assert (batch["counts"]["done"], batch["counts"]["cancelled"]) == (3, 1)


@pytest.mark.slow
async def test_a_chunk_that_cannot_go_on_is_ended_and_each_of_its_runs_begins_anew_once(
    http: httpx.AsyncClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a bug in Docrail: from the second step on, the chunk's workflow task fails wherever it is replayed."""
    serve_ = Groups.serve
    begun: list[str] = []

    async def serve(groups: Groups, is_settled: Callable[[], bool]) -> None:
        begun.append("")
        await serve_(groups, lambda: is_settled() and _no_second_step(groups))

    monkeypatch.setattr(leaving, "MOST_FAILURES", 1)
    monkeypatch.setattr(Groups, "serve", serve)
    batch_id, _ = await grouped(http, TWO_STEPS, 4)
    batch = await completed(http, batch_id)
    assert begun
    assert batch["counts"]["done"] == 4
    found = await documents(http, batch_id)
    chunk = document_chunk_id("default", await chunk_of(service, found[0]["run_id"]))
    assert (await status_of(service, chunk)) is WorkflowExecutionStatus.TERMINATED
    for each in found:
        assert await count_workflows(service, each["run_id"]) == 1
        report = (await http.get(f"/v1/runs/{each['run_id']}")).json()
        assert report["outputs"] == {"said": each["document_id"]}


async def test_a_chunk_that_cannot_start_lets_its_runs_start_alone(
    http: httpx.AsyncClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []

    async def refuse(*_: Any) -> dict[str, Json]:
        checked.append("")
        raise InvalidInput([InputProblem("inputs.document_id", "is not for chunks")])

    monkeypatch.setattr(chunks, "check_inputs", refuse)
    batch_id, _ = await grouped(http, QUICK, 4)
    assert (await completed(http, batch_id))["counts"]["done"] == 4
    assert checked
    runs = [each["run_id"] for each in await documents(http, batch_id)]
    assert [await count_workflows(service, run_id) for run_id in runs] == [1] * 4


async def test_a_chunk_whose_start_was_cut_off_before_its_workflow_is_started_later(
    http: httpx.AsyncClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []

    async def cut_off(*args: Any) -> list[StoredChunkedRun]:
        tries.append("")
        if len(tries) == 1:
            raise ConnectionError("cut off")
        return await load_chunk(*args)

    monkeypatch.setattr("docrail.services.runs.chunks.load_chunk", cut_off)
    batch_id, _ = await grouped(http, QUICK, 6)
    assert (await completed(http, batch_id))["counts"]["done"] == 6
    runs = [each["run_id"] for each in await documents(http, batch_id)]
    assert not any([await has_workflow(service, run_id) for run_id in runs])


@pytest.mark.slow
@pytest.mark.usefixtures("is_patient")
async def test_two_moves_of_one_run_at_the_same_time_give_one_workflow(
    http: httpx.AsyncClient, service: Service
) -> None:
    batch_id, _ = await grouped(http, SLOW_ONE, 4)
    await until(http, batch_id, "the others", lambda batch: batch["counts"]["done"] == 3)
    [slow] = await documents(http, batch_id, state="running")
    assert not await has_workflow(service, slow["run_id"])
    path = f"/v1/runs/{slow['run_id']}"
    answers = await asyncio.gather(
        *(http.get(path) for _ in range(3)), *(http.post(f"{path}/pause", json={}) for _ in range(2))
    )
    assert [answer.status_code for answer in answers[:3]] == [200] * 3, [answer.text for answer in answers]
    assert await count_workflows(service, slow["run_id"]) == 1
    assert (await http.post(f"{path}/abort", json={"reason": "enough"})).status_code == 200
    batch = await completed(http, batch_id)
    assert (batch["counts"]["done"], batch["counts"]["cancelled"]) == (3, 1)
    assert await count_workflows(service, slow["run_id"]) == 1


async def test_runs_in_chunks_are_listed_filtered_and_counted_as_any_other(
    http: httpx.AsyncClient, service: Service
) -> None:
    since = dt.datetime.now(dt.UTC).isoformat()
    batch_id, definition_id = await grouped(http, FAILING, 5)
    await completed(http, batch_id)
    alone = (await http.post("/v1/runs", json={"definition": definition_id, "inputs": {"document_id": "x"}})).json()
    assert (await service.closed(alone["run_id"]))["status"] == "failed"  # its condition needs a document
    found = await documents(http, batch_id)
    runs = [each["run_id"] for each in found]

    async def listed(**params: Any) -> list[Json]:
        lines: list[Json] = []
        after: str | None = None
        while True:
            query = {"definition": definition_id, **params} | ({"after": after} if after else {})
            response = await http.get("/v1/runs", params=query)
            assert response.status_code == 200, response.text
            lines += response.json()["runs"]
            after = response.json()["after"]
            if after is None:
                return lines

    async def has_all() -> bool:
        ended = [each["run_id"] for each in await listed(limit=2) if each["status"] != "running"]
        return sorted(ended) == sorted([*runs, alone["run_id"]])

    await eventually(has_all, "all runs in the list")
    [failed] = [each for each in found if each["state"] == "failed"]
    lines = {each["run_id"]: each for each in await listed(status="failed")}
    assert lines.keys() == {failed["run_id"], alone["run_id"]}
    line = lines[failed["run_id"]]
    assert (line["run_id"], line["file_name"], line["version"], line["attempts"]) == (failed["run_id"], "1.txt", 1, 1)
    assert (line["allowed"], line["ended_at"] is not None) == (["retry", "rerun"], True)
    assert [each["run_id"] for each in await listed(document=found[0]["document_id"])] == [runs[0]]
    assert {each["run_id"] for each in await listed(status="completed")} >= set(runs) - {failed["run_id"]}
    assert await listed(overdue=True) == await listed(status="waiting") == await listed(started_before=since) == []
    assert not any([await has_workflow(service, run_id) for run_id in runs])
    query = {"definitions": definition_id, "failed_since": since}
    [counted] = (await http.get("/v1/runs/counts", params=query)).json()["counts"]
    assert (counted["open"], counted["failed"]) == (0, 2)
    assert (await http.get(f"/v1/runs/{failed['run_id']}")).json()["status"] == "failed"
    await eventually(has_all, "a run that has moved is listed once")


@pytest.mark.slow
async def test_a_document_in_a_chunk_is_shown_reviewed_and_retried_as_one_alone(
    http: httpx.AsyncClient, service: Service
) -> None:
    files = {"file": ("alone.xml", e_invoice(unique("A")), "application/xml")}
    alone = (await http.post("/v1/documents", files=files)).json()
    await service.closed(alone["run_id"])
    batch_id = await order(http, definition="invoice", grouped=True, max_concurrency=50)
    await act(http, batch_id, "pause")
    await send_zip(http, batch_id, packed({f"{n}.xml": e_invoice(unique("B")) for n in range(3)}))
    await act(http, batch_id, "resume")
    assert (await completed(http, batch_id))["counts"]["done"] == 3
    first, second, _ = await documents(http, batch_id)
    assert not await has_workflow(service, first["run_id"])
    ann = Reviewer(http, "default", scopes=ALL_SCOPES)
    before = [await seen_of(ann, each["document_id"]) for each in (alone, first)]
    assert before[0] == before[1]
    assert [each["what"] for each in before[0]["history"]] == ["received", "read"]
    decided = [await decision_of(ann, each["document_id"]) for each in (alone, first)]
    assert decided[0] == decided[1]
    for act_, body in (("retry", {"steps": {}}), ("pause", {}), ("abort", {"reason": "late"})):
        answers = [await http.post(f"/v1/runs/{each['run_id']}/{act_}", json=body) for each in (alone, second)]
        assert answers[0].status_code == answers[1].status_code, [answer.text for answer in answers]
    again = await http.post(f"/v1/runs/{second['run_id']}/retry", json={"from_steps": ["save_json"]})
    assert again.status_code == 200, again.text
    assert (await service.closed(second["run_id"]))["status"] == "completed"
    assert await has_workflow(service, second["run_id"])


async def seen_of(who: Reviewer, document_id: str) -> dict[str, Json]:
    """Return what people see of a document, its run and its review, without ids, times and the invoice's number."""
    document = await who.get(f"/documents/{document_id}")
    run = await who.get(f"/runs/{document['run_id']}")
    explained = await who.get(f"/runs/{document['run_id']}/explain")
    [review] = [each for each in await all_reviews(who) if each["document_id"] == document_id]
    return {
        "document": await state_of(who, document_id),
        "run": (run["status"], run["reason"], run["version"]),
        "steps": {name: (step["status"], step["attempts"]) for name, step in run["steps"].items()},
        "explained": {name: step["status"] for name, step in explained["steps"].items()},
        "history": [{"what": event["what"], "by": event["by"]} for event in await history_of(who, document_id)],
        "review": (review["status"], review["queue"], round(review["priority"])),  # it grows with the item's age
    }


async def decision_of(who: Reviewer, document_id: str) -> dict[str, Json]:
    """Approve a document and return what is known of that."""
    [found] = [each for each in await all_reviews(who) if each["document_id"] == document_id]
    path = f"/reviews/{found['review_id']}"
    await who.post(f"{path}/approve", await who.verdict(await who.get(path)))
    audit = (await who.get(f"{path}/audit"))["events"]
    history = [event["what"] for event in await history_of(who, document_id)]
    return {
        "audit": [(event["act"], event["actor"]) for event in audit],
        "document": await state_of(who, document_id),
        "history": history,
    }


async def state_of(who: Reviewer, document_id: str) -> Json:
    """Return the status of a document in the inbox."""
    [found] = [
        each for each in (await who.get("/documents", limit=100))["documents"] if each["document_id"] == document_id
    ]
    return found["status"]


async def history_of(who: Reviewer, document_id: str) -> list[Json]:
    events: list[Json] = (await who.get(f"/documents/{document_id}/history"))["events"]
    return events


async def all_reviews(who: Reviewer) -> list[Json]:
    reviews: list[Json] = (await who.get("/reviews", limit=100))["reviews"]
    return reviews


async def test_a_start_that_was_cut_off_is_repeated_with_the_same_chunk(
    http: httpx.AsyncClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of the chunk are there, and its workflow is not: the window's next attempt starts it."""
    tries: list[str] = []
    note_runs = repository.note_runs

    async def cut_off(*args: Any) -> None:
        tries.append("")
        if len(tries) == 1:
            raise ConnectionError("cut off")
        await note_runs(*args)

    monkeypatch.setattr(repository, "note_runs", cut_off)
    batch_id, _ = await grouped(http, QUICK, 6)
    batch = await completed(http, batch_id)
    assert batch["counts"]["done"] == 6
    assert len(tries) > 1
    runs = [each["run_id"] for each in await documents(http, batch_id)]
    chunks = {await chunk_of(service, run_id) for run_id in runs}
    rows = [row for chunk_id in chunks for row in await load_chunk(service.pool, "default", chunk_id)]
    assert sorted(row.run_id for row in rows) == sorted(runs)
    assert not any([await has_workflow(service, run_id) for run_id in runs])


async def test_definitions_that_wait_nest_or_undo_run_as_always(http: httpx.AsyncClient, service: Service) -> None:
    definition = {**QUICK, "deadline_seconds": 3600}
    batch_id, _ = await grouped(http, definition, 3)
    assert (await completed(http, batch_id))["counts"]["done"] == 3
    runs = [each["run_id"] for each in await documents(http, batch_id)]
    assert all([await has_workflow(service, run_id) for run_id in runs])
    step: Json = {"id": "a", "handler": "noop"}
    assert may_share({"id": "d", "steps": [step]})
    for more in ({"for_each": {"items": [1]}}, {"compensate": {"handler": "noop"}}):
        assert not may_share({"id": "d", "steps": [step | more]})
    assert not may_share({"id": "d", "steps": [{"id": "w", "wait": {"for": "timer", "seconds": 1}}]})
    assert not may_share({"id": "d", "on_failure": "park", "steps": [step]})
    assert (await shown(http, batch_id))["status"] == "completed"
