"""The handlers that commands without a server know: the shipped ones, and those of DOCRAIL_HANDLERS."""

from docrail.activities.registry import NamedHandlers, Sources, load_catalogue, parse_sources
from docrail.adapters.settings_file import setting_text
from docrail.handlers import Catalogue


def all_handlers() -> Catalogue:
    """Return every handler."""
    return load_catalogue(_sources())


def handlers_by_name() -> NamedHandlers:
    """Return the handlers, each loaded when it is looked up."""
    return NamedHandlers(_sources())


def _sources() -> Sources:
    return parse_sources(setting_text("handlers"))
