"""Exports through the API and a real worker: what is in the file, what is marked, and what a crash leaves."""

import asyncio
import csv
import datetime as dt
import io
import json
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from openpyxl import load_workbook
from standardwebhooks import Webhook

from docrail.dag.values.json_values import Json
from docrail.invoices.model import FieldValue, LineItem
from docrail.services.exports import making
from docrail.services.exports.service import start_waiting_exports
from tests.api.reviewing import Reviewer, reading, reviewer, said, waiting
from tests.api.service import Service, run_background_tasks
from tests.loopback import Reply, loopback
from tests.stack import eventually

CSV: dict[str, Json] = {"format": "csv", "separator": ";", "decimal": ",", "bom": True}
XLSX: dict[str, Json] = {"format": "xlsx"}
HOSTILE = "=cmd|'/C calc'!A0 \u202egpj.exe\n" + "x" * 10_000


@pytest.fixture
def ann(service: Service) -> Reviewer:
    return reviewer(service)


def named(*names: str) -> list[Json]:
    return [{"name": name} for name in names]


async def approved(service: Service, who: Reviewer, **fields: FieldValue[Any] | str) -> str:
    """Approve a document and return its id."""
    item = await waiting(service, who, reading(**fields))
    verdict = await who.verdict(item, why="it is right")
    await who.post(f"/reviews/{item['review_id']}/approve", verdict)
    return str(item["document_id"])


async def order(who: Reviewer, to: Json, *, key: str | None = None, **more: Json) -> httpx.Response:
    headers = who.headers | ({"Idempotency-Key": key} if key else {})
    return await who.http.post("/v1/exports", json={"to": to, **more}, headers=headers)


async def ordered(who: Reviewer, to: Json, **more: Any) -> str:
    response = await order(who, to, **more)
    assert response.status_code == 202, response.text
    return str(response.json()["export_id"])


async def ended(who: Reviewer, export_id: str) -> Json:
    found: list[Json] = []

    async def has_ended() -> bool:
        found.append(await who.get(f"/exports/{export_id}"))
        return bool(found[-1]["ended_at"])

    await eventually(has_ended, f"the end of {export_id}")
    return found[-1]


async def exported(who: Reviewer, to: Json, **more: Any) -> bytes:
    """Order an export, and return its file."""
    export_id = await ordered(who, to, **more)
    export = await ended(who, export_id)
    assert export["status"] == "ready", export
    return await downloaded(who, export_id)


async def downloaded(who: Reviewer, export_id: str) -> bytes:
    response = await who.ask("GET", f"/exports/{export_id}/file")
    assert response.status_code == 200, response.text
    return response.content


def rows_of(data: bytes, delimiter: str = ";") -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter))


async def marks(service: Service, document_id: str) -> tuple[str | None, bool]:
    row = await service.pool.fetchrow(
        "SELECT export_id, exported_at FROM documents WHERE document_id = $1", document_id
    )
    assert row is not None
    return row["export_id"], row["exported_at"] is not None


async def test_a_csv_file_has_the_approved_documents_and_marks_them(service: Service, ann: Reviewer) -> None:
    document_id = await approved(service, ann, total=said(Decimal("-1119.50")), invoice_number=said("R;1"))
    await waiting(service, ann)  # not approved
    export_id = await ordered(ann, CSV, columns=[*named("invoice_number", "date", "total"), {"name": "document_id"}])
    export = await ended(ann, export_id)
    assert (export["status"], export["documents"], export["done"], export["created_by"]) == ("ready", 1, 1, "ann")
    data = await downloaded(ann, export_id)
    assert data.startswith(b"\xef\xbb\xbfinvoice_number;date;total;document_id\r\n")
    assert rows_of(data)[1] == ["R;1", "2026-11-01", "-1119,50", document_id]
    assert await marks(service, document_id) == (export_id, True)


async def test_the_default_columns_name_who_approved_when(service: Service, ann: Reviewer) -> None:
    await approved(service, ann)
    data = await exported(ann, {"format": "csv"}, period={"time_zone": "Asia/Kolkata"})
    headings, row = rows_of(data, ",")
    found = dict(zip(headings, row, strict=True))
    assert (found["approved_by"], found["total"], found["vendor_name"]) == ("ann", "119.00", "Muster GmbH")
    assert dt.datetime.fromisoformat(found["approved_at"]).utcoffset() == dt.timedelta(hours=5.5)


async def test_a_workbook_has_real_dates_and_numbers_and_a_sheet_of_lines(service: Service, ann: Reviewer) -> None:
    await approved(service, ann, total=said(Decimal("-1119.50")), invoice_number=said("007"))
    columns = [{"name": "invoice_number", "heading": "Rechnung"}, *named("date", "total", "approved_at", "due_date")]
    lines = named("invoice_number", "position", "description", "amount", "tax_rate")
    book = load_workbook(io.BytesIO(await exported(ann, XLSX, columns=columns, line_columns=lines)))
    assert book.sheetnames == ["Invoices", "Line items"]
    headings, row = book["Invoices"].iter_rows(values_only=True)
    assert headings == ("Rechnung", "date", "total", "approved_at", "due_date")
    assert row[:3] == ("007", dt.datetime(2026, 11, 1), -1119.5)  # noqa: DTZ001  # Excel has no zones
    assert isinstance(row[3], dt.datetime)
    assert row[4] is None
    assert list(book["Line items"].iter_rows(values_only=True))[1] == ("007", 1, "Beratung", 100, None)


@pytest.mark.parametrize("to", [CSV, XLSX], ids=["csv", "xlsx"])
async def test_a_trading_name_and_an_account_that_is_no_iban_are_columns(
    service: Service, ann: Reviewer, to: Json
) -> None:
    stated = {"vendor_trade_name": "Muster Shop", "account": "0012-34567 890", "account_scheme": "BBAN"}
    await approved(service, ann, iban=FieldValue(), **stated)
    data = await exported(ann, to, columns=named("vendor_name", *stated, "iban"))
    sheet = None if to is CSV else load_workbook(io.BytesIO(data))["Invoices"].iter_rows(values_only=True)
    headings, row = sheet or rows_of(data)
    found: dict[Any, Any] = dict(zip(headings, row, strict=True))
    assert {name: found[name] for name in stated} == stated
    assert (found["vendor_name"], found["iban"] or None) == ("Muster GmbH", None)


async def test_line_items_are_a_second_file(service: Service, ann: Reviewer) -> None:
    await approved(service, ann)
    packed = await exported(ann, CSV, line_columns=named("position", "description", "amount"))
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert archive.namelist() == ["invoices.csv", "line-items.csv"]
        assert rows_of(archive.read("line-items.csv"))[1:] == [["1", "Beratung", "100,00"]]


@pytest.mark.parametrize("vendor", [HOSTILE, "+49 30 1234", "@SUM(A1)", "-2+3", "\uff1d1+1"])
async def test_a_text_is_never_a_formula(service: Service, ann: Reviewer, vendor: str) -> None:
    await approved(service, ann, vendor_name=said(vendor))
    [_, [cell]] = rows_of(await exported(ann, CSV, columns=named("vendor_name")))
    assert cell.startswith("'")
    assert "\u202e" not in cell
    [book_cell] = load_workbook(io.BytesIO(await exported(ann, XLSX, columns=named("vendor_name"), which="all")))[
        "Invoices"
    ]["A2":"A2"]
    assert (book_cell[0].data_type, book_cell[0].hyperlink) == ("s", None)
    assert len(str(book_cell[0].value)) >= len(vendor)


async def test_a_number_that_excel_would_round_and_an_old_date_are_texts(service: Service, ann: Reviewer) -> None:
    exact = Decimal("12345678901234567.89")
    await approved(service, ann, total=said(exact), date=said(dt.date(1899, 12, 31)))
    book = load_workbook(io.BytesIO(await exported(ann, XLSX, columns=named("total", "date"))))
    assert list(book["Invoices"].iter_rows(values_only=True))[1] == ("12345678901234567.89", "1899-12-31")


async def test_an_earlier_file_is_downloaded_again_byte_for_byte(service: Service, ann: Reviewer) -> None:
    await approved(service, ann)
    export_id = await ordered(ann, XLSX)
    await ended(ann, export_id)
    first = await downloaded(ann, export_id)
    await approved(service, ann)
    response = await ann.ask("GET", f"/exports/{export_id}/file")
    assert response.content == first
    assert response.headers["content-disposition"].endswith('.xlsx"')
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in response.headers["content-security-policy"]
    assert (await ann.get("/exports"))["exports"][0]["size_bytes"] == len(first)


async def test_a_document_is_new_once_until_it_is_decided_again(service: Service, ann: Reviewer) -> None:
    document_id = await approved(service, ann)
    await exported(ann, CSV)
    refused = await order(ann, CSV)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/wrong-state")
    assert "it has no approved document that no export has yet" in refused.json()["detail"]
    assert len(rows_of(await exported(ann, CSV, which="all"))) == 2
    review_id = (await ann.get(f"/documents/{document_id}/fields"))["review_id"]
    await ann.post(f"/reviews/{review_id}/reopen", {"why": "the total is wrong"})
    assert await marks(service, document_id) == (None, False)
    assert (await order(ann, CSV, which="all")).status_code == 409


async def test_the_same_key_is_the_same_export(service: Service, ann: Reviewer) -> None:
    await approved(service, ann)
    first = await ordered(ann, CSV, key="november")
    assert await ordered(ann, CSV, key="november") == first
    refused = await order(ann, XLSX, key="november")
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/key-conflict")
    assert len((await ann.get("/exports"))["exports"]) == 1


async def test_two_orders_at_once_never_share_a_new_document(service: Service, ann: Reviewer) -> None:
    for _ in range(3):
        await approved(service, ann)
    answers = await asyncio.gather(*(order(ann, CSV) for _ in range(4)))
    taken = [answer.json()["documents"] for answer in answers if answer.status_code == 202]
    assert sum(taken) == 3


async def test_a_period_counts_days_of_its_zone(service: Service, ann: Reviewer) -> None:
    document_id = await approved(service, ann, date=said(dt.date(2026, 10, 31)))
    await service.pool.execute(
        "UPDATE documents SET decided_at = '2026-11-30T23:30:00Z' WHERE document_id = $1", document_id
    )

    async def count(**period: str) -> int:
        return int((await ann.post("/exports/preview", {"to": CSV, "period": period}))["documents"])

    november = {"since": "2026-11-01", "until": "2026-11-30"}
    assert await count(**november) == 1
    assert await count(**november, time_zone="Europe/Berlin") == 0
    assert await count(since="2026-12-01", until="2026-12-01", time_zone="Europe/Berlin") == 1
    assert await count(of="invoice_date", since="2026-10-31", until="2026-10-31") == 1
    assert await count(of="invoice_date", since="2026-11-01") == 0
    assert await count(of="received", until="2020-01-01") == 0


async def test_a_preview_has_the_sums_and_the_first_rows_and_exports_nothing(service: Service, ann: Reviewer) -> None:
    await approved(service, ann)
    await exported(ann, CSV)
    await approved(service, ann, currency=said("CHF"))
    body = {"to": CSV, "which": "all", "columns": named("currency", "total", "date")}
    shown = await ann.post("/exports/preview", body)
    assert (shown["documents"], shown["exported_before"], shown["kinds"]) == (2, 1, ["text", "amount", "date"])
    assert shown["rows"] == [["EUR", "119.00", "2026-11-01"], ["CHF", "119.00", "2026-11-01"]]
    assert {each["currency"]: each["total"] for each in shown["sums"]} == {"EUR": "119.00", "CHF": "119.00"}
    assert len((await ann.get("/exports"))["exports"]) == 1


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"to": CSV, "columns": named("totl")}, "columns.0.name"),
        ({"to": CSV, "period": {"since": "2026-12-01", "until": "2026-11-01"}}, "period.until"),
        ({"to": CSV, "period": {"until": "9999-12-31"}}, "period.until"),
        ({"to": CSV, "period": {"time_zone": "Europe/Berln"}}, "period.time_zone"),
        ({"to": {"format": "csv", "separator": "x"}}, "to.csv.separator"),
    ],
)
async def test_a_wrong_order_is_refused_with_the_place(ann: Reviewer, body: Json, path: str) -> None:
    refused = await ann.refused("POST", "/exports", 422, json=body)
    assert path in refused["problems"][0]["path"]


async def test_an_export_belongs_to_its_tenant(service: Service, ann: Reviewer) -> None:
    await approved(service, ann)
    export_id = await ordered(ann, CSV)
    await ended(ann, export_id)
    eve = reviewer(service)
    assert (await eve.ask("GET", f"/exports/{export_id}")).status_code == 404
    assert (await eve.ask("GET", f"/exports/{export_id}/file")).status_code == 404
    assert (await eve.get("/exports"))["exports"] == []
    assert (await order(eve, CSV, which="all")).status_code == 409
    kept = list((Path(service.settings.data_dir) / "exports" / ann.tenant).rglob("*.csv"))
    assert len(kept) == 1


async def test_an_order_needs_review_and_a_webhook_needs_operate(service: Service, ann: Reviewer) -> None:
    await approved(service, ann)
    reader = ann.named("bob", "read submit operate admin")
    assert (await order(reader, CSV)).status_code == 403
    refused = await order(ann, {"format": "webhook", "url": "https://books.example"})
    assert (refused.status_code, refused.json()["scope"]) == (403, "operate")


async def test_a_webhook_gets_signed_messages(calling: Service) -> None:
    ann = reviewer(calling).named("ann", "read review operate")
    secrets = Path(calling.settings.data_dir) / "secrets" / ann.tenant
    secrets.mkdir(parents=True, exist_ok=True)
    (secrets / "webhooks").write_text("sesame")
    document_id = await approved(calling, ann)
    async with loopback(Reply(503), Reply(200)) as server:
        to = {"format": "webhook", "url": server.url}
        export_id = await ordered(ann, to, columns=named("document_id", "total"), line_columns=named("amount"))
        export = await ended(ann, export_id)
    assert export["status"] == "ready", export
    refused, accepted = server.asked
    assert refused.headers["webhook-id"] == accepted.headers["webhook-id"]
    Webhook(b"sesame").verify(accepted.body, dict(accepted.headers))
    assert {"document_id": document_id, "total": "119.00", "line_items": [{"amount": "100.00"}]} in accepted.json()[
        "documents"
    ]
    assert json.loads(await downloaded(ann, export_id)) == accepted.json()
    assert await marks(calling, document_id) == (export_id, True)


@pytest.mark.parametrize("status", [400, None])
async def test_a_webhook_that_refuses_leaves_the_documents_new(calling: Service, status: int | None) -> None:
    ann = reviewer(calling).named("ann", "read review operate")
    document_id = await approved(calling, ann)
    async with loopback(Reply(status or 200)) as server:
        url = server.url if status else "http://192.0.2.1/"  # no allowed host
        export = await ended(ann, await ordered(ann, {"format": "webhook", "url": url}))
    assert export["status"] == "failed"
    assert ("400" if status else "192.0.2.1") in export["error"]
    assert await marks(calling, document_id) == (None, False)


async def test_without_a_worker_an_export_waits_and_nothing_is_marked(workerless: Service) -> None:
    ann = reviewer(workerless)
    document_id = await approved(workerless, ann)
    export_id = await ordered(ann, CSV)
    assert await marks(workerless, document_id) == (export_id, False)
    refused = await ann.refused("GET", f"/exports/{export_id}/file", 409)
    assert refused["detail"] == "cannot download: the export is preparing"


async def test_an_attempt_that_died_with_a_file_leaves_one_file_and_no_mark(workerless: Service) -> None:
    ann, app = reviewer(workerless), workerless.app
    document_id = await approved(workerless, ann)
    export_id = await ordered(ann, CSV)
    await app.exports.write(ann.tenant, export_id, ".csv", b"half")
    assert await marks(workerless, document_id) == (export_id, False)
    beats: list[None] = []
    assert not await making.make_export(app, ann.tenant, export_id, lambda: beats.append(None))
    first = await downloaded(ann, export_id)
    assert not await making.make_export(app, ann.tenant, export_id, lambda: None)
    assert await downloaded(ann, export_id) == first
    folder = Path(workerless.settings.data_dir) / "exports" / ann.tenant / export_id
    assert [path.read_bytes() for path in folder.iterdir()] == [first]
    assert await marks(workerless, document_id) == (export_id, True)
    assert beats


async def test_what_an_attempt_left_after_the_end_is_deleted_by_the_next(workerless: Service) -> None:
    ann, app = reviewer(workerless), workerless.app
    document_id = await approved(workerless, ann)
    export_id = await ordered(ann, CSV)
    await making.fail_export(app, ann.tenant, export_id, "the disk is full")
    await app.exports.write(ann.tenant, export_id, ".csv", b"late")
    await making.fail_export(app, ann.tenant, export_id, "the disk is full")
    assert (await ann.get(f"/exports/{export_id}"))["error"] == "the disk is full"
    assert list((Path(workerless.settings.data_dir) / "exports" / ann.tenant / export_id).iterdir()) == []
    assert await marks(workerless, document_id) == (None, False)


async def test_a_document_reopened_before_its_file_is_made_is_left_out(workerless: Service) -> None:
    ann = reviewer(workerless)
    kept, reopened = [await approved(workerless, ann) for _ in range(2)]
    export_id = await ordered(ann, CSV, columns=named("document_id"))
    review_id = (await ann.get(f"/documents/{reopened}/fields"))["review_id"]
    await ann.post(f"/reviews/{review_id}/reopen", {"why": "look again"})
    await making.make_export(workerless.app, ann.tenant, export_id, lambda: None)
    assert rows_of(await downloaded(ann, export_id))[1:] == [[kept]]
    assert (await ann.get(f"/exports/{export_id}"))["documents"] == 1
    assert await marks(workerless, reopened) == (None, False)


async def test_the_sweep_makes_an_export_whose_start_was_lost(service: Service, ann: Reviewer) -> None:
    await approved(service, ann)
    export_id = await ordered(ann, CSV)
    await ended(ann, export_id)
    await service.pool.execute(
        "UPDATE exports SET status = 'preparing', ended_at = NULL, created_at = now() - interval '1 hour' "
        "WHERE export_id = $1",
        export_id,
    )
    await run_background_tasks(service)
    assert (await ended(ann, export_id))["status"] == "ready"


async def test_the_audit_log_has_the_export(service: Service, ann: Reviewer) -> None:
    await approved(service, ann)
    export_id = await ordered(ann, CSV)
    export = await ended(ann, export_id)
    operator = ann.named("op", "operate")
    event = (await operator.get("/audit"))["events"][-1]
    assert (event["actor"], event["act"]) == ("ann", "exported")
    assert (event["detail"]["export_id"], event["detail"]["sha256"]) == (export_id, export["sha256"])
    assert (await operator.get("/audit/verify"))["intact"]


async def test_too_many_exports_at_once_are_refused(workerless: Service) -> None:
    ann = reviewer(workerless)
    await approved(workerless, ann)
    answers = [await order(ann, CSV, which="all") for _ in range(11)]
    assert [answer.status_code for answer in answers] == [202] * 10 + [429]
    assert answers[-1].headers["retry-after"] == "30"


async def test_a_sheet_with_too_many_lines_fails_with_the_reason(
    service: Service, ann: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("docrail.services.exports.writing.MOST_ROWS", 1)
    lines = (LineItem(description="one"), LineItem(description="two"))
    item = await waiting(service, ann, reading().model_copy(update={"line_items": lines}))
    await ann.post(f"/reviews/{item['review_id']}/approve", await ann.verdict(item, why="so be it"))
    export = await ended(ann, await ordered(ann, XLSX, line_columns=named("description")))
    assert (export["status"], export["error"]) == (
        "failed",
        "a sheet takes 1 rows, and there are more: choose a shorter period",
    )
    assert await marks(service, item["document_id"]) == (None, False)


async def test_the_sweep_starts_nothing_that_has_ended(workerless: Service) -> None:
    ann = reviewer(workerless)
    await approved(workerless, ann)
    export_id = await ordered(ann, CSV)
    await making.make_export(workerless.app, ann.tenant, export_id, lambda: None)
    started = await start_waiting_exports(workerless.app, older_than_seconds=0)
    assert started == await workerless.pool.fetchval("SELECT count(*) FROM exports WHERE ended_at IS NULL")
