"""An installation's own handlers with a real API and worker: found, run, and refused where they are broken."""

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from docrail.dag.values.json_values import Json
from docrail.services.definitions.service import publish_shipped
from docrail.settings import Settings
from tests.activities.asking import SAMPLE
from tests.api.service import Service, is_ready, serve, settings_for, work
from tests.stack import Servers, eventually

FIRST_WORDS = '''"""Return the first words of a document."""

from pydantic import BaseModel

from docrail import Handler, StepCall, Tools


class Config(BaseModel, extra="forbid"):
    document_id: str


class Output(BaseModel):
    words: list[str]
    size: int


async def run(call: StepCall[Config], tools: Tools) -> Output:
    text = await tools.documents.text(call, call.config.document_id)
    data = await tools.documents.read(call, call.config.document_id)
    return Output(words=text.split()[:2], size=len(data))


HANDLER = Handler("first_words", Config, Output, run, aliases=("FirstWords",))
'''
READS: Json = {
    "id": "reads",
    "inputs": {"document": {"type": "string", "required": True}},
    "steps": [{"id": "read", "handler": "FirstWords", "config": {"document_id": "{{ inputs.document }}"}}],
}


@pytest.fixture(scope="module")
def settings(embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("own")
    (folder / "handlers").mkdir()
    (folder / "handlers" / "first_words.py").write_text(FIRST_WORDS)
    (folder / "handlers" / "translate.py").write_text('"""Translate."""\n\nimport nothing_of_that_name\n')
    (folder / "handlers" / "echo.py").write_text(FIRST_WORDS.replace('"first_words"', '"echo"'))
    found = settings_for(embedded.temporal_address, dsn, folder / "data")
    return found.model_copy(update={"handlers": (str(folder / "handlers"),)})


@pytest.fixture(scope="module")
async def served(settings: Settings) -> AsyncIterator[Service]:
    async with serve(settings) as service:
        await publish_shipped(service.app)
        yield service


async def start(served: Service, definition: Json, **inputs: Json) -> httpx.Response:
    return await served.http.post("/v1/runs", json={"definition": definition, "inputs": inputs})


async def test_they_are_listed_with_those_that_are_broken(served: Service, settings: Settings) -> None:
    listed = (await served.http.get("/v1/handlers")).json()
    [mine] = [each for each in listed["handlers"] if each["name"] == "first_words"]
    assert (mine["summary"], mine["aliases"]) == ("Return the first words of a document.", ["FirstWords"])
    assert listed["broken"] == [
        {
            "name": "echo",
            "file": f"{settings.handlers[0]}/echo.py",
            "line": 23,
            "error": "the name 'echo' is taken by the shipped handler echo",
        },
        {
            "name": "translate",
            "file": f"{settings.handlers[0]}/translate.py",
            "line": 3,
            "error": "ModuleNotFoundError: No module named 'nothing_of_that_name'",
        },
    ]
    shown = await served.http.get("/v1/handlers/FirstWords")
    assert shown.json() == mine


async def test_a_broken_one_is_shown_with_its_error(served: Service) -> None:
    shown = await served.http.get("/v1/handlers/translate")
    assert shown.status_code == 409
    assert "translate.py:3: ModuleNotFoundError" in shown.json()["detail"]


async def test_only_definitions_that_need_a_broken_one_are_refused(served: Service) -> None:
    for handler, status in (("translate", 422), ("echo", 200)):
        definition = {"id": f"uses_{handler}", "steps": [{"id": "step", "handler": handler}]}
        checked = await served.http.post("/v1/definitions/validate", json={"definition": definition})
        problems = checked.json()["problems"]
        assert (checked.json()["valid"], len(problems)) == (status == 200, int(status == 422))
        if problems:
            assert problems[0]["code"] == "broken-handler"
            assert "translate.py:3: ModuleNotFoundError" in problems[0]["message"]


async def test_one_reads_a_document_at_the_worker(served: Service, settings: Settings) -> None:
    async with work(settings):
        await eventually(lambda: is_ready(served), "the API to be ready")
        files = {"file": ("coolblue.pdf", SAMPLE.read_bytes())}
        uploaded = await served.http.post("/v1/documents", files=files, data={"key": uuid.uuid4().hex})
        document_id = uploaded.json()["document_id"]
        run = await served.ended((await start(served, READS, document=document_id)).json()["run_id"])
    assert run["status"] == "completed", run
    output = (await served.http.get(f"/v1/runs/{run['run_id']}/steps/read/output")).json()
    assert output["output"]["size"] == SAMPLE.stat().st_size
    assert len(output["output"]["words"]) == 2


async def test_a_worker_without_a_handler_leaves_its_step_to_one_that_has_it(
    served: Service, settings: Settings
) -> None:
    without = settings.model_copy(update={"handlers": ()})
    async with work(settings):
        files = {"file": ("coolblue.pdf", SAMPLE.read_bytes())}
        uploaded = await served.http.post("/v1/documents", files=files, data={"key": uuid.uuid4().hex})
    steps = [{**READS["steps"][0], "max_retries": 0}]
    async with work(without):
        started = await start(served, {**READS, "steps": steps}, document=uploaded.json()["document_id"])
        run_id = started.json()["run_id"]

        async def is_tried() -> bool:
            [step] = (await served.http.get(f"/v1/runs/{run_id}/explain")).json()["steps"].values()
            words = " ".join(step["words"])
            lack = "not a failed attempt: this worker has no handler 'first_words': set DOCRAIL_HANDLERS"
            return lack in words and "attempt 1 of at most 1 begins when the delay before it is over" in words

        await eventually(is_tried, "the pause after an attempt at the worker without the handler")
    async with work(settings):
        assert (await served.ended(run_id))["status"] == "completed"


async def test_a_worker_says_why_its_handler_is_broken(served: Service, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "first_words.py").write_text("import nothing_of_that_name")
    async with work(settings.model_copy(update={"handlers": (str(tmp_path),)})):
        started = await start(
            served, {**READS, "steps": [{**READS["steps"][0], "total_timeout_seconds": 1}]}, document="none"
        )
        run = await served.ended(started.json()["run_id"])
    error = f"this worker has no handler 'first_words': {tmp_path}/first_words.py:1: ModuleNotFoundError"
    assert error in run["steps"]["read"]["error"]["message"]
