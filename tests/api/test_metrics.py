"""The /metrics page: how the documents of all workers ended, out of PostgreSQL."""

import asyncio
import re
import secrets
from decimal import Decimal
from pathlib import Path

import httpx
import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from docrail.services.access.models import DEFAULT_TENANT
from docrail.services.batches import repository as batches
from docrail.services.documents.models import DocumentCount
from docrail.services.failures import repository as failures
from docrail.services.metrics import Metrics
from docrail.services.reviews.repository import items as reviews
from docrail.services.totals.counters import DocumentMetrics
from docrail.services.totals.gauges import Gauges
from docrail.services.usage import repository as usage
from docrail.workflows.contract.names import workflow_id
from tests.api.invoices import e_invoice
from tests.api.service import Service, serve
from tests.postgres import as_owner
from tests.stack import eventually

INFINITY = float("inf")
SUCCESS = 'docrail_documents_processed_total{status="success"}'
FAILED = 'docrail_documents_processed_total{status="failed"}'
CONFIDENT = 'docrail_extraction_confidence_bucket{le="1.0"}'


async def page_of(http: httpx.AsyncClient) -> dict[str, float]:
    """Return the page's values by name and labels, as they stand on it."""
    response = await http.get("/metrics")
    assert response.status_code == 200
    lines = [line for line in response.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


async def test_the_page_counts_outcomes_and_a_new_process_shows_the_same(service: Service) -> None:
    before = await page_of(service.http)
    for content in (e_invoice(secrets.token_hex(8)), f"no invoice {secrets.token_hex(8)}".encode()):
        uploaded = await service.http.post("/v1/documents", files={"file": ("a", content)})
        await service.ended(uploaded.json()["run_id"])
    after = await page_of(service.http)
    grown = {name: value - before[name] for name, value in after.items() if name in before}
    assert (grown[SUCCESS], grown[FAILED], grown["docrail_processing_duration_seconds_count"]) == (1, 1, 2)
    assert (grown["docrail_extraction_confidence_count"], grown[CONFIDENT]) == (1, 1)
    assert 0 < grown["docrail_extraction_confidence_sum"] <= 1
    assert grown["docrail_processing_duration_seconds_sum"] > 0
    assert after["docrail_database_up"] == 1

    async with serve(service.settings) as restarted:
        again = await page_of(restarted.http)
    documents = [name for name in after if name.startswith(("documents_", "processing_", "extraction_"))]
    assert {name: again[name] for name in documents} == {name: after[name] for name in documents}


async def test_the_page_of_an_api_without_a_database_keeps_its_own_metrics(service: Service) -> None:
    away = service.settings.model_copy(update={"database_url": "postgresql://docrail@127.0.0.1:1/docrail"})
    async with serve(away) as alone:
        await alone.http.get("/healthz")
        page = await page_of(alone.http)
    assert page["docrail_database_up"] == 0
    assert page['docrail_http_requests_total{method="GET",route="/healthz",status="200"}'] == 1
    assert [name for name in page if name.startswith(("documents_", "processing_", "extraction_"))] == []


async def test_a_scrape_that_waits_for_the_database_blocks_no_other_request(service: Service) -> None:
    db = service.app.db
    connections = [await db.acquire() for _ in range(db.get_max_size())]
    try:
        scrape = asyncio.create_task(page_of(service.http))
        assert (await service.http.get("/healthz")).status_code == 200
        assert not scrape.done()
    finally:
        for connection in connections:
            await db.release(connection)
    assert (await scrape)["docrail_database_up"] == 1


def test_the_page_shows_the_same_metrics_as_a_workers() -> None:
    worker = Metrics()
    worker.record_document("success", 7, 0.925)
    worker.record_document("success", 10, 0.95)
    worker.record_document("success", 1e6, None)
    worker.record_document("failed", 20, None)
    counts = [
        DocumentCount("success", 10, 0.95, 2, 17, 1.875),
        DocumentCount("success", INFINITY, None, 1, 1e6, 0),
        DocumentCount("failed", 30, None, 1, 20, 0),
    ]
    ours = samples(DocumentMetrics(counts))
    assert ours.pop("docrail_database_up") == {(): 1}
    assert ours == documents_of(worker)


def test_a_fleet_without_documents_shows_zeros() -> None:
    fleet = samples(DocumentMetrics([]))
    fleet.pop("docrail_database_up")
    assert fleet == documents_of(Metrics())


def test_documents_counted_under_other_bounds_count_under_the_next_greater_one() -> None:
    fleet = samples(DocumentMetrics([DocumentCount("success", 7.5, 0.91, 3, 20, 2.7)]))
    buckets = {le: value for ((_, le),), value in fleet["docrail_processing_duration_seconds_bucket"].items()}
    assert (buckets["5.0"], buckets["10.0"], buckets["+Inf"]) == (0, 3, 3)


DOCUMENTS = ("docrail_documents_processed", "docrail_processing_duration_seconds", "docrail_extraction_confidence")


def documents_of(worker: Metrics) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Return what a worker's page says of documents; it says more."""
    return {name: found for name, found in samples(worker.registry).items() if name.startswith(DOCUMENTS)}


def samples(collector: Collector) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Return the values that Prometheus reads off a page, by name and labels."""
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(generate_latest(collector).decode()):
        for sample in family.samples:
            if not sample.name.endswith("_created"):  # when a process began to count; a fleet never did
                found.setdefault(sample.name, {})[tuple(sample.labels.items())] = sample.value
    return found


async def test_the_page_shows_what_waits_and_who_works(service: Service) -> None:
    http = service.http
    before = await page_of(http)
    uploaded = await http.post("/v1/documents", files={"file": ("a", f"no invoice {secrets.token_hex(8)}".encode())})
    asks = {"id": "asks", "steps": [{"id": "answer", "wait": {"for": "signal"}}]}
    waiting = (await http.post("/v1/runs", json={"definition": asks})).json()["run_id"]
    await service.ended(uploaded.json()["run_id"])

    wait = f'WorkflowId = "{workflow_id(DEFAULT_TENANT, waiting)}" AND DocrailStatus = "waiting"'
    waits = 'WorkflowType = "Run" AND ExecutionStatus = "Running" AND DocrailStatus = "waiting"'

    async def shows_the_wait() -> bool:  # Temporal counts what its index has, and runs of other tests come and go
        own = await service.app.temporal.count_workflows(wait)
        shown = (await page_of(http))['docrail_open_runs{status="waiting"}']
        return own.count == 1 and shown == (await service.app.temporal.count_workflows(waits)).count

    async def shows_a_worker() -> bool:
        return (await page_of(http))['docrail_workers{state="working"}'] >= 1

    await eventually(shows_the_wait, "the waiting run on the page")
    await eventually(shows_a_worker, "the first heartbeat of the worker")
    page = await page_of(http)
    assert page[f'docrail_queue_waiting{{queue="{service.settings.task_queue}",tasks="runs"}}'] >= 0
    assert page[f'docrail_queue_oldest_wait_seconds{{queue="{service.settings.task_queue}",tasks="steps"}}'] >= 0
    assert page["docrail_store_free_bytes"] > 0
    assert page["docrail_model_spent_today"] == before["docrail_model_spent_today"]  # other tests ask models
    assert "docrail_model_budget" not in page
    await http.post(f"/v1/runs/{waiting}/abort", json={"reason": "a test"})


async def test_the_page_counts_open_items_and_failures_of_all_tenants(service: Service) -> None:
    http = service.http
    before = await page_of(http)
    fails = {"id": "fails", "steps": [{"id": "say", "handler": "fail", "config": {"times": 9}, "max_retries": 0}]}
    run_id = (await http.post("/v1/runs", json={"definition": fails})).json()["run_id"]
    await service.closed(run_id)
    uploaded = await http.post("/v1/documents", files={"file": ("a", e_invoice(secrets.token_hex(8)))})
    await service.ended(uploaded.json()["run_id"])
    after = await page_of(http)
    grown = {name: after[name] - before[name] for name in before if name.startswith("docrail_o")}
    assert grown["docrail_open_reviews"] == 1
    assert sum(grown[f'docrail_open_failures{{status="{status}"}}'] for status in ("parked", "failed")) == 1


async def test_without_temporal_the_page_keeps_the_gauges_of_postgresql(service: Service) -> None:
    away = service.settings.model_copy(update={"temporal_address": "127.0.0.1:1"})
    async with serve(away) as alone:
        page = await page_of(alone.http)
    assert page["docrail_open_reviews"] >= 0
    assert page["docrail_temporal_up"] == 0
    assert [name for name in page if name.startswith(("docrail_queue", "docrail_workers", "docrail_open_runs"))] == []


async def test_the_how_to_names_the_gauges_of_the_page(service: Service) -> None:
    text = (Path(__file__).parents[2] / "docs/howto/monitoring.md").read_text("utf-8")
    named = set(re.findall(r"`(docrail_\w+)`", text))
    shown = {name.partition("{")[0] for name in await page_of(service.http)}
    shown |= {family.name + ("_total" if family.type == "counter" else "") for family in Metrics().registry.collect()}
    assert named - shown == {"docrail_model_budget", "docrail_http_request_seconds"}  # no budget here; a histogram


async def test_every_metric_has_the_products_prefix(service: Service) -> None:
    shown = set(await page_of(service.http))
    shown |= {sample.name for family in Metrics().registry.collect() for sample in family.samples}
    assert [name for name in shown if not name.startswith("docrail_")] == []


SET_OTHERS_ASIDE = """
UPDATE pg_index SET indisvalid = false
 WHERE indrelid = (SELECT indrelid FROM pg_index WHERE indexrelid = $1::text::regclass)
   AND indexrelid <> $1::text::regclass"""


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (reviews.COUNT_ALL_OPEN, "reviews_open"),
        (failures.COUNT_ALL_OPEN, "dead_letters_open"),
        (batches.COUNT_ALL_OPEN, "batch_documents_open"),
        (usage.SPENT_TODAY, "model_days_by_day"),
    ],
)
async def test_a_scrape_counts_only_what_is_open(service: Service, statement: str, index: str) -> None:
    """However many rows are decided, resolved or of other days.

    The table's other indexes are set aside: of a few rows each is as cheap.
    """
    async with service.pool.acquire() as db:
        changes = db.transaction()
        await changes.start()
        try:
            role = await db.fetchval("SELECT current_user")
            await as_owner(db)
            await db.execute(SET_OTHERS_ASIDE, index)
            await db.execute("SELECT set_config('role', $1, true)", role)
            await db.execute("SET LOCAL enable_seqscan = off")
            plan = "\n".join(row[0] for row in await db.fetch(f"EXPLAIN {statement}"))
        finally:
            await changes.rollback()
    assert f" {index} " in plan
    assert "Seq Scan" not in plan


def test_what_is_not_known_is_left_out_and_a_budget_is_shown() -> None:
    page = generate_latest(Gauges(None, None, None, None, None, Decimal("1.25"), Decimal(5))).decode()
    lines = [line for line in page.splitlines() if not line.startswith("#")]
    assert lines == ["docrail_temporal_up 0.0", "docrail_model_spent_today 1.25", "docrail_model_budget 5.0"]
