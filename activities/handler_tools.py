"""Implement `docrail.Tools` for handlers outside the tree: each method is limited to the tenant of its call."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from docrail.activities.handlers import notify
from docrail.adapters.http.client import Answer, Outgoing
from docrail.adapters.http.exchange import Sender
from docrail.adapters.postgres.pool import NotStored
from docrail.dag.values.json_values import Json
from docrail.handlers import MAX_ANSWER_BYTES, Document, StepCall
from docrail.invoices.page_text import PageText
from docrail.services.documents.service import load_document
from docrail.services.tools import Tools


@dataclass(frozen=True, slots=True)
class StoredDocuments:
    """The tenant's documents, opened as by the shipped handlers: in restricted child processes."""

    tools: Tools

    async def find(self, call: StepCall[Any], document_id: str) -> Document:
        """Return the document's name, type and size. Raises: NotStored, also if its file was deleted for its age."""
        found = await load_document(self.tools.db, call.tenant_id, document_id)
        if found is None:
            raise NotStored("document", document_id, call.tenant_id)
        if found.original_removed_at is not None:
            raise NotStored("original of the document", document_id, call.tenant_id)
        return Document(document_id, found.file_name, found.media_type, found.size_bytes, found.sha256)

    async def read(self, call: StepCall[Any], document_id: str) -> bytes:
        """Return the document's file as it was uploaded. Raises: NotStored; OSError (retried)."""
        return await self.tools.blobs.get((await self.find(call, document_id)).sha256)

    async def pages(self, call: StepCall[Any], document_id: str) -> list[PageText]:
        """Return the pages with their text. Raises: NotStored, UnreadableDocument; OSError (retried)."""
        async with self.tools.blobs.at_hand((await self.find(call, document_id)).sha256) as path:
            return await self.tools.reader.pages(path)

    async def text(self, call: StepCall[Any], document_id: str) -> str:
        """Return the text of all pages, with a form feed between pages. Raises: as `pages`."""
        return "\f".join(page.text for page in await self.pages(call, document_id))

    async def image(self, call: StepCall[Any], document_id: str, page: int) -> bytes | None:
        """Return page `page`, from 1, as PNG; None if there is no such page. Raises: as `pages`."""
        async with self.tools.blobs.at_hand((await self.find(call, document_id)).sha256) as path:
            return await self.tools.reader.draw(path, page)


@dataclass(frozen=True, slots=True)
class CheckedHttp:
    """Requests to permitted addresses, with the secrets that the step's author named."""

    tools: Tools

    async def request(
        self,
        call: StepCall[Any],
        method: str,
        url: str,
        *,
        body: Json | bytes = None,
        headers: Mapping[str, str] | None = None,
        expected_statuses: Collection[int] = (),
        timeout_seconds: float = 60.0,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> Answer:
        """Return the answer, with the secrets' values redacted. Raises: as docrail.handlers.Http."""
        outside = self.tools.outside
        outgoing = Outgoing(method, url, headers or {}, _content(body), timeout_seconds, max_bytes)
        defaults = {"Idempotency-Key": call.identity[:32]}
        if body is not None and not isinstance(body, bytes):
            defaults["Content-Type"] = "application/json"
        sender = Sender(outside.http, outside.secrets, call.tenant_id, call.secrets)
        return await sender.exchange(outgoing, defaults, expected_statuses=expected_statuses)


@dataclass(frozen=True, slots=True)
class NamedSecrets:
    """The tenant's secrets that a step's config names."""

    tools: Tools

    async def load(self, call: StepCall[Any], name: str) -> str:
        """Return the secret. Raises: MissingSecretError; RefusedSecretError if the step's config does not name it."""
        secrets = self.tools.outside.secrets
        return await secrets.load(call.tenant_id, name, field="the handler", named=call.secrets)


@dataclass(frozen=True, slots=True)
class HandlerTools:
    """The tools that a worker passes to a handler outside the tree."""

    tools: Tools

    @property
    def documents(self) -> StoredDocuments:
        """Return the stored documents."""
        return StoredDocuments(self.tools)

    @property
    def http(self) -> CheckedHttp:
        """Return the client for other services."""
        return CheckedHttp(self.tools)

    @property
    def secrets(self) -> NamedSecrets:
        """Return the secrets."""
        return NamedSecrets(self.tools)

    async def notify(
        self,
        call: StepCall[Any],
        message: str,
        *,
        title: str = "",
        level: Literal["info", "warning", "error"] = "info",
        details: Mapping[str, Json] | None = None,
    ) -> None:
        """Notify people as the handler `notify` does.

        The id depends on the message, because a call may send several.
        """
        config = notify.Config(message=message, title=title, level=level, details=dict(details or {}))
        await notify.run(replace(call, config=config), self.tools)


def _content(body: Json | bytes) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
