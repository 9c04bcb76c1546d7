"""What the Gemini API answers, for a server on loopback that the real SDK talks to."""

from dag.values import Json
from tests.loopback import Reply, reply_json

KEY = "test-key-4711"


def wrote(text: str, *, finish_reason: str = "STOP", input_tokens: int = 7, output_tokens: int = 11) -> Reply:
    parts = [{"text": text}] if text else []
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish_reason, "index": 0}
    usage = {"promptTokenCount": input_tokens, "candidatesTokenCount": output_tokens}
    return reply_json({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-test-001"})


def blocked(reason: str = "PROHIBITED_CONTENT") -> Reply:
    return reply_json({"promptFeedback": {"blockReason": reason}})


def refused(status: int, message: str, *details: Json, **headers: str) -> Reply:
    error = {"code": status, "message": message, "status": "TOLD", "details": list(details)}
    return reply_json({"error": error}, status, **headers)


def not_json() -> Reply:
    return Reply(200, b"<html>a proxy's page</html>", {"Content-Type": "text/html"})
