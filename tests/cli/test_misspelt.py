"""Misspelt values are reported with the known ones: an empty list would look as if all were well."""

import json
from collections.abc import AsyncIterator

import pytest

from docrail.dag.values.json_values import Json
from tests.api.service import Service, serve_with_worker, settings_for
from tests.cli.process import Ended, docrail
from tests.postgres import migrated_database
from tests.stack import Servers, eventually

FAILING = {"id": "bad", "handler": "fail", "config": {"times": 9, "error": "ValueError"}, "max_retries": 0}
DEFINITION = "misspelt_here_alone"  # all workers of pytest-xdist must collect the same


@pytest.fixture(scope="module")
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """An API with one failed step in the inbox, and one question in the queue `payments`."""
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("misspelt"))
        asks: dict[str, Json] = {"id": "asks", "human": {"queue": "payments", "form": {"type": "object"}}}
        async with serve_with_worker(settings) as served:
            order = {"definition": {"id": DEFINITION, "steps": [FAILING, asks]}}
            run_id = (await served.http.post("/v1/runs", json=order)).json()["run_id"]

            async def is_there() -> bool:
                letter = await served.http.get(f"/v1/dead-letters/{run_id}/bad")
                return letter.status_code == 200 and bool((await served.http.get("/v1/reviews")).json()["reviews"])

            await eventually(is_there, "the letter and the question")
            yield served
            await served.http.post(f"/v1/runs/{run_id}/abort")


async def command(service: Service, *arguments: str) -> Ended:
    return await docrail(*arguments, DOCRAIL_API_URL=str(service.http.base_url))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "failure list --class ValuError",
            "no failed step has the class 'ValuError'; did you mean 'ValueError'? There is: ValueError",
        ),
        ("failure list --handler zzz --view all", "no failed step has the handler 'zzz'. There is: fail"),
        (
            "failure count --definition misspelt",
            f"no failed step has the definition 'misspelt'. There is: {DEFINITION}",
        ),
        ("failure retry --class zzz", "no failed step has the class 'zzz'. There is: ValueError"),
        ("failure retry --class zzz --all", "no failed step has the class 'zzz'. There is: ValueError"),
        (
            f"run list --definition {DEFINITION[:-1]}",
            f"no run has the definition {DEFINITION[:-1]!r}; did you mean {DEFINITION!r}? There is: ",
        ),
        ("run list --document zzz --json", "no run has the document 'zzz'"),
        (
            "review list --queue payment",
            "no review item has the queue 'payment'; did you mean 'payments'? There is: payments",
        ),
        ("review list --group zzz --json", "no review item has the group 'zzz'"),
    ],
)
async def test_a_filter_that_matches_nothing_is_reported_with_the_known_values(
    service: Service, arguments: str, message: str
) -> None:
    ended = await command(service, *arguments.split())
    assert (ended.code, ended.err.startswith(f"docrail: {message}"), ended.err.count("\n")) == (0, True, 1)
    if "--json" in arguments:
        json.loads(ended.out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("failure list --status opne", "query.status: must be 'open', 'resolved' or 'all', found the text 'opne'"),
        (
            "failure count --status failed",
            "query.status: must be 'open', 'resolved' or 'all', found the text 'failed'",
        ),
        (
            "failure list --view mine",
            "query.view: must be 'actionable', 'retryable' or 'all', found the text 'mine'",
        ),
        ("run list --status opne", "query.status: must be "),
        ("review list --status opne", "query.status: must be 'open', 'postponed', "),
    ],
)
async def test_a_value_that_cannot_exist_is_refused(service: Service, arguments: str, message: str) -> None:
    ended = await command(service, *arguments.split())
    assert (ended.code, ended.out) == (1, "")
    assert message in ended.err


@pytest.mark.parametrize(
    "arguments",
    ["run explain {}", "run history {}", "run waits {}", "run retry {}", "run output {} bad", "failure show {} bad"],
)
async def test_an_execution_id_in_place_of_a_run_id_is_reported_as_such(service: Service, arguments: str) -> None:
    execution = (await service.http.post("/v1/workflow", json={"definition": DEFINITION})).json()["execution_id"]
    ended = await command(service, *arguments.format(execution).split())
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        f"docrail: Not found: there is no run '{execution}': that is the id of an execution, "
        f"GET /v1/workflow/{execution} shows its run\n"
    )


@pytest.mark.parametrize("path", ["/v1/dead-letters", "/v1/runs", "/v1/reviews"])
async def test_a_list_that_is_not_empty_or_asks_for_nothing_names_no_filter(service: Service, path: str) -> None:
    for query in ({}, {"status": "resolved"} if path == "/v1/dead-letters" else {"status": "approved"}):
        answer = await service.http.get(path, params=query)
        assert path == "/v1/runs" or answer.json()["unmatched"] == []


async def test_a_filter_that_something_else_has_is_no_slip(service: Service) -> None:
    printed = (await service.http.get("/v1/dead-letters", params={"class": "ValueError", "status": "resolved"})).json()
    assert (printed["letters"], printed["unmatched"]) == ([], [])
    printed = (await service.http.get("/v1/runs", params={"definition": DEFINITION, "status": "completed"})).json()
    assert (printed["runs"], printed["unmatched"]) == ([], [])
    printed = (await service.http.get("/v1/reviews", params={"queue": "payments", "status": "approved"})).json()
    assert (printed["reviews"], printed["unmatched"]) == ([], [])


async def test_values_of_another_tenant_are_not_suggested(service: Service) -> None:
    other = {"X-Test-Tenant": "globex"}
    for path, query in (
        ("/v1/dead-letters", {"class": "ValueError"}),
        ("/v1/runs", {"definition": DEFINITION}),
        ("/v1/reviews", {"queue": "payments"}),
    ):
        printed = (await service.http.get(path, params=query, headers=other)).json()["unmatched"]
        assert [(each["filter"], each["suggestion"]) for each in printed] == [(*query, None)]
        assert DEFINITION not in printed[0]["known"]
