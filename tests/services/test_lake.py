"""The lake: the exact schema, exact amounts, the same bytes each time, inside its tenant's folder."""

import asyncio
import datetime as dt
import hashlib
import io
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from docrail.invoices.facts import Source
from docrail.invoices.model import FIELD_NAMES, Candidate, FieldValue, InvoiceData, LineItem, Lock
from docrail.services.lake.files import Lake
from docrail.services.lake.models import LakeVersion
from docrail.services.lake.parquet import LAKE_SCHEMA_VERSION
from tests.services.invoices import invoice

FIRST = LakeVersion(1, dt.datetime(2026, 11, 21, 9, 30, 0, 123_456, tzinfo=dt.UTC))
MONEY = pa.decimal128(18, 4)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def with_total(total: str) -> InvoiceData:
    return invoice().model_copy(update={"total": FieldValue(value=Decimal(total), confidence=1)})


async def test_files_lie_under_their_tenant_by_document(lake: Lake) -> None:
    parquet, text = (
        await lake.write_parquet("acme", invoice("doc_1"), FIRST),
        await lake.write_json("acme", invoice("doc_1"), FIRST),
    )
    assert (parquet.path, text.path) == ("acme/parquet/doc_1.v1.parquet", "acme/json/doc_1.v1.json")
    for file in (parquet, text):
        data = (lake.root / file.path).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (file.size, file.sha256)


async def test_writing_again_at_once_and_elsewhere_gives_the_same_bytes(lake: Lake, tmp_path: Path) -> None:
    lakes = [lake, lake, lake, Lake(tmp_path / "elsewhere")]
    parquet = await asyncio.gather(*(each.write_parquet("acme", invoice(), FIRST) for each in lakes))
    text = await asyncio.gather(*(each.write_json("acme", invoice(), FIRST) for each in lakes))
    assert (len(set(parquet)), len(set(text))) == (1, 1)
    assert len([path for path in lake.root.rglob("*") if path.is_file()]) == 2


async def test_the_json_is_the_invoice(lake: Lake) -> None:
    file = await lake.write_json("acme", invoice("doc_1"), FIRST)
    text = (lake.root / file.path).read_text("utf-8")
    assert InvoiceData.model_validate_json(text) == invoice("doc_1")
    assert json.loads(text)["schema_version"] == 2
    assert "Müller & Söhne" in text


async def test_the_parquet_schema_is_exact(lake: Lake) -> None:
    schema = await _schema(lake)
    assert schema.metadata[b"schema_version"] == str(LAKE_SCHEMA_VERSION).encode()
    amounts = ("net", "tax", "total", "net_adjustment", "total_adjustment")
    assert {schema.field(name).type for name in amounts} == {MONEY}
    assert schema.field("date").type == schema.field("due_date").type == pa.date32()
    line, field = schema.field("line_items").type, schema.field("fields").type
    assert pa.types.is_list(line)
    assert pa.types.is_list(field)
    assert {member.name: member.type for member in line.value_type} == {
        "description": pa.string(),
        **dict.fromkeys(("quantity", "unit_price", "amount", "tax_rate"), MONEY),
        "page": pa.int32(),
        "box": pa.list_(pa.float64()),
    }
    assert schema.field("saved_at").type == pa.timestamp("us", tz="UTC")
    assert {member.name: str(member.type) for member in field.value_type} == {
        "name": "string",
        "value": "string",
        "confidence": "double",
        "source": "string",
        "page": "int32",
        "box": "list<element: double>",
        "word_score": "double",
        "evidence": "list<element: string>",
        "candidates": "list<element: struct<value: string, source: string, page: int32, box: list<element: double>, "
        "word_score: double>>",
        "locked": "bool",
        "locked_by": "string",
        "locked_at": "timestamp[us, tz=UTC]",
        "lock_reason": "string",
    }


async def test_an_empty_invoice_has_the_same_schema(lake: Lake) -> None:
    full = await _schema(lake)
    file = await lake.write_parquet("acme", InvoiceData(document_id="doc_empty"), FIRST)
    assert pq.read_schema(lake.root / file.path).equals(full, check_metadata=True)


async def test_the_parquet_row_says_what_the_invoice_says(lake: Lake) -> None:
    file = await lake.write_parquet("acme", invoice("doc_1"), FIRST)
    [row] = pq.read_table(io.BytesIO((lake.root / file.path).read_bytes())).to_pylist()
    assert (row["tenant_id"], row["document_id"], row["vendor_name"]) == ("acme", "doc_1", "Müller & Söhne")
    assert (row["date"], row["due_date"], row["iban"]) == (invoice().date.value, None, None)
    assert (row["net"], row["tax"], row["total"]) == (Decimal("100.1"), Decimal("19.02"), Decimal("119.12"))
    assert row["line_items"][0]["unit_price"] == Decimal("0.1001")
    assert row["line_items"][1]["amount"] is None
    assert [field["name"] for field in row["fields"]] == list(FIELD_NAMES)
    total = row["fields"][FIELD_NAMES.index("total")]
    assert total == {
        "name": "total",
        "value": "119.12",
        "confidence": 0.98,
        "source": "text_label",
        "page": 2,
        "box": [0.7, 0.8, 0.9, 0.82],
        "word_score": None,
        "evidence": ["totals_agree"],
        "candidates": [],
        **dict.fromkeys(("locked_by", "locked_at", "lock_reason")),
        "locked": False,
    }
    assert (row["version"], row["saved_at"]) == (FIRST.number, FIRST.saved_at)
    assert row["problems"][0]["severity"] == "warning"
    assert (row["flags"], row["page_count"], row["confidence"]) == (["repaired"], 2, 0.93)


async def test_a_trading_name_and_an_account_that_is_no_iban_are_columns(lake: Lake) -> None:
    stated = {"vendor_trade_name": "Müller Shop", "account": "12-34567 890", "account_scheme": "BBAN"}
    file = await lake.write_parquet("acme", invoice().model_copy(update=stated), FIRST)
    [row] = pq.read_table(lake.root / file.path).to_pylist()
    assert {name: row[name] for name in stated} == stated
    assert (row["vendor_name"], row["iban"]) == ("Müller & Söhne", None)


@pytest.mark.parametrize(
    ("given", "kept"),
    [("99999999999999.9999", "99999999999999.9999"), ("-0.00005", "0"), ("0.00015", "0.0002"), ("1E+3", "1000")],
)
async def test_amounts_are_kept_exactly_to_four_decimals(lake: Lake, given: str, kept: str) -> None:
    file = await lake.write_parquet("acme", with_total(given), FIRST)
    assert pq.read_table(lake.root / file.path)["total"].to_pylist() == [Decimal(kept)]


async def test_corrections_and_readings_are_kept(lake: Lake) -> None:
    at = dt.datetime(2026, 11, 20, 12, 0, 0, 1, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    corrected: FieldValue[Decimal] = FieldValue(
        value=Decimal("12.5"),
        confidence=1,
        source=Source.HUMAN,
        candidates=(Candidate(value=Decimal(125), source=Source.OCR_LABEL, page=1, word_score=0.5),),
        lock=Lock(by="ada", at=at, why="the comma"),
    )
    file = await lake.write_parquet("acme", invoice().model_copy(update={"total": corrected}), FIRST)
    [row] = pq.read_table(lake.root / file.path).to_pylist()
    total = row["fields"][FIELD_NAMES.index("total")]
    assert (total["locked"], total["locked_by"], total["locked_at"]) == (True, "ada", at)
    assert total["lock_reason"] == "the comma"
    read = {"value": "125", "source": "ocr_label", "page": 1, "box": None, "word_score": 0.5}
    assert total["candidates"] == [read]


@pytest.mark.parametrize("total", ["100000000000000", "99999999999999.99999", "1E+30"])
async def test_an_amount_that_does_not_fit_is_refused_by_name(lake: Lake, total: str) -> None:
    with pytest.raises(ValueError, match=r"total is .* does not fit"):
        await lake.write_parquet("acme", with_total(total), FIRST)
    assert not lake.root.exists()


async def test_a_line_that_does_not_fit_is_refused_by_name(lake: Lake) -> None:
    huge = invoice().model_copy(update={"line_items": (LineItem(amount=Decimal("1e20")),)})
    with pytest.raises(ValueError, match=r"line_items\.amount"):
        await lake.write_parquet("acme", huge, FIRST)


async def test_floats_are_no_amounts(lake: Lake) -> None:
    with pytest.raises(TypeError, match=r"total is the float 0\.1"):
        await lake.write_parquet("acme", invoice().model_copy(update={"total": FieldValue(value=0.1)}), FIRST)


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "/etc", ".hidden", "a\\b", "a\n", "a\x00", "x" * 129])
async def test_ids_never_lead_out_of_the_tenants_folder(lake: Lake, name: str) -> None:
    for write in (lake.write_json, lake.write_parquet):
        with pytest.raises(ValueError, match="document id"):
            await write("acme", invoice(name), FIRST)
        with pytest.raises(ValueError, match="tenant id"):
            await write(name, invoice(), FIRST)
    assert not lake.root.exists()


async def test_equal_documents_of_two_tenants_are_two_files(lake: Lake) -> None:
    paths = {(await lake.write_json(tenant_id, invoice(), FIRST)).path for tenant_id in ("acme", "globex")}
    assert paths == {"acme/json/doc_1.v1.json", "globex/json/doc_1.v1.json"}


async def _schema(lake: Lake) -> pa.Schema:
    file = await lake.write_parquet("acme", invoice(), FIRST)
    return pq.read_schema(lake.root / file.path)
