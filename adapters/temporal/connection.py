"""Configure the connection to Temporal from Docrail's settings, completed by Temporal's own configuration.

The latter are the TEMPORAL_* variables and the profiles of a file, as in all of Temporal's tools: TLS, API key.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from temporalio.client import Client, Interceptor
from temporalio.envconfig import ClientConfigProfile, ClientConnectConfig
from temporalio.runtime import Runtime
from temporalio.service import HttpConnectProxyConfig, RetryConfig, TLSConfig

from docrail.adapters.temporal.codec import data_converter
from docrail.adapters.temporal.keys import NO_KEYS, PayloadKeys
from docrail.adapters.temporal.queries import AskTwice

_ADDRESS = re.compile(r"[^\s/]+:[0-9]{1,5}")


class InvalidConnection(ValueError):  # noqa: N818  # a statement about the settings
    """The settings of the connection to Temporal are invalid. Raised at startup only."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"invalid settings of the connection to Temporal: {problem}")


@dataclass(frozen=True, slots=True)
class Connection:
    """The connection to Temporal. `tls` True uses the machine's root certificates; secrets are not shown."""

    address: str = "127.0.0.1:7233"
    namespace: str = "default"
    tls: bool | TLSConfig = field(default=False, repr=False)
    api_key: str | None = field(default=None, repr=False)
    metadata: Mapping[str, str] = field(default_factory=dict, repr=False)
    keys: PayloadKeys = NO_KEYS
    """Encrypt what goes through Temporal."""
    proxy: str = ""
    """An HTTP CONNECT proxy, host:port or unix:/path; empty: none."""
    interceptors: tuple[Interceptor, ...] = field(default=(), repr=False)
    """What every call passes through, such as tracing."""


def find_connection(
    address: str | None,
    namespace: str | None,
    *,
    envconfig: bool = True,
    keys: PayloadKeys = NO_KEYS,
    proxy: str = "",
    environment: Mapping[str, str] | None = None,
) -> Connection:
    """Return the connection given by the arguments and, with `envconfig`, completed by Temporal's own configuration.

    `keys` encrypt what goes through Temporal, `proxy` leads to it; `environment` replaces that of this process.
    Raises: InvalidConnection.
    """
    found = _configured(environment) if envconfig else ClientConnectConfig()
    return Connection(
        address=_checked(address or found.get("target_host") or Connection().address),
        namespace=namespace or found.get("namespace") or Connection().namespace,
        tls=found.get("tls", False),
        api_key=found.get("api_key"),
        metadata=found.get("rpc_metadata", {}),
        keys=keys,
        proxy=proxy,
    )


async def connect(
    connection: Connection,
    *,
    lazy: bool = False,
    retry_config: RetryConfig | None = None,
    runtime: Runtime | None = None,
) -> Client:
    """Return a client; a `lazy` one connects on first use, any other raises RuntimeError if it cannot connect."""
    return await Client.connect(
        connection.address,
        namespace=connection.namespace,
        tls=connection.tls,
        api_key=connection.api_key,
        rpc_metadata=connection.metadata,
        data_converter=data_converter(connection.keys),
        interceptors=[AskTwice(), *connection.interceptors],
        lazy=lazy,
        retry_config=retry_config,
        runtime=runtime,
        http_connect_proxy_config=HttpConnectProxyConfig(connection.proxy) if connection.proxy else None,
    )


def _checked(address: str) -> str:
    if not _ADDRESS.fullmatch(address):  # a lazy client would only fail on first use
        raise InvalidConnection(f"expected an address like temporal.internal:7233, found {address!r}")
    return address


def _configured(environment: Mapping[str, str] | None) -> ClientConnectConfig:
    try:
        profile = ClientConfigProfile.load(override_env_vars=environment)
        config = profile.to_client_connect_config()
    except (RuntimeError, OSError) as error:  # an unreadable file, or a profile that is not in it
        raise InvalidConnection(str(error)) from error
    if profile.tls and bool(profile.tls.client_cert) != bool(profile.tls.client_private_key):
        raise InvalidConnection("expected both a client certificate and its key, or neither; one of them is missing")
    if config.get("api_key") == "":  # as compose files pass an unset variable: no key, and so no TLS
        del config["api_key"]
        if profile.tls is None:
            del config["tls"]
    return config
