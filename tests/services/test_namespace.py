"""`docrail server migrate` prepares the namespace of a Temporal that others run, or reports what is missing."""

import asyncio
import re
import secrets
import shutil
import sysconfig
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCStatusCode

from docrail.adapters.temporal.connection import Connection
from docrail.embedded.claims import claim_port
from docrail.embedded.processes import Program, Supervised
from docrail.services.engine import open_client
from docrail.services.errors import Unavailable
from docrail.services.fleet.namespace import NamespaceUnfit, prepare_namespace
from docrail.workflows.contract.names import SEARCH_ATTRIBUTES
from tests.grpc_answers import grpc_server

NAMES = tuple(key.name for key in SEARCH_ATTRIBUTES)
TEXT = IndexedValueType.INDEXED_VALUE_TYPE_TEXT
KEYWORD = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
DENIED, UNKNOWN = RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.INVALID_ARGUMENT
CONNECTED = None
"""The client's first call requests the server's capabilities; an empty answer means none."""


@pytest.fixture(scope="module")
async def foreign(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """Yield a dev server that was started without Docrail's flags."""
    binary = shutil.which("temporal", path=sysconfig.get_path("scripts"))
    assert binary
    port = claim_port(0, "--port")
    address = f"127.0.0.1:{port}"
    arguments = (binary, "server", "start-dev", "--headless", "--port", str(port), "--log-level", "error")

    async def answers() -> bool:
        client = await open_client(Connection(address))
        try:
            await client.count_workflows()
        except RuntimeError:
            return False
        return True

    log = tmp_path_factory.mktemp("foreign") / "temporal.log"
    process = Supervised(Program("a foreign Temporal", arguments, log), answers, print)
    await process.start()
    yield address
    await process.kill()


@pytest.fixture
async def namespace(foreign: str) -> str:
    """Return a new namespace of that server."""
    name = f"test-{secrets.token_hex(4)}"
    client = await Client.connect(foreign)
    retention = Duration()
    retention.FromTimedelta(timedelta(days=1))
    request = RegisterNamespaceRequest(namespace=name, workflow_execution_retention_period=retention)
    await client.workflow_service.register_namespace(request)
    return name


async def add(address: str, namespace: str, names: tuple[str, ...], kind: IndexedValueType.ValueType = KEYWORD) -> None:
    client = await Client.connect(address, namespace=namespace)
    request = AddSearchAttributesRequest(namespace=namespace, search_attributes=dict.fromkeys(names, kind))
    await client.operator_service.add_search_attributes(request)


async def registered(address: str, namespace: str) -> dict[str, IndexedValueType.ValueType]:
    client = await Client.connect(address, namespace=namespace)
    found = await client.operator_service.list_search_attributes(ListSearchAttributesRequest(namespace=namespace))
    return dict(found.custom_attributes)


async def test_a_server_without_them_gets_the_search_attributes_once(foreign: str) -> None:
    assert await registered(foreign, "default") == {}
    assert (await prepare_namespace(Connection(foreign, "default"))).registered == NAMES
    assert await registered(foreign, "default") == dict.fromkeys(NAMES, KEYWORD)
    assert (await prepare_namespace(Connection(foreign, "default"))).registered == ()


async def test_only_what_is_missing_is_registered(foreign: str, namespace: str) -> None:
    await add(foreign, namespace, NAMES[1:3])
    assert (await prepare_namespace(Connection(foreign, namespace))).registered == (NAMES[0], *NAMES[3:])


async def test_several_may_prepare_at_once(foreign: str, namespace: str) -> None:
    await asyncio.gather(*(prepare_namespace(Connection(foreign, namespace)) for _ in range(4)))
    assert await registered(foreign, namespace) == dict.fromkeys(NAMES, KEYWORD)


async def test_an_attribute_of_another_type_is_refused_and_nothing_is_registered(foreign: str, namespace: str) -> None:
    await add(foreign, namespace, ("DocrailStatus",), TEXT)
    with pytest.raises(NamespaceUnfit, match=r"has DocrailStatus as Text instead of Keyword.*search-attribute remove"):
        await prepare_namespace(Connection(foreign, namespace))
    assert set(await registered(foreign, namespace)) == {"DocrailStatus"}


async def test_a_namespace_without_room_is_refused_with_the_servers_reason(foreign: str, namespace: str) -> None:
    await add(foreign, namespace, tuple(f"Other{number}" for number in range(9)))
    with pytest.raises(NamespaceUnfit, match=rf"lacks .*{', '.join(NAMES)}.*cannot have more than 10"):
        await prepare_namespace(Connection(foreign, namespace))


async def test_a_missing_namespace_is_named_with_the_command_that_makes_it(foreign: str) -> None:
    with pytest.raises(NamespaceUnfit, match=r"'nowhere' does not exist.*namespace create --namespace nowhere"):
        await prepare_namespace(Connection(foreign, "nowhere"))


async def test_without_permission_the_error_is_the_command_to_ask_for() -> None:
    known = None
    async with grpc_server(CONNECTED, DENIED, known, UNKNOWN, known, UNKNOWN, known, known) as address:
        with pytest.raises(NamespaceUnfit) as refused:
            await prepare_namespace(Connection(address, "theirs"))
    assert str(refused.value) == (
        "Temporal's namespace 'theirs' lacks the search attributes DocrailDefinition, DocrailStatus, and they cannot "
        "be registered: configured: PERMISSION_DENIED. Ask whoever runs the cluster for: temporal operator "
        "search-attribute create --namespace theirs --type Keyword --name DocrailDefinition --name DocrailStatus"
    )


async def test_without_permission_what_others_registered_is_enough() -> None:
    async with grpc_server(CONNECTED, DENIED, *[None] * (2 * len(NAMES))) as address:
        assert (await prepare_namespace(Connection(address, "theirs"))).registered == ()


async def test_an_unavailable_server_is_reported_as_such() -> None:
    with pytest.raises(Unavailable, match=re.escape("it cannot be reached")):
        await prepare_namespace(Connection("127.0.0.1:1", "default"))
