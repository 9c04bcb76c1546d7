"""What a handler is: its models, its code, the call that it is given, and the tools that it works with."""

import inspect
import math
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, Field

from docrail.dag.values.json_values import Json, digest
from docrail.invoices.page_text import PageText
from docrail.invoices.problems import UnreadableDocument

__all__ = [
    "Answer",
    "BrokenHandler",
    "Catalogue",
    "Config",
    "Document",
    "Documents",
    "Handler",
    "Http",
    "Json",
    "PageText",
    "RetryLaterError",
    "Secrets",
    "StepCall",
    "Tools",
    "UnreadableDocument",
    "replaced",
]

MAX_ANSWER_BYTES = 16 * 2**20
"""Longest answer of another service, unless a handler asks for less or more."""

Config = TypeVar("Config", bound=BaseModel)


class RetryLaterError(Exception):
    """The attempt failed, and another one may succeed after `retry_after_seconds`; None: after the step's own delay."""

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


@dataclass(frozen=True, slots=True)
class StepCall(Generic[Config]):
    """One attempt at a step. `(run_id, step_id, item_key)` is the same for every attempt: write under that identity."""

    tenant_id: str
    run_id: str
    step_id: str
    attempt: int
    config: Config
    item_key: str | None = None
    """The item's key, where the step runs over a list."""
    hidden: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Callback URLs in the config, and the placeholder that is stored in place of each."""
    secrets: tuple[str, ...] = ()
    """Names of the secrets that the definition's author wrote into the config: a handler resolves no other."""
    retry_within_seconds: float | None = math.inf
    """Longest delay after which another attempt would still be made; None: this is the last attempt."""
    key_id: str | None = None
    """Id of the API key that caused the run; None: no key did."""

    def may_retry_in(self, seconds: float) -> bool:
        """Return whether an error that asks for another attempt after so many seconds leads to one."""
        return self.retry_within_seconds is not None and seconds < self.retry_within_seconds

    @property
    def identity(self) -> str:
        """64 hex digits: the same for every attempt, others for every other step, item and config.

        Send it along, so that the receiver can recognise a repetition. An operator who edits a step's config and tries
        it again means another message, so the config is part of it.
        """
        place = [self.tenant_id, self.run_id, self.step_id, self.item_key]
        return digest([*place, replaced(self.config.model_dump(mode="json"), self.hidden)])


@dataclass(frozen=True, slots=True)
class Document:
    """A stored document. `size_bytes` is that of its file."""

    document_id: str
    file_name: str
    media_type: str
    size_bytes: int
    sha256: str


class Documents(Protocol):
    """The tenant's stored documents. Only limited child processes open them; `read` opens nothing.

    Raises: ValueError if the tenant has no such document, UnreadableDocument (never retried); OSError (retried).
    """

    async def find(self, call: StepCall[Any], document_id: str) -> Document:
        """Return the document's name, type and size."""
        ...

    async def read(self, call: StepCall[Any], document_id: str) -> bytes:
        """Return the document's file as it was uploaded."""
        ...

    async def pages(self, call: StepCall[Any], document_id: str) -> list[PageText]:
        """Return the pages with their text; of an XML file one page with its text."""
        ...

    async def text(self, call: StepCall[Any], document_id: str) -> str:
        """Return the text of all pages, with a form feed between pages."""
        ...

    async def image(self, call: StepCall[Any], document_id: str, page: int) -> bytes | None:
        """Return page `page`, from 1, as a PNG; None if there is no such page."""
        ...


class Answer(Protocol):
    """The answer to an HTTP request."""

    @property
    def status(self) -> int:
        """Return the HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the headers; their names are in lowercase."""
        ...

    @property
    def body(self) -> bytes:
        """Return the body."""
        ...

    def text(self) -> str:
        """Return the body as text."""
        ...


class Http(Protocol):
    """Calls to public addresses and to those of DOCRAIL_ALLOWED_HOSTS."""

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
        """Return the answer if its status is expected: by default any of 2xx.

        `body` is sent as JSON, bytes as they are, None not at all. `secret://name` in a header becomes the secret's
        value if the step's config names it. `Idempotency-Key` is the same for every attempt, unless `headers` has one.
        Raises: ValueError for a wrong request, a missing secret, an answer that is too large, and other statuses of 4xx
        (never retried); RetryLaterError, ConnectionError, TimeoutError (retried). An address that this worker does not
        allow is retried too: another worker may allow it.
        """
        ...


class Secrets(Protocol):
    """The tenant's secrets."""

    async def load(self, call: StepCall[Any], name: str) -> str:
        """Return the secret `name`, which the step's config names as `secret://name`. Raises: ValueError."""
        ...


class Tools(Protocol):
    """What the worker gives to a handler outside the tree. Each method takes the call: it reaches this tenant only."""

    @property
    def documents(self) -> Documents:
        """Return the stored documents."""
        ...

    @property
    def http(self) -> Http:
        """Return the client for other services."""
        ...

    @property
    def secrets(self) -> Secrets:
        """Return the secrets."""
        ...

    async def notify(
        self,
        call: StepCall[Any],
        message: str,
        *,
        title: str = "",
        level: Literal["info", "warning", "error"] = "info",
        details: Mapping[str, Json] | None = None,
    ) -> None:
        """Notify the people who run this installation: by DOCRAIL_NOTIFY_URL, or else in the worker's log.

        A message is sent at most once for each attempt, with the same id at every attempt. Raises: as Http.request.
        """
        ...


@dataclass(frozen=True, slots=True)
class Handler:
    """A handler as definitions, the validator, the API and the worker see it.

    `run` takes the call and the tools, `Tools` for a handler of your own. `aliases` are other names that definitions
    may call it by; everything else calls it by `name`. One that `is_light` takes milliseconds, and calls nothing
    outside: calls of such handlers that are ready together, of one run or of documents of a batch, share an activity.
    With `run_all`, that makes the calls of a step at once, all of one tenant and each of a document of its own; if it
    raises an error, each call is made by `run`.
    """

    name: str
    config: type[BaseModel]
    output: type[BaseModel]
    run: Callable[[StepCall[Any], Any], Awaitable[BaseModel]]
    aliases: tuple[str, ...] = ()
    is_light: bool = False
    run_all: Callable[[Sequence[StepCall[Any]], Any], Awaitable[Sequence[BaseModel]]] | None = None

    @property
    def summary(self) -> str:
        """Its purpose in a sentence: the first line of its file, without `Handler NAME:`."""
        line = (inspect.getdoc(inspect.getmodule(self.run)) or "").partition("\n")[0]
        text = line.partition(": ")[2] or line
        return text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True)
class BrokenHandler:
    """An unusable handler. Definitions that name it are refused."""

    name: Annotated[str, Field(description="the name that definitions would use", examples=["count_words"])]
    file: Annotated[str, Field(description="the file at fault", examples=["handlers/count_words.py"])]
    line: Annotated[int, Field(description="the line at fault, from 1")]
    error: Annotated[str, Field(description="what is wrong", examples=["ModuleNotFoundError: No module named 'nltk'"])]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.error}"


class Catalogue(Mapping[str, Handler]):
    """Handlers by name, in name order. An alias finds its handler too; it is not counted or listed as one."""

    def __init__(
        self, found: Iterable[Handler], broken: Iterable[BrokenHandler] = (), outside: Iterable[str] = ()
    ) -> None:
        """Keep the handlers that were `found`, and names of those that lie `outside` the tree.

        Raises: ValueError if a name means two handlers.
        """
        ordered = sorted(found, key=lambda handler: handler.name)
        self._handlers = {handler.name: handler for handler in ordered}
        self._names: dict[str, Handler] = {}
        for handler in ordered:
            for name in (handler.name, *handler.aliases):
                other = self._names.setdefault(name, handler)
                if other is not handler:
                    raise ValueError(f"the name {name!r} means two handlers: {other.name} and {handler.name}")
        self.broken_handlers = tuple(broken)
        self.outside = frozenset(outside)

    def __getitem__(self, name: str) -> Handler:
        return self._names[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._handlers)

    def __len__(self) -> int:
        return len(self._handlers)

    @property
    def broken(self) -> Mapping[str, str]:
        """The errors of handlers that cannot be used, by the handler's name."""
        return {handler.name: str(handler) for handler in self.broken_handlers}


def replaced(value: Json, texts: Mapping[str, str]) -> Json:
    """Return `value` with `texts`, in their order, replaced wherever they stand in a text, keys of objects too."""
    if not texts:
        return value
    match value:
        case str():
            for old, new in texts.items():
                value = value.replace(old, new)
            return value
        case dict():
            return {replaced(key, texts): replaced(part, texts) for key, part in value.items()}
        case list():
            return [replaced(part, texts) for part in value]
        case _:
            return value
