"""Define all settings in one class, read from DOCRAIL_* variables by the entry points and passed on as values.

In one file because operators read it as one list.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import quote, unquote, urlsplit

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from docrail.adapters.http.addresses import AllowedHosts
from docrail.adapters.http.browsers import HOST_NAME, Hosts
from docrail.adapters.oidc.access import IssuerAccess, checked_issuer_url
from docrail.adapters.settings_file import VARIABLE as FILE_VARIABLE
from docrail.adapters.settings_file import SettingsFileError, flatten, read_settings_file, settings_path
from docrail.adapters.store.folders import Folder
from docrail.adapters.store.open_store import checked_location, open_store
from docrail.adapters.temporal.keys import PayloadKeys, parse_payload_keys
from docrail.dag.language.definition import RetryConfig
from docrail.dag.language.rates import DEFAULT_LIMITS, fleet_limits
from docrail.dag.values.suggestions import closest
from docrail.invoices.llm.prices import PriceTable, read_prices, shipped_prices
from docrail.services.access.models import Scope
from docrail.services.access.oidc import ClaimMapping
from docrail.services.app import Budgets, Keeping
from docrail.services.callback_urls import CallbackKeys, parse_keys
from docrail.services.quotas.models import Quota, parse_quotas

if TYPE_CHECKING:
    from docrail.adapters.temporal.connection import Connection
    from docrail.adapters.tracing import Tracing


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


def _counts(value: Any) -> Any:
    """Parse `gemini_api=4, database=20`."""
    if not isinstance(value, str):
        return value
    pairs = [entry.rpartition("=") for entry in _split(value)]
    if not all(name.strip() and count.strip().isdecimal() for name, _, count in pairs):
        raise ValueError("expected entries like gemini_api=4, with commas between them")
    return {name.strip(): int(count) for name, _, count in pairs}


def _check_store(location: str | None) -> str | None:
    return location and checked_location(location)


def _check_prices(path: Path | None) -> Path | None:
    if path is not None:
        try:
            read_prices(path)
        except (OSError, ValueError) as error:
            raise ValueError(f"expected a JSON file in the shape of invoices/llm/prices.json: {error}") from None
    return path


def _text(secret: SecretStr | None) -> str:
    return "" if secret is None else secret.get_secret_value()


def _check_keys(key: SecretStr | None) -> SecretStr | None:
    parse_keys(_text(key))
    return key


def _check_payload_keys(keys: SecretStr | None) -> SecretStr | None:
    parse_payload_keys(_text(keys))
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


Profile = Literal["dev", "test", "prod"]

EMPTY_HAS_A_MEANING = frozenset({"worker_resource_tags", "maintenance_schedule", "temporal_ui_url"})
"""Settings that may be set to nothing. An empty value of the others counts as unset, as with `NAME=` in a `.env`."""

PROFILE_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "dev": {},
    "test": {"sandboxed": True},
    "prod": {"log_level": "info"},
}
"""The defaults that a profile changes."""

RETRY_DELAYS = ("initial_delay", "max_delay", "exponential_base", "jitter")
"""The parts of `retry_config` with a setting `retry_<name>`."""

DEFAULT_PASSWORDS = frozenset({"docrail", "postgres", "password", "changeme", "secret"})
"""Passwords of docker-compose.yml and of everyone's first try, which production refuses."""


class Settings(BaseSettings):
    """The operator's settings, each from the variable DOCRAIL_<NAME>, else from the settings file, else its default."""

    model_config = SettingsConfigDict(env_prefix="DOCRAIL_", frozen=True, extra="forbid")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  the names are pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return where values come from, the strongest first. Raises: SettingsFileError."""
        of_file = InitSettingsSource(settings_cls, file_values())
        profile = {**of_file(), **env_settings(), **init_settings()}.get("profile")
        of_profile = InitSettingsSource(settings_cls, dict(PROFILE_DEFAULTS.get(str(profile), {})))
        return init_settings, env_settings, of_file, of_profile

    profile: Profile = Field(
        "dev",
        description="what the installation is for: `prod` logs more and refuses default passwords, missing keys and "
        "plain HTTP beyond this machine; `test` runs workflow code in Temporal's sandbox",
    )
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
    retry_max_retries: int | None = Field(
        None,
        ge=0,
        le=100,
        description="retries after the first attempt of steps whose definition gives no `max_retries`; unset: 3. This "
        "and the next four count for definitions that are published afterwards",
    )
    retry_initial_delay: float | None = Field(
        None, gt=0, le=86_400, description="default of `retry_config.initial_delay`, in seconds; unset: 10"
    )
    retry_max_delay: float | None = Field(
        None, gt=0, le=86_400, description="default of `retry_config.max_delay`, in seconds; unset: none"
    )
    retry_exponential_base: float | None = Field(
        None, ge=1, le=10, description="default of `retry_config.exponential_base`; unset: 2"
    )
    retry_jitter: float | None = Field(
        None, ge=0, le=1, description="default of `retry_config.jitter`, a share of each delay; unset: 0.5"
    )
    worker_resource_tags: Annotated[tuple[str, ...] | None, NoDecode, BeforeValidator(_split)] = Field(
        None,
        description="resource tags whose steps this worker runs: `gemini_api, database`. Empty: none; unset: all",
    )
    worker_activity_slots: int = Field(
        100, ge=1, le=10_000, description="steps that a worker runs at once; further ones wait for any worker"
    )
    worker_workflow_slots: int = Field(
        100, ge=2, le=10_000, description="runs whose next steps a worker decides at once"
    )
    worker_tag_slots: Annotated[dict[str, int], NoDecode, BeforeValidator(_counts)] = Field(
        {},
        description="steps of a resource tag that a worker runs at once, if not "
        "DOCRAIL_WORKER_ACTIVITY_SLOTS: `gemini_api=4, database=20`",
    )
    build_id: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}$",
        description="build of this worker's code, for example `2026-11-21.1`. Runs stay on the build on which they "
        "started; new ones use the current build of `temporal worker deployment`. Unset: no versioning",
    )
    deployment_name: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$",
        description="worker deployment to which the builds belong, the same for the whole fleet; default: the task "
        "queue's name, with invalid characters replaced by dashes",
    )
    database_password: SecretStr | None = Field(
        None, description="password of the user of DOCRAIL_DATABASE_URL, as it is: nothing in it is escaped"
    )
    database_url: Annotated[str, AfterValidator(_check_database_url)] = Field(
        "postgresql://docrail@127.0.0.1:5432/docrail",
        description="PostgreSQL connection URL",
    )
    data_dir: Path = Field(
        Path("var"),
        description="folder of the embedded servers and, without DOCRAIL_STORE, of documents, values and the lake",
    )
    store: Annotated[str | None, AfterValidator(_check_store)] = Field(
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
    keep_runs_days: float = Field(
        365,
        ge=0,
        description="days after its end until the copies of a run's report and explanation are deleted, which are "
        "shown once Temporal has deleted the run; 0: never",
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
        description="names by which callers reach the API and the workers' pages, besides localhost, the "
        "address listened on and the host of DOCRAIL_PUBLIC_URL: `docrail.internal, api`. Requests for any other host "
        "are refused. A server that listens on 0.0.0.0 or :: accepts every IP address",
    )
    tls_cert: Path | None = Field(
        None,
        description="certificate chain in PEM, to serve HTTPS; a renewed file is used without a restart",
    )
    tls_key: Path | None = Field(None, description="private key of DOCRAIL_TLS_CERT, in PEM, without a password")
    trusted_proxies: Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode, BeforeValidator(_networks)] = Field(
        (),
        description="addresses of the proxies in front of the API, whose headers X-Forwarded-For, -Proto and -Host are "
        "believed: `10.0.0.0/8, 192.168.1.7`",
    )
    worker_metrics_port: int = Field(
        0, ge=0, le=65535, description="port of a worker's pages, /metrics for Prometheus and /readyz; 0: none"
    )
    worker_metrics_host: str = Field("127.0.0.1", description="address that a worker's pages listen on")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "warning",
        description="least level of what the API and the workers log; tokens are removed at each level",
    )
    log_format: Literal["text", "json"] = Field(
        "text", description="form of a log line; JSON has the ids of tenant, run, step, document and trace as fields"
    )
    traces_endpoint: Annotated[str | None, AfterValidator(_check_public_url)] = Field(
        None,
        description="address of an OpenTelemetry collector for traces, by OTLP over HTTP: `http://127.0.0.1:4318`; "
        "unset: no traces",
    )
    traces_share: float = Field(
        1.0, ge=0, le=1, description="share of requests that are traced, unless their caller has decided"
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
    four_eyes_above: Decimal | None = Field(
        None,
        ge=0,
        description="largest total that one person may approve, in the document's currency; above it, and whenever "
        "an IBAN has changed, two people must. Unset: any total",
    )
    oidc_issuer: Annotated[str | None, AfterValidator(_check_issuer)] = Field(
        None,
        description="OpenID Connect identity provider whose people may use the API: the `issuer` of its discovery "
        "document, `https://sso.example/realms/office`",
    )
    oidc_audience: str | None = Field(
        None, description="`aud` of access tokens for this API; unset, it accepts no bearer tokens of the provider"
    )
    oidc_jwks_url: Annotated[str | None, AfterValidator(_check_issuer)] = Field(
        None, description="where the provider's keys are, if not where its discovery document says"
    )
    oidc_client_id: str | None = Field(
        None, description="this API's client at the provider; unset, no one signs in there with a browser"
    )
    oidc_client_secret: SecretStr | None = Field(None, description="secret of the client, if it has one")
    oidc_scopes: Annotated[_Scopes, NoDecode, BeforeValidator(_scopes_of_values)] = Field(
        {},
        description="what the values of the claim DOCRAIL_OIDC_SCOPE_CLAIM permit: "
        "`docrail-clerks=read+review, docrail-admins=submit+read+review+operate+admin`. Others permit nothing",
    )
    oidc_scope_claim: str = Field(
        "roles", description="claim with a person's roles or groups; one in another is written `realm_access.roles`"
    )
    oidc_tenant_claim: str | None = Field(
        None, description="claim that names a person's tenant; unset, everyone belongs to the tenant `default`"
    )
    oidc_session_minutes: float = Field(
        60.0,
        gt=0,
        le=720,
        description="minutes after which a browser signs in at the identity provider again: until then, a session "
        "keeps the roles of its sign-in",
    )
    oidc_name_claim: str = Field(
        "preferred_username",
        description="claim with a person's name. The first name seen with a person's `sub` is kept",
    )
    max_upload_bytes: int = Field(25 * 2**20, gt=0, description="largest document that may be uploaded, in bytes")
    max_zip_bytes: int = Field(2**29, gt=0, description="largest zip file of documents that a batch takes, in bytes")
    share_from: int = Field(
        10,
        ge=0,
        le=1000,
        description="uploads per second of a tenant to one API process, each sent while another is in progress, from "
        "which their runs share workflows, which costs less; they then wait for each other up to 0.1 s to start, and "
        "light steps up to 1 s. 0: never",
    )
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
        description="seconds between a worker's heartbeats; one that misses two of them counts as lost",
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
    inbox_dir: Path | None = Field(
        None,
        description="folder of the folders that triggers watch, in subfolders TENANT/NAME; every worker sees it. "
        "Default: no folder is watched",
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
    gemini_budget_per_day: Decimal | None = Field(
        None,
        ge=0,
        description="largest cost of all tenants' model calls per UTC day, in the price table's currency. Beyond it, "
        "the local readers are used and `llm_service` waits. Unset: no limit",
    )
    gemini_budget_per_tenant: Decimal | None = Field(
        None,
        ge=0,
        description="largest share of that budget for one tenant, so that others keep theirs. Unset: no limit",
    )
    gemini_prices: Annotated[Path | None, AfterValidator(_check_prices)] = Field(
        None, description="JSON file of model prices that replaces invoices/llm/prices.json"
    )

    @model_validator(mode="before")
    @classmethod
    def _empty_is_unset(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if value != "" or name in EMPTY_HAS_A_MEANING}

    @field_validator("database_url")
    @classmethod
    def _with_its_password(cls, url: str, others: ValidationInfo) -> str:
        password = others.data.get("database_password")
        if password is None:
            return url
        scheme, _, rest = url.partition("://")
        user, at, place = rest.partition("@")
        if not at or ":" in user:
            raise ValueError("expected a user without a password: DOCRAIL_DATABASE_PASSWORD has it")
        return f"{scheme}://{user}:{quote(password.get_secret_value(), safe='')}@{place}"

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

    @field_validator("worker_tag_slots")
    @classmethod
    def _must_have_slots(cls, slots: dict[str, int], others: ValidationInfo) -> dict[str, int]:
        known = others.data.get("resource_limits", slots)
        for tag, count in slots.items():
            if tag not in known:
                raise ValueError(f"{tag}: expected tags of DOCRAIL_RESOURCE_LIMITS, which has {', '.join(known)}")
            if count < 1:
                raise ValueError(f"{tag}: expected at least 1; DOCRAIL_WORKER_RESOURCE_TAGS says which tags are served")
        return slots

    @field_validator("retry_max_delay")
    @classmethod
    def _must_not_be_below_the_first(cls, most: float | None, others: ValidationInfo) -> float | None:
        first = others.data.get("retry_initial_delay") or RetryConfig().initial_delay
        if most is not None and most < first:
            raise ValueError(f"expected at least the first delay, DOCRAIL_RETRY_INITIAL_DELAY: {first:g}")
        return most

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

    @model_validator(mode="after")
    def _must_be_fit_for_production(self) -> Self:
        if self.profile == "prod" and (reasons := list(production_problems(self))):
            raise ValueError("\n  ".join([f"not fit for the profile `prod` ({len(reasons)}):", *reasons]))
        return self

    @property
    def served_tags(self) -> tuple[str, ...]:
        """Return the resource tags whose steps a worker runs."""
        return tuple(self.resource_limits) if self.worker_resource_tags is None else self.worker_resource_tags

    def slots_of(self, tag: str) -> int:
        """Return how many steps of a resource tag a worker runs at once."""
        return self.worker_tag_slots.get(tag, self.worker_activity_slots)

    @property
    def step_defaults(self) -> dict[str, Any]:
        """Return the defaults of steps, in the shape of a definition's `defaults`."""
        delays = {name: getattr(self, f"retry_{name}") for name in RETRY_DELAYS}
        delays = {name: value for name, value in delays.items() if value is not None}
        retries = {} if self.retry_max_retries is None else {"max_retries": self.retry_max_retries}
        return retries | ({"retry_config": delays} if delays else {})

    @property
    def deployment(self) -> str:
        """Return the deployment name that distinguishes this fleet's builds from others."""
        return self.deployment_name or re.sub(r"[^A-Za-z0-9_-]", "-", self.task_queue)

    @property
    def log_options(self) -> dict[str, Any]:
        """Return the arguments of configure_logs."""
        options = {"level": self.log_level, "secrets": self.secret_values, "as_json": self.log_format == "json"}
        return options | {"trace_ids": self.trace_ids}

    @property
    def trace_ids(self) -> Callable[[], Mapping[str, str]]:
        """Return what gives log lines the ids of the present trace."""
        if self.traces_endpoint is None:
            return dict
        from docrail.adapters.tracing import present_trace_ids  # noqa: PLC0415  # few installations need its memory

        return present_trace_ids

    def open_tracing(self, service: str) -> "Tracing | None":
        """Begin to send the traces of this process; None: no collector is set."""
        if self.traces_endpoint is None:
            return None
        from docrail.adapters.tracing import open_tracing  # noqa: PLC0415  # few installations need its memory

        return open_tracing(service, self.traces_endpoint, self.traces_share)

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
    def budgets(self) -> Budgets:
        """Return what models' answers may cost."""
        return Budgets(self.gemini_budget_per_day, self.gemini_budget_per_tenant, self.price_table.currency)

    @property
    def keeping(self) -> Keeping:
        """Return the retention periods of stored files."""
        return Keeping(
            dt.timedelta(hours=self.lake_grace_hours),
            self.keep_values_days or None,
            self.keep_originals_days or None,
            self.keep_runs_days or None,
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
        return CallbackKeys(parse_keys(_text(self.callback_key)))

    @property
    def secret_values(self) -> tuple[str, ...]:
        """Return the secrets among the settings, which no log may contain."""
        fields = (getattr(self, name) for name in type(self).model_fields)
        hidden = [field.get_secret_value() for field in fields if isinstance(field, SecretStr)]
        entries = (entry.partition(":")[2].strip() for entry in _text(self.payload_keys).split(","))
        password = urlsplit(self.database_url.partition(",")[0]).password
        return tuple(filter(None, [*hidden, *self.callback_keys.keys, *entries, password]))

    @property
    def encryption(self) -> PayloadKeys:
        """Return the keys that encrypt what goes through Temporal."""
        return parse_payload_keys(_text(self.payload_keys))

    def temporal_connection(self, tracing: "Tracing | None" = None) -> "Connection":
        """Return the connection to Temporal. Raises: InvalidConnection."""
        from docrail.adapters.temporal.connection import find_connection  # noqa: PLC0415  # few commands need it

        found = find_connection(
            self.temporal_address,
            self.temporal_namespace,
            envconfig=self.temporal_envconfig,
            keys=self.encryption,
            proxy=self.temporal_proxy,
        )
        return found if tracing is None else replace(found, interceptors=(tracing.interceptor,))

    @property
    def app_options(self) -> dict[str, Any]:
        """Return the arguments of services.app.App that are settings."""
        return {
            "task_queue": self.task_queue,
            "resource_limits": self.resource_limits,
            "step_defaults": self.step_defaults,
            "temporal_ui_url": self.temporal_ui_url,
            "max_upload_bytes": self.max_upload_bytes,
            "max_zip_bytes": self.max_zip_bytes,
            "callback_keys": self.callback_keys,
            "four_eyes_above": self.four_eyes_above,
            "budgets": self.budgets,
        }

    @property
    def secrets_folder(self) -> Path:
        """Return the folder of the secrets."""
        return self.data_dir / "secrets" if self.secrets_dir is None else self.secrets_dir


def production_problems(settings: Settings) -> Iterator[str]:
    """Yield what is unsafe on a network."""
    if settings.access == "local":
        yield "DOCRAIL_ACCESS: found `local`, which asks no caller for a key; expected `keys`"
    if unquote(urlsplit(settings.database_url.partition(",")[0]).password or "") in DEFAULT_PASSWORDS:
        yield "DOCRAIL_DATABASE_URL: the password is a default one; choose another for the database's role"
    for name in ("callback_key", "payload_keys"):
        if not _text(getattr(settings, name)):
            yield f"DOCRAIL_{name.upper()}: not set; the setting's description says how to make one"
    if not (is_loopback(settings.api_host) or settings.tls_cert or settings.trusted_proxies):
        yield (
            f"DOCRAIL_API_HOST: {settings.api_host} would be served over plain HTTP; set DOCRAIL_TLS_CERT and "
            "DOCRAIL_TLS_KEY, or DOCRAIL_TRUSTED_PROXIES for a proxy that serves HTTPS"
        )
    for name in ("public_url", "store_endpoint", "oidc_issuer", "notify_url", "gemini_base_url", "traces_endpoint"):
        value = getattr(settings, name)
        url = urlsplit(value.get_secret_value() if isinstance(value, SecretStr) else value or "")
        if url.scheme == "http" and not is_loopback(url.hostname or ""):
            yield f"DOCRAIL_{name.upper()}: found plain HTTP to {url.hostname}; expected https://"


def file_values() -> dict[str, Any]:
    """Return the values of the settings file by name; none without a file. Raises: SettingsFileError."""
    path = settings_path()
    if path is None:
        return {}
    values = dict(flatten(read_settings_file(path), Settings.model_fields))
    if unknown := sorted(values.keys() - Settings.model_fields.keys()):
        meant = closest(unknown[0], Settings.model_fields)
        hint = f"did you mean {meant}?" if meant else "`docrail settings` lists all"
        raise SettingsFileError(f"{FILE_VARIABLE}: {path}: there is no setting {unknown[0]}: {hint}")
    return values


MASK = "********"


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as `docrail settings` shows it."""

    name: str
    value: str
    """As text; secrets are masked."""
    source: str
    """The variable or the file that it comes from, `profile prod`, or `default`."""


def explain_settings(settings: Settings, environment: Mapping[str, str]) -> Iterator[Setting]:
    """Yield each setting with its source."""
    variables = {name.upper(): name for name in environment}
    in_file, of_profile = file_values(), PROFILE_DEFAULTS[settings.profile]
    for name, field in Settings.model_fields.items():
        named = [f"{PREFIX}{name}", *getattr(field.validation_alias, "choices", ())]
        variable = next((variables[key.upper()] for key in named if key.upper() in variables), None)
        source = variable or (
            str(settings_path())
            if name in in_file
            else f"profile {settings.profile}"
            if name in of_profile
            else "default"
        )
        yield Setting(name, setting_words(name, getattr(settings, name)), source)


def setting_words(name: str, value: Any) -> str:
    """Return a setting's value as text, without what is secret in it."""
    match value:
        case None | "" | ():
            return ""
        case SecretStr():
            return MASK if value.get_secret_value() else ""
        case str() if name == "database_url":
            return re.sub(r"(://[^:@/]*):[^@]*@", rf"\1:{MASK}@", value)
        case dict():
            return ", ".join(f"{key}={setting_words(name, each)}" for key, each in value.items())
        case tuple() | frozenset():
            return ("+" if isinstance(value, frozenset) else ", ").join(sorted(map(str, value)))
        case _:
            return str(value)


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

NO_SETTINGS = frozenset({"DOCRAIL_API_URL", "DOCRAIL_API_KEY", FILE_VARIABLE})
"""Variables that are not settings: defaults of commands' options, and where the settings file is."""


def unread_variables(names: Iterable[str]) -> Iterator[str]:
    """Yield a message for each variable with the prefix that is not a setting: it is probably misspelt."""
    known = {*NO_SETTINGS, *(f"DOCRAIL_{name.upper()}" for name in Settings.model_fields)}
    for name in sorted(name for name in names if name.upper().startswith("DOCRAIL_") and name.upper() not in known):
        meant = closest(name.upper().removeprefix(PREFIX), (each.removeprefix(PREFIX) for each in known))
        hint = f"did you mean {PREFIX}{meant}?" if meant else "docs/reference/settings.md has all"
        yield f"the variable {name} is not a setting and has no effect: {hint}"
