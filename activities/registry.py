"""The handler catalogue: every handler's name, config and output models, and code, found in `activities/handlers/`."""

import importlib
import inspect
import math
import pkgutil
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from activities import handlers
from activities.callbacks import replaced
from activities.tools import Tools
from dag.values import digest

Config = TypeVar("Config", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Call(Generic[Config]):
    """One attempt at a step. `(run_id, step_id, item_key)` is the same for every attempt: write under that identity."""

    tenant_id: str
    run_id: str
    step_id: str
    attempt: int
    config: Config
    item_key: str | None = None
    """Which item, where the step runs over a list."""
    hidden: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Callback URLs in the config, and what stands for each wherever it may be kept."""
    secrets: tuple[str, ...] = ()
    """Names of the secrets that the definition's author wrote into the config: a handler resolves no other."""
    retry_within_seconds: float | None = math.inf
    """Longest delay after which another attempt would still be made; None: this is the last attempt."""

    def may_retry_in(self, seconds: float) -> bool:
        """Tell whether an error that asks to be tried again in so many seconds leads to another attempt."""
        return self.retry_within_seconds is not None and seconds < self.retry_within_seconds

    @property
    def identity(self) -> str:
        """64 hex digits: the same for every attempt, others for every other step and item, and for other data.

        For the outside to tell a repetition by. An operator who edits a step's config and tries it again means
        another message, so the config is part of it.
        """
        place = [self.tenant_id, self.run_id, self.step_id, self.item_key]
        return digest([*place, replaced(self.config.model_dump(mode="json"), self.hidden)])


@dataclass(frozen=True, slots=True)
class Handler:
    """A handler as definitions, the validator, the API and the worker see it.

    `aliases` are other names that definitions may call it by; everything else calls it by `name`.
    """

    name: str
    config: type[BaseModel]
    output: type[BaseModel]
    run: Callable[[Call[Any], Tools], Awaitable[BaseModel]]
    aliases: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """What it does, in a sentence: the first line of its file."""
        line = (inspect.getdoc(inspect.getmodule(self.run)) or "").partition("\n")[0]
        text = line.partition(": ")[2]
        return text[:1].upper() + text[1:]


class Catalogue(Mapping[str, Handler]):
    """Handlers by name, in name order. An alias finds its handler too; it is not counted or listed as one."""

    def __init__(self, found: Iterable[Handler]) -> None:
        """Raises: ValueError if a name means two handlers."""
        ordered = sorted(found, key=lambda handler: handler.name)
        self._handlers = {handler.name: handler for handler in ordered}
        self._names: dict[str, Handler] = {}
        for handler in ordered:
            for name in (handler.name, *handler.aliases):
                other = self._names.setdefault(name, handler)
                if other is not handler:
                    raise ValueError(f"the name {name!r} means two handlers: {other.name} and {handler.name}")

    def __getitem__(self, name: str) -> Handler:
        return self._names[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._handlers)

    def __len__(self) -> int:
        return len(self._handlers)


class NamedHandlers(Mapping[str, Handler]):
    """The same handlers, of which each is loaded when it is asked for by its name: for who asks for a few.

    An alias, a name that there is not, and going through them all load every handler.
    """

    def __init__(self) -> None:
        """Load none yet."""
        self._files = _files()

    def __getitem__(self, name: str) -> Handler:
        return _load(name) if name in self._files else load_catalogue()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(load_catalogue())

    def __len__(self) -> int:
        return len(self._files)


@cache
def load_catalogue() -> Catalogue:
    """Return every handler that there is."""
    return Catalogue(map(_load, sorted(_files())))


def _files() -> frozenset[str]:
    """Return the names of the handlers' files, which are the handlers' names."""
    return frozenset(module.name for module in pkgutil.iter_modules(handlers.__path__))


def _load(name: str) -> Handler:
    handler: Handler = importlib.import_module(f"{handlers.__name__}.{name}").HANDLER
    return handler
