"""The fake Gemini as tests use it: real HTTP on loopback, which the real SDK talks to."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from docrail.adapters.gemini.access import GeminiAccess
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.embedded.fake_gemini.replies import Reply
from docrail.embedded.fake_gemini.scenarios import Chooser, Script, parse_script
from docrail.embedded.fake_gemini.server import FakeGemini, fake_gemini

KEY = "test-key-4711"
MODEL = "gemini-default"


@asynccontextmanager
async def gemini(
    reported: str | Reply | Chooser = "ok", *, says: str = "a summary", reader: DocumentReader | None = None
) -> AsyncIterator[FakeGemini]:
    """Serve a script, one answer for ever, or whatever a chooser gives."""
    match reported:
        case str():
            chooser: Chooser = parse_script(reported)
        case Reply():
            chooser = Script([reported])
        case _:
            chooser = reported
    async with fake_gemini(chooser, says=says, reader=reader) as fake:
        yield fake


def access(fake: FakeGemini) -> GeminiAccess:
    """Return how a worker reaches the fake."""
    return GeminiAccess(KEY, fake.url, MODEL)


def most_within(arrivals: Sequence[float], seconds: float) -> int:
    """Return the most arrivals in any window of so many seconds."""
    return max((sum(first <= at < first + seconds for at in arrivals) for first in arrivals), default=0)
