"""Feeds changed files to the readers for a while: `python -m tests.invoices.fuzz SECONDS [SEED]` (`make fuzz`).

Each file is read in a limited child, as in production. A find is a file that a reader's bug refuses, or whose reading
breaks a promise; it is kept in `finds/`, where test_finds.py reads it again for ever. A library that crashes or uses
up a limit is no find: that is what the child is for; it is counted.
"""

import asyncio
import hashlib
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.sandbox.server import ReadingLimits
from docrail.invoices.model import FIELD_NAMES, InvoiceData
from docrail.invoices.problems import Unreadable, UnreadableDocument
from tests.invoices import hostile_too
from tests.invoices.codes import EPC, SWISS, pdf_with_code
from tests.invoices.documents import SAMPLES, attach, make_pdf, pdf_bytes, ubl_invoice
from tests.invoices.hostile import FILES, PRINTED
from tests.invoices.mutations import mutate
from tests.invoices.pictures import draw, image_bytes

FINDS = Path(__file__).parent / "finds"
LIMITS = ReadingLimits(cpu_seconds=20, wall_seconds=40.0)
SMALL = 200_000
"""Bytes of a file that is worth changing: more of them are read in the time."""
MAX_DIGITS = 14
"""Before the point: what decimal128(18, 4) holds."""
AT_ONCE = 2


@cache
def seeds() -> list[bytes]:
    """Return the files that changing starts from."""
    samples = [path.read_bytes() for path in sorted(SAMPLES.iterdir()) if path.suffix in {".pdf", ".xml"}]
    makers = [make for make, _ in (*FILES.values(), *hostile_too.FILES.values())]
    hostile = [data for make in makers if len(data := make()) < SMALL]
    with_xml = make_pdf(PRINTED)
    attach(with_xml, "factur-x.xml", ubl_invoice())
    codes = [pdf_with_code(PRINTED, EPC), pdf_with_code(PRINTED, SWISS, as_picture=True), pdf_bytes(with_xml)]
    finds = [path.read_bytes() for path in sorted(FINDS.glob("*.bin"))]
    xml = [ubl_invoice(), ubl_invoice(root="CreditNote")]
    return [*samples * 3, *hostile, *codes * 3, *finds, *xml, *pictures()]


def pictures() -> list[bytes]:
    """Return an invoice as each kind of picture that scanners and telephones make, of few dots: it is soon read."""
    picture = draw(dots_per_inch=72)
    fax = image_bytes(picture.convert("1"), "TIFF", compression="group4")
    return [image_bytes(picture.convert("L")), image_bytes(picture, "JPEG", quality=70), fax]


def broken_promise(invoice: InvoiceData) -> str | None:
    """Return which promise a reading breaks, None for a good one."""
    dumped = invoice.model_dump_json()
    if "\\u0000" in dumped:
        return "a zero in a text, which PostgreSQL does not store"
    if InvoiceData.model_validate_json(dumped) != invoice:
        return "not the same after JSON"
    for name in FIELD_NAMES:
        field = getattr(invoice, name)
        if field.value is None and field.confidence:
            return f"{name} is sure of nothing"
        if isinstance(field.value, str) and (not field.value.strip() or len(field.value) > 2000):
            return f"{name} is empty or endless"
    amounts = [
        invoice.net.value,
        invoice.tax.value,
        invoice.total.value,
        invoice.net_adjustment,
        invoice.total_adjustment,
    ]
    amounts += [
        part for line in invoice.line_items for part in (line.amount, line.quantity, line.unit_price, line.tax_rate)
    ]
    if any(amount is not None and (not amount.is_finite() or amount.adjusted() >= MAX_DIGITS) for amount in amounts):
        return "an amount that Parquet does not hold"
    return None


async def verdict(reader: DocumentReader, path: Path) -> tuple[str, str | None]:
    """Return what came of the file at `path`, and why that is a find, None if it is none."""
    try:
        invoice = await reader.read(path)
    except UnreadableDocument as error:
        is_bug = error.code is Unreadable.CRASHED and "ended without an answer" not in error.message
        return error.code.value, error.message if is_bug else None
    return "read", broken_promise(invoice)


def _say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


async def _fuzz(seconds: float, seed: int) -> int:
    random, counts, finds = Random(seed), Counter[str](), set[str]()
    files, ends = seeds(), time.monotonic() + seconds
    reader = DocumentReader(AT_ONCE, LIMITS)

    async def work(path: Path) -> None:
        while time.monotonic() < ends:
            data = mutate(random.choice(files), files, random)
            path.write_bytes(data)
            outcome, why = await verdict(reader, path)
            counts[outcome] += 1
            if why and why not in finds:
                finds.add(why)
                FINDS.mkdir(exist_ok=True)
                kept = FINDS / f"{hashlib.sha256(data).hexdigest()[:12]}.bin"
                kept.write_bytes(data)
                _say(f"find {kept.name}: {why}")

    with tempfile.TemporaryDirectory() as folder:
        try:
            await asyncio.gather(*(work(Path(folder) / str(number)) for number in range(AT_ONCE)))
        finally:
            await reader.close()
    _say(
        f"{counts.total()} files in {seconds:.0f} s from seed {seed}: {dict(counts.most_common())}; {len(finds)} finds"
    )
    return 1 if finds else 0


if __name__ == "__main__":
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    sys.exit(asyncio.run(_fuzz(seconds, int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 1_000_000)))
