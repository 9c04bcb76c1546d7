"""The whole invoice pipeline through the fake Gemini: storms, slow answers and garbage, under the fleet's 10/s."""

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

import asyncpg
import pytest
from pydantic import SecretStr

from docrail.adapters.temporal.connection import Connection
from docrail.dag.values.json_values import Json
from docrail.embedded.fake_gemini.scenarios import Chooser, parse_mix, parse_script
from docrail.embedded.fake_gemini.server import FakeGemini
from docrail.services.definitions.service import publish_shipped
from docrail.services.limits.service import apply_limits
from tests.api.customer import SAMPLES
from tests.api.service import Service, serve, settings_for, work
from tests.gemini import KEY, gemini, most_within
from tests.postgres import migrated_database
from tests.stack import Servers, eventually

PER_SECOND = 10.0
SAMPLE = SAMPLES / "i2d_coolblue1.pdf"
MIX = (
    "429:1=0.2,503=0.1,slow:0.5=0.1,not-json=0.05,empty=0.05,wrong-schema=0.08,max-tokens:32768=0.05,safety=0.05,"
    "hangs-up=0.05"
)
PATIENCE_SECONDS = 110
UPLOADS_AT_ONCE = 8
USUAL_BUCKET = 12
"""What a queue that was idle under the usual limit gives out at once, whatever the limit is by then."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """An API, two workers, a fake Gemini, and their database."""

    service: Service
    fake: FakeGemini
    dsn: str

    async def fetch(self, query: str, *arguments: object) -> list[asyncpg.Record]:
        connection = await asyncpg.connect(self.dsn)
        try:
            found: list[asyncpg.Record] = await connection.fetch(query, *arguments)
        finally:
            await connection.close()
        return found


@pytest.fixture(scope="module")
async def running(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Fleet]:
    async with migrated_database(embedded.dsn) as dsn, AsyncExitStack() as stack:
        fake = await stack.enter_async_context(gemini())
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("gemini")).model_copy(
            update={
                "gemini_api_key": SecretStr(KEY),
                "gemini_base_url": fake.url,
                "resource_limits": {"gemini_api": PER_SECOND, "database": 50.0},
                "sandboxed": False,
            }
        )
        await apply_limits(Connection(embedded.temporal_address), settings.task_queue, settings.resource_limits)
        service = await stack.enter_async_context(serve(settings))
        for _ in range(2):
            await stack.enter_async_context(work(settings))
        await publish_shipped(service.app)
        await _publish(service, "impatient", {})
        await _publish(service, "hasty", {"max_retries: 5": "max_retries: 1"})
        yield Fleet(service, fake, dsn)


async def _publish(service: Service, definition_id: str, changes: Mapping[str, str]) -> None:
    """Publish the shipped definition with retries that do not take minutes."""
    source = (await service.http.get("/v1/definitions/invoice")).json()["source"]
    usual = {"id: invoice\n": f"id: {definition_id}\n", "initial_delay: 10,": "initial_delay: 0.5,"}
    for shipped, ours in {**usual, **changes}.items():
        assert shipped in source
        source = source.replace(shipped, ours)
    published = await service.http.post("/v1/definitions", json={"definition": source})
    assert published.status_code in (200, 201), published.text


def pdf() -> bytes:
    return SAMPLE.read_bytes() + f"\n%{uuid.uuid4()}\n".encode()


async def upload(service: Service, data: bytes, definition: str) -> Json:
    sent = await service.http.post(
        "/v1/documents", files={"file": ("invoice.pdf", data)}, data={"definition": definition}
    )
    assert sent.status_code == 202, sent.text
    return sent.json()


async def ended(service: Service, document: Json) -> Json:
    runs: list[Json] = []

    async def has_ended() -> bool:
        runs[:] = [(await service.http.get(f"/v1/runs/{document['run_id']}")).json()]
        return runs[0]["status"] not in ("running", "waiting", "pending")

    await eventually(has_ended, f"the end of {document['run_id']}", timeout_seconds=PATIENCE_SECONDS)
    return runs[0]


async def process(
    running: Fleet, reported: Chooser, files: list[bytes], *, definition: str = "impatient"
) -> tuple[list[Json], FakeGemini]:
    """Upload the files and return their runs when all have ended, which put them into the queue for review."""
    running.fake.chooser = reported
    running.fake.asked.clear()
    uploads = asyncio.Semaphore(UPLOADS_AT_ONCE)

    async def send(data: bytes) -> Json:
        async with uploads:
            return await upload(running.service, data, definition)

    documents = await asyncio.gather(*map(send, files))
    ids = [document["document_id"] for document in documents]

    async def are_queued() -> bool:
        [row] = await running.fetch("SELECT count(*) AS queued FROM reviews WHERE document_id = ANY($1)", ids)
        return bool(row["queued"] == len(files))

    await eventually(are_queued, "all documents to be queued for review", timeout_seconds=PATIENCE_SECONDS)
    return [await ended(running.service, document) for document in documents], running.fake


async def test_every_document_ends_in_review_whatever_the_model_does(running: Fleet) -> None:
    runs, fake = await process(running, parse_mix(MIX, seed=11), [pdf() for _ in range(40)])
    ids = [run["steps"]["extract"]["output"]["document_id"] for run in runs]
    uses = await running.fetch(
        "SELECT outcome, count(*) AS uses FROM model_usage WHERE document_id = ANY($1) GROUP BY outcome", ids
    )
    leases = await running.fetch("SELECT note FROM reading_leases")
    assert Counter(run["status"] for run in runs) == {"completed": 40}, [run.get("error") for run in runs]
    outputs = [run["steps"]["ask_gemini"]["output"] for run in runs]
    assert {output["total"] for output in outputs} == {717.97}
    readers = Counter(output["reader"] for output in outputs)
    reported_why = [output for output in outputs if any(code.startswith("gemini_") for code in output["problems"])]
    assert readers["gemini"] > 25
    assert len(reported_why) == readers["text"] == 40 - readers["gemini"]
    counted = {use["outcome"]: use["uses"] for use in uses}
    assert counted["read"] == readers["gemini"], "each answer that served was paid for once"
    assert sum(counted.values()) <= len(fake.asked)
    assert all("refused" in lease["note"] for lease in leases), "only refusals are kept for a while"
    check_the_limit(fake.arrivals)


def check_the_limit(arrivals: Sequence[float], per_second: float = PER_SECOND) -> None:
    """Of Temporal's limit: a tenth above it, and the bucket of one second (ADR 8)."""
    assert len(arrivals) > 2 * per_second, "too few to say anything of the limit"
    for seconds in (10.0, 20.0):  # of shorter times a busy machine's delays say more than the limit
        most = most_within(arrivals, seconds)
        assert most <= 1.1 * per_second * seconds + per_second, f"{most} in {seconds:g} s"


async def test_a_storm_of_429s_passes_and_then_every_document_is_read(running: Fleet) -> None:
    runs, fake = await process(running, parse_script("429:1*15,503*3,ok"), [pdf() for _ in range(15)])
    readers = Counter(run["steps"]["ask_gemini"]["output"]["reader"] for run in runs)
    assert readers == {"gemini": 15}
    assert len(fake.asked) == 15 + 18
    check_the_limit(fake.arrivals)


async def test_equal_bytes_at_once_on_two_workers_are_asked_about_once(running: Fleet) -> None:
    runs, fake = await process(running, parse_script("slow:1,ok"), [pdf()] * 6)
    ids = [run["steps"]["extract"]["output"]["document_id"] for run in runs]
    uses = await running.fetch("SELECT document_id FROM model_usage WHERE document_id = ANY($1)", ids)
    assert Counter(run["status"] for run in runs) == {"completed": 6}
    outputs = [run["steps"]["ask_gemini"]["output"] or run["steps"]["extract"]["output"] for run in runs]
    assert {(output["reader"], output["total"]) for output in outputs} == {("gemini", 717.97)}
    assert (len(fake.asked), len(uses)) == (1, 1)


async def test_an_unavailable_model_fails_no_document(running: Fleet) -> None:
    [run], fake = await process(running, parse_script("503"), [pdf()], definition="hasty")
    output = run["steps"]["ask_gemini"]["output"]
    assert (run["status"], output["reader"], output["problems"][-1]) == ("completed", "text", "gemini_unavailable")
    assert len(fake.asked) == 2


async def test_a_limit_that_a_person_lowered_holds_where_all_could_be_asked_at_once(running: Fleet) -> None:
    """So low that even a busy machine would be far beyond it without one."""
    http = running.service.http
    running.fake.chooser = parse_script("ok")
    step = {
        "id": "ask",
        "handler": "llm_service",
        "resource_tag": "gemini_api",
        "for_each": {"items": list(range(30)), "max_concurrency": 30},
        "config": {"prompt": "Is {{ item }} a number?"},
    }
    assert (await http.put("/v1/limits/gemini_api", json={"per_second": 2})).is_success
    try:
        running.fake.asked.clear()
        started = await http.post("/v1/runs", json={"definition": {"id": "crowd", "steps": [step]}})
        assert started.status_code == 202, started.text
        run = await ended(running.service, started.json())
    finally:
        await http.delete("/v1/limits/gemini_api")
    assert (run["status"], len(running.fake.asked)) == ("completed", 30)
    check_the_limit(running.fake.arrivals[USUAL_BUCKET:], per_second=2)
