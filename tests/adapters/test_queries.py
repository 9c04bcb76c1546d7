"""A query that a worker has lost is sent again."""

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from temporalio.client import OutboundInterceptor, QueryWorkflowInput
from temporalio.service import RPCError, RPCStatusCode

from docrail.adapters.temporal.queries import FIRST_TIMEOUT, AskTwice

TEN_SECONDS = timedelta(seconds=10)


@dataclass
class Losing(OutboundInterceptor):
    """Fail the first queries with a status, and note the timeout of each."""

    failures: list[RPCStatusCode]
    timeouts: list[timedelta | None] = field(default_factory=list)

    async def query_workflow(self, input: QueryWorkflowInput) -> object:  # noqa: A002
        self.timeouts.append(input.rpc_timeout)
        if self.failures:
            raise RPCError("Timeout expired", self.failures.pop(0), b"")
        return "answer"


def query(timeout: timedelta | None) -> QueryWorkflowInput:
    return QueryWorkflowInput(
        id="acme:run.1",
        run_id=None,
        query="state",
        args=[],
        reject_condition=None,
        headers={},
        ret_type=None,
        rpc_metadata={},
        rpc_timeout=timeout,
    )


@pytest.mark.parametrize("status", [RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED])
async def test_a_lost_query_is_sent_again_within_its_timeout(status: RPCStatusCode) -> None:
    server = Losing([status])
    assert await AskTwice().intercept_client(server).query_workflow(query(TEN_SECONDS)) == "answer"
    assert server.timeouts == [FIRST_TIMEOUT, TEN_SECONDS - FIRST_TIMEOUT]


async def test_the_second_loss_is_reported() -> None:
    server = Losing([RPCStatusCode.DEADLINE_EXCEEDED] * 3)
    with pytest.raises(RPCError, match="Timeout expired"):
        await AskTwice().intercept_client(server).query_workflow(query(TEN_SECONDS))
    assert len(server.timeouts) == 2


async def test_another_error_is_reported_at_once() -> None:
    server = Losing([RPCStatusCode.NOT_FOUND])
    with pytest.raises(RPCError):
        await AskTwice().intercept_client(server).query_workflow(query(TEN_SECONDS))
    assert server.timeouts == [FIRST_TIMEOUT]


@pytest.mark.parametrize("limit", [None, FIRST_TIMEOUT])
async def test_a_query_without_time_for_a_second_one_is_sent_once(limit: timedelta | None) -> None:
    server = Losing([RPCStatusCode.DEADLINE_EXCEEDED])
    with pytest.raises(RPCError):
        await AskTwice().intercept_client(server).query_workflow(query(limit))
    assert server.timeouts == [limit]
