"""Docrail's settings say where Temporal is and win; Temporal's own configuration says the rest, TLS and keys too."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.service import TLSConfig

from docrail.adapters.temporal.connection import Connection, InvalidConnection, connect, find_connection
from docrail.services.engine import engine_errors, open_client
from docrail.services.errors import Unavailable
from docrail.services.fleet.namespace import prepare_namespace
from tests.stack import Servers
from tests.tls_front import TlsFront, tls_front

PROFILES = """
[profile.default]
address = "plain.example:7233"
[profile.cloud]
address = "cloud.example:7233"
namespace = "invoices.acct"
api_key = "from-the-file"
"""
CLIENT_KEYS = ("TEMPORAL_TLS_CLIENT_CERT_PATH", "TEMPORAL_TLS_CLIENT_KEY_PATH")


@pytest.fixture
def file(tmp_path: Path) -> dict[str, str]:
    path = tmp_path / "temporal.toml"
    path.write_text(PROFILES)
    return {"TEMPORAL_CONFIG_FILE": str(path)}


def found(address: str | None = None, namespace: str | None = None, **environment: str) -> Connection:
    nowhere = {"TEMPORAL_CONFIG_FILE": "/nowhere"}  # not that of whoever runs the tests
    return find_connection(address, namespace, environment={**nowhere, **environment})


def test_with_nothing_set_it_is_the_server_of_this_machine() -> None:
    assert found() == Connection("127.0.0.1:7233", "default", tls=False, api_key=None, metadata={})


def test_temporals_own_variables_are_read() -> None:
    there = found(TEMPORAL_ADDRESS="a.example:7233", TEMPORAL_NAMESPACE="theirs", TEMPORAL_GRPC_META_TEAM="ap")
    assert there == Connection("a.example:7233", "theirs", metadata={"team": "ap"})


def test_our_settings_win_and_the_rest_stays() -> None:
    variables = {"TEMPORAL_ADDRESS": "a.example:7233", "TEMPORAL_NAMESPACE": "theirs", "TEMPORAL_API_KEY": "k"}
    assert found("b.example:7233", "ours", **variables) == Connection("b.example:7233", "ours", tls=True, api_key="k")
    assert found(None, "ours", **variables).address == "a.example:7233"
    assert found("b.example:7233", None, **variables).namespace == "theirs"


def test_an_api_key_means_tls_unless_that_is_turned_off() -> None:
    assert found(TEMPORAL_API_KEY="k").tls is True
    assert found(TEMPORAL_API_KEY="k", TEMPORAL_TLS="false").tls is False


def test_an_empty_api_key_is_none() -> None:
    assert found(TEMPORAL_API_KEY="") == Connection()
    assert found(TEMPORAL_API_KEY="", TEMPORAL_TLS="true") == Connection(tls=TLSConfig())


def test_certificates_are_given_as_text_or_as_files(tmp_path: Path) -> None:
    paths = dict.fromkeys(CLIENT_KEYS, str(tmp_path / "both.pem"))
    (tmp_path / "both.pem").write_bytes(b"mine")
    there = found(TEMPORAL_TLS_SERVER_CA_CERT_DATA="theirs", TEMPORAL_TLS_SERVER_NAME="t.example", **paths)
    assert there.tls == TLSConfig(
        server_root_ca_cert=b"theirs", domain="t.example", client_cert=b"mine", client_private_key=b"mine"
    )


def test_a_profile_of_the_file_is_read(file: dict[str, str]) -> None:
    assert found(**file) == Connection("plain.example:7233")
    cloud = Connection("cloud.example:7233", "invoices.acct", tls=True, api_key="from-the-file")
    assert found(**file, TEMPORAL_PROFILE="cloud") == cloud
    assert found(None, "ours", **file, TEMPORAL_PROFILE="cloud").namespace == "ours"


def test_without_envconfig_none_of_it_is_read(file: dict[str, str]) -> None:
    variables = {**file, "TEMPORAL_PROFILE": "cloud", "TEMPORAL_TLS": "true"}
    assert find_connection(None, None, envconfig=False, environment=variables) == Connection()


def test_an_unreadable_configuration_is_refused_with_the_reason(file: dict[str, str]) -> None:
    with pytest.raises(InvalidConnection, match="'other' not found"):
        found(**file, TEMPORAL_PROFILE="other")
    with pytest.raises(InvalidConnection, match=r"No such file.*/nowhere/key\.pem"):
        found(TEMPORAL_TLS_CLIENT_KEY_PATH="/nowhere/key.pem")


@pytest.mark.parametrize("name", ["CERT", "KEY"])
def test_half_a_key_pair_is_refused(name: str) -> None:
    with pytest.raises(InvalidConnection, match="one of them is missing"):
        found(**{f"TEMPORAL_TLS_CLIENT_{name}_DATA": "alone"})


@pytest.mark.parametrize("address", ["temporal.example", "no host:7233", "http://temporal.example:7233", ":7233"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(InvalidConnection, match=f"expected an address like .*, found '{address}'"):
        found(address)


def test_secrets_are_not_shown() -> None:
    shown = repr(Connection(tls=TLSConfig(client_private_key=b"hush"), api_key="hush", metadata={"key": "hush"}))
    assert "hush" not in shown


async def test_all_of_it_reaches_the_client() -> None:
    wanted = Connection("a.example:7233", "ours", tls=True, api_key="k", metadata={"team": "ap"})
    client = await connect(wanted, lazy=True)
    config = client.service_client.config
    assert (config.target_host, client.namespace, config.tls) == ("a.example:7233", "ours", True)
    assert (config.api_key, config.rpc_metadata) == ("k", {"team": "ap"})


async def works(client: Client) -> bool:
    with engine_errors("namespace", client.namespace):
        return (await client.count_workflows()).count >= 0


async def test_a_plain_server_is_reached(embedded: Servers) -> None:
    assert await works(await open_client(found(embedded.temporal_address)))
    assert await works(await connect(found(TEMPORAL_ADDRESS=embedded.temporal_address)))


@pytest.fixture
async def front(embedded: Servers, tmp_path: Path) -> AsyncIterator[TlsFront]:
    async with tls_front(embedded.temporal_address, tmp_path) as listening:
        yield listening


async def test_a_server_with_tls_is_reached_with_certificates(front: TlsFront) -> None:
    there = found(**front.variables)
    assert await works(await open_client(there))
    assert (await prepare_namespace(there)).namespace == "default"


@pytest.mark.parametrize("without", [CLIENT_KEYS, ("TEMPORAL_TLS_SERVER_CA_CERT_PATH",), ("TEMPORAL_TLS_SERVER_NAME",)])
async def test_without_one_of_them_it_is_not(front: TlsFront, without: tuple[str, ...]) -> None:
    there = found(**{name: value for name, value in front.variables.items() if name not in without})
    with pytest.raises(Unavailable, match="Temporal is not available"):
        await works(await open_client(there))
