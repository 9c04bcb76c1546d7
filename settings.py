"""Define all settings in one class, read from DOCRAIL_* variables by the entry points and passed on as values."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from docrail.adapters.http.addresses import AllowedHosts
from docrail.adapters.store.folders import Folder
from docrail.adapters.store.open_store import checked_location, open_store
from docrail.adapters.temporal.keys import PayloadKeys, parse_payload_keys
from docrail.dag.language.rates import DEFAULT_LIMITS, fleet_limits
from docrail.dag.values.suggestions import closest
from docrail.invoices.llm.prices import PriceTable, read_prices, shipped_prices
from docrail.services.app import Keeping
from docrail.services.callback_urls import CallbackKeys, parse_keys


def _split(value: Any) -> Any:
    return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value


def _check_hosts(entries: tuple[str, ...]) -> tuple[str, ...]:
    AllowedHosts.parse(entries)
    return entries


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


class Settings(BaseSettings):
    """The operator's settings. Each field is read from the environment variable of its name, prefixed with DOCRAIL_."""

    model_config = SettingsConfigDict(env_prefix="DOCRAIL_", frozen=True, extra="forbid")

    temporal_address: str | None = Field(
        None,
        description="Temporal's frontend, host:port; if not set, Temporal's own configuration's, else 127.0.0.1:7233",
    )
    temporal_namespace: str | None = Field(
        None, description="Temporal namespace of the runs; if not set, Temporal's own configuration's, else default"
    )
    temporal_envconfig: bool = Field(
        default=True,
        description="read Temporal's own configuration too: the variables TEMPORAL_TLS_..., TEMPORAL_API_KEY and so "
        "on, and a profile of its file; what is set here wins",
    )
    temporal_ui_url: str = Field(
        "http://127.0.0.1:8233", description="address of Temporal's web UI, for links to histories"
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
        description="resource tags that steps may have, and how often a second the whole fleet may use each: "
        "`gemini_api=10/s, quota=300/min`, or JSON. Where a limit begins; `docrail limit set` changes it while work "
        "runs. `gemini_api` is always there",
    )
    worker_resource_tags: Annotated[tuple[str, ...] | None, NoDecode, BeforeValidator(_split)] = Field(
        None,
        description="resource tags whose steps a worker runs: `gemini_api, database`; empty for none, unset for all",
    )
    build_id: Annotated[str | None, BeforeValidator(_none_if_empty)] = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}$",
        description="which build of the code a worker is, for instance `2026-11-21.1`: runs stay on the build that "
        "they began on, new ones go to the current build of `temporal worker deployment`. Unset: all workers are alike",
    )
    deployment_name: Annotated[str | None, BeforeValidator(_none_if_empty)] = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$",
        description="the fleet that the builds belong to, the same for all its workers; by default the task queue's "
        "name, with dashes for what cannot be in it",
    )
    database_url: Annotated[str, AfterValidator(_check_database_url)] = Field(
        "postgresql://docrail@127.0.0.1:5432/docrail",
        description="PostgreSQL connection URL",
    )
    data_dir: Path = Field(
        Path("var"),
        description="folder of the embedded servers' data and, without DOCRAIL_STORE, of documents, stored values and "
        "the lake",
    )
    store: Annotated[str | None, BeforeValidator(_none_if_empty), AfterValidator(_check_store)] = Field(
        None,
        description="where documents, stored values and the lake are kept: `file:///srv/docrail` or "
        "`s3://bucket/prefix`; by default DOCRAIL_DATA_DIR. Keys and region of S3 come from the usual AWS_* variables",
    )
    store_endpoint: Annotated[str | None, AfterValidator(_check_public_url)] = Field(
        None, description="another service than Amazon's that speaks S3: `http://minio.internal:9000`"
    )
    keep_values_days: float = Field(
        90,
        ge=0,
        description="days after which stored values are deleted that no open run refers to; 0 keeps them for ever. "
        "Longer than Temporal keeps closed runs: a retry of one still needs its values",
    )
    keep_originals_days: float = Field(
        0,
        ge=0,
        description="days after which a document's bytes are deleted, once its run and its review have ended; 0 keeps "
        "them for ever, as the law of many countries asks for years",
    )
    lake_grace_hours: float = Field(
        24, ge=1, description="hours that files of the lake stay after others have taken their place: queries read them"
    )
    maintenance_schedule: str = Field(
        "0 3 * * *",
        pattern=r"^(\S+ ){4}\S+$|^$",
        description="when the lake is compacted and old files are deleted, as cron has it, in UTC; empty for never",
    )
    api_host: str = Field("127.0.0.1", description="address the HTTP API listens on")
    api_port: int = Field(8000, ge=0, le=65535, description="port the HTTP API listens on")
    worker_metrics_port: int = Field(
        0, ge=0, le=65535, description="port of a worker's Prometheus /metrics page; 0 turns it off"
    )
    worker_metrics_host: str = Field("127.0.0.1", description="address that a worker's /metrics page listens on")
    public_url: Annotated[str | None, AfterValidator(_check_public_url)] = Field(
        None,
        description="address at which others reach the API, for callback URLs: `https://docrail.example`; `docrail up` "
        "takes its own if none is set",
    )
    callback_key: Annotated[SecretStr | None, AfterValidator(_check_keys)] = Field(
        None,
        description="key that signs callback URLs, at least 32 characters, the same for the API and the workers; "
        "several with commas: the first signs, all are accepted. `docrail up` makes one if none is set",
    )
    trust_names: bool = Field(
        default=False,
        description="take callers by the name that they give in the header X-Docrail-As, so that one person at one "
        "machine can play several: anybody can give any name. `docrail up` does so if only its own machine reaches it",
    )
    four_eyes_above: Annotated[Decimal | None, BeforeValidator(_none_if_empty)] = Field(
        None,
        ge=0,
        description="largest total of a document that one person may approve, in its own currency; above it, and "
        "whenever an IBAN has changed, two must. Unset: any total",
    )
    max_upload_bytes: int = Field(25 * 2**20, gt=0, description="largest document that may be uploaded, in bytes")
    sandboxed: bool = Field(
        default=False,
        description="run workflow code in Temporal's sandbox: catches forbidden calls, costs about a third of the "
        "worker's speed; the test suite does",
    )
    graceful_shutdown_seconds: float = Field(
        30.0, ge=0, description="how long a worker that is being stopped lets running activities finish"
    )
    worker_heartbeat_seconds: float = Field(
        5.0,
        ge=1,
        le=60,
        description="how often a worker reports to Temporal: after 3 missed heartbeats, /readyz counts it as gone",
    )
    handlers: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)] = Field(
        (),
        description="where the installation's own handlers are, for workers, API and commands: folders and importable "
        "modules, `./handlers, acme.handlers`",
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split), AfterValidator(_check_hosts)] = Field(
        (),
        description="what steps may call although it is not public: `erp.internal, *.shop.internal:8443, 10.20.0.0/16`",
    )
    secrets_dir: Path | None = Field(
        None,
        description="folder of the secrets that steps name as `secret://name`, in files TENANT/NAME; by default "
        "`secrets` in DOCRAIL_DATA_DIR",
    )
    notify_url: SecretStr | None = Field(
        None, description="where the handler `notify` posts to; without it notifications go to the worker's log"
    )
    gemini_api_key: Annotated[SecretStr | None, AfterValidator(_check_header)] = Field(
        None,
        validation_alias=AliasChoices("docrail_gemini_api_key", "gemini_api_key"),
        description="key of the Gemini API; the variable GEMINI_API_KEY is read too",
    )
    gemini_base_url: Annotated[str | None, AfterValidator(_check_public_url)] = Field(
        None, description="another server that speaks the Gemini API's language; by default Google's own"
    )
    gemini_model: str = Field("gemini-3.8-flash", description="the model where a step names none")
    gemini_budget_per_day: Annotated[Decimal | None, BeforeValidator(_none_if_empty)] = Field(
        None,
        ge=0,
        description="most that all tenants' answers may cost from midnight to midnight UTC, in the price table's "
        "currency; once it is used up, the local readers serve and `llm_service` waits. Unset: no limit",
    )
    gemini_budget_per_tenant: Annotated[Decimal | None, BeforeValidator(_none_if_empty)] = Field(
        None,
        ge=0,
        description="most of it that one tenant's answers may cost, so that none uses up the others' share. Unset: all",
    )
    gemini_prices: Annotated[Path | None, BeforeValidator(_none_if_empty), AfterValidator(_check_prices)] = Field(
        None, description="JSON file of prices in the shape of invoices/llm/prices.json, which it replaces"
    )

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
    def callback_keys(self) -> CallbackKeys:
        """Return the keys of callback URLs."""
        return CallbackKeys(parse_keys("" if self.callback_key is None else self.callback_key.get_secret_value()))

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

OF_COMMANDS = frozenset({"DOCRAIL_API_URL", "DOCRAIL_AS"})
"""Variables that only commands read, as defaults of their options."""


def unread_variables(names: Iterable[str]) -> Iterator[str]:
    """Yield a message for each variable with the prefix that is not a setting: it is probably misspelt."""
    known = {*OF_COMMANDS, *(f"DOCRAIL_{name.upper()}" for name in Settings.model_fields)}
    for name in sorted(name for name in names if name.upper().startswith("DOCRAIL_") and name.upper() not in known):
        meant = closest(name.upper().removeprefix(PREFIX), (each.removeprefix(PREFIX) for each in known))
        hint = f"did you mean {PREFIX}{meant}?" if meant else "docs/reference/settings.md has all"
        yield f"the variable {name} is no setting and changes nothing: {hint}"
