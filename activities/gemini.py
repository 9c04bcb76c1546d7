"""Asks a Gemini model for text, and says of each way it can go wrong whether trying again may help."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpx2
from google import genai
from google.genai import errors, types

from activities.errors import (
    AnswerUnusableError,
    OutgoingTimeoutError,
    TryAgainLaterError,
    UnreachableError,
    refusal,
    retry_after_of,
)
from activities.tools import GeminiAccess

REQUEST = "Gemini"
EXCERPT_CHARACTERS = 300
COMPLETE, CUT = "STOP", "MAX_TOKENS"
"""The finish reasons that come with a text of use; every other one is a refusal (SAFETY, RECITATION and so on)."""


class NotConfiguredError(ValueError):
    """An operator has to set something first."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked. `max_output_tokens` None leaves it to the model."""

    text: str
    model: str
    instructions: str | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    timeout_seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model wrote, and what it cost. `cut`: the text ends where `max_output_tokens` were used up."""

    text: str
    cut: bool
    model: str
    input_tokens: int
    output_tokens: int


async def ask(access: GeminiAccess, prompt: Prompt) -> Reply:
    """Return the model's text.

    Raises: NotConfiguredError, RequestRefusedError, AnswerUnusableError (never retried); TryAgainLaterError,
    UnreachableError, OutgoingTimeoutError (retried).
    """
    if not access.api_key:
        raise NotConfiguredError("there is no key for Gemini: set DOCRAIL_GEMINI_API_KEY (or GEMINI_API_KEY)")
    options = types.HttpOptions(
        base_url=access.base_url,
        timeout=int(prompt.timeout_seconds * 1000),
        retry_options=types.HttpRetryOptions(attempts=1),  # Temporal retries
    )
    client = genai.Client(api_key=access.api_key, enterprise=False, http_options=options)
    try:
        return _reply(await _generate(client, prompt), prompt)
    finally:
        await client.aio.aclose()
        client.close()


async def _generate(client: genai.Client, prompt: Prompt) -> types.GenerateContentResponse:
    config = types.GenerateContentConfig(
        system_instruction=prompt.instructions,
        temperature=prompt.temperature,
        max_output_tokens=prompt.max_output_tokens,
    )
    try:
        return await client.aio.models.generate_content(model=prompt.model, contents=prompt.text, config=config)
    except errors.APIError as error:
        raise _refused(error) from None
    except httpx2.TimeoutException:
        raise OutgoingTimeoutError(f"{REQUEST} did not answer within {prompt.timeout_seconds:g} s") from None
    except httpx2.HTTPError as error:
        raise UnreachableError(f"{REQUEST} cannot be reached: {str(error) or type(error).__name__}") from None
    except json.JSONDecodeError:  # a proxy's page, or an answer that broke off: the next one may be whole
        raise TryAgainLaterError(REQUEST, HTTPStatus.OK, "with a body that is no JSON") from None


def _reply(response: types.GenerateContentResponse, prompt: Prompt) -> Reply:
    candidate = response.candidates[0] if response.candidates else None
    if candidate is None:
        feedback = response.prompt_feedback
        reason = feedback.block_reason.value if feedback and feedback.block_reason else "no candidate"
        raise AnswerUnusableError(f"{REQUEST} refused the prompt: {reason}")
    reason = candidate.finish_reason.value if candidate.finish_reason else COMPLETE
    text = response.text or ""
    if reason not in (COMPLETE, CUT):
        raise AnswerUnusableError(f"{REQUEST} wrote no answer: it stopped for {reason}")
    if not text:
        hint = ": max_output_tokens left no room for one" if reason == CUT else ""
        raise AnswerUnusableError(f"{REQUEST} wrote no text{hint}")
    usage = response.usage_metadata
    return Reply(
        text=text,
        cut=reason == CUT,
        model=response.model_version or prompt.model,
        input_tokens=(usage and usage.prompt_token_count) or 0,
        output_tokens=(usage and usage.candidates_token_count) or 0,
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
