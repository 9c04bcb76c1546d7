"""How tests of the lake write into it and ask it."""

import datetime as dt
from decimal import Decimal
from typing import Any

from docrail.invoices.facts import Source
from docrail.invoices.model import FieldValue, InvoiceData
from docrail.services.lake.files import Lake
from docrail.services.lake.models import LakeFile, LakeVersion
from docrail.services.lake.query import NotALake, open_lake, rows_of
from tests.services.invoices import invoice

NOW = dt.datetime(2026, 11, 21, 3, 0, tzinfo=dt.UTC)


def of_month(document_id: str, month: str | None, total: str = "1") -> InvoiceData:
    date = None if month is None else dt.date.fromisoformat(f"{month}-15")
    return invoice(document_id).model_copy(
        update={
            "date": FieldValue(value=date, confidence=0.9, source=Source.TEXT_LABEL),
            "total": FieldValue(value=Decimal(total), confidence=0.9, source=Source.TEXT_LABEL),
        }
    )


async def save(lake: Lake, document: InvoiceData, version: int = 1, tenant: str = "acme") -> LakeFile:
    return await lake.write_parquet(tenant, document, LakeVersion(version, NOW))


def ask(lake: Lake, sql: str, tenants: list[str] | None = None) -> list[tuple[Any, ...]]:
    return list(rows_of(open_lake(lake, tenants).ask(sql)))


def seen(lake: Lake) -> dict[str, tuple[int, Decimal]]:
    """Return the version and total of each document that a reader sees. Fails if one is there twice."""
    try:
        rows = ask(lake, "SELECT document_id, version, total FROM invoices")
    except NotALake:
        return {}
    found = {document: (version, total) for document, version, total in rows}
    assert len(found) == len(rows)
    return found
