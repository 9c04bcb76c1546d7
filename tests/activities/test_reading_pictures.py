"""Pictures are read in the same limited children as everything else, with models that the server has loaded once."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from PIL import Image

from docrail.adapters.sandbox.reader import DocumentReader, ReaderDiedError
from docrail.adapters.sandbox.server import ReadingLimits
from docrail.invoices.problems import UnreadableDocument
from docrail.invoices.readers.ocr import read as ocr
from docrail.services.metrics import Metrics
from tests.activities.test_reading import INVOICE, SAMPLES, alive, children_of, reading
from tests.invoices.pictures import draw, image_bytes, png_that_claims
from tests.stack import eventually

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
    pytest.mark.skipif(not ocr.installed(), reason="needs the extra `ocr`"),
]


@pytest.fixture(scope="session")
def picture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pictures") / "invoice.png"
    path.write_bytes(image_bytes(draw()))
    return path


@pytest.fixture(scope="session")
def thick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return pages that take seconds: long enough for another caller to come in between."""
    path = tmp_path_factory.mktemp("pictures") / "thick.tiff"
    page = draw()
    path.write_bytes(image_bytes(page, "TIFF", save_all=True, append_images=[page] * 15, compression="tiff_lzw"))
    return path


def seen_by(metrics: Metrics, reader: str, what: str = "count") -> float:
    return metrics.registry.get_sample_value(f"docrail_document_reading_cpu_seconds_{what}", {"reader": reader}) or 0.0


def has_models(pid: int | None) -> bool:
    return "onnxruntime" in Path(f"/proc/{pid}/maps").read_text()


async def test_pictures_are_read_side_by_side(picture: Path) -> None:
    async with reading() as reader:
        invoices = await asyncio.gather(*(reader.read(picture) for _ in range(3)))
        assert [invoice.invoice_number.value for invoice in invoices] == ["RE-2026-0815"] * 3
        assert {invoice.reader for invoice in invoices} == {"ocr"}


async def test_the_event_loop_goes_on_while_a_picture_is_read(picture: Path) -> None:
    async with reading() as reader:
        await reader.start()
        task = asyncio.create_task(reader.read(picture))
        turns = 0
        while not task.done():
            await asyncio.wait([task], timeout=0.01)
            turns += 1
        assert task.result().reader == "ocr"
        assert turns > 10


async def test_the_worker_is_reported_what_each_reader_costs(picture: Path) -> None:
    metrics = Metrics()
    reader = DocumentReader(record=metrics.record_reading)
    try:
        await reader.read(picture)
        await reader.read(INVOICE)
        with pytest.raises(UnreadableDocument):
            await reader.read(SAMPLES / "broken.pdf")
    finally:
        await reader.close()
    assert [seen_by(metrics, name) for name in ("ocr", "ubl", "unreadable", "text")] == [1, 1, 1, 0]
    assert seen_by(metrics, "ocr", "sum") > seen_by(metrics, "ubl", "sum") > 0


async def test_a_bomb_costs_nothing_and_the_next_picture_is_read(tmp_path: Path, picture: Path) -> None:
    bomb = tmp_path / "bomb.png"
    bomb.write_bytes(png_that_claims(30_000, 30_000))
    async with reading() as reader:
        with pytest.raises(UnreadableDocument) as caught:
            await reader.read(bomb)
        assert caught.value.code == "too_large"
        assert (await reader.read(picture)).reader == "ocr"


async def test_the_largest_picture_fits_into_a_child(tmp_path: Path) -> None:
    large = tmp_path / "large.png"
    page = Image.new("RGB", (8_000, 5_000), "white")
    page.paste(draw(), (100, 100))
    large.write_bytes(image_bytes(page, "PNG", compress_level=1))
    async with reading() as reader:
        assert (await reader.read(large)).page_count == 1


async def test_a_child_that_dies_while_it_reads_a_picture_ends_alone(thick: Path, picture: Path) -> None:
    async with reading() as reader:
        task = asyncio.create_task(reader.read(thick))
        await eventually(lambda: bool(children_of(reader.server_pid)), "a child")
        os.kill(children_of(reader.server_pid)[0], signal.SIGKILL)
        with pytest.raises(UnreadableDocument, match="SIGKILL") as caught:
            await task
        assert caught.value.code == "crashed"
        assert (await reader.read(picture)).reader == "ocr"


async def test_too_much_work_ends_a_child_in_the_middle_of_a_model(thick: Path, picture: Path) -> None:
    async with reading(cpu_seconds=2) as reader:
        with pytest.raises(UnreadableDocument) as caught:
            await reader.read(thick)
        assert caught.value.code == "timed_out"
        assert (await reader.read(INVOICE)).reader == "ubl"


async def test_a_worker_that_stops_ends_what_reads_a_picture(thick: Path) -> None:
    reader = DocumentReader(limits=ReadingLimits())
    task = asyncio.create_task(reader.read(thick))
    await eventually(lambda: bool(children_of(reader.server_pid)), "a child")
    server, (child,) = reader.server_pid, children_of(reader.server_pid)
    await reader.close()
    with pytest.raises(ReaderDiedError):
        await task
    assert server is not None
    await eventually(lambda: not alive(server) and not alive(child), "the end of both")


async def test_a_child_has_the_models_of_its_server(thick: Path, picture: Path) -> None:
    """The first picture makes the server load them; a later child has them from its start, and no other thread."""
    async with reading() as reader:
        await reader.read(INVOICE)
        assert not has_models(reader.server_pid)
        await reader.read(picture)
        await eventually(lambda: has_models(reader.server_pid), "a server with models")
        assert len(list(Path(f"/proc/{reader.server_pid}/task").iterdir())) == 1, "onnxruntime's telemetry has a thread"
        task = asyncio.create_task(reader.read(thick))
        await eventually(lambda: bool(children_of(reader.server_pid)), "a child")
        (child,) = children_of(reader.server_pid)
        assert len(list(Path(f"/proc/{child}/task").iterdir())) == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
