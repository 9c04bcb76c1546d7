"""Define exports: what is ordered, and how an export stands."""

import datetime as dt
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, ClassVar, Literal, assert_never
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, ConfigDict, Field, computed_field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from docrail.adapters.http.client import URL_PATTERN, checked_url
from docrail.services.documents.models import PeriodOf, SumOfCurrency
from docrail.services.exports.columns import (
    COLUMNS,
    DEFAULT_COLUMNS,
    LINE_COLUMNS,
    Kind,
    checked_column,
    checked_line_column,
)
from docrail.services.model_config import SHOWN, Hidden, body

MOST_DOCUMENTS = 100_000
"""Most documents of one export: its file is stored whole."""
FIRST_ROWS = 20
"""Rows of a preview."""


class Status(StrEnum):
    """How an export stands. PREPARING: its file is being made; SENDING: it is, and goes to the receiver."""

    PREPARING = "preparing"
    SENDING = "sending"
    READY = "ready"
    FAILED = "failed"


def _zone(name: str) -> str:
    if name not in available_timezones():
        raise ValueError(f"there is no time zone {name!r}: expected a name such as Europe/Berlin")
    return name


def _url(text: str) -> str:
    checked_url(text)
    return text


Column = Annotated[str, Field(json_schema_extra={"enum": [*COLUMNS]}), AfterValidator(checked_column)]
LineColumn = Annotated[str, Field(json_schema_extra={"enum": [*LINE_COLUMNS]}), AfterValidator(checked_line_column)]
Heading = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00]*$")]
Zone = Annotated[str, Field(max_length=64), AfterValidator(_zone)]


@dataclass(frozen=True, slots=True)
class Period:
    """The days, both included, within which a document must lie; without them, all documents."""

    __pydantic_config__: ClassVar[ConfigDict] = body({"of": "approved", "since": "2026-11-01", "until": "2026-11-30"})

    of: PeriodOf = PeriodOf.APPROVED
    """Which date counts: that of the approval, that of the invoice, or that of the upload."""
    since: dt.date | None = None
    """The first day."""
    until: dt.date | None = None
    """The last day."""
    time_zone: Annotated[Zone, Field(examples=["Europe/Berlin"])] = "UTC"
    """Where days begin; times in the file are those of this zone, too."""

    @property
    def zone(self) -> ZoneInfo:
        """Return the time zone."""
        return ZoneInfo(self.time_zone)


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """A column of the documents' table."""

    __pydantic_config__: ClassVar[ConfigDict] = body({"name": "invoice_number", "heading": "Invoice no."})

    name: Column
    """What the column has."""
    heading: Heading | None = None
    """Its heading; by default its name."""


@dataclass(frozen=True, slots=True)
class LineColumnChoice:
    """A column of the table of line items."""

    __pydantic_config__: ClassVar[ConfigDict] = body({"name": "quantity"})

    name: LineColumn
    """What the column has."""
    heading: Heading | None = None
    """Its heading; by default its name."""


@dataclass(frozen=True, slots=True)
class Csv:
    """Text in the form of RFC 4180; with line items, a zip file of two."""

    __pydantic_config__: ClassVar[ConfigDict] = body({"format": "csv", "separator": ";", "decimal": ",", "bom": True})

    format: Literal["csv"]
    """The format."""
    separator: Literal[",", ";", "\t"] = ","
    """Character between two cells."""
    decimal: Literal[".", ","] = "."
    """Character before the decimals of a number."""
    bom: bool = True
    """Whether the file begins with a byte order mark, by which Excel recognises UTF-8."""


@dataclass(frozen=True, slots=True)
class Xlsx:
    """A workbook for Excel; line items are its second sheet."""

    __pydantic_config__: ClassVar[ConfigDict] = body({"format": "xlsx"})

    format: Literal["xlsx"]
    """The format."""


@dataclass(frozen=True, slots=True)
class WebhookMessages:
    """JSON messages to a URL, signed with the tenant's secret `webhooks`; needs the scope `operate`."""

    __pydantic_config__: ClassVar[ConfigDict] = body({"format": "webhook", "url": "https://books.example/invoices"})

    url: Annotated[
        str, Field(max_length=2048, pattern=URL_PATTERN, examples=["https://books.example/in"]), AfterValidator(_url)
    ]
    """Where to. The workers' setting `allowed_hosts` must allow its host."""
    format: Literal["webhook"]
    """The format."""


To = Annotated[Csv | Xlsx | WebhookMessages, Field(discriminator="format")]


@dataclass(frozen=True, slots=True)
class ExportOrder:
    """Which approved documents are exported, with which columns, and as what."""

    __pydantic_config__: ClassVar[ConfigDict] = body(
        {
            "period": {"of": "approved", "since": "2026-11-01", "until": "2026-11-30", "time_zone": "Europe/Berlin"},
            "to": {"format": "csv", "separator": ";", "decimal": ",", "bom": True},
        },
        {"which": "all", "columns": [{"name": "invoice_number"}, {"name": "total"}], "to": {"format": "xlsx"}},
    )

    to: To
    """The format."""
    period: Period = field(default_factory=Period)
    """The days."""
    which: Literal["new", "all"] = "new"
    """`new`: documents that no export has since they were approved; `all`: those again, too."""
    columns: Annotated[tuple[ColumnChoice, ...], Field(min_length=1, max_length=len(COLUMNS))] = tuple(
        ColumnChoice(name) for name in DEFAULT_COLUMNS
    )
    """The columns in their order."""
    line_columns: Annotated[tuple[LineColumnChoice, ...], Field(max_length=len(LINE_COLUMNS))] = ()
    """The columns of a second table, of line items; none: no such table."""

    @property
    def suffix(self) -> str:
        """Return how the name of the file ends."""
        match self.to:
            case Csv():
                return ".zip" if self.line_columns else ".csv"
            case Xlsx():
                return ".xlsx"
            case WebhookMessages():
                return ".jsonl"
            case _ as never:
                assert_never(never)


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class Export:
    """An export: a file, or messages to a URL."""

    tenant_id: Hidden[str]
    export_id: Annotated[str, Field(examples=["exp_0f9c6c4b3a2d4e5f8a7b6c5d4e"])]
    """Id of the export."""
    status: Status
    """`preparing`, `sending` (to a webhook), `ready` or `failed`."""
    wanted: ExportOrder
    """What was ordered."""
    documents: int
    """How many documents it has."""
    done: int
    """How many of them are written; while it is `sending`, sent."""
    size_bytes: int | None
    """Size of its file; null before there is one."""
    sha256: str | None
    """Digest of its file: it never changes."""
    error: str
    """Why it failed; empty if it did not."""
    created_by: str
    """Who ordered it."""
    created_at: dt.datetime
    ended_at: dt.datetime | None
    path: Hidden[str | None]

    @computed_field(description="Name of its file.", examples=["export-2026-11-30-0f9c6c.csv"])  # type: ignore[prop-decorator]
    @property
    def file_name(self) -> str:
        """Return the name of its file."""
        return f"export-{self.created_at:%Y-%m-%d}-{self.export_id[4:10]}{self.wanted.suffix}"


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class ExportPage:
    """A page of exports, newest first."""

    exports: list[Export]
    """The exports of this page."""
    after: str | None


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class Preview:
    """What an export would have."""

    documents: int
    """How many documents."""
    exported_before: int
    """How many of them an export has already."""
    sums: list[SumOfCurrency]
    """Their totals by currency."""
    kinds: list[Kind]
    """What each column has."""
    rows: list[list[str | None]]
    """The first rows: amounts as exact decimals, dates as 2026-11-30; null for an empty cell."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """An export's file; `path` is relative to the tenant's folder."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class DocumentExport:
    """An export that has a document."""

    export_id: str
    created_by: str
    ended_at: dt.datetime
    format: str
