"""The handler catalogue: every handler's name, config and output models, and code, found in `activities/handlers/`."""

import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from activities import handlers
from activities.tools import Tools

Config = TypeVar("Config", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Call(Generic[Config]):
    """One attempt at a step. `(run_id, step_id)` is the same for every attempt: write under that identity."""

    tenant_id: str
    run_id: str
    step_id: str
    attempt: int
    config: Config


@dataclass(frozen=True, slots=True)
class Handler:
    """A handler as definitions, the validator, the API and the worker see it.

    `local` is for handlers that take well under a second, are idempotent and touch only our own stores: they run
    inside the workflow task, without heartbeat, queue or rate limit.
    """

    name: str
    config: type[BaseModel]
    output: type[BaseModel]
    run: Callable[[Call[Any], Tools], Awaitable[BaseModel]]
    local: bool = False


@cache
def load_catalogue() -> Mapping[str, Handler]:
    """Return every handler by name, in name order."""
    found = (
        importlib.import_module(f"{handlers.__name__}.{module.name}").HANDLER
        for module in pkgutil.iter_modules(handlers.__path__)
    )
    return MappingProxyType({handler.name: handler for handler in sorted(found, key=lambda handler: handler.name)})
