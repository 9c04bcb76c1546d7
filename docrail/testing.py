"""Test a handler without a worker, a server or a database: `run_handler`, and tools that stay in the process."""

import asyncio
import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from docrail.dag.language.secret_names import secrets_in
from docrail.dag.values.json_values import Json
from docrail.handlers import MAX_ANSWER_BYTES, Document, Handler, RetryLaterError, StepCall, Tools
from docrail.invoices.page_text import PageText

__all__ = ["FakeAnswer", "FakeDocuments", "FakeHttp", "FakeSecrets", "FakeTools", "Sent", "call_handler", "run_handler"]

_LATER = (408, 425, 429)


def run_handler(
    handler: Handler, config: dict[str, Json], tools: Tools | None = None, *, attempt: int = 1, item_key: str = ""
) -> Json:
    """Return the output of one attempt, as later steps read it. For tests that are not coroutines.

    Raises: pydantic.ValidationError if the config does not fit, and whatever the handler raises.
    """
    return asyncio.run(call_handler(handler, config, tools, attempt=attempt, item_key=item_key))


async def call_handler(
    handler: Handler, config: dict[str, Json], tools: Tools | None = None, *, attempt: int = 1, item_key: str = ""
) -> Json:
    """Return the output of one attempt, as `run_handler` does. For tests that are coroutines."""
    checked = handler.config.model_validate(config)
    call = StepCall(
        *("test", "run", "step", attempt, checked), item_key=item_key or None, secrets=tuple(secrets_in(config))
    )
    output = await handler.run(call, FakeTools() if tools is None else tools)
    if not isinstance(output, handler.output):
        raise TypeError(f"expected {handler.output.__name__} as the output, found {type(output).__name__}")
    return output.model_dump(mode="json")


@dataclass(slots=True)
class FakeDocuments:
    """Documents by id. They are opened in this process and without limits: give it files that you trust."""

    files: dict[str, bytes] = field(default_factory=dict)

    async def find(self, call: StepCall[Any], document_id: str) -> Document:
        """Return the document's name, type and size. Raises: ValueError if the test gives none of this id."""
        data = await self.read(call, document_id)
        return Document(
            document_id, document_id, "application/octet-stream", len(data), hashlib.sha256(data).hexdigest()
        )

    async def read(self, call: StepCall[Any], document_id: str) -> bytes:
        """Return the document's file. Raises: ValueError if the test gives none of this id."""
        if document_id not in self.files:
            raise ValueError(f"tenant {call.tenant_id!r} has no document {document_id!r}")
        return self.files[document_id]

    async def pages(self, call: StepCall[Any], document_id: str) -> list[PageText]:
        """Return the pages with their text, as a worker reads them. Raises: ValueError, UnreadableDocument."""
        from docrail.invoices.document_text import text_pages  # noqa: PLC0415  # heavy

        return text_pages(await self.read(call, document_id), max_pages=50)

    async def text(self, call: StepCall[Any], document_id: str) -> str:
        """Return the text of all pages, with a form feed between pages. Raises: as `pages`."""
        return "\f".join(page.text for page in await self.pages(call, document_id))

    async def image(self, call: StepCall[Any], document_id: str, page: int) -> bytes | None:
        """Return a page as a PNG; None if there is no such page. Raises: as `pages`."""
        from docrail.invoices.readers.page_image import draw_page  # noqa: PLC0415  # heavy

        return draw_page(await self.read(call, document_id), page, max_pages=50)


@dataclass(frozen=True, slots=True)
class FakeAnswer:
    """An answer that a test gives: `content` is JSON, or bytes."""

    status: int = 200
    content: Json | bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def body(self) -> bytes:
        """The body."""
        return self.content if isinstance(self.content, bytes) else json.dumps(self.content).encode()

    def text(self) -> str:
        """Return the body as text."""
        return self.body.decode()


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that a handler sent."""

    method: str
    url: str
    body: Json | bytes
    headers: Mapping[str, str]


@dataclass(slots=True)
class FakeHttp:
    """Gives `answers` in their order, and keeps the requests. References to secrets in headers stay as they are."""

    answers: list[FakeAnswer] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)

    async def request(
        self,
        call: StepCall[Any],
        method: str,
        url: str,
        *,
        body: Json | bytes = None,
        headers: Mapping[str, str] | None = None,
        expected_statuses: Collection[int] = (),
        timeout_seconds: float = 60.0,  # noqa: ARG002
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> FakeAnswer:
        """Return the next answer. Raises: as a worker's client does; AssertionError if there is no answer left."""
        _check_named(secrets_in(dict(headers or {})), call)
        assert self.answers, f"the test gives no answer to {method} {url}"
        self.sent.append(Sent(method, url, body, dict(headers or {})))
        answer = self.answers.pop(0)
        if answer.status not in (expected_statuses or range(200, 300)):
            text = f"{method} {url} answered {answer.status}"
            raise RetryLaterError(text) if answer.status in _LATER or answer.status >= 500 else ValueError(text)  # noqa: PLR2004
        if len(answer.body) > max_bytes:
            raise ValueError(f"{method} {url} answered more than {max_bytes} bytes (max_bytes)")
        return answer


@dataclass(slots=True)
class FakeSecrets:
    """Secrets by name."""

    values: dict[str, str] = field(default_factory=dict)

    async def load(self, call: StepCall[Any], name: str) -> str:
        """Return the secret. Raises: ValueError if the config does not name it, or the test gives none."""
        _check_named([name], call)
        if name not in self.values:
            raise ValueError(f"tenant {call.tenant_id!r} has no secret {name!r}")
        return self.values[name]


@dataclass(slots=True)
class FakeTools:
    """Tools for tests. `notifications` are the messages that the handler sent to people."""

    documents: FakeDocuments = field(default_factory=FakeDocuments)
    http: FakeHttp = field(default_factory=FakeHttp)
    secrets: FakeSecrets = field(default_factory=FakeSecrets)
    notifications: list[str] = field(default_factory=list)

    async def notify(
        self,
        call: StepCall[Any],  # noqa: ARG002
        message: str,
        *,
        title: str = "",  # noqa: ARG002
        level: str = "info",  # noqa: ARG002
        details: Mapping[str, Json] | None = None,  # noqa: ARG002
    ) -> None:
        """Keep the message."""
        self.notifications.append(message)


def _check_named(names: Collection[str], call: StepCall[Any]) -> None:
    for name in names:
        if name not in call.secrets:
            raise ValueError(f"the handler refers to the secret {name!r}, and the step's config does not name it")
