"""What the explanation of an ended run costs: its result is read for the first one, and nothing for all later ones."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from temporalio.client import (
    Client,
    FetchWorkflowHistoryEventsInput,
    Interceptor,
    OutboundInterceptor,
    QueryWorkflowInput,
    WorkflowHistoryEventAsyncIterator,
)

from docrail.dag.language.statuses import StepStatus
from docrail.services.access.models import local_principal
from docrail.services.app import App
from docrail.services.maintenance.retention import remove_expired_rows
from docrail.services.runs.views.explanation import explain_run
from tests.api.service import Service, serve_with_worker, settings_for
from tests.postgres import migrated_database
from tests.stack import Servers, eventually


@dataclass
class Counted(Interceptor):
    """Lists the calls that have a worker replay a run, or the server send events of its history."""

    queries: list[str] = field(default_factory=list)
    histories: list[str] = field(default_factory=list)

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:  # noqa: A002 - as Temporal calls it
        return _Counting(next, self)


class _Counting(OutboundInterceptor):
    def __init__(self, following: OutboundInterceptor, counted: Counted) -> None:
        super().__init__(following)
        self._counted = counted

    async def query_workflow(self, input: QueryWorkflowInput) -> Any:  # noqa: A002
        self._counted.queries.append(input.query)
        return await super().query_workflow(input)

    def fetch_workflow_history_events(
        self,
        input: FetchWorkflowHistoryEventsInput,  # noqa: A002
    ) -> WorkflowHistoryEventAsyncIterator:
        self._counted.histories.append(input.id)
        return super().fetch_workflow_history_events(input)


@pytest.fixture
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("explanation"))
        async with serve_with_worker(settings) as served:
            yield served


def counting(service: Service) -> tuple[App, Counted]:
    counted = Counted()
    config = service.app.temporal.config()
    config["interceptors"] = [counted]
    return replace(service.app, temporal=Client(**config)), counted


async def test_an_ended_run_is_explained_by_its_result_which_is_read_once(service: Service) -> None:
    steps = [{"id": f"s{number}", "handler": "noop"} for number in range(30)]
    started = await service.http.post("/v1/runs", json={"definition": {"id": "explained", "steps": steps}})
    run_id = started.json()["run_id"]
    await service.ended(run_id)
    app, counted = counting(service)
    explanation = await explain_run(app, local_principal(), run_id, limit=5_000)
    assert len(explanation.steps) == 30
    assert explanation.words == ("30 of 30 steps are settled, the run is completed",)
    assert (counted.queries, len(counted.histories)) == ([], 1)
    first = await explain_run(app, local_principal(), run_id, limit=20)
    rest = await explain_run(app, local_principal(), run_id, limit=20, after=first.after)
    one = await explain_run(app, local_principal(), run_id, step="s7")
    assert (first.after, rest.after, one.after) == ("s19", None, None)
    assert first.steps | rest.steps == explanation.steps
    assert one.steps == {"s7": explanation.steps["s7"]}
    assert (counted.queries, len(counted.histories)) == ([], 1)
    assert await remove_expired_rows(service.pool, runs_days=None) == 0
    await remove_expired_rows(service.pool, runs_days=1e-9)
    assert await service.app.db.fetchval("SELECT count(*) FROM run_explanations") == 0


async def test_a_run_that_ended_again_is_explained_anew(service: Service) -> None:
    broken = {"id": "ends_twice", "steps": [{"id": "s", "handler": "fail", "config": {"times": 9}, "max_retries": 0}]}
    started = await service.http.post("/v1/runs", json={"definition": broken})
    run_id = started.json()["run_id"]
    before = await service.closed(run_id)
    app, counted = counting(service)
    first = await explain_run(app, local_principal(), run_id)
    assert (await service.http.post(f"/v1/runs/{run_id}/retry", json={})).status_code < 300

    async def has_ended_again() -> bool:
        return bool((await service.closed(run_id))["ended_at"] > before["ended_at"])

    await eventually(has_ended_again, "the second end")
    again = await explain_run(app, local_principal(), run_id)
    assert (first.steps["s"].status, again.steps["s"].status) == (StepStatus.FAILED, StepStatus.FAILED)
    assert (again.steps["s"].started_at or 0) > (first.steps["s"].started_at or 0)
    assert (counted.queries, len(counted.histories)) == ([], 2)
