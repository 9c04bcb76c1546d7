"""schemathesis draws requests from the OpenAPI document, in all its phases, and finds no wrong answer."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.api.conftest import dsn, service
from tests.api.service import Service
from tests.stack import ROOT

__all__ = ["dsn", "service"]

EXAMPLES = 40
"""Requests that are drawn for each route; those of the coverage phase are as many as the schema has borders."""
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "refusals_are_described",
)
SEED = 1
ANSWER_SECONDS = 60
MOST_SECONDS = 1_200

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(MOST_SECONDS + 60),
    pytest.mark.skipif("SCHEMATHESIS" not in os.environ, reason="it aborts the runs of other tests: make conformance"),
]


@pytest.fixture
def caller_headers() -> dict[str, str]:
    """Return the headers of a caller with all scopes."""
    return {}


async def test_every_answer_is_as_documented(service: Service, caller_headers: dict[str, str], tmp_path: Path) -> None:
    headers = [each for name, value in caller_headers.items() for each in ("--header", f"{name}: {value}")]
    process = await asyncio.create_subprocess_exec(
        *(str(Path(sys.executable).parent / "schemathesis"), "run", f"{service.http.base_url}/openapi.json"),
        *("--phases", "examples,coverage,fuzzing,stateful", "--checks", ",".join(CHECKS)),
        *("--max-examples", str(EXAMPLES), "--seed", str(SEED), "--generation-database", "none"),
        *("--generation-allow-x00", "false"),  # refused everywhere, and no schema of any JSON can say so
        *("--continue-on-failure", "--no-color", "--no-shrink", "--suppress-health-check", "all"),
        *("--request-timeout", str(ANSWER_SECONDS)),
        *headers,
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={
            **os.environ,
            "NO_PROXY": "*",
            "SCHEMATHESIS_HOOKS": "tests.security.schemathesis_hooks",
            "PYTHONPATH": str(ROOT),
        },
    )
    async with asyncio.timeout(MOST_SECONDS):
        said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()[-30_000:]
