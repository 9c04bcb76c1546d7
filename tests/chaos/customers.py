"""What people and systems do during a storm: they send documents, alone and in batches, and decide, and repeat."""

import asyncio
import io
import random
import uuid
import zipfile
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from docrail.dag.values.json_values import Json
from tests.activities.ubl import ubl_invoice
from tests.stack import eventually

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
PDFS = ("i2d_*.pdf", "smartap_*.pdf")
"""The samples with a text layer: reading one takes milliseconds, a scan seconds."""

FILES_OF_BATCH = 50
AT_ONCE = 4
PAUSE_SECONDS = 0.5
REPEATED = 0.1
"""Share of requests that are sent a second time, as a client does that has lost the answer."""
PATIENCE_SECONDS = 300.0
"""How long a client repeats a request: a disk may be full and a server killed meanwhile."""

Send = Callable[[], Awaitable[httpx.Response]]


@dataclass
class Customers:
    """Clients of one stack. They repeat what was not accepted, and count the answers."""

    http: httpx.AsyncClient
    chance: random.Random
    documents: dict[str, str] = field(default_factory=dict)
    """The run of each document that was accepted."""
    batches: list[str] = field(default_factory=list)
    approved: set[str] = field(default_factory=set)
    """The review items whose approval was accepted."""
    answers: Counter[str] = field(default_factory=Counter)
    """How often each status was answered, and each kind of lost answer."""

    async def send(self, files: Sequence[tuple[str, bytes]]) -> None:
        """Send half of the files alone and half of them in batches, and return once all are accepted."""
        half = len(files) // 2
        batches = [files[at : at + FILES_OF_BATCH] for at in range(half, len(files), FILES_OF_BATCH)]
        turns = asyncio.Semaphore(AT_ONCE)

        async def in_turn(sending: Awaitable[None]) -> None:
            async with turns:
                await sending

        singles = [in_turn(self._send_alone(name, data)) for name, data in files[:half]]
        await asyncio.gather(*singles, *(in_turn(self._send_batch(batch)) for batch in batches))

    async def _send_alone(self, name: str, data: bytes) -> None:
        file, headers = {"file": (name, data)}, {"Idempotency-Key": name}
        answer = await self._accepted(lambda: self.http.post("/v1/documents", files=file, headers=headers), name)
        self.documents[answer["document_id"]] = answer["run_id"]

    async def _send_batch(self, files: Sequence[tuple[str, bytes]]) -> None:
        order: Json = {"definition": "invoice", "grouped": self.chance.random() < 0.7, "max_concurrency": 20}
        headers = {"Idempotency-Key": files[0][0]}
        made = await self._accepted(lambda: self.http.post("/v1/batches", json=order, headers=headers), "a batch")
        path = f"/v1/batches/{made['batch_id']}"
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w") as archive:
            for name, data in files:
                archive.writestr(name, data)
        content = {"file": ("all.zip", written.getvalue(), "application/zip")}
        await self._accepted(lambda: self.http.post(f"{path}/zip", files=content, timeout=60), "a zip file")
        await self._accepted(lambda: self.http.post(f"{path}/close"), "the end of a batch")
        self.batches.append(made["batch_id"])

    async def wait_for_batches(self, timeout_seconds: float) -> None:
        """Return once every batch has ended, with the runs of its documents noted."""
        for batch_id in self.batches:
            path = f"/v1/batches/{batch_id}"

            async def is_over(path: str = path) -> bool:
                return (await self._get(path)).get("completed_at") is not None

            await eventually(is_over, f"the batch {batch_id} is over", timeout_seconds=timeout_seconds)
            listed = (await self._get(f"{path}/documents?limit=200"))["documents"]
            self.documents |= {each["document_id"]: each["run_id"] for each in listed}

    async def decide(self, until: asyncio.Event) -> None:
        """Approve one open review item after the other, as two clerks would who do not know of each other."""
        while not until.is_set():
            items = (await self._get("/v1/reviews?status=open&limit=20")).get("reviews", [])
            for item in self.chance.sample(items, min(2, len(items))):
                await self._approve(item["review_id"], item["document_id"])
            with suppress(TimeoutError):  # people pause
                await asyncio.wait_for(until.wait(), PAUSE_SECONDS)

    async def _approve(self, review_id: str, document_id: str) -> None:
        path = f"/v1/reviews/{review_id}"
        claim = await self._once(lambda: self.http.post(f"{path}/claim"))
        shown = await self._get(f"/v1/documents/{document_id}/fields")
        if claim is None or not claim.is_success or "digest" not in shown:
            return
        verdict = {"token": claim.json()["token"], "digest": shown["digest"], "why": "as ordered"}
        sent = await asyncio.gather(
            *(self._once(lambda: self.http.post(f"{path}/approve", json=verdict)) for _ in "ab")
        )
        if any(answer is not None and answer.is_success for answer in sent):
            self.approved.add(review_id)

    async def _accepted(self, send: Send, what: str) -> dict[str, Any]:
        """Repeat a request until it is accepted, and now and then once more; return the last answer."""
        accepted: list[httpx.Response] = []
        wanted = 2 if self.chance.random() < REPEATED else 1

        async def is_accepted() -> bool:
            answer = await self._once(send)
            if answer is not None and answer.is_success:
                accepted.append(answer)
            elif answer is not None and answer.status_code < 500 and answer.status_code != 429:
                raise AssertionError(f"{what}: {answer.status_code} {answer.text}")
            return len(accepted) == wanted

        await eventually(is_accepted, f"{what} is accepted", timeout_seconds=PATIENCE_SECONDS)
        return dict(accepted[-1].json())

    async def _once(self, send: Send) -> httpx.Response | None:
        try:
            answer = await send()
        except httpx.TransportError as error:
            self.answers[type(error).__name__] += 1
            return None
        self.answers[str(answer.status_code)] += 1
        return answer

    async def _get(self, path: str) -> dict[str, Any]:
        """Return what is at a path; nothing while it is unavailable."""
        answer = await self._once(lambda: self.http.get(path))
        return dict(answer.json()) if answer is not None and answer.is_success else {}


def draw_files(count: int, chance: random.Random) -> list[tuple[str, bytes]]:
    """Return so many documents of their own bytes with their names: e-invoices, and a third of them text PDFs."""
    originals = [path.read_bytes() for pattern in PDFS for path in sorted(SAMPLES.glob(pattern))]
    drawn = []
    for number in range(count):
        unique = uuid.UUID(int=chance.getrandbits(128)).hex
        if number % 3:
            drawn.append((f"{unique}.xml", ubl_invoice(unique)))
        else:
            drawn.append((f"{unique}.pdf", chance.choice(originals) + f"\n%{unique}\n".encode()))
    return drawn
