"""Prepare the Temporal namespace for runs: register the search attributes by which runs are found.

A Temporal other than the embedded one lacks them, and then refuses to start any run.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from docrail.adapters.temporal.connection import Connection
from docrail.services.engine import RPC_TIMEOUT, engine_errors, open_client
from docrail.services.errors import OperationError, Unavailable
from docrail.workflows.contract.names import SEARCH_ATTRIBUTES

NAMES = tuple(key.name for key in SEARCH_ATTRIBUTES)
KEYWORD = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
"""The type of all search attributes."""
TYPE_PREFIX = "INDEXED_VALUE_TYPE_"

USABLE_SECONDS = 60.0
"""Timeout for a change to reach all hosts of a cluster, which takes seconds."""
USABLE_POLL_SECONDS = 0.5

_REFUSALS = frozenset({RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED, RPCStatusCode.UNIMPLEMENTED})
"""UNIMPLEMENTED: a frontend that does not offer the operator's service."""


class NamespaceUnfit(OperationError):  # noqa: N818  # named as a statement, like every refusal
    """The namespace cannot be prepared by Docrail. The text has the command to run; it is never sent over HTTP."""

    def __init__(self, namespace: str, problem: str, advice: str) -> None:
        super().__init__(f"Temporal's namespace {namespace!r} {problem}. {advice}")


@dataclass(frozen=True, slots=True)
class Prepared:
    """The namespace has every search attribute; `registered` lists the newly registered ones."""

    namespace: str
    registered: tuple[str, ...]


async def prepare_namespace(connection: Connection) -> Prepared:
    """Register the missing search attributes, and return when all can be used. Safe to repeat.

    Raises: NamespaceUnfit, Unavailable.
    """
    client = await open_client(connection)
    with engine_errors("namespace", client.namespace):
        try:
            missing = await _register_missing(client)
        except RPCError as error:
            missing = await _accept_or_explain(client, error)
        await _become_usable(client)
    return Prepared(client.namespace, tuple(missing))


async def _register_missing(client: Client) -> list[str]:
    listing = ListSearchAttributesRequest(namespace=client.namespace)
    answer = await client.operator_service.list_search_attributes(listing, timeout=RPC_TIMEOUT)
    # Checked first because the server accepts an attribute of the same name and another type as the requested one.
    _refuse_other_types(client.namespace, dict(answer.custom_attributes))
    missing = [name for name in NAMES if name not in answer.custom_attributes]
    if missing:
        request = AddSearchAttributesRequest(
            namespace=client.namespace, search_attributes=dict.fromkeys(missing, KEYWORD)
        )
        await client.operator_service.add_search_attributes(request, timeout=RPC_TIMEOUT)
    return missing


def _refuse_other_types(namespace: str, found: dict[str, IndexedValueType.ValueType]) -> None:
    others = {name: found[name] for name in NAMES if found.get(name, KEYWORD) != KEYWORD}
    if others:
        types = ", ".join(
            f"{name} as {IndexedValueType.Name(kind).removeprefix(TYPE_PREFIX).title()}"
            for name, kind in others.items()
        )
        raise NamespaceUnfit(
            namespace,
            f"has {types} instead of Keyword",
            "Set DOCRAIL_TEMPORAL_NAMESPACE to another one, or, if nothing else needs them, "
            + _ask("search-attribute remove", namespace, (f"--name {name}" for name in others)),
        )


async def _accept_or_explain(client: Client, error: RPCError) -> list[str]:
    """Return an empty list if an administrator has registered the attributes.

    Raises: NamespaceUnfit, or `error` itself.
    """
    namespace = client.namespace
    if error.status is RPCStatusCode.NOT_FOUND:
        advice = _ask("namespace create", namespace, ["--retention 30d"])
        raise NamespaceUnfit(namespace, "does not exist", advice) from error
    if error.status not in {*_REFUSALS, RPCStatusCode.INVALID_ARGUMENT}:
        raise error
    if unknown := await _unknown(client):
        raise NamespaceUnfit(
            namespace,
            f"lacks the search attributes {', '.join(unknown)}, and they cannot be registered: {error.message}",
            _ask("search-attribute create", namespace, ["--type Keyword", *(f"--name {name}" for name in unknown)]),
        ) from error
    return []


async def _become_usable(client: Client) -> None:
    try:
        async with asyncio.timeout(USABLE_SECONDS):
            while await _unknown(client):  # noqa: ASYNC110 - there is no notification
                await asyncio.sleep(USABLE_POLL_SECONDS)
    except TimeoutError:
        raise Unavailable("Temporal", "it has the search attributes, but they cannot be used yet") from None


async def _unknown(client: Client) -> list[str]:
    """Return the attributes that Temporal cannot search by. Needs only the permission to list runs."""
    unknown = []
    for name in NAMES:
        try:
            await client.count_workflows(f'{name} = "-"', rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status is not RPCStatusCode.INVALID_ARGUMENT:
                raise
            unknown.append(name)
    return unknown


def _ask(action: str, namespace: str, options: Iterable[str]) -> str:
    return f"Ask whoever runs the cluster for: temporal operator {action} --namespace {namespace} {' '.join(options)}"
