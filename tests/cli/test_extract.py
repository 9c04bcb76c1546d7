"""`docrail extract`: reads documents without a server, one line of JSON each, or a table."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import docrail, running
from tests.invoices.documents import SAMPLES, make_pdf, pdf_bytes
from tests.invoices.hostile import PRINTED, font_of

NAME = "smartap_clean_01.pdf"
FIELDS = {
    *("document_type", "invoice_number", "order_reference", "date", "delivery_date", "due_date", "vendor_name"),
    *("vendor_vat_id", "iban", "currency", "net", "tax", "total", "line_count"),
}


def records(out: str) -> dict[str, dict[str, Any]]:
    return {record["file"]: record for record in map(json.loads, out.splitlines())}


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    """A folder with two documents, one in a folder of its own, and something else."""
    (tmp_path / "in" / "more").mkdir(parents=True)
    shutil.copy(SAMPLES / NAME, tmp_path / "in" / "more" / "B.PDF")
    shutil.copy(SAMPLES / "xr_01.01a_ubl.xml", tmp_path / "in" / "a.xml")
    (tmp_path / "in" / "README.md").write_text("no document")
    return tmp_path


async def test_a_folder_is_read_in_the_order_of_names(inbox: Path) -> None:
    ended = await docrail("extract", str(inbox / "in"), "--jsonl")
    assert (ended.code, ended.err) == (0, "")
    found = records(ended.out)
    assert list(found) == ["a.xml", "more/B.PDF"]
    record = found["more/B.PDF"]
    assert set(record) == {"file", "fields", "confidence", "auto_approved", "problems"}
    assert set(record["fields"]) == FIELDS
    assert (record["fields"]["total"], record["fields"]["line_count"]) == ("5748.82", 5)
    assert set(record["confidence"]) == {name for name, value in record["fields"].items() if value} - {"line_count"}
    assert all(0 < confidence < 1 for confidence in record["confidence"].values())


async def test_files_are_called_as_the_manifest_above_them_calls_them(inbox: Path) -> None:
    (inbox / "MANIFEST.json").write_text("{}")
    ended = await docrail("extract", str(inbox / "in" / "more"), str(inbox / "in" / "a.xml"), "--jsonl")
    assert list(records(ended.out)) == ["in/more/B.PDF", "in/a.xml"]


async def test_an_unreadable_file_is_a_line_with_its_problem(tmp_path: Path) -> None:
    gone = tmp_path / "gone.pdf"
    ended = await docrail("extract", str(SAMPLES / "broken.pdf"), str(gone), str(SAMPLES / NAME), "--jsonl")
    assert ended.code == 1
    codes = {name: [problem["code"] for problem in record["problems"]] for name, record in records(ended.out).items()}
    assert codes == {str(SAMPLES / "broken.pdf"): ["damaged"], str(gone): ["cannot_open"], str(SAMPLES / NAME): []}


async def test_people_get_a_table_and_the_reasons(tmp_path: Path) -> None:
    ended = await docrail("extract", str(SAMPLES / "broken.pdf"), str(SAMPLES / NAME))
    assert ended.code == 1
    assert "Marketing Agency Pro" in ended.out
    assert "5748.82" in ended.out
    assert "damaged" in ended.out
    assert "broken.pdf: The file begins like a PDF but is damaged" in ended.err


async def test_only_an_e_invoice_that_nothing_contradicts_passes_alone(inbox: Path) -> None:
    found = records((await docrail("extract", str(inbox / "in"), "--jsonl")).out)
    assert found["more/B.PDF"]["auto_approved"] is False
    assert found["a.xml"]["auto_approved"] is True


async def test_ctrl_c_reports_how_many_documents_were_read(inbox: Path) -> None:
    os.mkfifo(inbox / "in" / "more" / "never.pdf")  # its reader waits for a writer
    async with running(
        "extract", str(inbox / "in" / "a.xml"), str(inbox / "in" / "more" / "never.pdf"), "--jsonl"
    ) as command:
        await command.wait_for('{"file"')
        assert await command.end() == 130
    assert command.said.endswith("docrail: stopped after 1 of 2 documents\n")


async def test_a_folder_without_documents_is_reported(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("no document")
    ended = await docrail("extract", str(tmp_path))
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.startswith(f"docrail: no document in {tmp_path}: looked for .bmp, ")


async def test_a_name_that_is_no_text_keeps_no_document_from_being_read(inbox: Path) -> None:
    odd = os.fsencode(inbox / "in") + b"/\xff\xfe\x1b[2J\n.xml"
    shutil.copy(os.fsencode(SAMPLES / "xr_01.01a_ubl.xml"), odd)
    ended = await docrail("extract", str(inbox / "in"), "--jsonl")
    assert (ended.code, ended.err) == (0, "")
    assert [name for name in records(ended.out) if name not in {"a.xml", "more/B.PDF"}] == ["??\x1b[2J\n.xml"]


async def test_neither_a_document_nor_its_name_commands_the_terminal(tmp_path: Path) -> None:
    pdf = make_pdf([(50, 60, "MusterA GmbH"), *PRINTED[1:]])
    font_of("\x1b]0;\x9bx\x07")(pdf)
    (tmp_path / "\x1b[2J.pdf").write_bytes(pdf_bytes(pdf))
    (tmp_path / "\x1b[2J.xml").write_bytes(b"")
    ended = await docrail("extract", str(tmp_path), "--explain")
    assert "Muster]0;x GmbH" in ended.out
    assert "\\x1b[2J.pdf" in ended.out
    assert "\\x1b[2J.xml: The file is empty" in ended.err
    assert [letter for letter in ended.out + ended.err if not letter.isprintable() and letter != "\n"] == []
