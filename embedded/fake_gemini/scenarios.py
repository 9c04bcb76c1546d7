"""Decide how the fake Gemini answers each request: by a script, or at random from a mix with a seed."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, repeat
from typing import Protocol

from docrail.embedded.fake_gemini.replies import Reply, blocked, not_json, refused, wrote

MOST_REPEATED = 100_000
_ANSWER = re.compile(r"(?P<name>[a-z0-9-]+)(?::(?P<value>\d+(?:\.\d+)?))?(?:\*(?P<times>\d{1,6}))?")


class Scenario(StrEnum):
    """The possible answers. The part after a colon, if any, is a number."""

    OK = "ok"
    TOO_MANY = "429"
    UNAVAILABLE = "503"
    NOT_JSON = "not-json"
    EMPTY = "empty"
    WRONG_SCHEMA = "wrong-schema"
    MAX_TOKENS = "max-tokens"
    SAFETY = "safety"
    BLOCKED = "blocked"
    SLOW = "slow"
    REFUSED = "refused"
    HANGS_UP = "hangs-up"


MEANINGS = {
    Scenario.OK: "what the local readers find in the bytes; a text to a question without a document",
    Scenario.TOO_MANY: "429 with Retry-After (429:5 asks for 5 seconds; 1 without a number)",
    Scenario.UNAVAILABLE: "503 without Retry-After",
    Scenario.NOT_JSON: "200 with a proxy's page",
    Scenario.EMPTY: "200 with neither a candidate nor a reason",
    Scenario.WRONG_SCHEMA: "200 with JSON that is not what was asked for",
    Scenario.MAX_TOKENS: "an answer cut short (max-tokens:20000: only where fewer tokens were allowed)",
    Scenario.SAFETY: "a candidate that stopped for SAFETY, without text",
    Scenario.BLOCKED: "no candidate: the prompt was blocked",
    Scenario.SLOW: "as ok, after 2 seconds (slow:30 after 30)",
    Scenario.REFUSED: "403 (refused:404, refused:400, refused:413)",
    Scenario.HANGS_UP: "the connection closes without an answer",
}


FIXED: Mapping[Scenario, Callable[[float | None], Reply]] = {
    Scenario.TOO_MANY: lambda value: refused(429, "Resource has been exhausted", retry_after=f"{value or 1:g}"),
    Scenario.UNAVAILABLE: lambda _: refused(503, "The model is overloaded"),
    Scenario.NOT_JSON: lambda _: not_json(),
    Scenario.EMPTY: lambda _: Reply(200, b'{"candidates": []}', {"Content-Type": "application/json"}),
    Scenario.WRONG_SCHEMA: lambda _: wrote('{"invoice": "yes, it is one"}'),
    Scenario.MAX_TOKENS: lambda _: wrote('{"document_type": "inv', finish_reason="MAX_TOKENS"),
    Scenario.SAFETY: lambda _: wrote("", finish_reason="SAFETY"),
    Scenario.BLOCKED: lambda _: blocked(),
    Scenario.REFUSED: lambda value: refused(int(value or 403), "The fake refuses"),
    Scenario.HANGS_UP: lambda _: Reply(hangs_up=True),
}
"""The answers that do not depend on the question."""


class ScenarioError(ValueError):
    """The script or mix is invalid; the message says what was found and what was expected."""


@dataclass(frozen=True, slots=True)
class PlayedScenario:
    """A scenario with its number."""

    scenario: Scenario
    value: float | None = None

    def __str__(self) -> str:
        return self.scenario if self.value is None else f"{self.scenario}:{self.value:g}"

    def reply(self, *, allowed_tokens: int) -> Reply | None:
        """Return the response; None if it depends on the question, as for `slow`."""
        if self.scenario is Scenario.MAX_TOKENS and self.value is not None and allowed_tokens >= self.value:
            return None
        reply = FIXED.get(self.scenario)
        return None if reply is None else reply(self.value)

    @property
    def delay_seconds(self) -> float:
        """Return the delay of the answer."""
        return (2.0 if self.value is None else self.value) if self.scenario is Scenario.SLOW else 0.0


class Chooser(Protocol):
    """Chooses the answer to the next request."""

    def next(self) -> PlayedScenario | Reply:
        """Return the next answer."""


class Script:
    """Answers in sequence; the last one repeats."""

    def __init__(self, answers: Sequence[PlayedScenario | Reply]) -> None:
        self._answers = chain(answers, repeat(answers[-1]))

    def next(self) -> PlayedScenario | Reply:
        """Return the next answer."""
        return next(self._answers)


class Mix:
    """Random answers, the same for the same seed; the remaining share is ok."""

    def __init__(self, shares: Sequence[tuple[PlayedScenario, float]], seed: int) -> None:
        self._shares, self._random = shares, random.Random(seed)  # noqa: S311 - a fake's chance is not a secret

    def next(self) -> PlayedScenario:
        """Return the next answer."""
        drawn = self._random.random()
        for played, share in self._shares:
            drawn -= share
            if drawn < 0:
                return played
        return PlayedScenario(Scenario.OK)


def parse_script(text: str) -> Script:
    """Parse a script such as `429:2*20,503,ok`: twenty 429s, a 503, and ok from then on. Raises: ScenarioError."""
    return Script([played for part in text.split(",") for played in _parse(part)])


def parse_mix(text: str, seed: int) -> Mix:
    """Parse a mix such as `429=0.2,slow:3=0.1`: a fifth 429s, a tenth slow, the others ok. Raises: ScenarioError."""
    shares = []
    for part in text.split(","):
        name, _, share = part.partition("=")
        try:
            shares.append((_parse(name)[0], float(share)))
        except ValueError as error:
            raise ScenarioError(f"{part!r}: expected SCENARIO=SHARE as in 429=0.2 ({error})") from None
    if not all(0 <= share <= 1 for _, share in shares) or sum(share for _, share in shares) > 1:
        raise ScenarioError(f"{text!r}: expected shares between 0 and 1, together at most 1")
    return Mix(shares, seed)


def _parse(text: str) -> list[PlayedScenario]:
    match = _ANSWER.fullmatch(text.strip())
    times = int((match and match["times"]) or 1)
    if match is None or match["name"] not in set(Scenario) or not 0 < times <= MOST_REPEATED:
        raise ScenarioError(
            f"{text!r} is not a scenario: expected NAME, NAME:NUMBER or NAME*TIMES, of {', '.join(Scenario)}"
        )
    return [PlayedScenario(Scenario(match["name"]), float(match["value"]) if match["value"] else None)] * times
