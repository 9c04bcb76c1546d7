"""Each file of the hostile set, if it is next to the checkout, is refused, held back or read as its manifest says."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from docrail.adapters.sandbox.reader import DocumentReader
from docrail.invoices.assessment.straight_through import WITHOUT_HISTORY, decide
from docrail.invoices.model import InvoiceData
from docrail.invoices.problems import Unreadable, UnreadableDocument
from tests.invoices.fuzz import LIMITS, broken_promise

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "hostile"
MANIFEST = FOLDER / "MANIFEST.json"
FILES: list[dict[str, Any]] = json.loads(MANIFEST.read_text("utf-8"))["files"] if MANIFEST.is_file() else []
REFUSALS = frozenset({"reject", "needs_password", "review_or_reject", "accept_or_reject"})
PASSED = frozenset({"accept", "accept_or_reject"})
"""May pass without a person."""
SURE = 0.5
"""A document that only a person can read has less."""


@pytest.fixture(scope="module")
async def reader() -> AsyncIterator[DocumentReader]:
    reader = DocumentReader(workers=1, limits=LIMITS)
    yield reader
    await reader.close()


@pytest.mark.parametrize("entry", FILES, ids=lambda entry: str(entry["file"]))
async def test_it_ends_as_its_manifest_says(entry: dict[str, Any], reader: DocumentReader) -> None:
    expected, result = entry["expect"], await _read(reader, FOLDER / entry["file"])
    if isinstance(result, UnreadableDocument):
        assert expected in REFUSALS, result.message
        assert (result.code is Unreadable.ENCRYPTED) == (expected == "needs_password")
        return
    assert expected not in {"reject", "needs_password"}
    assert broken_promise(result) is None
    assert expected in PASSED or not decide(result, WITHOUT_HISTORY).passes
    _as_expected(result, expected, entry["why"])


async def _read(reader: DocumentReader, path: Path) -> InvoiceData | UnreadableDocument:
    try:
        return await reader.read(path)
    except UnreadableDocument as error:
        return error


def _as_expected(invoice: InvoiceData, expected: str, why: str) -> None:
    if "accept" in expected:
        assert invoice.total.value is not None
        if "total" in why:
            assert str(invoice.total.value) in why
    if expected == "accept_with_flag":
        assert set(invoice.flags) & {problem.code for problem in invoice.problems}
    if expected == "review":
        assert invoice.total.value is None
        assert invoice.confidence < SURE
