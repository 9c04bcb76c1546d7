"""Hostile files, in the limited children that production uses: each has its outcome, in bounded memory and time."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pytest

from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.sandbox.server import ReadingLimits
from docrail.invoices.model import InvoiceData
from docrail.invoices.problems import UnreadableDocument
from tests.invoices import hostile, hostile_too
from tests.invoices.hostile import outcome_of

FILES = {**hostile.FILES, **hostile_too.FILES}
LIMITS = ReadingLimits(cpu_seconds=30, wall_seconds=60.0)
"""A minute is what a person waits; the memory is production's."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits are Linux's")


@pytest.fixture(scope="module")
async def reader() -> AsyncIterator[DocumentReader]:
    reader = DocumentReader(workers=2, limits=LIMITS)
    yield reader
    await reader.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of the files that are made already: some take a second."""
    return tmp_path_factory.mktemp("hostile")


async def made(name: str, folder: Path, path: Path) -> Path:
    """Write the file to `path`, and return that."""
    kept = folder / sha256(name.encode()).hexdigest()
    if not kept.exists():
        kept.write_bytes(await asyncio.to_thread(FILES[name][0]))
    path.write_bytes(kept.read_bytes())
    return path


async def read(reader: DocumentReader, path: Path) -> tuple[str, InvoiceData | None, str]:
    """Return what came of the file, the reading if there is one, and the words it is refused with."""
    try:
        invoice = await reader.read(path)
    except UnreadableDocument as error:
        return error.code.value, None, error.message
    return outcome_of(invoice), invoice, ""


@pytest.mark.parametrize("name", FILES)
async def test_each_file_has_its_outcome(name: str, reader: DocumentReader, folder: Path, tmp_path: Path) -> None:
    outcome, invoice, message = await read(reader, await made(name, folder, tmp_path / "document"))
    assert outcome == FILES[name][1], message
    assert [file.name for file in tmp_path.iterdir()] == ["document"]
    assert not any(hint in message for hint in ("0x", "Traceback", str(tmp_path)))
    if invoice:
        reported = invoice.model_dump_json()
        assert "\\u0000" not in reported  # PostgreSQL stores no zeros in texts
        assert len(reported) < 100_000
        assert "root:x:0" not in reported


@pytest.mark.parametrize("name", FILES)
async def test_a_page_of_each_file_is_drawn_or_refused_as_the_file_is(
    name: str, reader: DocumentReader, folder: Path, tmp_path: Path
) -> None:
    path = await made(name, folder, tmp_path / "document")
    image = None
    with suppress(UnreadableDocument):  # any other error is a bug
        image = await reader.draw(path, 1)
    assert image is None or (image.startswith(b"\x89PNG") and len(image) < 10_000_000)
    with suppress(UnreadableDocument):
        pages = await reader.as_pdf(path)
        assert pages.startswith(b"%PDF-")
        assert len(pages) < 13_000_000


async def test_files_that_are_refused_do_not_stop_others(reader: DocumentReader, tmp_path: Path) -> None:
    paths = {}
    for number, name in enumerate(["nested forms", "deep XML", "locked, AES-256", "endless tiff", "font of zeros"]):
        paths[name] = tmp_path / str(number)
        paths[name].write_bytes(FILES[name][0]())
    outcomes = await asyncio.gather(*(read(reader, path) for path in paths.values()))
    assert {name: outcome for name, (outcome, _, _) in zip(paths, outcomes, strict=True)} == {
        name: FILES[name][1] for name in paths
    }


@pytest.mark.parametrize("name", ["../../../etc/passwd", "$(touch pwned).pdf", "a\nb.pdf", "-rf", "ü" * 80 + ".xml"])
async def test_a_file_name_is_only_a_name(name: str, reader: DocumentReader, tmp_path: Path) -> None:
    path = tmp_path / name.replace("/", "_")
    path.write_bytes(FILES["hostile attachments"][0]())
    outcome, _, _ = await read(reader, path)
    assert outcome == "read"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
