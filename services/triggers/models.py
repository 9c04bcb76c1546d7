"""Define triggers: what is started, when, and how its passes went."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from docrail.dag.values.json_values import Json
from docrail.services.intake.service import SOURCE_PATTERN
from docrail.services.maintenance.models import LastPass
from docrail.services.model_config import SHOWN, body

NAME_PATTERN = r"^[a-z][a-z0-9_-]{0,47}$"
SHORTEST_SECONDS, LONGEST_SECONDS = 10, 31_536_000
MOST_TRIGGERS = 100
"""Triggers of a tenant."""
CRON_PATTERN = r"^[0-9A-Za-z*,/-]+( +[0-9A-Za-z*,/-]+){4}$"
"""Five fields. Temporal also takes `@every 1s`, fields for seconds and years, and other time zones."""
PLACE_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9 _./-]*$"

TriggerName = Annotated[str, Field(pattern=NAME_PATTERN, examples=["nightly"])]
Inputs = Annotated[Mapping[str, Json], Field(examples=[{"cost_centre": "4711"}])]


PLAIN = r"^[^\x00-\x1f\x7f]+$"
"""One line of text: what goes into a command to the mail server."""


@dataclass(frozen=True, slots=True)
class Mailbox:
    """A folder of a mailbox that is read over IMAP with TLS."""

    __pydantic_config__: ClassVar[ConfigDict] = body(
        {"host": "imap.example.com", "user": "invoices@example.com", "secret": "mail_password"}
    )

    host: Annotated[str, Field(max_length=253, pattern=r"^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$")]
    """The mail server; one that is not public must be in DOCRAIL_ALLOWED_HOSTS."""
    user: Annotated[str, Field(max_length=254, pattern=PLAIN, examples=["invoices@example.com"])]
    """Who signs in."""
    secret: Annotated[str, Field(max_length=64, pattern=r"^[A-Za-z0-9_-]+$", examples=["mail_password"])]
    """The tenant's secret with the password: a file of DOCRAIL_SECRETS_DIR/TENANT."""
    port: Annotated[int, Field(ge=1, le=65_535)] = 993
    """Its port for TLS."""
    folder: Annotated[str, Field(max_length=200, pattern=PLAIN)] = "INBOX"
    """The folder to read."""
    senders: Annotated[tuple[Annotated[str, Field(max_length=254, pattern=PLAIN)], ...], Field(max_length=1000)] = ()
    """Addresses, or `@` and a domain, whose mails are taken; none: all. A mail says itself whom it is from."""
    attachments: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(min_length=1, max_length=100)] = (
        *("*.pdf", "*.xml", "*.tif", "*.tiff"),
    )
    """Names of the files that are taken, with `*` and `?`, in upper or lower case."""
    move_to: Annotated[str | None, Field(max_length=200, pattern=PLAIN, examples=["Done"])] = None
    """An existing folder to which mails are moved once all of their files are uploaded; null: they stay, as seen."""


@dataclass(frozen=True, slots=True)
class TriggerOrder:
    """What a trigger starts, and when: exactly one of `cron` and `every_seconds`."""

    __pydantic_config__: ClassVar[ConfigDict] = body(
        {"name": "nightly", "definition": "report", "cron": "0 3 * * *"},
        {"name": "scanner", "every_seconds": 60, "folder": "scans", "definition": "invoice", "batch": True},
        {
            "name": "post",
            "every_seconds": 60,
            "mailbox": {"host": "imap.example.com", "user": "invoices@example.com", "secret": "mail_password"},
        },
    )

    name: TriggerName
    """Its name; the tenant has one trigger of it."""
    cron: Annotated[str | None, Field(max_length=200, pattern=CRON_PATTERN, examples=["0 3 * * *"])] = None
    """When it fires, in UTC: minute, hour, day, month, day of the week."""
    every_seconds: Annotated[int | None, Field(ge=SHORTEST_SECONDS, le=LONGEST_SECONDS)] = None
    """How often it fires."""
    definition: Annotated[str | None, Field(max_length=200, examples=["report"])] = None
    """`ID`, `ID@VERSION` or `ID@ALIAS`; with a folder or a mailbox, routing rules choose by default."""
    inputs: Inputs = field(default_factory=dict)
    """Values for the definition's inputs."""
    folder: Annotated[str | None, Field(max_length=500, pattern=PLACE_PATTERN, examples=["scans"])] = None
    """Upload the files of this folder below DOCRAIL_INBOX_DIR/TENANT, each once, instead of starting a run."""
    mailbox: Mailbox | None = None
    """Upload the attachments of this mailbox's new mails, instead of starting a run."""
    source: Annotated[str, Field(pattern=SOURCE_PATTERN)] = ""
    """Where the files come from, for routing rules."""
    batch: bool = False
    """Whether the new files of a pass become one batch, instead of a run each."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class Trigger:
    """A trigger, and its passes."""

    name: Annotated[str, Field(examples=["nightly"])]
    """Its name."""
    cron: str | None
    """When it fires, in UTC; null if it fires at an interval."""
    every_seconds: int | None
    """How often it fires; null if it follows a calendar."""
    definition: str | None
    """What it starts; null if routing rules choose for each file."""
    inputs: Mapping[str, Json]
    """Values for the definition's inputs."""
    folder: str | None
    """The folder whose files it uploads; null if it watches none."""
    mailbox: Mailbox | None
    """The mailbox whose attachments it uploads; null if it reads none."""
    source: str
    """Where the files come from."""
    batch: bool
    """Whether the new files of a pass become one batch."""
    last_batch: Annotated[str | None, Field(examples=["bat_0f9c6c4b3a2d4e5f8a7b6c5d4e"])]
    """Id of the batch that it has made last; null if there is none."""
    created_by: str
    """Who created it."""
    paused: bool
    """Whether it does not fire by itself."""
    note: str
    """Why it is paused, and who did it; or who resumed it. Empty if it never was."""
    next_at: dt.datetime | None
    """When it fires next, in UTC; null while it is paused."""
    last: LastPass | None
    """Its latest pass; null if there was none."""
    problems: list[str]
    """What the latest pass has refused, or why it failed."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class TriggerList:
    """The tenant's triggers, by name."""

    triggers: list[Trigger]
    """The triggers."""
    allowed: bool
    """Whether the caller may pause, resume and delete them and, with the scope `submit` too, create and fire them."""
