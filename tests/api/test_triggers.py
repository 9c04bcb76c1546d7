"""Triggers: runs by schedule and files of a watched folder, each started once; listed with Docrail's own schedules."""

import asyncio
import errno
import json
import os
import time
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from docrail.dag.values.json_values import Json
from docrail.services.triggers import firing
from docrail.services.triggers import service as triggers
from docrail.services.triggers.firing import fire
from docrail.services.triggers.mailbox import MailAccess
from docrail.workflows.contract.messages import TriggerPass, TriggerRequest
from tests.api.service import Service, serve_with_worker, settings_for
from tests.cli.process import docrail
from tests.stack import Servers, eventually

NEVER = "0 3 29 2 *"
"""A time that no test meets."""
REPORT: dict[str, Json] = {
    "id": "trigger_report",
    "inputs": {"n": {"type": "integer", "default": 1}},
    "steps": [{"id": "say", "handler": "echo", "config": {"value": "{{ inputs.n }}"}}],
    "outputs": {"n": "{{ say.value }}"},
}
FILED: dict[str, Json] = {
    "id": "trigger_filed",
    "inputs": {"document_id": {"type": "string", "required": True}, "centre": {"type": "string", "required": True}},
    "steps": [{"id": "say", "handler": "echo", "config": {"value": "{{ inputs.centre }}"}}],
    "outputs": {"centre": "{{ say.value }}"},
}


@pytest.fixture(scope="module")
def inbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("inbox")


@pytest.fixture(scope="module")
async def triggered(
    embedded: Servers, dsn: str, inbox: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Service]:
    """An API with a worker that watches folders below `inbox`."""
    settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("triggers"))
    async with serve_with_worker(settings.model_copy(update={"inbox_dir": inbox})) as served:
        for definition in (REPORT, FILED):
            (await served.http.post("/v1/definitions", json={"definition": definition})).raise_for_status()
        yield served


def named() -> str:
    return f"t{uuid.uuid4().hex[:8]}"


async def create(service: Service, **order: Json) -> dict[str, Json]:
    response = await service.http.post("/v1/triggers", json=order)
    assert response.status_code == 201, response.text
    created: dict[str, Json] = response.json()
    return created


async def passed(service: Service, name: str, ends_as: str = "completed") -> None:
    """Fire a trigger, and wait for the end of the pass."""
    (await service.http.post(f"/v1/triggers/{name}/run")).raise_for_status()

    async def has_ended() -> bool:
        last = (await service.http.get(f"/v1/triggers/{name}")).json()["last"]
        return last is not None and last["state"] == ends_as

    await eventually(has_ended, f"the pass of {name}")


async def runs_of(service: Service, definition: str) -> list[dict[str, Json]]:
    found: list[dict[str, Json]] = (await service.http.get("/v1/runs", params={"definition": definition})).json()[
        "runs"
    ]
    return found


async def test_a_trigger_starts_a_run_with_its_inputs(triggered: Service) -> None:
    name = named()
    created = await create(triggered, name=name, definition="trigger_report", cron=NEVER, inputs={"n": 7})
    assert (created["cron"], created["every_seconds"], created["paused"]) == (NEVER, None, False)
    assert created["next_at"].endswith("-02-29T03:00:00Z")
    await passed(triggered, name)

    async def is_listed() -> bool:
        return any(
            run["run_id"].startswith(f"trigger_report.{name}.") for run in await runs_of(triggered, "trigger_report")
        )

    await eventually(is_listed, "the run is listed")
    [run] = [run for run in await runs_of(triggered, "trigger_report") if f".{name}." in run["run_id"]]
    assert (await triggered.ended(run["run_id"]))["outputs"] == {"n": 7}


async def test_a_trigger_fires_at_its_interval_until_it_is_paused(triggered: Service) -> None:
    name = named()
    await create(triggered, name=name, definition="trigger_report", every_seconds=10)

    async def has_fired() -> bool:
        return (await triggered.http.get(f"/v1/triggers/{name}")).json()["last"] is not None

    await eventually(has_fired, "the trigger has fired by itself")
    paused = (await triggered.http.post(f"/v1/triggers/{name}/pause", json={"reason": "enough"})).json()
    assert (paused["paused"], paused["next_at"]) == (True, None)
    assert paused["note"].endswith(": enough")
    resumed = (await triggered.http.post(f"/v1/triggers/{name}/resume")).json()
    assert not resumed["paused"]
    assert (await triggered.http.delete(f"/v1/triggers/{name}")).status_code == 200
    unknown = await triggered.http.get(f"/v1/triggers/{name}")
    assert (unknown.status_code, f"did you mean '{name}'" in unknown.json()["detail"]) == (404, False)
    misspelt = await triggered.http.post("/v1/triggers/maintenence/pause")
    assert (misspelt.status_code, "did you mean 'maintenance'" in misspelt.json()["detail"]) == (404, True)


async def test_a_repeated_pass_starts_no_second_run(triggered: Service) -> None:
    order = {"name": named(), "definition": "trigger_report", "cron": NEVER}
    request = TriggerRequest(tenant_id="default", created_by="ann", order=order)
    work = TriggerPass(request=request, moment="2026-11-26T16:00:00Z")
    first, again = [await fire(triggered.app, None, MailAccess(), work, lambda: None) for _ in range(2)]
    assert first.run_ids == again.run_ids == (f"trigger_report.{order['name']}.2026-11-26T16:00:00Z",)


async def test_no_more_triggers_are_created_than_a_tenant_may_have_however_many_at_once(
    triggered: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(triggers, "MOST_TRIGGERS", 5)
    headers = {"X-Test-Tenant": f"many-{uuid.uuid4().hex[:8]}"}
    (await triggered.http.post("/v1/definitions", json={"definition": REPORT}, headers=headers)).raise_for_status()

    async def order(name: str) -> int:
        body = {"name": name, "definition": "trigger_report", "cron": NEVER}
        answer = await triggered.http.post("/v1/triggers", json=body, headers=headers)
        assert answer.status_code == 201 or "the tenant has 5 triggers" in answer.text
        return answer.status_code

    async def listed() -> list[str]:
        found = (await triggered.http.get("/v1/triggers", headers=headers)).json()["triggers"]
        return [each["name"] for each in found]

    answers = await asyncio.gather(*(order(f"at-once-{number}") for number in range(12)))
    created = [f"at-once-{number}" for number, status in enumerate(answers) if status == 201]
    assert len(created) <= 5

    async def only_they_are_listed() -> bool:
        return await listed() == sorted(created)

    await eventually(only_they_are_listed, "what was refused is not listed")
    for number in range(5 - len(created)):
        assert await order(f"more-{number}") == 201
    assert await order("one-too-many") == 422
    again = (await listed())[0]
    assert await order(again) == 201, "the same order again is no further trigger"
    assert len(await listed()) == 5


def put(folder: Path, place: str, data: bytes, *, seconds_ago: float = 60) -> None:
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    at = time.time() - seconds_ago
    os.utime(path, (at, at))


def pass_over(folder: str) -> TriggerPass:
    """Return a pass over a watched folder that the schedule never makes."""
    inputs = {"centre": "1"}
    order = {"name": named(), "folder": folder, "definition": "trigger_filed", "cron": NEVER, "inputs": inputs}
    return TriggerPass(request=TriggerRequest(tenant_id="default", created_by="ann", order=order), moment="now")


async def test_the_files_of_a_folder_are_uploaded_once_by_place_and_content(triggered: Service, inbox: Path) -> None:
    name, folder = named(), inbox / "default" / "scans"
    order = {
        "name": name,
        "folder": "scans",
        "definition": "trigger_filed",
        "cron": NEVER,
        "inputs": {"centre": "4711"},
    }
    await create(triggered, **order)
    first, second, copy = f"{name}_a.txt", f"{name}_b.txt", f"{name}_copy.txt"
    put(folder, first, b"one")
    put(folder, f"november/{second}", b"two")
    put(folder, "new.txt", b"being written", seconds_ago=-3600)
    put(folder, "c.part", b"being written")
    put(folder, ".hidden", b"hidden")
    put(folder, "empty.txt", b"")
    (folder / "link.txt").symlink_to("/etc/hostname")
    request = TriggerRequest(tenant_id="default", created_by="ann", order=order)

    async def looked() -> tuple[int, int, tuple[str, ...]]:
        report = await fire(
            triggered.app, inbox, MailAccess(), TriggerPass(request=request, moment="now"), lambda: None
        )
        return report.uploaded, report.known, tuple(each.partition(":")[0] for each in report.refused)

    await passed(triggered, name)
    assert await looked() == (0, 2, ("empty.txt",)), "the pass has uploaded them"
    put(folder, first, b"another one")
    put(folder, copy, b"two")
    assert await looked() == (2, 1, ("empty.txt",))
    documents = (await triggered.http.get("/v1/documents", params={"text": name})).json()["documents"]
    assert sorted(each["file_name"] for each in documents) == [first, first, second, copy]
    document_id = next(each["document_id"] for each in documents if each["file_name"] == second)
    run = await triggered.ended(f"trigger_filed.{document_id}")
    assert run["outputs"] == {"centre": "4711"}


async def test_a_file_that_cannot_be_taken_keeps_no_other_one_back(
    triggered: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "default" / "scans"
    put(folder, "a_large.txt", b"x" * 2_000)
    put(folder, "b_closed.txt", b"closed")
    put(folder, "c_moved.txt", b"moved")
    put(folder, "d_good.txt", uuid.uuid4().bytes)
    put(folder, "e_more.txt", b"one more than a pass looks at")
    open_file = os.open

    def opened(path: Any, *args: Any, **more: Any) -> int:
        if path == "b_closed.txt":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        if path == "c_moved.txt":
            raise FileNotFoundError(errno.ENOENT, "No such file", path)
        return open_file(path, *args, **more)

    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(firing, "MOST_FILES", 4)
    app = replace(triggered.app, max_upload_bytes=1_000)
    work = pass_over("scans")
    report = await fire(app, tmp_path, MailAccess(), work, lambda: None)
    assert (report.uploaded, report.known) == (1, 0)
    more, large, closed = report.refused
    assert more == "scans: has more than 4 files: the others wait until some are moved"
    assert large == "a_large.txt: larger than the limit of 1000 bytes"
    assert closed == "b_closed.txt: file: cannot be read: Permission denied"


async def test_names_that_no_text_can_have_keep_no_other_file_back(triggered: Service, tmp_path: Path) -> None:
    """Latin-1, a line break, and a terminal's sequence."""
    folder, mark = tmp_path / "default" / "scans", uuid.uuid4().hex
    put(folder, f"a{mark}.txt", b"plain")
    for name in (b"caf\xe9%s.txt", b"line\n%s.txt", b"\x1b[2J%s.txt"):
        put(folder, os.fsdecode(name % mark.encode()), name)
    put(folder, os.fsdecode(b"\xe9empty.txt"), b"")
    work = pass_over("scans")
    reports = [await fire(triggered.app, tmp_path, MailAccess(), work, lambda: None) for _ in range(2)]
    assert [(each.uploaded, each.known) for each in reports] == [(4, 0), (0, 4)]
    assert reports[0].refused == ("\N{REPLACEMENT CHARACTER}empty.txt: file: is empty",)
    listed = (await triggered.http.get("/v1/documents", params={"text": mark})).json()["documents"]
    shown = {f"a{mark}.txt", f"caf\N{REPLACEMENT CHARACTER}{mark}.txt", f"line{mark}.txt", f"[2J{mark}.txt"}
    assert {each["file_name"] for each in listed} == shown


@pytest.mark.parametrize(
    ("order", "path"),
    [
        ({"definition": "trigger_report"}, "cron"),
        ({"definition": "trigger_report", "cron": NEVER, "every_seconds": 60}, "cron"),
        ({"definition": "trigger_report", "cron": "at night"}, "cron"),
        ({"definition": "trigger_report", "cron": "@every 1s"}, "cron"),
        ({"definition": "trigger_report", "cron": "* * * * * * *"}, "cron"),
        ({"definition": "trigger_report", "cron": "CRON_TZ=Asia/Tokyo 0 3 * * *"}, "cron"),
        ({"definition": "trigger_report", "cron": "0 3 * * 99"}, "cron"),
        ({"folder": "a", "cron": NEVER, "source": "<b>"}, "source"),
        ({"cron": NEVER}, "definition"),
        ({"definition": "trigger_report", "cron": NEVER, "inputs": {"m": 1}}, "inputs.m"),
        ({"folder": "a/../../b", "cron": NEVER}, "folder"),
        ({"folder": "a", "cron": NEVER, "inputs": {"document_id": "doc_1"}}, "inputs.document_id"),
        ({"name": "maintenance", "definition": "trigger_report", "cron": NEVER}, "name"),
    ],
)
async def test_an_order_that_cannot_work_is_refused_with_its_place(triggered: Service, order: Json, path: str) -> None:
    response = await triggered.http.post("/v1/triggers", json={"name": named(), **order})
    assert response.status_code == 422, response.text
    assert [each["path"] for each in response.json()["problems"]] == [path]


async def test_the_same_order_again_changes_nothing_and_another_one_is_refused(triggered: Service) -> None:
    order = {"name": named(), "definition": "trigger_report", "cron": NEVER}
    assert await create(triggered, **order) == await create(triggered, **order)
    other = await triggered.http.post("/v1/triggers", json={**order, "inputs": {"n": 2}})
    assert (other.status_code, other.json()["type"]) == (409, "/problems/key-conflict")


async def test_triggers_are_created_and_listed_by_command(triggered: Service) -> None:
    address, name = str(triggered.http.base_url), named()
    more = ("--definition", "trigger_report", "--cron", NEVER, "-i", "n=3")
    created = await docrail("schedule", "create", name, *more, DOCRAIL_API_URL=address)
    assert created.code == 0, created.err
    assert created.out.splitlines()[-1].split()[:2] == [name, "active"]
    assert "starts trigger_report" in created.out

    async def is_listed() -> bool:
        return f"{name} " in (await docrail("schedule", "list", DOCRAIL_API_URL=address)).out

    await eventually(is_listed, "the trigger is listed")
    shown = json.loads((await docrail("schedule", "pause", name, "--json", DOCRAIL_API_URL=address)).out)
    assert (shown["paused"], shown["inputs"]) == (True, {"n": 3})
    deleted = await docrail("schedule", "delete", name, DOCRAIL_API_URL=address)
    assert deleted.out == f"deleted {name}\n"
