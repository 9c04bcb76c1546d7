"""Undoing that failed is tried again, alone: of failed and aborted runs, by their letters and by `undo`."""

import uuid

import pytest

from docrail.dag.values.json_values import Json
from tests.api.service import Service
from tests.loopback import Loopback, Reply, loopback
from tests.stack import eventually

WEBHOOK = "send_webhook"


def paying(server: Loopback, last: dict[str, Json]) -> dict[str, Json]:
    """Return a definition that books, pays and packs before its last step; each is undone by a call of its own."""

    def undo(name: str) -> dict[str, Json]:
        config = {"url": f"{server.url}/{name}"}
        return {"id": name, "handler": "noop", "max_retries": 0, "compensate": {"handler": WEBHOOK, "config": config}}

    steps = [undo("book"), undo("pay") | {"depends_on": ["book"]}, undo("pack") | {"depends_on": ["pay"]}]
    return {"id": f"undoing_{uuid.uuid4().hex}", "steps": [*steps, {**last, "id": "last", "depends_on": ["pack"]}]}


FAILS = {"handler": "fail", "config": {"times": 9, "error": "ValueError", "message": "no"}, "max_retries": 0}
SLEEPS = {"handler": "sleep", "config": {"seconds": 3600}}


async def stuck(service: Service, server: Loopback, status: str) -> str:
    """Return a run that ended so, which has undone `pack` and `book`, and not `pay`."""
    definition = paying(server, FAILS if status == "failed" else SLEEPS)
    run_id: str = (await service.http.post("/v1/runs", json={"definition": definition})).json()["run_id"]
    if status == "aborted":

        async def is_late() -> bool:
            return bool((await of(service, run_id))["steps"]["last"]["status"] == "running")

        await eventually(is_late, "the last step")
        await service.http.post(f"/v1/runs/{run_id}/abort", json={"reason": "enough"})
    run = await service.closed(run_id)
    assert (run["status"], undone(run)) == (status, {"book": "completed", "pay": "failed", "pack": "completed"})
    return run_id


async def of(service: Service, run_id: str) -> dict[str, Json]:
    run: dict[str, Json] = (await service.http.get(f"/v1/runs/{run_id}")).json()
    return run


def undone(run: dict[str, Json]) -> dict[str, Json]:
    return {name: run["steps"][name]["compensation"] for name in ("book", "pay", "pack")}


def called(server: Loopback) -> list[str]:
    return [asked.target for asked in server.asked]


REPLIES = (Reply(200), Reply(403), Reply(200), Reply(200))
"""To the undoing of what was done last, then of what was done before, and so on; and to all that comes later."""


@pytest.mark.parametrize("status", ["failed", "aborted"])
async def test_a_letter_of_undoing_is_retried_by_undoing_once(calling: Service, status: str) -> None:
    async with loopback(*REPLIES) as server:
        run_id = await stuck(calling, server, status)
        before, letter = await of(calling, run_id), f"/v1/dead-letters/{run_id}/pay"
        reported = (await calling.http.get(letter)).json()
        assert (reported["status"], reported["handler"]) == ("failed", WEBHOOK)
        done = await calling.http.post(f"{letter}/resolve", json={"action": "retry", "reason": "the bank is back"})
        assert done.status_code == 200, done.text
        reported = done.json()
        assert (reported["status"], reported["resolution"], reported["resolved_by"]) == ("resolved", "retry", "tester")
        after = await calling.closed(run_id)
        assert (after["status"], after["reason"]) == (before["status"], before["reason"])
        assert undone(after) == dict.fromkeys(("book", "pay", "pack"), "completed")
        assert called(server) == ["/pack", "/pay", "/book", "/pay"]
        assert (await calling.http.get(letter)).json()["status"] == "resolved"
        if status == "failed":  # what failed is another matter
            assert (await calling.http.get(f"/v1/dead-letters/{run_id}/last")).json()["status"] == "failed"
        again = await calling.http.post(f"/v1/runs/{run_id}/retry", json={"undo": True})
        assert (again.status_code, again.json()["problems"][0]["path"]) == (422, "undo")


async def test_a_compensation_that_fails_again_is_reported_again(calling: Service) -> None:
    async with loopback(*REPLIES[:3], Reply(403), Reply(200)) as server:
        run_id = await stuck(calling, server, "aborted")
        letter = f"/v1/dead-letters/{run_id}/pay"
        for compensation, status in (("failed", "failed"), ("completed", "resolved")):
            assert (await calling.http.post(f"/v1/runs/{run_id}/retry", json={"undo": True})).status_code == 200
            run = await calling.closed(run_id)
            assert (run["status"], run["reason"], run["stopped_by"]) == ("aborted", "enough", "tester")
            assert undone(run)["pay"] == compensation
            assert (await calling.http.get(letter)).json()["status"] == status
        assert called(server) == ["/pack", "/pay", "/book", "/pay", "/pay"]


async def test_the_preview_shows_what_is_undone_and_undoes_nothing(calling: Service) -> None:
    async with loopback(*REPLIES) as server:
        run_id = await stuck(calling, server, "aborted")
        reported = (await calling.http.post(f"/v1/runs/{run_id}/retry", json={"undo": True, "preview": True})).json()
        assert reported["status"] == "aborted"
        assert {name: fate["fate"] for name, fate in reported["steps"].items()} == {
            "book": "reused",
            "pay": "undone",
            "pack": "reused",
            "last": "reused",
        }
        assert reported["steps"]["pay"]["why"].startswith("could not be undone: ")
        assert len(server.asked) == 3
        assert (await calling.http.get(f"/v1/dead-letters/{run_id}/pay")).json()["status"] == "failed"


async def test_a_refused_retry_of_an_aborted_run_says_what_can_be_undone_while_there_is_something(
    calling: Service,
) -> None:
    async with loopback(*REPLIES) as server:
        run_id = await stuck(calling, server, "aborted")
        refused = await calling.http.post(f"/v1/runs/{run_id}/retry")
        reported = "cannot retry: the run is aborted; what it could not undo (pay) can be undone: "
        reported += f"`docrail run retry {run_id} --undo`, or `undo: true` in the request"
        assert (refused.status_code, refused.json()["detail"]) == (409, reported)
        assert (await calling.http.post(f"/v1/runs/{run_id}/retry", json={"undo": True})).status_code == 200
        await calling.closed(run_id)
        refused = await calling.http.post(f"/v1/runs/{run_id}/retry")
        assert refused.json()["detail"] == "cannot retry: the run is aborted"


@pytest.mark.parametrize("status", ["failed", "aborted"])
async def test_a_run_says_what_it_could_not_undo(calling: Service, status: str) -> None:
    async with loopback(*REPLIES) as server:
        run_id = await stuck(calling, server, status)
        words = "could not be undone, so that what it did stands: pay"
        assert words in (await of(calling, run_id))["why"]
        assert words in (await calling.http.get(f"/v1/runs/{run_id}/explain")).json()["words"]


async def test_a_failed_run_goes_on_after_its_undoing_and_does_anew_what_was_undone(calling: Service) -> None:
    async with loopback(*REPLIES) as server:
        run_id = await stuck(calling, server, "failed")
        await calling.http.post(f"/v1/runs/{run_id}/retry", json={"undo": True})
        await calling.closed(run_id)
        reported = await calling.http.post(f"/v1/runs/{run_id}/retry", json={"steps": {"last": {"skip": True}}})
        assert {name: fate["fate"] for name, fate in reported.json()["steps"].items()} == {
            "book": "rerun",
            "pay": "rerun",
            "pack": "rerun",
            "last": "new",
        }
        assert (await calling.closed(run_id))["status"] == "completed"


@pytest.mark.parametrize("more", [{"version": 1}, {"steps": {"pay": {"skip": True}}}])
async def test_undoing_goes_with_nothing_else(calling: Service, more: dict[str, Json]) -> None:
    async with loopback(*REPLIES) as server:
        run_id = await stuck(calling, server, "failed")
        refused = await calling.http.post(f"/v1/runs/{run_id}/retry", json={"undo": True, **more})
        assert (refused.status_code, refused.json()["problems"][0]["path"]) == (422, "undo")
        assert len(server.asked) == 3


async def test_a_step_whose_compensation_failed_is_not_skipped(calling: Service) -> None:
    """No later retry would undo it."""
    async with loopback(*REPLIES) as server:
        run_id = await stuck(calling, server, "failed")
        for path, body in {
            f"/v1/runs/{run_id}/retry": {"steps": {"pay": {"skip": True}}, "preview": True},
            f"/v1/dead-letters/{run_id}/pay/resolve": {"action": "skip"},
        }.items():
            refused = await calling.http.post(path, json=body)
            [problem] = refused.json()["problems"]
            assert (refused.status_code, problem["path"]) == (422, "steps.pay.skip")
            assert "its effects remain" in problem["message"]
        assert undone(await of(calling, run_id))["pay"] == "failed"


async def test_a_run_inside_another_is_not_undone_alone(calling: Service) -> None:
    async with loopback(*REPLIES) as server:
        inner = paying(server, FAILS)
        await calling.http.post("/v1/definitions", json={"definition": inner})
        outer = {"id": f"around_{uuid.uuid4().hex}", "steps": [{"id": "inner", "workflow": {"id": inner["id"]}}]}
        run_id = (await calling.http.post("/v1/runs", json={"definition": outer})).json()["run_id"]
        assert (await calling.closed(run_id))["status"] == "failed"
        refused = await calling.http.post(f"/v1/dead-letters/{run_id}~inner/pay/resolve", json={"action": "retry"})
        assert (refused.status_code, refused.json()["problems"][0]["path"]) == (422, "run_id")
        assert "cannot be undone alone" in refused.json()["problems"][0]["message"]
        assert len(server.asked) == 3
