"""Build the Gemini API's HTTP responses: texts, refusals, and invalid ones."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from docrail.dag.values.json_values import Json

NO_HEADERS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP response, sent after `delay_seconds`. `hangs_up`: the connection closes without one."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_seconds: float = 0.0
    hangs_up: bool = False

    def encoded(self) -> bytes:
        """Return the response's bytes, after which the connection closes."""
        headers = {"Content-Length": str(len(self.body)), "Connection": "close", **self.headers}
        lines = [f"HTTP/1.1 {self.status} Fake", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


def wrote(
    text: str,
    *,
    finish_reason: str = "STOP",
    model: str = "gemini-test-001",
    input_tokens: int = 7,
    output_tokens: int = 11,
    thinking_tokens: int = 0,
    delay_seconds: float = 0.0,
) -> Reply:
    """Return a response with one candidate; an empty text gives a candidate without parts, as after a safety stop."""
    parts = [{"text": text}] if text else []
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish_reason, "index": 0}
    usage = {
        "promptTokenCount": input_tokens,
        "candidatesTokenCount": output_tokens,
        "thoughtsTokenCount": thinking_tokens,
        "totalTokenCount": input_tokens + output_tokens + thinking_tokens,
    }
    body = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model}
    return _json(body, delay_seconds=delay_seconds)


def blocked(reason: str = "PROHIBITED_CONTENT") -> Reply:
    """Return the response to a blocked prompt: it has no candidates."""
    return _json({"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 7}})


def refused(status: int, message: str, *details: Json, retry_after: str | None = None) -> Reply:
    """Return an error response, with a `Retry-After` if given."""
    error = {"code": status, "message": message, "status": "FAKE", "details": list(details)}
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return _json({"error": error}, status=status, headers=headers)


def not_json() -> Reply:
    """Return the page of a proxy in place of the API's response."""
    return Reply(200, b"<html>a proxy's page</html>", {"Content-Type": "text/html"})


def _json(body: Json, *, status: int = 200, headers: Mapping[str, str] = NO_HEADERS, delay_seconds: float = 0) -> Reply:
    all_headers = {"Content-Type": "application/json; charset=UTF-8", **headers}
    return Reply(status, json.dumps(body).encode(), all_headers, delay_seconds)
