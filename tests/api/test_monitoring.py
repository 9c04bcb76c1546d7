"""The alerts and the dashboard of deploy/ name metrics that exist, and every alert can fire."""

import asyncio
import datetime as dt
import json
import operator
import re
import shutil
import socket
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from docrail.invoices.llm.prices import Cost, Tokens
from docrail.services.usage.models import Use
from docrail.services.usage.repository import record_use
from docrail.settings import Settings
from tests.adapters.test_sdk_metrics import page_of_a_greeting
from tests.api.reviewing import reading, reviewer, waiting
from tests.api.service import HELLO, Service, serve, settings_for
from tests.api.test_workers import alone, worker_process
from tests.disks import SmallDisk, small_disk
from tests.postgres import migrated_database
from tests.stack import Servers, eventually, frozen

__all__ = ["alone", "small_disk"]

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text("utf-8"))["groups"][0]["rules"]
ALERTS: dict[str, str] = {rule["alert"]: rule["expr"] for rule in RULES}
DASHBOARD = json.loads((DEPLOY / "grafana" / "docrail.json").read_text("utf-8"))
PANELS: dict[str, list[str]] = {
    panel["title"]: [target["expr"] for target in panel["targets"]]
    for panel in DASHBOARD["panels"]
    if panel["type"] != "row"
}
METRIC = re.compile(r"\b(?:docrail|temporal)_\w+")
SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum"), "summary": ("_count", "_sum")}


def names_on(page: str) -> set[str]:
    """Return the names of the samples that a page has or, where a label has had no value yet, will have."""
    families = text_string_to_metric_families(page)
    return {f"{family.name}{suffix}" for family in families for suffix in SUFFIXES.get(family.type, ("",))}


async def test_every_metric_of_an_alert_or_a_panel_exists(
    service: Service, embedded: Servers, budgeted: Settings
) -> None:
    async with serve(budgeted) as served:
        shown = names_on((await served.http.get("/metrics")).text)
    shown |= names_on(await page_of_a_greeting(embedded.temporal_address, f"named-{uuid.uuid4().hex}"))
    expressions = [*ALERTS.values(), *(expression for panel in PANELS.values() for expression in panel)]
    named = {name for expression in expressions for name in METRIC.findall(expression)}
    assert len(named) > 25
    assert named - shown == set()


def test_each_alert_says_what_happened_and_what_to_do() -> None:
    assert len(ALERTS) == len(RULES)
    for rule in RULES:
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert set(rule["annotations"]) == {"summary", "action"}


# What happens in the product, and the alert that it causes: without Prometheus, its comparison is evaluated here.

COMPARED = re.compile(r"(\w+)(?:\{(.*?)\})?(?: / (\w+))? (==|>=|>|<) ([\d.e]+)")
COMPARISONS = {"==": operator.eq, ">=": operator.ge, ">": operator.gt, "<": operator.lt}


def fires(alert: str, page: str) -> bool:
    """Evaluate the comparison of an alert on what a page shows, as Prometheus does without its `for`."""
    found = COMPARED.fullmatch(ALERTS[alert])
    assert found, f"not a comparison: {ALERTS[alert]}"
    name, labels, divisor, compare, bound = found.groups()
    wanted = dict(re.findall(r'(\w+)="(.*?)"', labels or ""))
    values = [sample.value for sample in _samples(page, name) if wanted.items() <= sample.labels.items()]
    assert values, f"{name} is not shown"
    if divisor:
        (by,) = (sample.value for sample in _samples(page, divisor))
        values = [value / by for value in values]
    return any(COMPARISONS[compare](value, float(bound)) for value in values)


def _samples(page: str, name: str) -> Iterator[Sample]:
    for family in text_string_to_metric_families(page):
        yield from (sample for sample in family.samples if sample.name == name)


async def page_of(service: Service) -> str:
    response = await service.http.get("/metrics")
    assert response.status_code == 200
    return response.text


@pytest.fixture
def budgeted(service: Service) -> Settings:
    return service.settings.model_copy(update={"gemini_budget_per_day": Decimal("0.0001")})


async def test_a_missing_postgresql_or_temporal_fires(service: Service) -> None:
    page = await page_of(service)
    assert not fires("DocrailPostgresqlDown", page)
    assert not fires("DocrailTemporalDown", page)
    for setting, address, alert in (
        ("database_url", "postgresql://docrail@127.0.0.1:1/docrail", "DocrailPostgresqlDown"),
        ("temporal_address", "127.0.0.1:1", "DocrailTemporalDown"),
    ):
        async with serve(service.settings.model_copy(update={setting: address})) as without:
            assert fires(alert, await page_of(without))


async def test_a_missing_worker_fires_and_its_queue_waits(service: Service, workerless: Service) -> None:
    async def is_quiet() -> bool:
        return not fires("DocrailNoWorker", await page_of(service))

    await eventually(is_quiet, "the first heartbeat of the worker")
    run = await workerless.http.post("/v1/runs", json={"definition": HELLO})
    assert run.status_code == 202

    async def waits() -> bool:
        page = await page_of(workerless)
        waiting_tasks = [each.value for each in _samples(page, "docrail_queue_oldest_wait_seconds")]
        return fires("DocrailNoWorker", page) and max(waiting_tasks) > 0

    await eventually(waits, "the alert of a fleet without workers, and a task that waits")
    await workerless.http.post(f"/v1/runs/{run.json()['run_id']}/abort", json={"reason": "a test"})


async def test_a_frozen_worker_fires_until_it_goes_on(alone: Service) -> None:
    async def fires_so(expected: bool) -> bool:
        return fires("DocrailWorkerSilent", await page_of(alone)) is expected

    async with worker_process(alone) as worker:
        assert await fires_so(expected=False)
        with frozen([worker.pid]):
            await eventually(partial(fires_so, expected=True), "the alert of a frozen worker")
        await eventually(partial(fires_so, expected=False), "the alert to end")


async def test_a_disk_that_is_almost_or_wholly_full_fires(
    embedded: Servers, small_disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, small_disk.root)
        async with serve(settings) as served:
            assert fires("DocrailStoreAlmostFull", await page_of(served))
            small_disk.fill()
            assert fires("DocrailStoreAlmostFull", await page_of(served))
            small_disk.free()
            monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=6 * 10**9))
            assert not fires("DocrailStoreAlmostFull", await page_of(served))


async def test_a_parked_run_fires_until_it_is_dealt_with(service: Service) -> None:
    step = {"id": "say", "handler": "fail", "config": {"times": 9}, "max_retries": 0}
    definition = {"id": "parks", "on_failure": "park", "steps": [step]}
    run = await service.http.post("/v1/runs", json={"definition": definition})

    async def is_parked() -> bool:
        return fires("DocrailRunsParked", await page_of(service))

    await eventually(is_parked, "the alert of a parked run")
    await service.http.post(f"/v1/runs/{run.json()['run_id']}/abort", json={"reason": "a test"})


async def test_a_review_past_its_sla_fires(service: Service) -> None:
    item = await waiting(service, reviewer(service), reading())
    due = "UPDATE reviews SET due_at = now() {} interval '1 hour' WHERE review_id = $1"
    await service.pool.execute(due.format("-"), item["review_id"])
    assert fires("DocrailReviewsOverdue", await page_of(service))


async def test_a_budget_that_is_used_up_fires(service: Service, budgeted: Settings) -> None:
    use = Use("default", "a.1", "ask", 1, f"m-{uuid.uuid4().hex}", "read", Tokens(1, 1, 1))
    cost = Cost(Decimal("0.01"), "gemini")
    async with serve(budgeted) as served:
        await record_use(service.pool, use, cost, currency="USD", prices_read_on=dt.date(2026, 11, 1))
        assert fires("DocrailModelBudgetAlmostUsed", await page_of(served))


# With Prometheus' own programs, where the machine has them: CI does.

API, WORKER = 'job="docrail-api",instance="a"', 'job="docrail-worker",instance="w"'
SLOTS = f'temporal_worker_task_slots_available{{{WORKER},task_queue="docrail",worker_type="ActivityWorker"}}'
ENDED, ASKED = f"docrail_documents_processed_total{{{API},status=", f"docrail_http_requests_total{{{API},status="


@dataclass(frozen=True)
class Case:
    """Series at which an alert fires after so long, and at which it does not: a value each minute."""

    after: str
    fires: dict[str, str]
    silent: dict[str, str]


def gauge(name: str, fires: str, silent: str, after: str = "10m", labels: str = "") -> Case:
    series = f"{name}{{{API}{labels}}}"
    return Case(after, {series: fires}, {series: silent})


CASES = {
    "DocrailApiDown": gauge("up", "0x99", "1x99"),
    "DocrailPostgresqlDown": gauge("docrail_database_up", "0x99", "1x99"),
    "DocrailTemporalDown": gauge("docrail_temporal_up", "0x99", "1x99"),
    "DocrailNoWorker": gauge("docrail_workers", "0x99", "1x99", labels=',state="working"'),
    "DocrailWorkerSilent": gauge("docrail_workers", "1x99", "0x99", labels=',state="silent"'),
    "DocrailWorkerFull": Case("15m", {SLOTS: "0x99"}, {SLOTS: "1x99"}),
    "DocrailQueueWaits": gauge("docrail_queue_oldest_wait_seconds", "0+60x99", "290x99", "20m", ',queue="docrail"'),
    "DocrailRunsParked": gauge("docrail_open_failures", "1x99", "0x99", "40m", ',status="parked"'),
    "DocrailReviewsOverdue": gauge("docrail_overdue_reviews", "1x99", "0x99", "20m"),
    "DocrailDocumentsFail": Case(
        "80m",
        {f'{ENDED}"failed"}}': "0+1x99", f'{ENDED}"success"}}': "0+3x99"},
        {f'{ENDED}"failed"}}': "0+1x99", f'{ENDED}"success"}}': "0+9x99"},
    ),
    "DocrailRequestsFail": Case(
        "20m",
        {f'{ASKED}"503"}}': "0+1x99", f'{ASKED}"200"}}': "0+9x99"},
        {f'{ASKED}"503"}}': "0+1x99", f'{ASKED}"200"}}': "0+99x99"},
    ),
    "DocrailStoreAlmostFull": gauge("docrail_store_free_bytes", "4e9x99", "6e9x99"),
    "DocrailModelBudgetAlmostUsed": Case(
        "46m",
        {f"docrail_model_spent_today{{{API}}}": "0+0.1x99", f"docrail_model_budget{{{API}}}": "5x99"},
        {f"docrail_model_spent_today{{{API}}}": "4x99", f"docrail_model_budget{{{API}}}": "5x99"},
    ),
}


def test_every_alert_has_a_case() -> None:
    assert CASES.keys() == ALERTS.keys()


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"this machine has no {name}: Debian's package `prometheus` has it")
    return found


def test_every_alert_fires_and_is_silent_where_it_should(tmp_path: Path) -> None:
    tests = [
        {
            "interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "promql_expr_test": [
                {
                    "expr": f'count(ALERTS{{alertname="{alert}",alertstate="firing"}}) or vector(0)',
                    "eval_time": case.after,
                    "exp_samples": [{"labels": "{}", "value": expected}],
                }
            ],
        }
        for alert, case in CASES.items()
        for series, expected in ((case.fires, 1), (case.silent, 0))
    ]
    shutil.copy(DEPLOY / "prometheus" / "alerts.yml", tmp_path)
    (tmp_path / "cases.yml").write_text(yaml.safe_dump({"rule_files": ["alerts.yml"], "tests": tests}))
    run = partial(subprocess.run, cwd=tmp_path, capture_output=True, text=True, check=False)
    promtool = program("promtool")
    checked = run([promtool, "check", "rules", "alerts.yml"])
    assert checked.returncode == 0, checked.stdout + checked.stderr
    tested = run([promtool, "test", "rules", "cases.yml"])
    assert tested.returncode == 0, tested.stdout + tested.stderr


async def test_prometheus_reads_the_pages_and_fires(service: Service, tmp_path: Path) -> None:
    """With the shipped configuration, but for the targets and how long an alert must last."""
    prometheus = program("prometheus")
    config: dict[str, Any] = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text("utf-8"))
    api_port = service.http.base_url.port
    for job in config["scrape_configs"]:
        del job["dns_sd_configs"]
        job["static_configs"] = [{"targets": [f"127.0.0.1:{api_port}"] if job["job_name"] == "docrail-api" else []}]
    (tmp_path / "metrics_key").write_text("a key")
    config["scrape_configs"][0]["authorization"]["credentials_file"] = str(tmp_path / "metrics_key")
    config["global"] |= {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}
    rules = [rule | {"for": "0s"} for rule in RULES]
    (tmp_path / "alerts.yml").write_text(yaml.safe_dump({"groups": [{"name": "docrail", "rules": rules}]}))
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{listening.getsockname()[1]}"
    options = [f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data"]
    process = await asyncio.create_subprocess_exec(
        prometheus, *options, f"--web.listen-address={address}", stderr=asyncio.subprocess.DEVNULL
    )
    await waiting(service, reviewer(service), reading())
    await service.pool.execute("UPDATE reviews SET due_at = now() - interval '1 hour' WHERE status = 'open'")
    try:
        async with httpx.AsyncClient(base_url=f"http://{address}/api/v1", trust_env=False) as http:
            await eventually(lambda: has_fired(http, "DocrailReviewsOverdue"), "Prometheus to fire")
            # On a busy machine a scrape may take longer than its timeout: the next one counts.
            await eventually(lambda: is_read(http), "the target to be up, and every rule to be evaluated")
    finally:
        process.terminate()
        await process.wait()


async def is_read(http: httpx.AsyncClient) -> bool:
    targets = (await http.get("/targets")).json()["data"]["activeTargets"]
    rules = (await http.get("/rules")).json()["data"]["groups"][0]["rules"]
    is_up = [(each["labels"]["job"], each["health"]) for each in targets] == [("docrail-api", "up")]
    return is_up and {rule["name"]: rule["health"] for rule in rules} == dict.fromkeys(ALERTS, "ok")


async def has_fired(http: httpx.AsyncClient, alert: str) -> bool:
    try:
        answer = await http.get("/alerts")
    except httpx.TransportError:
        return False
    if answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE:  # it is still starting
        return False
    alerts = answer.json()["data"]["alerts"]
    return any(each["labels"]["alertname"] == alert and each["state"] == "firing" for each in alerts)
