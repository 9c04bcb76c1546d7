"""Serve the Gemini API locally for the real SDK, without a key or costs.

It answers according to embedded/fake_gemini/scenarios.py and records all requests with their times.
"""

import asyncio
import base64
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from docrail.adapters.sandbox.reader import DocumentReader
from docrail.dag.values.json_values import Json
from docrail.embedded.fake_gemini.answers import fields_answer, wire_answer
from docrail.embedded.fake_gemini.replies import Reply, refused, wrote
from docrail.embedded.fake_gemini.scenarios import Chooser

KEY_HEADER = "x-goog-api-key"
TOKENS_A_PAGE = 258
CHARACTERS_A_TOKEN = 4
_LABELS = re.compile(r"^- (?P<name>\w+): .*; labels: (?P<labels>.+)$", re.MULTILINE)
_TARGET = re.compile(r"/v[0-9a-z]+/models/(?P<model>[^/:]+):generateContent(?:\?.*)?")


@dataclass(frozen=True, slots=True)
class Asked:
    """One received request. Header names are lowercase; `at` is its time on the monotonic clock."""

    target: str
    headers: Mapping[str, str]
    body: bytes
    at: float

    def json(self) -> Json:
        """Return the parsed body."""
        return json.loads(self.body)

    @property
    def model(self) -> str:
        """Return the requested model; empty for an unknown request."""
        match = _TARGET.fullmatch(self.target)
        return match["model"] if match else ""

    @property
    def parts(self) -> list[Json]:
        """Return the parts of the question: texts and documents."""
        return [part for content in self.json().get("contents", []) for part in content.get("parts", [])]

    @property
    def prompt(self) -> str:
        """Return the texts."""
        return "\n".join(part["text"] for part in self.parts if "text" in part)

    @property
    def labels(self) -> dict[str, list[str]]:
        """Return the labels of each field, as the prompt of `extract_fields` lists them; empty for other prompts."""
        return {match["name"]: match["labels"].split(", ") for match in _LABELS.finditer(self.prompt)}

    @property
    def document(self) -> bytes | None:
        """Return the first document's bytes."""
        found = next((part["inlineData"]["data"] for part in self.parts if "inlineData" in part), None)
        return None if found is None else base64.b64decode(found.replace("-", "+").replace("_", "/"))

    @property
    def allowed_tokens(self) -> int:
        """Return the token limit of the answer."""
        return int(self.json().get("generationConfig", {}).get("maxOutputTokens", 1 << 30))


@dataclass
class FakeGemini:
    """The server. `asked` holds all requests in order of arrival."""

    chooser: Chooser
    says: str
    reader: DocumentReader
    """Opens documents in restricted child processes, as the product does."""
    url: str = ""
    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    report: Callable[[str], None] = lambda _: None
    _serving: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def arrivals(self) -> list[float]:
        """Return the arrival time of each request, in seconds of the monotonic clock."""
        return [asked.at for asked in self.asked]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the request of one connection."""
        task = asyncio.current_task()
        assert task is not None, "asyncio runs it as a task"
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        try:
            asked = await _request(reader)
            self.asked.append(asked)
            reply = await self._reply(asked)
            await asyncio.sleep(reply.delay_seconds)
            if not reply.hangs_up:
                writer.write(reply.encoded())
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has disconnected
        finally:
            writer.close()

    async def hang_up(self) -> None:
        """Cancel all answers in progress."""
        for task in list(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _reply(self, asked: Asked) -> Reply:
        if not asked.model:
            return refused(404, f"the fake knows no {asked.target}: only models/MODEL:generateContent")
        if not asked.headers.get(KEY_HEADER):
            return refused(403, "Method doesn't allow unregistered callers: any key is good enough for the fake")
        played = self.chooser.next()
        shown = played.status if isinstance(played, Reply) else played
        self.report(f"{len(self.asked)}  {asked.model}  {len(asked.body)} bytes  {shown}")
        if isinstance(played, Reply):
            return played
        return played.reply(allowed_tokens=asked.allowed_tokens) or await self._answered(asked, played.delay_seconds)

    async def _answered(self, asked: Asked, delay_seconds: float) -> Reply:
        document = asked.document
        if document is None:
            text, pages = self.says, 0
        else:
            answer = await (
                fields_answer(self.reader, document, asked.labels)
                if asked.labels
                else wire_answer(self.reader, document)
            )
            text, pages = answer.model_dump_json(), max(1, document.count(b"/Type /Page") or 1)
        return wrote(
            text,
            model=f"{asked.model}-001",
            input_tokens=TOKENS_A_PAGE * pages + len(asked.prompt) // CHARACTERS_A_TOKEN,
            output_tokens=len(text) // CHARACTERS_A_TOKEN,
            thinking_tokens=64,
            delay_seconds=delay_seconds,
        )


@asynccontextmanager
async def fake_gemini(
    chooser: Chooser,
    *,
    port: int = 0,
    says: str = "The fake Gemini has read it.",
    report: Callable[[str], None] = lambda _: None,
    reader: DocumentReader | None = None,
) -> AsyncIterator[FakeGemini]:
    """Serve on 127.0.0.1 while the body runs; port 0 takes a free one.

    `says` answers questions without a document. Documents are opened by `reader`, or else by one of the fake's own.
    """
    own = DocumentReader()
    fake = FakeGemini(chooser, says, reader or own, report=report)
    server = await asyncio.start_server(fake.serve, "127.0.0.1", port, limit=1 << 20)
    fake.port = server.sockets[0].getsockname()[1]
    fake.url = f"http://127.0.0.1:{fake.port}"
    try:
        yield fake
    finally:
        server.close()
        await fake.hang_up()
        await server.wait_closed()
        await own.close()


async def _request(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    at = time.monotonic()
    first, *lines = head.strip().split("\r\n")
    _, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(target, headers, body, at)
