"""`docrail failure` and `docrail run retry` against a running API with a worker."""

import json
from collections.abc import AsyncIterator

import pytest

from docrail.dag.values.json_values import Json
from tests.api.service import Service, serve_with_worker, settings_for
from tests.cli.process import Ended, docrail
from tests.loopback import loopback, reply_json
from tests.postgres import migrated_database
from tests.stack import Servers, eventually


@pytest.fixture(scope="module")
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("letters"))
        async with serve_with_worker(settings) as served:
            yield served


async def command(service: Service, *arguments: str) -> Ended:
    return await docrail(*arguments, DOCRAIL_API_URL=str(service.http.base_url))


async def failed(service: Service, name: str, *, error: str = "ValueError", **more: Json) -> str:
    """Run a definition until its one failing step is in the inbox; return the run's id."""
    config = {"times": 9, "error": error, "message": "no such page"}
    bad = {"id": "bad", "handler": "fail", "config": config, "depends_on": ["load"], "max_retries": 0}
    steps = [{"id": "load", "handler": "noop"}, bad]
    definition = {"id": name, "steps": steps, **more}
    response = await service.http.post("/v1/runs", json={"definition": definition})
    run_id: str = response.json()["run_id"]

    async def is_there() -> bool:
        return (await service.http.get(f"/v1/dead-letters/{run_id}/bad")).status_code == 200

    await eventually(is_there, "the letter")
    return run_id


async def test_failed_steps_are_listed_counted_shown_and_skipped(service: Service) -> None:
    run_id = await failed(service, "listed", on_failure="park")
    listed = await command(service, "failure", "list", "--definition", "listed")
    assert (listed.code, listed.err) == (0, "")
    [line] = [line.split() for line in listed.out.splitlines() if run_id in line]
    assert line[:3] == [run_id, "bad", "parked"]
    assert line[5:] == ["ValueError", "1", "no", "such", "page"]
    counted = await command(service, "failure", "count", "--definition", "listed", "--json")
    assert json.loads(counted.out)[0]["parked"] == 1
    skipped = await command(service, "failure", "skip", run_id, "bad", "--reason", "known")
    assert (skipped.code, skipped.err) == (0, "")
    assert f"{run_id} bad (fail): skip by tester" in skipped.out
    assert "skip by tester: known" in skipped.out
    assert (await service.ended(run_id))["status"] == "completed"
    again = await command(service, "failure", "retry", run_id, "bad")
    assert (again.code, again.out) == (1, "")
    assert again.err == "docrail: Not in this state: cannot retry: the dead letter is resolved\n"


async def test_the_list_says_how_many_its_view_leaves_out_and_where_they_are(service: Service) -> None:
    comes_again = await failed(service, "left_out")
    passing = [await failed(service, "left_out", error="ConnectionError") for _ in range(2)]
    for view, shown, last in (
        ((), [comes_again], "2 more in --view retryable"),
        (("--view", "retryable"), passing, "1 more in --view actionable"),
        (("--view", "all"), [comes_again, *passing], None),
        (("--class", "ValueError"), [comes_again], None),
    ):
        listed = await command(service, "failure", "list", "--definition", "left_out", *view)
        lines = listed.out.splitlines()
        assert {line.split()[0] for line in lines if "left_out." in line} == set(shown)
        assert [line for line in lines if " more in " in line] == ([] if last is None else [lines[-1]])


async def test_many_are_retried_and_one_with_another_config(service: Service) -> None:
    runs = [await failed(service, "many") for _ in range(2)]
    for run_id in runs:
        await service.ended(run_id)
    printed = await command(service, "failure", "retry", "--definition", "many", "--class", "ValueError")
    assert (printed.code, printed.err) == (0, "")
    assert sorted(printed.out.splitlines()[:2]) == sorted(f"{run_id} bad: retried" for run_id in runs)
    assert "2 retried, " in printed.out.splitlines()[2]
    await service.ended(runs[0])
    done = await command(service, "failure", "retry", runs[0], "bad", "--config", '{"times": 0}')
    assert (done.code, done.err) == (0, "")
    assert (await service.ended(runs[0]))["status"] == "completed"


async def test_all_that_match_now_are_retried_once_each(service: Service) -> None:
    runs = [await failed(service, "all_of_them") for _ in range(3)]
    for run_id in runs:
        await service.ended(run_id)
    printed = await command(service, "failure", "retry", "--definition", "all_of_them", "--all", "--limit", "1")
    assert (printed.code, printed.err) == (0, "")
    *lines, last = printed.out.splitlines()
    assert sorted(lines) == sorted(f"{run_id} bad: retried" for run_id in runs)
    assert last.startswith("3 retried, ")


async def test_a_step_that_fails_again_immediately_is_not_retried_endlessly() -> None:
    outcome = {"run_id": "a.b", "step_id": "c", "retried": True, "why": None}
    answer = {"outcomes": [outcome], "left": 1, "unmatched": []}
    async with loopback(reply_json(answer)) as ahead:  # as if of a clock that is slower than ours
        printed = await docrail("failure", "retry", "--class", "X", "--all", DOCRAIL_API_URL=ahead.url)
    assert (printed.code, printed.out) == (0, "a.b c: retried\n1 retried, 1 open that match\n")
    assert [asked.json()["failed_before"] == ahead.asked[0].json()["failed_before"] for asked in ahead.asked] == [
        True
    ] * 2


async def test_a_run_is_retried_after_a_preview(service: Service) -> None:
    run_id = await failed(service, "previewed")
    await service.ended(run_id)
    edit = ("run", "retry", run_id, "--step", "bad", "--output", '{"attempts": 1}')
    preview = await command(service, *edit, "--preview")
    assert (preview.code, preview.err) == (0, "")
    lines = [line.split() for line in preview.out.splitlines()]
    assert lines[0] == f"{run_id} would go on with version 1; it is failed".split()
    assert ["load", "reused", "completed"] in lines
    assert ["bad", "new", "takes", "an", "output", "given", "by", "hand"] in lines
    done = await command(service, *edit)
    assert done.out.splitlines()[0] == f"{run_id} goes on with version 1"
    assert (await service.ended(run_id))["status"] == "completed"
    printed = await command(service, "run", "history", run_id)
    assert (printed.code, printed.err) == (0, "")
    assert "Z retry_run by tester\n" in printed.out
    assert '  steps {"bad": {"value": {"attempts": 1}, "action": "output"}}' in printed.out
    refused = await command(service, "run", "retry", run_id)
    assert (refused.code, refused.err) == (1, "docrail: Not in this state: cannot retry: the run is completed\n")


@pytest.mark.parametrize("on_failure", ["continue", "park"])
async def test_items_of_a_list_are_given_what_they_need(service: Service, on_failure: str) -> None:
    each = {"items": [0, 8, 9], "key": "item"}
    bad = {"id": "bad", "handler": "fail", "for_each": each, "config": {"times": "{{ item }}"}, "max_retries": 0}
    steps = [{"id": "load", "handler": "noop"}, bad]
    run_id = await failed(service, f"listed_{on_failure}", steps=steps, on_failure=on_failure)
    if on_failure == "continue":
        await service.closed(run_id)
    preview = await command(service, "run", "retry", run_id, "--step", "bad", "--item", "9", "--skip", "--preview")
    assert (preview.code, preview.err) == (0, "")
    assert "1 of its 3 items completed, and are kept; by hand, 9 is skipped" in preview.out
    wrong = await command(service, "run", "retry", run_id, "--step", "bad", "--item", "0", "--skip", "--preview")
    assert (wrong.code, wrong.out) == (1, "")
    assert "steps.bad.items.0: has completed, and is kept as it is" in wrong.err
    both = '{"8": {"config": {"times": 0}}, "9": {"skip": true}}'
    way = ("failure", "retry", run_id, "bad") if on_failure == "park" else ("run", "retry", run_id, "--step", "bad")
    done = await command(service, *way, "--items", both, "--reason", "typed wrong")
    assert (done.code, done.err) == (0, "")
    run = await service.ended(run_id)
    assert run["status"] == "completed"
    assert [item["status"] for item in run["steps"]["bad"]["output"]["items"]] == ["completed", "completed", "skipped"]
    printed = (await command(service, "run", "history", run_id)).out
    if on_failure == "park":
        assert f"Z retry bad by tester: typed wrong\n  items {both}" in printed
    else:
        assert '"action": "items"' in printed


async def test_actions_on_a_run_are_listed_page_by_page_or_reported_as_none() -> None:
    done = {"action": "output", "step_id": "sum", "acted_by": "ann", "acted_at": "2026-11-30T12:00:00.5Z"}
    first = {**done, "details": {"value": None, "reason": "phoned them"}}
    second = {**done, "action": "retry", "details": {"value": {"times": 0}, "reason": ""}}
    pages = [reply_json({"actions": [first], "after": "7"}), reply_json({"actions": [second], "after": None})]
    async with loopback(*pages) as api:
        printed = await docrail("run", "history", "a.b~c", "sum", DOCRAIL_API_URL=api.url)
    assert (printed.code, printed.out.splitlines()) == (
        0,
        [
            *("2026-11-30 12:00:00Z output sum by ann: phoned them", "  value null"),
            *("2026-11-30 12:00:00Z retry sum by ann", '  value {"times": 0}'),
        ],
    )
    path = "/v1/runs/a.b~c/actions?limit=500&step=sum"
    assert [asked.target for asked in api.asked] == [path, f"{path}&after=7"]


async def test_a_run_without_actions_says_so_and_an_unknown_one_is_refused(service: Service) -> None:
    run_id = await failed(service, "untouched")
    assert (await command(service, "run", "history", run_id, "--json")).out == "[]\n"
    shown = await command(service, "run", "history", run_id)
    assert (shown.code, shown.out) == (
        0,
        "no one has paused, aborted or retried it, or resolved a failed step of it\n",
    )
    unknown = await command(service, "run", "history", "no.such")
    assert (unknown.code, unknown.out, unknown.err) == (1, "", "docrail: Not found: there is no run 'no.such'\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "retry", "a.b", "--step", "x"), "expected --step ID and one of"),
        (("run", "retry", "a.b", "--skip"), "expected --step ID and one of"),
        (("run", "retry", "a.b", "--step", "x", "--skip", "--output", "1"), "expected --step ID and one of"),
        (("run", "retry", "a.b", "--step", "x", "--config", "{"), "expected JSON such as"),
        (("run", "retry", "a.b", "--step", "x", "--item", "k"), "expected --step ID and one of"),
        (("run", "retry", "a.b", "--item", "k", "--skip"), "expected --step ID and one of"),
        (
            ("run", "retry", "a.b", "--step", "x", "--item", "k", "--items", "{}"),
            "expected with it an edit of the item",
        ),
        (("failure", "retry", "a.b", "c", "--item", "k"), "expected with it an edit of the item"),
        (("failure", "retry", "--class", "X", "--items", "{}"), "expected RUN STEP for one, or --class"),
        (("failure", "retry"), "expected RUN STEP for one, or --class"),
        (("failure", "retry", "a.b"), "expected RUN STEP for one, or --class"),
        (("failure", "retry", "a.b", "c", "--class", "X"), "expected RUN STEP for one, or --class"),
        (("failure", "complete", "a.b", "c", "NaN"), "expected JSON such as"),
    ],
)
async def test_wrong_usage_is_refused(arguments: tuple[str, ...], message: str) -> None:
    refused = await docrail(*arguments)
    assert refused.code == 2
    assert message in " ".join(refused.err.replace("│", " ").split())
