"""Load the handler catalogue: the handlers in `activities/handlers/`, and those of the installation."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache

from docrail.activities import handlers
from docrail.handlers import Catalogue, Handler

Sources = tuple[str, ...]
"""Folders and importable modules with the installation's own handlers, as DOCRAIL_HANDLERS lists them."""


class NamedHandlers(Mapping[str, Handler]):
    """The same handlers; a shipped one is loaded when it is looked up by its name, so that using a few is fast.

    An alias, any other name, and iteration load every handler.
    """

    def __init__(self, sources: Sources = ()) -> None:
        """Load no handler yet."""
        self._files, self._sources = _files(), sources

    def __getitem__(self, name: str) -> Handler:
        return _load(name) if name in self._files else load_catalogue(self._sources)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(load_catalogue(self._sources))

    def __len__(self) -> int:
        return len(load_catalogue(self._sources))

    @property
    def broken(self) -> Mapping[str, str]:
        """Return the errors of unusable handlers, by name."""
        return load_catalogue(self._sources).broken


@cache
def load_catalogue(sources: Sources = ()) -> Catalogue:
    """Return every shipped handler, and the usable ones of `sources` and of entry points."""
    from docrail.activities.discovery import find_handlers  # noqa: PLC0415  # `docrail validate` may need none

    shipped = [_load(name) for name in sorted(_files())]
    taken = {name: f"the shipped handler {each.name}" for each in shipped for name in (each.name, *each.aliases)}
    found = find_handlers(sources, taken)
    return Catalogue([*shipped, *found.handlers.values()], found.broken, outside=found.handlers)


def parse_sources(text: str) -> Sources:
    """Return the sources of a comma-separated setting."""
    return tuple(filter(None, map(str.strip, text.split(","))))


def _files() -> frozenset[str]:
    """Return the names of the handlers' files, which are the handlers' names."""
    return frozenset(module.name for module in pkgutil.iter_modules(handlers.__path__))


def _load(name: str) -> Handler:
    handler: Handler = importlib.import_module(f"{handlers.__name__}.{name}").HANDLER
    return handler
