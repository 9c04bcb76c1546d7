"""schemathesis draws requests from the OpenAPI document, in all its phases, and finds no wrong answer.

The server is a `docrail up` of its own: the requests abort runs and fill its queues.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from docrail.embedded.stack import Stack, StackOptions, run_stack
from tests.security.known_ids import furnish
from tests.stack import ROOT

EXAMPLES = 10
"""Requests that are drawn for each route; those of the coverage phase are as many as the schema has borders."""
CHECKS = (
    "no_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "refusals_are_described",
    "problems_have_a_documented_type",
)
SEED = 1
KNOWN_SHARE = 0.7
"""Of the ids in paths, those of something that exists."""
ANSWER_SECONDS = 60
"""Of a request that hangs. On a busy machine a few take seconds."""
MOST_SECONDS = 1_200
"""Of one test. On two cores that are free it takes a quarter of that."""
STREAMED = 1
"""Of the events of a stream that has no end, those that are awaited: each stream begins with one."""
MOST_SHOWN = 30_000

pytestmark = [pytest.mark.slow, pytest.mark.timeout(MOST_SECONDS + 120)]


@pytest.fixture(scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    folder = tmp_path_factory.mktemp("drawn")
    options = StackOptions(folder, api_port=0, temporal_port=0, ui_port=0, graceful_shutdown_seconds=0)
    async with run_stack(options, lambda _: None) as running:
        yield running


@pytest.fixture(scope="module")
async def known_ids(stack: Stack) -> str:
    """Return the configuration in which most of the drawn ids are of something that exists."""
    ids = await furnish(stack.http)
    values = (f"[dictionaries.{name}]\nvalues = {json.dumps(found)}" for name, found in ids.items())
    uses = (f'"path.{name}" = {{ dictionary = "{name}", probability = {KNOWN_SHARE} }}' for name in ids)
    return "\n".join([f"max-stream-events = {STREAMED}", *values, "[parameters]", *uses])


async def draw_requests(stack: Stack, folder: Path, configuration: str, *options: str) -> None:
    """Run schemathesis; fail with what it has found, and how to send it again."""
    (folder / "schemathesis.toml").write_text(configuration)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{stack.api_url}/openapi.json", *options),
        *("--checks", ",".join(CHECKS), "--max-examples", str(EXAMPLES), "--seed", str(SEED)),
        *("--generation-database", "none", "--no-shrink", "--continue-on-failure", "--suppress-health-check", "all"),
        *("--generation-allow-x00", "false"),  # no schema of any JSON can refuse it: test_hostile_texts.py
        *("--generation-with-security-parameters", "false"),  # else half of the answers are 401: test_permissions.py
        *("--request-timeout", str(ANSWER_SECONDS), "--no-color"),
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={
            **os.environ,
            "NO_PROXY": "*",
            "SCHEMATHESIS_HOOKS": "tests.security.schemathesis_hooks",
            "PYTHONPATH": str(ROOT),
        },
    )
    try:
        async with asyncio.timeout(MOST_SECONDS):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode:
        report = said.decode()
        pytest.fail(report[max(report.find("\n===="), 0) :][:MOST_SHOWN], pytrace=False)


async def test_every_answer_to_a_single_request_is_as_documented(stack: Stack, known_ids: str, tmp_path: Path) -> None:
    await draw_requests(stack, tmp_path, known_ids, "--phases", "examples,coverage,fuzzing")


async def test_every_answer_in_a_series_of_requests_is_as_documented(
    stack: Stack, known_ids: str, tmp_path: Path
) -> None:
    """Each request takes ids from the answers before it."""
    await draw_requests(stack, tmp_path, known_ids, "--phases", "stateful")
