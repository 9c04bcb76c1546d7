"""Asks a Gemini model, and says of each way it can go wrong whether trying again may help."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpx2
from google import genai
from google.genai import errors, types
from pydantic import BaseModel

from activities.errors import (
    AnswerUnusableError,
    OutgoingTimeoutError,
    TryAgainLaterError,
    UnreachableError,
    refusal,
    retry_after_of,
)
from activities.tools import GeminiAccess
from invoices.prices import Tokens

REQUEST = "Gemini"
EXCERPT_CHARACTERS = 300
COMPLETE, CUT = "STOP", "MAX_TOKENS"
"""The finish reasons that come with a text of use; every other one is a refusal (SAFETY, RECITATION and so on)."""


class AnswerLostError(UnreachableError):
    """The connection broke after the request was sent: the answer may be paid for, and nobody has it."""


class NotConfiguredError(ValueError):
    """An operator has to set something first."""


@dataclass(frozen=True, slots=True)
class Document:
    """Bytes that a question is about, and their media type."""

    data: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. `max_output_tokens` None leaves it to the model; with a `schema` the answer is JSON of it."""

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
    """What came back. `refused`: why there is no answer; `parsed`: the text as the schema's model, if it is one."""

    text: str
    model: str
    tokens: Tokens
    cut: bool = False
    """The text ends where `max_output_tokens` were used up."""
    refused: str = ""
    parsed: BaseModel | None = None


async def ask(access: GeminiAccess, question: Question) -> Answer:
    """Return the model's answer, be it of use or not: it was paid for. One request; another attempt is Temporal's.

    Raises: NotConfiguredError, RequestRefusedError (never retried); TryAgainLaterError, UnreachableError,
    OutgoingTimeoutError (retried).
    """
    if not access.api_key:
        raise NotConfiguredError("there is no key for Gemini: set DOCRAIL_GEMINI_API_KEY (or GEMINI_API_KEY)")
    options = types.HttpOptions(
        base_url=access.base_url,
        timeout=int(question.timeout_seconds * 1000),
        retry_options=types.HttpRetryOptions(attempts=1),
    )
    client = genai.Client(api_key=access.api_key, enterprise=False, http_options=options)
    try:
        return _answer(await _generate(client, question), question)
    finally:
        await client.aio.aclose()
        client.close()


def is_lost(error: BaseException) -> bool:
    """Tell whether a call that ended so may have an answer that is paid for and came to nobody."""
    lost = (AnswerLostError, OutgoingTimeoutError, asyncio.CancelledError)
    return isinstance(error, lost) or getattr(error, "status", None) == HTTPStatus.OK


def text_outcome(answer: Answer) -> str:
    """Return what an answer in text came to, in one word."""
    return "refused" if answer.refused else "cut" if answer.cut else "wrote"


def text_of(answer: Answer) -> str:
    """Return the text. Raises: AnswerUnusableError if there is none, or none of use."""
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
        return await client.aio.models.generate_content(
            model=question.model, contents=_contents(question), config=config
        )
    except errors.APIError as error:
        raise _refused(error) from None
    except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
        raise UnreachableError(f"{REQUEST} cannot be reached: {str(error) or type(error).__name__}") from None
    except httpx2.TimeoutException:
        raise OutgoingTimeoutError(f"{REQUEST} did not answer within {question.timeout_seconds:g} s") from None
    except httpx2.HTTPError as error:
        raise AnswerLostError(f"{REQUEST} cannot be reached: {str(error) or type(error).__name__}") from None
    except json.JSONDecodeError:  # a proxy's page, or an answer that broke off: the next one may be whole
        raise TryAgainLaterError(REQUEST, HTTPStatus.OK, "with a body that is no JSON") from None


def _contents(question: Question) -> Any:
    if question.document is None:
        return question.text
    return [
        types.Part.from_bytes(data=question.document.data, mime_type=question.document.media_type),
        types.Part.from_text(text=question.text),
    ]


def _answer(response: types.GenerateContentResponse, question: Question) -> Answer:
    model, tokens = response.model_version or question.model, _tokens(response.usage_metadata)
    candidate = response.candidates[0] if response.candidates else None
    if candidate is None:
        feedback = response.prompt_feedback
        why = feedback.block_reason.value if feedback and feedback.block_reason else "no candidate"
        return Answer("", model, tokens, refused=f"refused the prompt: {why}")
    reason = candidate.finish_reason.value if candidate.finish_reason else COMPLETE
    if reason not in (COMPLETE, CUT):
        return Answer("", model, tokens, refused=f"wrote no answer: it stopped for {reason}")
    parsed = response.parsed if isinstance(response.parsed, BaseModel) else None
    return Answer(response.text or "", model, tokens, cut=reason == CUT, parsed=parsed)


def _tokens(usage: types.GenerateContentResponseUsageMetadata | None) -> Tokens:
    if usage is None:
        return Tokens()
    return Tokens(
        input=(usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0),
        output=usage.candidates_token_count or 0,
        thinking=usage.thoughts_token_count or 0,
    )


def _refused(error: errors.APIError) -> Exception:
    headers = {name.lower(): value for name, value in getattr(error.response, "headers", {}).items()}
    asked = retry_after_of(headers) or next(_retry_delays(error.details), None)
    return refusal(REQUEST, error.code, str(error.message or "")[:EXCERPT_CHARACTERS], retry_after=asked)


def _retry_delays(details: Any) -> Iterator[str]:
    """Yield the delays of google.rpc.RetryInfo in an error's details: `{"retryDelay": "34s"}`, whole seconds."""
    found = details.get("error", {}).get("details", ()) if isinstance(details, dict) else ()
    for detail in found:
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str):
            yield delay.removesuffix("s").partition(".")[0]
