"""What the explanation of an ended run costs: one query, for which a worker replays the run once."""

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

from docrail.services.access.models import local_principal
from docrail.services.runs.views.explanation import explain_run
from docrail.workflows.contract.names import EXPLAIN
from tests.api.service import Service, serve_with_worker, settings_for
from tests.postgres import migrated_database
from tests.stack import Servers


@dataclass
class Counted(Interceptor):
    """Lists the calls that have a worker replay a run, or the server send its history."""

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


async def test_an_ended_run_is_explained_by_one_query_and_no_history(service: Service) -> None:
    steps = [{"id": f"s{number}", "handler": "noop"} for number in range(30)]
    started = await service.http.post("/v1/runs", json={"definition": {"id": "explained", "steps": steps}})
    run_id = started.json()["run_id"]
    await service.ended(run_id)
    counted = Counted()
    config = service.app.temporal.config()
    config["interceptors"] = [counted]
    app = replace(service.app, temporal=Client(**config))
    explanation = await explain_run(app, local_principal(), run_id, limit=5_000)
    assert len(explanation.steps) == 30
    assert explanation.words == ("30 of 30 steps are settled, the run is completed",)
    assert (counted.queries, counted.histories) == ([EXPLAIN], [])
