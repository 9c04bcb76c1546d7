"""Tools of workers that ask a fake Gemini, and single attempts at `extract_invoice` and `ask_gemini`."""

import dataclasses
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from docrail.activities.handlers import ask_gemini, extract_invoice
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.store.blobs import BlobStore
from docrail.adapters.store.values import ValueStore
from docrail.dag.values.json_values import Json
from docrail.embedded.fake_gemini.server import FakeGemini
from docrail.handlers import StepCall
from docrail.invoices.model import InvoiceData
from docrail.services.documents.models import Document
from docrail.services.documents.repository.readings import load_extraction
from docrail.services.lake.files import Lake
from docrail.services.metrics import Metrics
from docrail.services.tools import Outside, Tools
from tests.gemini import access
from tests.postgres import TENANT, upload

SAMPLE = Path(__file__).parents[2] / "samples" / "i2d_coolblue1.pdf"
RUN_ID = "invoice.test"


@pytest.fixture(scope="module")
async def reader() -> AsyncIterator[DocumentReader]:
    opened = DocumentReader()
    yield opened
    await opened.close()


@pytest.fixture
def keyless(pool: asyncpg.Pool, reader: DocumentReader, tmp_path: Path) -> Tools:
    return Tools(
        pool, BlobStore(tmp_path / "blobs"), ValueStore(tmp_path / "values"), Lake(tmp_path / "lake"), reader, Metrics()
    )


def reaching(tools: Tools, fake: FakeGemini, **other: Json) -> Tools:
    """Return the tools of a worker that asks the fake."""
    reached = dataclasses.replace(access(fake), **other)
    return dataclasses.replace(tools, outside=Outside(gemini=reached), metrics=Metrics())


def pdf() -> bytes:
    """Return a text PDF with bytes of its own."""
    return SAMPLE.read_bytes() + f"\n%{uuid.uuid4()}\n".encode()


async def stored(tools: Tools, data: bytes | None = None) -> Document:
    return await upload(tools.db, blob=await tools.blobs.put(data or pdf()))


async def ask(
    tools: Tools,
    document: Document,
    *,
    attempt: int = 1,
    retry_within: float | None = float("inf"),
    run_id: str = RUN_ID,
    key_id: str | None = None,
    **config: Json,
) -> Json:
    made = ask_gemini.Config.model_validate({"document_id": document.document_id, **config})
    call = StepCall(TENANT, run_id, "ask_gemini", attempt, made, retry_within_seconds=retry_within, key_id=key_id)
    return (await ask_gemini.run(call, tools)).model_dump(mode="json")


async def extract(tools: Tools, document: Document, *, run_id: str = RUN_ID, **config: Json) -> Json:
    made = extract_invoice.Config.model_validate({"document_id": document.document_id, **config})
    call = StepCall(TENANT, run_id, "extract", 1, made)
    return (await extract_invoice.run(call, tools)).model_dump(mode="json")


async def invoice_of(tools: Tools, output: Json) -> InvoiceData:
    reference = output["invoice_ref"]
    found = await load_extraction(tools.db, TENANT, reference["sha256"], reference["reader_version"])
    assert found
    return found


def count(tools: Tools, name: str, **labels: str) -> float:
    return tools.metrics.registry.get_sample_value(name, labels) or 0.0


async def free(tools: Tools, document: Document) -> None:
    """Let the pause between two attempts be over."""
    await tools.db.execute("UPDATE reading_leases SET expires_at = now() WHERE work_key LIKE $1", f"{document.sha256}%")
