"""Docrail's public names: the API's client, and what a handler of your own imports.

Light: a name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docrail.client import AsyncClient, Client
    from docrail.dag.values.json_values import Json
    from docrail.handlers import Answer, Document, Handler, RetryLaterError, StepCall, Tools
    from docrail.invoices.page_text import PageText
    from docrail.invoices.problems import UnreadableDocument
    from docrail.transport import ApiError, NoAnswerError

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "ApiError",
    "AsyncClient",
    "Client",
    "Document",
    "Handler",
    "Json",
    "NoAnswerError",
    "PageText",
    "RetryLaterError",
    "StepCall",
    "Tools",
    "UnreadableDocument",
    "__version__",
]

_HOMES = {
    **dict.fromkeys(("AsyncClient", "Client"), "docrail.client"),
    **dict.fromkeys(("ApiError", "NoAnswerError"), "docrail.transport"),
}


def __getattr__(name: str) -> Any:
    """Load a public name (PEP 562). Raises: AttributeError."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "docrail.handlers")), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
