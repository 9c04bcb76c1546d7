"""A restored installation has everything that people and machines have left in it, and goes on with all of it."""

import asyncio
import shutil
from base64 import b64encode
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from docrail.dag.values.json_values import Json
from docrail.embedded.backup import back_up, restore
from docrail.embedded.claims import hold
from docrail.embedded.postgres import start_postgres
from docrail.embedded.stack import Stack
from tests.activities.ubl import ubl_invoice
from tests.invoices.documents import make_pdf, pdf_bytes
from tests.invoices.test_several_invoices import invoice
from tests.stack import eventually
from tests.test_backup import PATIENCE_SECONDS, WAITING, bytes_of, running, start, wait_for

pytestmark = [pytest.mark.server, pytest.mark.slow]

NEVER = "0 3 29 2 *"
TRIGGERS: tuple[Json, ...] = (
    {"name": "scanner", "folder": "scans", "definition": "invoice", "cron": NEVER, "batch": True},
    {
        "name": "post",
        "mailbox": {"host": "imap.example.com", "user": "invoices@example.com", "secret": "mail_password"},
        "definition": "invoice",
        "cron": NEVER,
    },
)
USE = "INSERT INTO model_totals VALUES ('default', 'gemini', 'read', 1, 2, 3, 4, 0.5)"
EVERY_TABLE = "SELECT relname FROM pg_stat_user_tables ORDER BY 1"
FILLED = {
    *("api_keys", "audit_events", "batch_documents", "batches", "definitions", "documents"),
    *("exports", "export_documents", "model_totals", "reviews", "watched_files"),
}
"""Tables that the test has filled for certain."""


async def post(stack: Stack, path: str, body: Json = None, **request: Any) -> Json:
    answer = await stack.http.post(f"/v1{path}", json=body, **request)
    assert answer.is_success, (path, answer.text)
    return answer.json()


async def shown(stack: Stack, path: str) -> Json:
    answer = await stack.http.get(f"/v1{path}")
    assert answer.is_success, (path, answer.text)
    return answer.json()


async def until(stack: Stack, path: str, field: str, *wanted: Json) -> Json:
    """Return what a path shows once its field has one of the values."""
    found: list[Json] = []

    async def is_so() -> bool:
        found.append(await shown(stack, path))
        return found[-1][field] in wanted

    await eventually(is_so, f"{field} of {path} to be {wanted}", timeout_seconds=PATIENCE_SECONDS)
    return found[-1]


async def fire(stack: Stack) -> None:
    """Let the trigger look at its folder once more, and wait for the end of the pass."""
    before = (await shown(stack, "/triggers/scanner"))["last"]
    await post(stack, "/triggers/scanner/run")

    async def has_ended() -> bool:
        last = (await shown(stack, "/triggers/scanner"))["last"]
        is_new = last is not None and (before is None or last["started_at"] != before["started_at"])
        return bool(is_new and last["state"] == "completed")

    await eventually(has_ended, "the pass of the trigger", timeout_seconds=PATIENCE_SECONDS)


async def approve(stack: Stack, batch_id: str) -> None:
    """Approve the one document of a batch."""
    [document] = (await shown(stack, f"/batches/{batch_id}/documents"))["documents"]
    [item] = [
        each for each in (await shown(stack, "/reviews"))["reviews"] if each["document_id"] == document["document_id"]
    ]
    token = (await post(stack, f"/reviews/{item['review_id']}/claim"))["token"]

    async def is_approved() -> bool:
        digest = (await shown(stack, f"/documents/{item['document_id']}/fields"))["digest"]
        wanted = {"digest": digest, "token": token}
        return (await stack.http.post(f"/v1/reviews/{item['review_id']}/approve", json=wanted)).is_success

    await eventually(is_approved, "the approval of what no run changes any more")


async def rows_of(data_dir: Path) -> dict[str, list[str]]:
    """Return every row of every table of a stopped stack, as texts."""
    with hold(data_dir):
        server = await start_postgres(data_dir, report=print)
        connection = await asyncpg.connect(server.dsn)
        try:
            tables = [row[0] for row in await connection.fetch(EVERY_TABLE)]
            return {
                name: sorted(row[0] for row in await connection.fetch(f"SELECT t::text FROM {name} AS t"))
                for name in tables
            }
        finally:
            await connection.close()
            await server.stop()


async def test_a_restored_installation_has_everything_and_goes_on_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_dir, archive, inbox = tmp_path / "data", tmp_path / "backup.tar", tmp_path / "inbox"
    monkeypatch.setenv("DOCRAIL_PAYLOAD_KEYS", f"1:{b64encode(b'k' * 32).decode()}")  # not in the data folder
    monkeypatch.setenv("DOCRAIL_INBOX_DIR", str(inbox))
    scans = inbox / "default" / "scans"
    scans.mkdir(parents=True)
    (scans / "scan.xml").write_bytes(ubl_invoice("scan"))
    (data_dir / "secrets" / "default").mkdir(parents=True)
    (data_dir / "secrets" / "default" / "mail_password").write_text("sealed")
    async with running(data_dir) as stack:
        for trigger in TRIGGERS:
            await post(stack, "/triggers", trigger)
        key = (await post(stack, "/keys", {"name": "erp", "scopes": ["read"]}))["key"]
        both = pdf_bytes(make_pdf(invoice("R-1", "119,00"), invoice("R-2", "238,00")))
        whole = await post(stack, "/documents", files={"file": ("both.pdf", both, "application/pdf")})
        await wait_for(stack, [whole["run_id"]], "completed")
        parts = (await shown(stack, f"/documents/{whole['document_id']}"))["parts"]
        await fire(stack)
        of_folder = (await shown(stack, "/triggers/scanner"))["last_batch"]
        await until(stack, f"/batches/{of_folder}", "status", "completed")
        batch = (await post(stack, "/batches", {"name": "open"}))["batch_id"]
        await post(stack, f"/batches/{batch}/documents", files={"file": ("a.xml", ubl_invoice("a"))})
        waiting = await start(stack, WAITING)
        await wait_for(stack, [waiting], "waiting")
        await approve(stack, of_folder)
        export = (await post(stack, "/exports", {"to": {"format": "csv"}}))["export_id"]
        await until(stack, f"/exports/{export}", "status", "ready")
        exported = (await stack.http.get(f"/v1/exports/{export}/file")).content
        connection = await asyncpg.connect(stack.postgres.dsn)
        await connection.execute(USE)
        await connection.close()

    await back_up(data_dir, archive, report=print)
    files, rows = bytes_of(data_dir), await rows_of(data_dir)
    assert {name for name in FILLED if not rows[name]} == set()
    await asyncio.to_thread(shutil.rmtree, data_dir)
    await restore(archive, data_dir, report=print)
    assert bytes_of(data_dir) == files
    assert await rows_of(data_dir) == rows

    async with running(data_dir) as stack:
        assert [each["name"] for each in (await shown(stack, "/triggers"))["triggers"]] == ["post", "scanner"]
        answer = await stack.http.get("/v1/me", headers={"Authorization": f"Bearer {key}"})
        assert (answer.status_code, answer.json()["name"]) == (200, "erp")
        assert (await shown(stack, f"/documents/{whole['document_id']}"))["parts"] == parts
        assert (await stack.http.get(f"/v1/exports/{export}/file")).content == exported
        await fire(stack)
        assert (await shown(stack, "/triggers/scanner"))["last_batch"] == of_folder, "it knows the file"
        await post(stack, f"/runs/{waiting}/waits/reply", {"answer": {"said": "yes"}})
        await post(stack, f"/batches/{batch}/documents", files={"file": ("b.xml", ubl_invoice("b"))})
        await post(stack, f"/batches/{batch}/close")
        await until(stack, f"/batches/{batch}", "status", "completed")
        await wait_for(stack, [waiting], "completed")
        assert (await shown(stack, f"/batches/{batch}/result"))["batch"]["counts"]["done"] == 2
