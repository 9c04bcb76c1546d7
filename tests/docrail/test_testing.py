"""`docrail.testing`: a handler is run as a worker runs it, and its tools are those of the test."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from docrail.activities.handler_tools import HandlerTools
from docrail.activities.handlers import echo, fail
from docrail.dag.values.json_values import Json
from docrail.handlers import Handler, RetryLaterError, StepCall, Tools
from docrail.invoices.problems import UnreadableDocument
from docrail.services.tools import Tools as WorkerTools
from docrail.testing import FakeAnswer, FakeTools, Sent, call_handler, run_handler
from tests.activities.asking import SAMPLE


class AnyConfig(BaseModel, extra="allow"):
    pass


class Output(BaseModel):
    result: Any = None


def handler(run: Any) -> Handler:
    return Handler("tried", AnyConfig, Output, run)


def test_a_handler_is_given_its_config_and_gives_json() -> None:
    assert run_handler(echo.HANDLER, {"value": [1]}) == {"value": [1]}


def test_a_config_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValidationError):
        run_handler(echo.HANDLER, {"valu": 1})


def test_attempts_have_numbers() -> None:
    with pytest.raises(RuntimeError):
        run_handler(fail.HANDLER, {"times": 1}, attempt=1)
    assert run_handler(fail.HANDLER, {"times": 1}, attempt=2) == {"attempts": 2}


def test_an_output_of_another_kind_is_refused() -> None:
    async def run(_call: StepCall[AnyConfig], _tools: Tools) -> BaseModel:
        return AnyConfig()

    with pytest.raises(TypeError, match="expected Output as the output, found AnyConfig"):
        run_handler(handler(run), {})


async def test_documents_are_read_as_a_worker_reads_them() -> None:
    async def run(call: StepCall[AnyConfig], tools: Tools) -> Output:
        pages = await tools.documents.pages(call, "doc")
        found = await tools.documents.find(call, "doc")
        image = await tools.documents.image(call, "doc", 1)
        return Output(result=[len(pages), found.size_bytes, (image or b"")[:4].decode("latin-1")])

    tools = FakeTools()
    tools.documents.files["doc"] = SAMPLE.read_bytes()
    output = await call_handler(handler(run), {}, tools)
    assert output["result"] == [1, SAMPLE.stat().st_size, "\x89PNG"]


async def test_a_document_that_is_missing_or_broken_fails() -> None:
    async def run(call: StepCall[Any], tools: Tools) -> Output:
        return Output(result=await tools.documents.text(call, call.config.id))

    tools = FakeTools()
    tools.documents.files["broken"] = b"%PDF-1.7 and nothing else"
    with pytest.raises(UnreadableDocument):
        await call_handler(handler(run), {"id": "broken"}, tools)
    with pytest.raises(ValueError, match="has no document 'other'"):
        await call_handler(handler(run), {"id": "other"}, tools)


async def post(call: StepCall[Any], tools: Tools) -> Output:
    headers = {"Authorization": "secret://erp"}
    answer = await tools.http.request(call, "POST", "https://erp.example/orders", body={"a": 1}, headers=headers)
    await tools.notify(call, "posted")
    return Output(result=[answer.status, answer.text(), await tools.secrets.load(call, "erp")])


async def test_answers_secrets_and_messages_are_those_of_the_test() -> None:
    tools = FakeTools()
    tools.http.answers.append(FakeAnswer(201, {"id": 7}))
    tools.secrets.values["erp"] = "s3cret"
    output = await call_handler(handler(post), {"key": "secret://erp"}, tools)
    assert output == {"result": [201, '{"id": 7}', "s3cret"]}
    [sent] = tools.http.sent
    assert sent == Sent("POST", "https://erp.example/orders", {"a": 1}, {"Authorization": "secret://erp"})
    assert tools.notifications == ["posted"]


async def test_a_secret_that_the_config_does_not_name_is_refused() -> None:
    tools = FakeTools()
    tools.http.answers.append(FakeAnswer())
    with pytest.raises(ValueError, match="does not name it"):
        await call_handler(handler(post), {}, tools)


@pytest.mark.parametrize(("status", "error"), [(503, RetryLaterError), (429, RetryLaterError), (404, ValueError)])
async def test_an_unexpected_status_decides_about_retries(status: int, error: type[Exception]) -> None:
    tools = FakeTools()
    tools.http.answers.append(FakeAnswer(status))
    with pytest.raises(error, match=f"answered {status}"):
        await call_handler(handler(post), {"key": "secret://erp"}, tools)


def test_the_tools_of_tests_and_of_workers_are_the_promised_ones(pytestconfig: Json) -> None:
    """The annotations are the claim: mypy compares each method."""
    promised: list[Tools] = [FakeTools(), HandlerTools(pytestconfig)]
    assert len(promised) == 2
    assert WorkerTools not in map(type, promised)
