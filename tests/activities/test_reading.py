"""Documents are opened in limited children, and neither a document nor a killed process takes the reader with it."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from docrail.adapters.sandbox import reader as reader_module
from docrail.adapters.sandbox.forker import ChildLimits, Forker
from docrail.adapters.sandbox.reader import DocumentReader, ReaderDiedError
from docrail.adapters.sandbox.server import ReadingLimits
from docrail.invoices.problems import UnreadableDocument
from tests.invoices.documents import make_pdf, pdf_bytes
from tests.invoices.hostile import invoice_of
from tests.stack import eventually

SAMPLES = Path(__file__).parents[2] / "samples"
INVOICE = SAMPLES / "xr_01.01a_ubl.xml"
PATIENCE_SECONDS = 90.0

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@asynccontextmanager
async def reading(workers: int = 2, **limits: float) -> AsyncIterator[DocumentReader]:
    reader = DocumentReader(workers, ReadingLimits(**limits))  # type: ignore[arg-type]  # seconds and bytes by name
    try:
        yield reader
    finally:
        await reader.close()


def children_of(pid: int | None) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()] if pid and path.exists() else []


def alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def stalled(folder: Path, name: str = "stalled.xml") -> Path:
    """Return a document that never ends: its child waits until it is written, or killed."""
    path = folder / name
    os.mkfifo(path)
    return path


def finish(path: Path) -> bool:
    """Write the stalled document, if a child has it open."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return False
    with os.fdopen(descriptor, "wb") as pipe:
        pipe.write(INVOICE.read_bytes())
    return True


async def test_a_document_is_read_in_another_process() -> None:
    async with reading() as reader:
        invoice = await reader.read(INVOICE)
        assert invoice.invoice_number.value == "123456XX"
        assert reader.server_pid not in (None, os.getpid())


async def test_the_reader_is_at_rest_when_no_document_was_read_for_a_while_and_drawing_is_no_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = tmp_path / "drawn.pdf"
    drawn.write_bytes(pdf_bytes(make_pdf([])))
    async with reading() as reader:
        monkeypatch.setattr(reader_module, "REST_SECONDS", 3600.0)
        assert await reader.draw(drawn, 1)
        await reader.at_rest()
        await reader.read(INVOICE)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.at_rest(), 0.05)
        monkeypatch.setattr(reader_module, "REST_SECONDS", 0.0)
        await reader.at_rest()


async def test_the_processes_that_open_documents_have_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCRAIL_GEMINI_API_KEY", "a-key")
    monkeypatch.setenv("LDAP_PASSWORD", "a-password")
    monkeypatch.setenv("DOCRAIL_DATABASE_URL", "postgresql://docrail:a-password@host/db")
    async with reading() as reader:
        await reader.read(INVOICE)
        reported = Path(f"/proc/{reader.server_pid}/environ").read_bytes()
    assert b"PATH=" in reported
    assert b"a-key" not in reported
    assert b"a-password" not in reported


async def test_an_unreadable_document_keeps_its_code_and_message() -> None:
    async with reading() as reader:
        with pytest.raises(UnreadableDocument, match="Send it again") as caught:
            await reader.read(SAMPLES / "broken.pdf")
        assert caught.value.code == "damaged"


async def test_a_missing_file_is_worth_a_retry(tmp_path: Path) -> None:
    async with reading() as reader:
        with pytest.raises(FileNotFoundError):
            await reader.read(tmp_path / "missing.pdf")


async def test_a_large_file_is_not_opened() -> None:
    async with reading(max_bytes=1000) as reader:
        with pytest.raises(UnreadableDocument) as caught:
            await reader.read(INVOICE)
        assert caught.value.code == "too_large"
        assert reader.server_pid is None


async def test_page_limit_reaches_the_child() -> None:
    async with reading(max_pages=1) as reader:
        with pytest.raises(UnreadableDocument) as caught:
            await reader.read(SAMPLES / "smartap_multipage_02.pdf")
        assert caught.value.code == "too_many_pages"


async def test_the_wall_clock_ends_a_stalled_child(tmp_path: Path) -> None:
    async with reading(wall_seconds=0.2) as reader:
        with pytest.raises(UnreadableDocument) as caught:
            await reader.read(stalled(tmp_path))
        assert caught.value.code == "timed_out"
        assert (await reader.read(INVOICE)).reader == "ubl"


async def test_the_cpu_limit_ends_a_busy_child(tmp_path: Path) -> None:
    pdf = make_pdf(*[[]] * 8)
    work = pdf.make_stream(b"BT /F1 8 Tf 10 10 Td (Invoice 1) Tj ET\n" * 700_000)
    for page in pdf.pages:
        page.Contents = work
    busy = tmp_path / "busy.pdf"
    busy.write_bytes(pdf_bytes(pdf))
    async with reading(cpu_seconds=1) as reader:
        with pytest.raises(UnreadableDocument) as caught:
            await reader.read(busy)
        assert caught.value.code == "timed_out"


async def test_the_memory_limit_ends_a_greedy_child(tmp_path: Path) -> None:
    greedy = tmp_path / "greedy.xml"
    greedy.write_bytes(b"<a>" + b"<b c='d'>e</b>" * 950_000 + b"</a>")
    async with reading(memory_bytes=250_000_000) as reader:
        with pytest.raises(UnreadableDocument) as caught:
            await reader.read(greedy)
        assert caught.value.code in {"unsafe", "crashed", "damaged"}
        assert (await reader.read(INVOICE)).reader == "ubl"


async def test_a_reading_above_the_transfer_limit_is_too_large_and_no_crash(tmp_path: Path) -> None:
    endless = tmp_path / "endless.xml"
    endless.write_bytes(invoice_of(9_000).replace(b"<cbc:Name>", b"<cbc:Name>" + b"x" * 1_990))
    async with reading() as reader:
        with pytest.raises(UnreadableDocument, match="Ask the sender to split it") as caught:
            await reader.read(endless)
        assert caught.value.code == "too_large"
        assert (await reader.read(INVOICE)).reader == "ubl"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
async def test_a_child_that_dies_is_a_crash_and_the_next_document_is_read(tmp_path: Path, how: signal.Signals) -> None:
    async with reading() as reader:
        task = asyncio.create_task(reader.read(stalled(tmp_path)))
        await eventually(lambda: bool(children_of(reader.server_pid)), "a child")
        os.kill(children_of(reader.server_pid)[0], how)
        with pytest.raises(UnreadableDocument, match=how.name) as caught:
            await task
        assert caught.value.code == "crashed"
        assert (await reader.read(INVOICE)).reader == "ubl"


async def test_cancelling_kills_the_child_and_frees_its_slot(tmp_path: Path) -> None:
    async with reading(workers=1) as reader:
        task = asyncio.create_task(reader.read(stalled(tmp_path)))
        await eventually(lambda: bool(children_of(reader.server_pid)), "a child")
        (child,) = children_of(reader.server_pid)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await eventually(lambda: not alive(child), "the child's end")
        assert (await reader.read(INVOICE)).reader == "ubl"


async def test_a_killed_server_is_replaced() -> None:
    async with reading() as reader:
        await reader.read(INVOICE)
        first = reader.server_pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        assert (await reader.read(INVOICE)).reader == "ubl"
        assert reader.server_pid != first


async def test_a_server_killed_at_work_takes_its_child_along_and_the_document_is_read_anew(tmp_path: Path) -> None:
    document = stalled(tmp_path)
    async with reading() as reader:
        task = asyncio.create_task(reader.read(document))
        await eventually(lambda: bool(children_of(reader.server_pid)), "a child")
        first, (child,) = reader.server_pid, children_of(reader.server_pid)
        assert first is not None
        os.kill(first, signal.SIGKILL)
        await eventually(lambda: not alive(child), "the child's end")
        await eventually(lambda: finish(document), "a second child")
        assert (await task).reader == "ubl"


async def test_no_more_than_its_workers_read_at_once(tmp_path: Path) -> None:
    waiting = [stalled(tmp_path, f"{number}.xml") for number in range(5)]
    seen: list[int] = []

    def one_more_is_finished() -> bool:
        seen.append(len(children_of(reader.server_pid)))
        done = next((document for document in waiting if finish(document)), None)
        if done:
            waiting.remove(done)
        return done is not None

    async with reading(workers=2) as reader:
        tasks = [asyncio.create_task(reader.read(document)) for document in waiting]
        await eventually(lambda: len(children_of(reader.server_pid)) == 2, "two children")
        while waiting:
            await eventually(one_more_is_finished, "a child that waits for its document")
        await asyncio.gather(*tasks)
    assert max(seen) == 2


SLOW_TO_END = """
from docrail.adapters.sandbox.forking import Program
def program(pipe):
    return Program(lambda: None, lambda payload: payload, lambda: len(open(pipe).read()))
"""


async def test_an_answer_comes_before_its_child_ends_and_the_next_child_after_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_to_end.py").write_text(SLOW_TO_END)
    monkeypatch.syspath_prepend(tmp_path)
    pipe, limits = stalled(tmp_path, "pipe"), ChildLimits(1_500_000_000, 60, 60.0)
    forker = Forker("slow_to_end", str(pipe), at_once=1)
    try:
        assert await asyncio.wait_for(forker.ask(b"one", limits), PATIENCE_SECONDS) == b"one"
        (first,) = children_of(forker.server_pid)
        other = asyncio.create_task(forker.ask(b"other", limits))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(other), 0.3)
        await eventually(lambda: finish(pipe), "a child that waits for its end")
        assert await asyncio.wait_for(other, PATIENCE_SECONDS) == b"other"
        assert first not in children_of(forker.server_pid)
    finally:
        await forker.close()


async def test_many_documents_are_read_side_by_side() -> None:
    async with reading() as reader:
        invoices = await asyncio.gather(*(reader.read(INVOICE) for _ in range(40)))
        assert {invoice.invoice_number.value for invoice in invoices} == {"123456XX"}


async def test_closing_ends_the_server_and_what_it_reads(tmp_path: Path) -> None:
    reader = DocumentReader()
    task = asyncio.create_task(reader.read(stalled(tmp_path)))
    await eventually(lambda: bool(children_of(reader.server_pid)), "a child")
    server, (child,) = reader.server_pid, children_of(reader.server_pid)
    await reader.close()
    with pytest.raises(ReaderDiedError):
        await task
    assert server is not None
    await eventually(lambda: not alive(server) and not alive(child), "the end of both")


MAIN = """
import asyncio, os, sys
from pathlib import Path
with open({log!r}, "a") as log:
    log.write("imported\\n")
from docrail.adapters.sandbox import reader as reader_module
from docrail.adapters.sandbox.reader import DocumentReader
async def main():
    reader = DocumentReader()
    await reader.read(Path({invoice!r}))
    if {stay}:
        task = asyncio.create_task(reader.read(Path({stalled!r})))
        async with asyncio.timeout(20):
            listed = Path(f"/proc/{{reader.server_pid}}/task/{{reader.server_pid}}/children")
            while not (children := listed.read_text()):
                await asyncio.sleep(0.01)  # /proc notifies no one; bounded by the timeout
        print(reader.server_pid, children, flush=True)
        await task
    await reader.close()
asyncio.run(main())
"""


def start_main(folder: Path, *, stay: bool) -> subprocess.Popen[str]:
    document = stalled(folder)
    program = MAIN.format(log=str(folder / "log"), invoice=str(INVOICE), stalled=str(document), stay=stay)
    (folder / "some_worker.py").write_text(program)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(SAMPLES.parent)])}
    return subprocess.Popen(
        [sys.executable, "-m", "some_worker"], env=environment, cwd=folder, stdout=subprocess.PIPE, text=True
    )


async def test_the_main_program_is_never_imported_again(tmp_path: Path) -> None:
    with start_main(tmp_path, stay=False) as main:
        assert await asyncio.to_thread(main.wait, PATIENCE_SECONDS) == 0
    assert (tmp_path / "log").read_text().splitlines() == ["imported"]


async def test_a_killed_worker_leaves_no_process_behind(tmp_path: Path) -> None:
    with start_main(tmp_path, stay=True) as main:
        assert main.stdout is not None
        pids = [int(pid) for pid in (await asyncio.to_thread(main.stdout.readline)).split()]
        assert len(pids) == 2
        main.kill()
        await asyncio.to_thread(main.wait, PATIENCE_SECONDS)
    await eventually(lambda: not any(alive(pid) for pid in pids), "the end of server and child")


def test_a_child_has_nothing_to_load() -> None:
    """Each document would pay for a module that is loaded in its child alone."""
    program = f"""
import sys
from docrail.adapters.sandbox import server as reading_server
reading_server._preload()
loaded = set(sys.modules)
for claims in (None, {{}}):
    reading_server._answer(reading_server.ReadingRequest({str(INVOICE)!r}, reading_server.ReadingLimits(), claims))
    reading_server._answer(
        reading_server.ReadingRequest({str(SAMPLES / "smartap_clean_01.pdf")!r}, reading_server.ReadingLimits(), claims)
    )
print(sorted(set(sys.modules) - loaded))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=SAMPLES.parent, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
