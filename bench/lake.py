"""Measure SQL queries over the lake: one small file for each document, and the same data compacted.

Prints a JSON line for each query: seconds with the small files and with the compacted ones, each including opening the
lake, and their ratio; and one line for writing and compacting. The best of several alternating runs counts.
"""

import argparse
import asyncio
import datetime as dt
import json
import random
import shutil
import sys
import tempfile
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

from docrail.invoices.facts import Source
from docrail.invoices.model import Candidate, FieldValue, InvoiceData, LineItem
from docrail.services.lake.compaction import compact
from docrail.services.lake.files import Lake
from docrail.services.lake.models import LakeVersion
from docrail.services.lake.query import open_lake, rows_of

NOW = dt.datetime(2026, 11, 21, 3, 0, tzinfo=dt.UTC)
TENANT = "default"
QUESTIONS = {
    "sum by vendor": "SELECT vendor_name, currency, sum(total) FROM invoices GROUP BY ALL",
    "lines of a month": "SELECT description, sum(amount) FROM line_items WHERE issue_month = '2026-03' GROUP BY ALL",
    "confidence by field": "SELECT name, avg(confidence), count(*) FROM fields GROUP BY name",
    "one document": "SELECT * FROM invoices WHERE document_id = 'doc_7'",
}


def invoice(number: int, draw: random.Random) -> InvoiceData:
    def said(value: Any) -> FieldValue[Any]:
        where = (0.1, draw.random() / 2, 0.4, 0.6)
        candidate: Candidate[Any] = Candidate(value=value, source=Source.TEXT_LABEL, page=1, box=where)
        confidence = draw.random()
        return FieldValue(
            value=value, confidence=confidence, source=Source.TEXT_LABEL, page=1, box=where, candidates=(candidate,)
        )

    net = Decimal(draw.randint(100, 10_000_000)) / 100
    lines = tuple(LineItem(description=f"item {draw.randint(0, 99)}", amount=net / 5, page=1) for _ in range(5))
    return InvoiceData(
        document_id=f"doc_{number}",
        invoice_number=said(f"R-{number}"),
        date=said(dt.date(2026, draw.randint(1, 11), draw.randint(1, 28))),
        vendor_name=said(f"Vendor {draw.randint(0, 40)}"),
        currency=said("EUR"),
        net=said(net),
        tax=said(net * Decimal("0.19")),
        total=said(net * Decimal("1.19")),
        line_items=lines,
        confidence=draw.random(),
        reader="text",
    )


async def write(lake: Lake, documents: int) -> float:
    draw, began = random.Random(7), time.perf_counter()
    for number in range(documents):
        await lake.write_parquet(TENANT, invoice(number, draw), LakeVersion(1, NOW))
    return time.perf_counter() - began


def ask(lake: Lake, sql: str) -> tuple[float, list[tuple[Any, ...]]]:
    """Return the seconds to open the lake and answer, and the sorted rows."""
    began = time.perf_counter()
    rows = list(rows_of(open_lake(lake).ask(sql)))
    return time.perf_counter() - began, sorted(rows, key=str)


def measure(folder: Path, documents: int, rounds: int) -> None:
    small, compacted = Lake(folder / "small"), Lake(folder / "compacted")
    written = asyncio.run(write(small, documents))
    shutil.copytree(small.root, compacted.root)
    began = time.perf_counter()
    done = compact(compacted.of(TENANT), now=NOW)
    small_bytes = sum(info.size for info in small.folder.files())
    line = {"bench": "lake", "documents": documents, "write_ms_a_file": round(1000 * written / documents, 2)}
    sizes = {"small_mb": round(small_bytes / 1e6, 2), "compacted_mb": round(done.size_bytes / 1e6, 2)}
    print(json.dumps(line | sizes | {"parts": done.parts, "compaction_s": round(time.perf_counter() - began, 2)}))
    for name, sql in QUESTIONS.items():
        before, after = [], []
        for _ in range(rounds):
            seconds, expected = ask(small, sql)
            before.append(seconds)
            seconds, found = ask(compacted, sql)
            after.append(seconds)
            assert len(found) == len(expected), name
        ratio = round(min(before) / min(after), 1)
        seconds_of = {"small_s": round(min(before), 3), "compacted_s": round(min(after), 3), "ratio": ratio}
        print(json.dumps({"bench": "lake", "documents": documents, "question": name} | seconds_of), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), options.documents, options.rounds)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
