"""Send a question to a Gemini model, and classify failures by whether a retry may help."""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpx2
from google import genai
from google.genai import errors, types
from pydantic import BaseModel

from docrail.adapters.gemini.access import GeminiAccess
from docrail.adapters.gemini.client import REQUEST, open_client
from docrail.adapters.http.errors import (
    AnswerUnusableError,
    OutgoingTimeoutError,
    RequestRefusedError,
    TryAgainLaterError,
    UnreachableError,
    WorkerNotConfiguredError,
    refusal,
    retry_after_of,
    seconds_of,
)
from docrail.invoices.llm.prices import Tokens

EXCERPT_CHARACTERS = 300
GRACE_SECONDS = 1.0
MOST_TOKENS = 100_000_000
"""Largest token count accepted, of one kind in one answer: a higher one cannot be real."""
COMPLETE, CUT = "STOP", "MAX_TOKENS"
"""Finish reasons of usable answers; all others are refusals (SAFETY, RECITATION and so on)."""

NO_ANSWER = (ValueError, TypeError, AttributeError, KeyError, RecursionError)
"""Errors of the SDK for a body that is not an API response: not JSON, another shape, or endless nesting."""
_MODEL = re.compile(r"[A-Za-z0-9._/-]{1,100}")
_DELAY = re.compile(r"(\d{1,12})(?:\.(\d*))?s")


class AnswerLostError(UnreachableError):
    """The connection broke after the request was sent: the answer may be paid for, but was not received."""


class NotConfiguredError(WorkerNotConfiguredError):
    """The worker has no Gemini key."""


@dataclass(frozen=True, slots=True)
class Document:
    """Content for a question, and its media type."""

    data: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class Question:
    """A request to a model.

    `max_output_tokens` None: the model's default; with a `schema` the answer is JSON of that type.
    """

    text: str
    model: str
    document: Document | None = None
    schema: type[BaseModel] | None = None
    instructions: str | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    thinking: types.ThinkingLevel | None = None
    timeout_seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer. `refused`: why there is none; `parsed`: the text as the schema's model, if it is valid."""

    text: str
    model: str
    tokens: Tokens
    cut: bool = False
    """Whether the text ends because `max_output_tokens` was reached."""
    refused: str = ""
    parsed: BaseModel | None = None


async def ask(access: GeminiAccess, question: Question) -> Answer:
    """Return the model's answer, even if unusable: it was paid for. Sends one request; Temporal retries.

    Raises: RequestRefusedError (never retried); TryAgainLaterError, UnreachableError, OutgoingTimeoutError
    (retried); NotConfiguredError (left to another worker).
    """
    if not access.api_key:
        raise NotConfiguredError("there is no key for Gemini: set DOCRAIL_GEMINI_API_KEY (or GEMINI_API_KEY)")
    async with open_client(access, question.timeout_seconds) as client:
        return _answer(await _generate(client, question), question)


def is_lost(error: BaseException) -> bool:
    """Check whether a failed call may have produced an answer that is paid for but was not received."""
    lost = (AnswerLostError, OutgoingTimeoutError, asyncio.CancelledError)
    return isinstance(error, lost) or getattr(error, "status", None) == HTTPStatus.OK


def text_outcome(answer: Answer) -> str:
    """Return the outcome of a text answer in one word."""
    return "refused" if answer.refused else "cut" if answer.cut else "wrote"


def text_of(answer: Answer) -> str:
    """Return the text. Raises: AnswerUnusableError if there is none, or it is unusable."""
    if answer.refused:
        raise AnswerUnusableError(f"{REQUEST} {answer.refused}")
    if not answer.text:
        hint = ": max_output_tokens left no room for one" if answer.cut else ""
        raise AnswerUnusableError(f"{REQUEST} wrote no text{hint}")
    return answer.text


async def _generate(client: genai.Client, question: Question) -> types.GenerateContentResponse:
    config = types.GenerateContentConfig(
        system_instruction=question.instructions,
        temperature=question.temperature,
        max_output_tokens=question.max_output_tokens,
        response_mime_type="application/json" if question.schema else None,
        response_schema=question.schema,
        thinking_config=types.ThinkingConfig(thinking_level=question.thinking) if question.thinking else None,
    )
    try:
        # The client's timeout applies to each read: bytes may trickle in for hours. It fires first: it knows if nothing
        # was sent.
        async with asyncio.timeout(question.timeout_seconds + GRACE_SECONDS):
            return await client.aio.models.generate_content(
                model=question.model, contents=_contents(question), config=config
            )
    except RequestRefusedError:  # already classified
        raise
    except errors.APIError as error:
        raise _refused(error) from None
    except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
        raise UnreachableError(f"{REQUEST} cannot be reached: {str(error) or type(error).__name__}") from None
    except (httpx2.TimeoutException, TimeoutError):
        raise OutgoingTimeoutError(f"{REQUEST} did not answer within {question.timeout_seconds:g} s") from None
    except httpx2.HTTPError as error:
        raise AnswerLostError(f"{REQUEST} cannot be reached: {str(error) or type(error).__name__}") from None
    except NO_ANSWER as error:  # a proxy's page, or a truncated answer: the next one may be complete
        what = "JSON" if isinstance(error, json.JSONDecodeError) else f"an answer of the API ({type(error).__name__})"
        raise TryAgainLaterError(REQUEST, HTTPStatus.OK, f"with a body that is not {what}") from None


def _contents(question: Question) -> Any:
    if question.document is None:
        return question.text
    return [
        types.Part.from_bytes(data=question.document.data, mime_type=question.document.media_type),
        types.Part.from_text(text=question.text),
    ]


def _answer(response: types.GenerateContentResponse, question: Question) -> Answer:
    version = response.model_version or ""
    model, tokens = version if _MODEL.fullmatch(version) else question.model, _tokens(response.usage_metadata)
    candidate = response.candidates[0] if response.candidates else None
    if candidate is None:
        feedback = response.prompt_feedback
        if not (feedback and feedback.block_reason):
            raise TryAgainLaterError(REQUEST, HTTPStatus.OK, "without a candidate, and without a reason")
        return Answer("", model, tokens, refused=f"refused the prompt: {_printable(feedback.block_reason.value)}")
    reason = candidate.finish_reason.value if candidate.finish_reason else COMPLETE
    if reason not in (COMPLETE, CUT):
        return Answer("", model, tokens, refused=f"wrote no answer: it stopped for {_printable(reason)}")
    parsed = response.parsed if isinstance(response.parsed, BaseModel) else None
    return Answer(response.text or "", model, tokens, cut=reason == CUT, parsed=parsed)


def _tokens(usage: types.GenerateContentResponseUsageMetadata | None) -> Tokens:
    if usage is None:
        return Tokens()
    return Tokens(
        input=_counted(usage.prompt_token_count) + _counted(usage.tool_use_prompt_token_count),
        output=_counted(usage.candidates_token_count),
        thinking=_counted(usage.thoughts_token_count),
    )


def _counted(tokens: int | None) -> int:
    return min(max(tokens or 0, 0), MOST_TOKENS)


def _refused(error: errors.APIError) -> Exception:
    headers = {name.lower(): value for name, value in getattr(error.response, "headers", {}).items()}
    delays = (retry_after_of(headers), *_retry_delays(error.details))
    usable = next((delay for delay in delays if seconds_of(delay) is not None), None)
    return refusal(REQUEST, error.code, _printable(str(error.message or "")), retry_after=usable)


def _retry_delays(details: Any) -> Iterator[str]:
    """Yield the delays of google.rpc.RetryInfo in an error's details, `{"retryDelay": "34.5s"}`, in whole seconds."""
    error = details.get("error") if isinstance(details, dict) else None
    found = error.get("details") if isinstance(error, dict) else None
    for detail in found if isinstance(found, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        match = _DELAY.fullmatch(delay) if isinstance(delay, str) else None
        if match:
            yield str(int(match[1]) + bool((match[2] or "").strip("0")))  # rounded up: never sooner than requested


def _printable(text: str) -> str:
    """Return an excerpt of the text with unprintable characters replaced."""
    return "".join(letter if letter.isprintable() else " " for letter in text[:EXCERPT_CHARACTERS])
