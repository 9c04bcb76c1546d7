"""Define all settings in one class, read from DOCRAIL_* variables by the entry points and passed on as values.

In one file because operators read it as one list.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from docrail.adapters.http.addresses import AllowedHosts
from docrail.adapters.http.browsers import HOST_NAME, Hosts
from docrail.adapters.oidc.access import IssuerAccess, checked_issuer_url
from docrail.adapters.store.folders import Folder
from docrail.adapters.store.open_store import checked_location, open_store
from docrail.adapters.temporal.keys import PayloadKeys, parse_payload_keys
from docrail.dag.language.rates import DEFAULT_LIMITS, fleet_limits
from docrail.dag.values.suggestions import closest
from docrail.invoices.llm.prices import PriceTable, read_prices, shipped_prices
from docrail.services.access.models import Scope
from docrail.services.access.oidc import ClaimMapping
from docrail.services.app import Keeping
from docrail.services.callback_urls import CallbackKeys, parse_keys
from docrail.services.quotas.models import Quota, parse_quotas


def _split(value: Any) -> Any:
    return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value


def _check_hosts(entries: tuple[str, ...]) -> tuple[str, ...]:
    AllowedHosts.parse(entries)
    return entries


def _check_names(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not HOST_NAME.fullmatch(name.lower()):
            raise ValueError(f"expected host names without a scheme and a port, found {name!r}")
    return names


def _networks(value: Any) -> Any:
    def network(entry: Any) -> Any:
        try:
            return ip_network(entry)
        except ValueError as error:
            raise ValueError(f"expected addresses and networks like 10.0.0.0/8: {error}") from None

    return tuple(map(network, _split(value)))


def _check_public_url(url: str | None) -> str | None:
    parsed = urlsplit(url or "http://unset")
    no_host = parsed.scheme not in ("http", "https") or not parsed.hostname or parsed.port == 0
    if no_host or parsed.query or parsed.fragment:
        raise ValueError("expected http:// or https://, a host, and nothing after its path")
    return url or None  # an empty variable counts as unset


def _check_database_url(url: str) -> str:
    if not url.startswith(("postgresql://", "postgres://")):  # the URL is not repeated: it contains a password
        raise ValueError("expected a URL like postgresql://user@host:5432/database")
    try:
        _ = urlsplit(url.partition(",")[0]).port  # there may be several hosts
    except ValueError as error:
        raise ValueError(f"expected a URL like postgresql://user@host:5432/database: {error}") from None
    return url


def _none_if_empty(value: Any) -> Any:
    return None if value == "" else value  # an empty variable counts as unset


def _default_if_empty(default: str) -> Callable[[Any], Any]:
    return lambda value: value or default  # an empty variable counts as unset


def _check_issuer(url: str | None) -> str | None:
    return url and checked_issuer_url(url)


_Scopes = dict[str, frozenset[Scope]]


def _scopes_of_values(value: Any) -> Any:
    """Parse `clerks=read+review, admins=admin`."""
    if not isinstance(value, str):
        return value
    pairs = [entry.rpartition("=") for entry in _split(value)]
    if not all(name and scopes for name, _, scopes in pairs):
        raise ValueError("expected entries like docrail-clerks=read+review, with commas between them")
    return {name.strip(): [scope.strip() for scope in scopes.split("+")] for name, _, scopes in pairs}


def _check_store(location: str | None) -> str | None:
    return location and checked_location(location)


def _check_prices(path: Path | None) -> Path | None:
    if path is not None:
        try:
            read_prices(path)
        except (OSError, ValueError) as error:
            raise ValueError(f"expected a JSON file in the shape of invoices/llm/prices.json: {error}") from None
    return path


def _check_keys(key: SecretStr | None) -> SecretStr | None:
    parse_keys("" if key is None else key.get_secret_value())
    return key


def _check_payload_keys(keys: SecretStr | None) -> SecretStr | None:
    parse_payload_keys("" if keys is None else keys.get_secret_value())
    return keys


def _check_header(key: SecretStr | None) -> SecretStr | None:
    if key and not re.fullmatch(r"\s*[!-~]*\s*", key.get_secret_value()):
        # the value is not repeated: it is a secret
        raise ValueError("expected ASCII characters without spaces: it is sent in a header")
    return key


def is_loopback(host: str) -> bool:
    """Return whether a server at this host can be reached from its own machine only."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def refused_host(host: str) -> str:
    """Return why local mode does not serve on a host."""
    return (
        f"without keys the API serves on loopback addresses only, as 127.0.0.1, found {host!r}: to serve others, give "
        "`docrail up` the option --require-keys, or set DOCRAIL_ACCESS=keys"
    )


class Settings(BaseSettings):
    """The operator's settings. Each field is read from the environment variable of its name, prefixed with DOCRAIL_."""

    model_config = SettingsConfigDict(env_prefix="DOCRAIL_", frozen=True, extra="forbid")

    temporal_address: str | None = Field(
        None,
        description="address of Temporal, host:port; default: from Temporal's own configuration, else 127.0.0.1:7233",
    )
    temporal_namespace: str | None = Field(
        None, description="Temporal namespace; default: from Temporal's own configuration, else `default`"
    )
    temporal_proxy: Annotated[str, Field(pattern=r"^([^\s/]+:[0-9]{1,5}|unix:/.+)?$")] = Field(
        "", description="HTTP CONNECT proxy on the way to Temporal: host:port, or unix:/path for a socket; unset: none"
    )
    temporal_envconfig: bool = Field(
        default=True,
        description="also read Temporal's own configuration: its profile file and variables such as TEMPORAL_TLS_... "
        "and TEMPORAL_API_KEY; DOCRAIL_ settings take precedence",
    )
    temporal_ui_url: str = Field(
        "http://127.0.0.1:8233", description="address of Temporal's web UI, for links to histories; empty: no links"
    )
    payload_keys: Annotated[SecretStr | None, AfterValidator(_check_payload_keys)] = Field(
        None,
        description="keys that encrypt what goes through Temporal, the same for the API, the workers and commands: "
        "`ID:KEY, ...`, each key from `openssl rand -base64 32`; the first encrypts, all decrypt. Unset: Temporal's "
        "database holds inputs, results and errors in clear",
    )
    task_queue: str = Field("docrail", description="Temporal task queue that workers poll and runs are started on")
    resource_limits: Annotated[dict[str, float], NoDecode, BeforeValidator(fleet_limits)] = Field(
        fleet_limits(DEFAULT_LIMITS),
        description="rate limit of each resource tag for the whole fleet: `gemini_api=10/s, quota=300/min`, or JSON. "
        "These are initial values: `docrail limit set` changes them at run time. `gemini_api` always exists",
    )
    worker_resource_tags: Annotated[tuple[str, ...] | None, NoDecode, BeforeValidator(_split)] = Field(
        None,
        description="resource tags whose steps this worker runs: `gemini_api, database`. Empty: none; unset: all",
    )
    build_id: Annotated[str | None, BeforeValidator(_none_if_empty)] = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}$",
        description="build of this worker's code, for example `2026-11-21.1`. Runs stay on the build on which they "
        "started; new ones use the current build of `temporal worker deployment`. Unset: no versioning",
    )
    deployment_name: Annotated[str | None, BeforeValidator(_none_if_empty)] = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$",
        description="worker deployment to which the builds belong, the same for the whole fleet; default: the task "
        "queue's name, with invalid characters replaced by dashes",
    )
    database_url: Annotated[str, AfterValidator(_check_database_url)] = Field(
        "postgresql://docrail@127.0.0.1:5432/docrail",
        description="PostgreSQL connection URL",
    )
    data_dir: Path = Field(
        Path("var"),
        description="folder of the embedded servers and, without DOCRAIL_STORE, of documents, values and the lake",
    )
    store: Annotated[str | None, BeforeValidator(_none_if_empty), AfterValidator(_check_store)] = Field(
        None,
        description="location of documents, stored values and the lake: `file:///srv/docrail` or "
        "`s3://bucket/prefix`; default: DOCRAIL_DATA_DIR. S3 credentials and region come from the AWS_* variables",
    )
    store_endpoint: Annotated[str | None, AfterValidator(_check_public_url)] = Field(
        None, description="address of another S3 service than Amazon's: `http://minio.internal:9000`"
    )
    keep_values_days: float = Field(
        90,
        ge=0,
        description="days until stored values that no open run uses are deleted; 0: never. Must exceed Temporal's "
        "retention of closed runs, because a retry of one needs its values",
    )
    keep_originals_days: float = Field(
        0,
        ge=0,
        description="days until a document's original is deleted, once its run and review have ended; 0: never. Many "
        "countries require originals to be kept for years",
    )
    lake_grace_hours: float = Field(
        24, ge=1, description="hours that replaced files of the lake are kept for queries that still read them"
    )
    maintenance_schedule: str = Field(
        "0 3 * * *",
        pattern=r"^(\S+ ){4}\S+$|^$",
        description="when to compact the lake and delete old files: a cron expression in UTC; empty: never",
    )
    access: Literal["keys", "local"] = Field(
        "keys",
        description="who may call the API: with `keys` every request needs an API key, a token or a session; with "
        "`local`, as `docrail up` has it, requests without one are those of the person at this machine, and the API "
        "listens on loopback addresses only",
    )
    api_host: str = Field("127.0.0.1", description="address the HTTP API listens on")
    api_port: int = Field(8000, ge=0, le=65535, description="port the HTTP API listens on")
    api_hosts: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split), AfterValidator(_check_names)] = Field(
        (),
        description="names by which callers reach the API and the workers' /metrics pages, besides localhost, the "
        "address listened on and the host of DOCRAIL_PUBLIC_URL: `docrail.internal, api`. Requests for any other host "
        "are refused. A server that listens on 0.0.0.0 or :: accepts every IP address",
    )
    tls_cert: Annotated[Path | None, BeforeValidator(_none_if_empty)] = Field(
        None,
        description="certificate chain in PEM, to serve HTTPS; a renewed file is used without a restart",
    )
    tls_key: Annotated[Path | None, BeforeValidator(_none_if_empty)] = Field(
        None, description="private key of DOCRAIL_TLS_CERT, in PEM, without a password"
    )
    trusted_proxies: Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode, BeforeValidator(_networks)] = Field(
        (),
        description="addresses of the proxies in front of the API, whose headers X-Forwarded-For, -Proto and -Host are "
        "believed: `10.0.0.0/8, 192.168.1.7`",
    )
    worker_metrics_port: int = Field(
        0, ge=0, le=65535, description="port of a worker's Prometheus /metrics page; 0: none"
    )
    worker_metrics_host: str = Field("127.0.0.1", description="address that a worker's /metrics page listens on")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "warning",
        description="least level of what the API and the workers log; tokens are removed at each level",
    )
    public_url: Annotated[str | None, AfterValidator(_check_public_url)] = Field(
        None,
        description="public address of the API, for callback URLs: `https://docrail.example`; default with `docrail "
        "up`: its own address",
    )
    callback_key: Annotated[SecretStr | None, AfterValidator(_check_keys)] = Field(
        None,
        description="key that signs callback URLs, at least 32 characters, the same for the API and all workers. Of "
        "several, separated by commas, the first signs and all are accepted. `docrail up` creates one if unset",
    )
    four_eyes_above: Annotated[Decimal | None, BeforeValidator(_none_if_empty)] = Field(
        None,
        ge=0,
        description="largest total that one person may approve, in the document's currency; above it, and whenever "
        "an IBAN has changed, two people must. Unset: any total",
    )
    oidc_issuer: Annotated[str | None, BeforeValidator(_none_if_empty), AfterValidator(_check_issuer)] = Field(
        None,
        description="OpenID Connect identity provider whose people may use the API: the `issuer` of its discovery "
        "document, `https://sso.example/realms/office`",
    )
    oidc_audience: Annotated[str | None, BeforeValidator(_none_if_empty)] = Field(
        None, description="`aud` of access tokens for this API; unset, it accepts no bearer tokens of the provider"
    )
    oidc_jwks_url: Annotated[str | None, BeforeValidator(_none_if_empty), AfterValidator(_check_issuer)] = Field(
        None, description="where the provider's keys are, if not where its discovery document says"
    )
    oidc_client_id: Annotated[str | None, BeforeValidator(_none_if_empty)] = Field(
        None, description="this API's client at the provider; unset, no one signs in there with a browser"
    )
    oidc_client_secret: Annotated[SecretStr | None, BeforeValidator(_none_if_empty)] = Field(
        None, description="secret of the client, if it has one"
    )
    oidc_scopes: Annotated[_Scopes, NoDecode, BeforeValidator(_scopes_of_values)] = Field(
        {},
        description="what the values of the claim DOCRAIL_OIDC_SCOPE_CLAIM permit: "
        "`docrail-clerks=read+review, docrail-admins=submit+read+review+operate+admin`. Others permit nothing",
    )
    oidc_scope_claim: Annotated[str, BeforeValidator(_default_if_empty("roles"))] = Field(
        "roles", description="claim with a person's roles or groups; one in another is written `realm_access.roles`"
    )
    oidc_tenant_claim: Annotated[str | None, BeforeValidator(_none_if_empty)] = Field(
        None, description="claim that names a person's tenant; unset, everyone belongs to the tenant `default`"
    )
    oidc_session_minutes: Annotated[float, BeforeValidator(_default_if_empty("60"))] = Field(
        60.0,
        gt=0,
        le=720,
        description="minutes after which a browser signs in at the identity provider again: until then, a session "
        "keeps the roles of its sign-in",
    )
    oidc_name_claim: Annotated[str, BeforeValidator(_default_if_empty("preferred_username"))] = Field(
        "preferred_username",
        description="claim with a person's name. The first name seen with a person's `sub` is kept",
    )
    max_upload_bytes: int = Field(25 * 2**20, gt=0, description="largest document that may be uploaded, in bytes")
    quotas: Annotated[Mapping[Quota, float], NoDecode, BeforeValidator(parse_quotas)] = Field(
        {},
        description="what each tenant may use unless `docrail quota set` has set another value for it: "
        "`requests_per_second=50, body_bytes=4000000, documents_per_day=10000, open_runs=5000, highest_priority=3`; "
        "unset: no limits, but tenants other than `default` have the highest priority 3",
    )
    sandboxed: bool = Field(
        default=False,
        description="run workflow code in Temporal's sandbox, which detects non-deterministic calls and costs about a "
        "third of the worker's speed; for tests",
    )
    graceful_shutdown_seconds: float = Field(
        30.0, ge=0, description="seconds that a stopping worker waits for running activities"
    )
    worker_heartbeat_seconds: float = Field(
        5.0,
        ge=1,
        le=60,
        description="seconds between a worker's heartbeats; after 3 missed heartbeats, /readyz omits the worker",
    )
    handlers: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)] = Field(
        (),
        description="folders and importable modules with handlers of your own: `./handlers, acme.handlers`; the same "
        "for workers, API and commands",
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split), AfterValidator(_check_hosts)] = Field(
        (),
        description="private hosts that steps may call: `erp.internal, *.shop.internal:8443, 10.20.0.0/16`",
    )
    secrets_dir: Path | None = Field(
        None,
        description="folder of the secrets that steps use as `secret://NAME`, in files TENANT/NAME; default: "
        "`secrets` in DOCRAIL_DATA_DIR",
    )
    notify_url: SecretStr | None = Field(
        None, description="URL to which the handler `notify` posts; default: the worker's log"
    )
    gemini_api_key: Annotated[SecretStr | None, AfterValidator(_check_header)] = Field(
        None,
        validation_alias=AliasChoices("docrail_gemini_api_key", "gemini_api_key"),
        description="key of the Gemini API; GEMINI_API_KEY is accepted too",
    )
    gemini_base_url: Annotated[str | None, AfterValidator(_check_public_url)] = Field(
        None, description="address of another server with the Gemini API; default: Google's"
    )
    gemini_model: str = Field("gemini-3.8-flash", description="default model")
    gemini_budget_per_day: Annotated[Decimal | None, BeforeValidator(_none_if_empty)] = Field(
        None,
        ge=0,
        description="largest cost of all tenants' model calls per UTC day, in the price table's currency. Beyond it, "
        "the local readers are used and `llm_service` waits. Unset: no limit",
    )
    gemini_budget_per_tenant: Annotated[Decimal | None, BeforeValidator(_none_if_empty)] = Field(
        None,
        ge=0,
        description="largest share of that budget for one tenant, so that others keep theirs. Unset: no limit",
    )
    gemini_prices: Annotated[Path | None, BeforeValidator(_none_if_empty), AfterValidator(_check_prices)] = Field(
        None, description="JSON file of model prices that replaces invoices/llm/prices.json"
    )

    @field_validator("api_host")
    @classmethod
    def _must_be_local(cls, host: str, others: ValidationInfo) -> str:
        if others.data.get("access") == "local" and not is_loopback(host):
            raise ValueError(refused_host(host))
        return host

    @field_validator("worker_resource_tags")
    @classmethod
    def _must_be_limited(cls, tags: tuple[str, ...] | None, others: ValidationInfo) -> tuple[str, ...] | None:
        known = others.data.get("resource_limits")
        if known is not None and (unknown := set(tags or ()) - known.keys()):
            raise ValueError(
                f"{', '.join(sorted(unknown))}: expected tags of DOCRAIL_RESOURCE_LIMITS, which has "
                f"{', '.join(known) or 'none'}"
            )
        return tags

    @field_validator("oidc_scopes")
    @classmethod
    def _must_be_of_use(
        cls, scopes: dict[str, frozenset[Scope]], others: ValidationInfo
    ) -> dict[str, frozenset[Scope]]:
        used = others.data.get("oidc_audience") or others.data.get("oidc_client_id")
        if others.data.get("oidc_issuer") is None:
            if used and "oidc_issuer" in others.data:
                raise ValueError("DOCRAIL_OIDC_AUDIENCE and DOCRAIL_OIDC_CLIENT_ID need DOCRAIL_OIDC_ISSUER")
        elif not used:
            raise ValueError(
                "expected DOCRAIL_OIDC_AUDIENCE, for bearer tokens, or DOCRAIL_OIDC_CLIENT_ID, for sign-in"
            )
        elif not scopes:
            raise ValueError("expected what the provider's people may do: docrail-clerks=read+review")
        return scopes

    @property
    def served_tags(self) -> tuple[str, ...]:
        """Return the resource tags whose steps a worker runs."""
        return tuple(self.resource_limits) if self.worker_resource_tags is None else self.worker_resource_tags

    @property
    def deployment(self) -> str:
        """Return the deployment name that distinguishes this fleet's builds from others."""
        return self.deployment_name or re.sub(r"[^A-Za-z0-9_-]", "-", self.task_queue)

    def open_store(self) -> Folder:
        """Return the folder of all stored files. Makes no request yet."""
        return open_store(self.store, self.data_dir, endpoint=self.store_endpoint)

    @property
    def own_hosts(self) -> Hosts:
        """Return the names by which the API may be called."""
        return Hosts.of(self.api_host, self.api_hosts, self.public_url)

    @property
    def worker_hosts(self) -> Hosts:
        """Return the names by which a worker's metrics page may be called."""
        return Hosts.of(self.worker_metrics_host, self.api_hosts)

    @property
    def price_table(self) -> PriceTable:
        """Return the price table of the models."""
        return shipped_prices() if self.gemini_prices is None else read_prices(self.gemini_prices)

    @property
    def keeping(self) -> Keeping:
        """Return the retention periods of stored files."""
        return Keeping(
            dt.timedelta(hours=self.lake_grace_hours), self.keep_values_days or None, self.keep_originals_days or None
        )

    @property
    def issuer(self) -> IssuerAccess | None:
        """Return how the OpenID Connect issuer is used; None without one."""
        if self.oidc_issuer is None:
            return None
        secret = None if self.oidc_client_secret is None else self.oidc_client_secret.get_secret_value()
        names = (self.oidc_issuer, self.oidc_audience, self.oidc_jwks_url, self.oidc_client_id)
        return IssuerAccess(*names, secret, self.allowed_hosts)

    @property
    def claim_mapping(self) -> ClaimMapping:
        """Return what the issuer's claims mean."""
        return ClaimMapping(self.oidc_scopes, self.oidc_scope_claim, self.oidc_tenant_claim, self.oidc_name_claim)

    @property
    def callback_keys(self) -> CallbackKeys:
        """Return the keys of callback URLs."""
        return CallbackKeys(parse_keys("" if self.callback_key is None else self.callback_key.get_secret_value()))

    @property
    def secret_values(self) -> tuple[str, ...]:
        """Return the secrets among the settings, which no log may contain."""
        fields = (getattr(self, name) for name in type(self).model_fields)
        hidden = [field.get_secret_value() for field in fields if isinstance(field, SecretStr)]
        payload_keys = "" if self.payload_keys is None else self.payload_keys.get_secret_value()
        entries = (entry.partition(":")[2].strip() for entry in payload_keys.split(","))
        password = urlsplit(self.database_url.partition(",")[0]).password
        return tuple(filter(None, [*hidden, *self.callback_keys.keys, *entries, password]))

    @property
    def encryption(self) -> PayloadKeys:
        """Return the keys that encrypt what goes through Temporal."""
        return parse_payload_keys("" if self.payload_keys is None else self.payload_keys.get_secret_value())

    @property
    def secrets_folder(self) -> Path:
        """Return the folder of the secrets."""
        return self.data_dir / "secrets" if self.secrets_dir is None else self.secrets_dir


def missing_settings(settings: Settings) -> Iterator[str]:
    """Yield a warning for each missing setting that some steps need."""
    lacking = {
        "DOCRAIL_PUBLIC_URL": (settings.public_url, "steps that ask for a callback URL"),
        "DOCRAIL_CALLBACK_KEY": (settings.callback_keys.keys, "steps that ask for a callback URL"),
        "DOCRAIL_GEMINI_API_KEY": (settings.gemini_api_key, "steps that ask a model"),
        "DOCRAIL_ALLOWED_HOSTS": (settings.allowed_hosts, "steps that call hosts inside your network"),
    }
    for name, (value, steps) in lacking.items():
        if not value:
            yield f"{name} is not set: this worker leaves {steps} to others, and they fail if no worker has it"


PREFIX = "DOCRAIL_"
"""The prefix of every variable's name."""

OF_COMMANDS = frozenset({"DOCRAIL_API_URL", "DOCRAIL_API_KEY"})
"""Variables that only commands read, as defaults of their options."""


def unread_variables(names: Iterable[str]) -> Iterator[str]:
    """Yield a message for each variable with the prefix that is not a setting: it is probably misspelt."""
    known = {*OF_COMMANDS, *(f"DOCRAIL_{name.upper()}" for name in Settings.model_fields)}
    for name in sorted(name for name in names if name.upper().startswith("DOCRAIL_") and name.upper() not in known):
        meant = closest(name.upper().removeprefix(PREFIX), (each.removeprefix(PREFIX) for each in known))
        hint = f"did you mean {PREFIX}{meant}?" if meant else "docs/reference/settings.md has all"
        yield f"the variable {name} is not a setting and has no effect: {hint}"
