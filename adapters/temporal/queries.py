"""Ask a worker once more if it does not answer a query.

A worker that drops a run from its cache loses the queries that wait for this run (its log has "leftover buffered
tasks"), and Temporal does not deliver them again: the caller would wait for the whole timeout, although the worker is
well.
"""

from dataclasses import replace
from datetime import timedelta

from temporalio.client import Interceptor, OutboundInterceptor, QueryWorkflowInput
from temporalio.service import RPCError, RPCStatusCode

FIRST_TIMEOUT = timedelta(seconds=3)
"""Longer than a worker needs to replay most runs. For a longer one, the second query finds it replayed."""
_NO_ANSWER = (RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED)


class AskTwice(Interceptor):
    """Queries with a timeout are sent again within it. They change nothing, so an answer to either is as good."""

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:  # noqa: A002  # the SDK's name
        """Return what sends queries twice."""
        return _Queries(super().intercept_client(next))


class _Queries(OutboundInterceptor):
    async def query_workflow(self, input: QueryWorkflowInput) -> object:  # noqa: A002  # the SDK's name
        if input.rpc_timeout is None or input.rpc_timeout <= FIRST_TIMEOUT:
            return await super().query_workflow(input)
        try:
            return await super().query_workflow(replace(input, rpc_timeout=FIRST_TIMEOUT))
        except RPCError as error:
            if error.status not in _NO_ANSWER:
                raise
        return await super().query_workflow(replace(input, rpc_timeout=input.rpc_timeout - FIRST_TIMEOUT))
