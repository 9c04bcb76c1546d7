"""A change of the readers' code asks whether stored readings are still what the readers would say."""

import hashlib
from pathlib import Path

from docrail.invoices import model
from docrail.invoices.model import READER_VERSION, READERS_DIGEST


def digest() -> str:
    """Return a digest of the readers' code, the same on any machine."""
    root = Path(model.__file__).parent
    files = sorted(path for room in ("languages", "readers", "values") for path in (root / room).rglob("*.py"))
    lines = (f"{file.relative_to(root)} {hashlib.sha256(file.read_bytes()).hexdigest()}\n" for file in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def test_the_version_of_the_readers_was_thought_of() -> None:
    """No command writes the digest: whoever changes a reader decides, and pastes it."""
    assert digest() == READERS_DIGEST, (
        f"invoices/readers has changed since READER_VERSION {READER_VERSION!r} was given. If a document that is stored "
        "may now be read differently, raise READER_VERSION in invoices/model.py: readings under the old one are then "
        f'made anew. Either way, set there: READERS_DIGEST = "{digest()}"'
    )
