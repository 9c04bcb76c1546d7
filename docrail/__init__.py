"""Docrail's public names: what a handler of your own imports. Light: a name is loaded when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docrail.dag.values.json_values import Json
    from docrail.handlers import Answer, Document, Handler, RetryLaterError, StepCall, Tools
    from docrail.invoices.page_text import PageText
    from docrail.invoices.problems import UnreadableDocument

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Document",
    "Handler",
    "Json",
    "PageText",
    "RetryLaterError",
    "StepCall",
    "Tools",
    "UnreadableDocument",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """Load a public name (PEP 562). Raises: AttributeError."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("docrail.handlers"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
