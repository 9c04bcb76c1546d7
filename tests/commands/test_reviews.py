"""`docrail answer` and `docrail reviews` against a running API and worker, and how answers are typed."""

import json
from collections.abc import AsyncIterator

import pytest
import typer

from commands.answers import parse_answer
from dag.values import Json
from storage.migrate import migrate
from tests.api.customer import open_item, start, unique, until_waiting
from tests.api.service import Service, serve, settings_for, work
from tests.commands.process import Ended, docrail
from tests.postgres import empty_database
from tests.stack import Servers

FORM = {
    "type": "object",
    "required": ["approved"],
    "properties": {"approved": {"type": "boolean", "title": "Pay it"}, "reference": {"type": "string"}},
}


@pytest.fixture(scope="module")
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with empty_database(embedded.dsn) as dsn:
        await migrate(dsn)
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("reviews"))
        async with serve(settings) as served, work(settings):
            yield served


async def typed(service: Service, *arguments: str) -> Ended:
    return await docrail(*arguments, DOCRAIL_API_URL=str(service.http.base_url))


def run_of(step: dict[str, Json]) -> dict[str, Json]:
    return {"id": unique("typed"), "steps": [step], "outputs": {"answer": "{{ ask }}"}}


async def test_a_question_is_found_shown_and_decided(service: Service) -> None:
    human = {"queue": "payments", "title": "Pay 12?", "form": FORM, "show": {"amount": 12}}
    run_id = await start(service, run_of({"id": "ask", "human": human}))
    item = await open_item(service, run_id=run_id)
    listed = await typed(service, "reviews", "list", "--queue", "payments")
    assert [line.split()[:4] for line in listed.out.splitlines()[2:]] == [[item["review_id"], "payments", "Pay", "12?"]]
    shown = await typed(service, "reviews", "show", item["review_id"])
    assert shown.out.splitlines() == [
        "Pay 12?",
        "  step in queue payments, open, due never",
        f"  run {run_id}, step ask",
        "  amount: 12",
        "a decision has:",
        "  approved: boolean, required (Pay it)",
        "  reference: string",
    ]
    refused = await typed(service, "reviews", "decide", item["review_id"], "approved=maybe")
    assert (refused.code, refused.out) == (1, "")
    assert "decision.approved: " in refused.err
    decided = await typed(service, "reviews", "decide", item["review_id"], "approved=true", "reference=007")
    assert (decided.code, decided.err) == (0, "")
    assert decided.out.startswith(f"decided ask; {run_id} is ")
    assert (await service.ended(run_id))["outputs"] == {"answer": {"approved": True, "reference": "007"}}
    late = await typed(service, "reviews", "decide", item["review_id"], "approved=false")
    assert (late.code, late.err) == (
        1,
        "docrail: Somebody else was first: tester decided this before: the first decision counts\n",
    )


async def test_a_waiting_step_is_answered(service: Service) -> None:
    run_id = await start(service, run_of({"id": "ask", "wait": {"for": "signal"}}))
    await until_waiting(service, run_id)
    answered = await typed(service, "answer", run_id, "ask", "decision=process", "amount=12.5", "--json")
    assert (answered.code, json.loads(answered.out)["run_id"]) == (0, run_id)
    assert (await service.ended(run_id))["outputs"] == {"answer": {"decision": "process", "amount": 12.5}}
    late = await typed(service, "answer", run_id, "ask", "--value", "[1]")
    assert late.code == 1
    assert "cannot answer: the run is completed" in late.err


async def test_an_empty_queue_is_shown_as_one(service: Service) -> None:
    listed = await typed(service, "reviews", "list", "--queue", "nobodys", "--json")
    assert json.loads(listed.out) == {"reviews": [], "after": None}


@pytest.mark.parametrize(
    ("given", "value", "answer"),
    [
        (["a=1", "b=true", "c=null", 'd={"e": 1}'], None, {"a": 1, "b": True, "c": None, "d": {"e": 1}}),
        (["a=", "b=x=y", "c=NaN", "d=007"], None, {"a": "", "b": "x=y", "c": "NaN", "d": "007"}),
        (["reference=12"], None, {"reference": "12"}),
        ([], None, {}),
        ([], "[1, 2]", [1, 2]),
        ([], '"text"', "text"),
    ],
)
def test_an_answer_is_typed_as_fields_or_whole(given: list[str], value: str | None, answer: Json) -> None:
    assert parse_answer(given, value, FORM) == answer


@pytest.mark.parametrize(
    ("given", "value", "told"),
    [
        (["approved"], None, "expected NAME=VALUE, found 'approved'"),
        (["=1"], None, "expected NAME=VALUE, found '=1'"),
        (["a=1", "a=2"], None, "a is given twice: expected one value"),
        (["a=1"], "{}", "is given beside fields: expected one of both"),
        ([], "{", "expected JSON, found '{'"),
        ([], "NaN", "expected JSON, found 'NaN'"),
    ],
)
def test_what_is_no_answer_is_wrong_usage(given: list[str], value: str | None, told: str) -> None:
    with pytest.raises(typer.BadParameter) as refused:
        parse_answer(given, value)
    assert told == refused.value.message
