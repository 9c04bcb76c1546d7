"""Triggers: runs by schedule and files of a watched folder, each started once; listed with Docrail's own schedules."""

import asyncio
import errno
import itertools
import json
import os
import time
import uuid
from collections.abc import AsyncIterator, Awaitable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from docrail.adapters.postgres.pool import StorageError
from docrail.dag.values.json_values import Json
from docrail.services.triggers import firing
from docrail.services.triggers import service as triggers
from docrail.services.triggers.firing import fire
from docrail.services.triggers.folders import read_file
from docrail.services.triggers.mailbox import MailAccess
from docrail.workflows.contract.messages import TriggerPass, TriggerReport, TriggerRequest
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


def fired(service: Service, inbox: Path, order: dict[str, Json], moment: str = "now") -> Awaitable[TriggerReport]:
    request = TriggerRequest(tenant_id="default", created_by="ann", order=order)
    return fire(service.app, inbox, MailAccess(), TriggerPass(request=request, moment=moment), lambda: None)


async def test_unchanged_files_are_not_read_again(
    triggered: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order, read = pass_over(named()).request.order, list[str]()
    folder = tmp_path / "default" / str(order["folder"])

    def reading(own: Path, place: str, limit_bytes: int) -> bytes | None:
        read.append(place.rpartition("/")[2])
        return read_file(own, place, limit_bytes)

    monkeypatch.setattr(firing, "read_file", reading)

    async def looked() -> tuple[int, int, list[str]]:
        read.clear()
        report = await fired(triggered, tmp_path, order)
        return report.uploaded, report.known, sorted(read)

    put(folder, "a.txt", b"one")
    put(folder, "b.txt", b"two")
    assert await looked() == (2, 0, ["a.txt", "b.txt"])
    assert await looked() == (0, 2, [])
    times = (folder / "a.txt").stat()
    (folder / "a.txt").write_bytes(b"ONE")  # in place, of the same size and, as it says itself, of the same time
    os.utime(folder / "a.txt", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert await looked() == (1, 1, ["a.txt"])
    (folder / "b.txt").rename(folder / "c.txt")
    assert await looked() == (1, 1, ["c.txt"])
    put(folder, "b.txt", b"two")
    assert await looked() == (0, 3, ["b.txt"]), "it is read, as it may be another one, and is known by its content"


async def test_a_pass_that_ends_before_it_remembers_a_file_uploads_it_once(
    triggered: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = pass_over(named()).request.order
    put(tmp_path / "default" / str(order["folder"]), "a.txt", b"one")

    async def cut_off(*_: object) -> None:
        raise StorageError("the machine has gone")

    with monkeypatch.context() as broken:
        broken.setattr(firing, "save_watched", cut_off)
        with pytest.raises(StorageError):
            await fired(triggered, tmp_path, order)
    again = await fired(triggered, tmp_path, order)
    assert (again.uploaded, again.known) == (0, 1)


async def test_a_deleted_trigger_remembers_no_files(triggered: Service, inbox: Path) -> None:
    name, folder = named(), named()
    put(inbox / "default" / folder, "a.txt", b"one")
    await create(triggered, name=name, folder=folder, definition="trigger_filed", cron=NEVER, inputs={"centre": "1"})
    await passed(triggered, name)
    count = "SELECT count(*) FROM watched_files WHERE folder = $1"
    assert await triggered.pool.fetchval(count, folder) == 1
    (await triggered.http.delete(f"/v1/triggers/{name}")).raise_for_status()
    assert await triggered.pool.fetchval(count, folder) == 0


async def batch_of(service: Service, name: str) -> tuple[str, dict[str, str]]:
    """Return the trigger's last batch, once it has completed, and the states of its documents by place."""
    batch_id = (await service.http.get(f"/v1/triggers/{name}")).json()["last_batch"]

    async def has_completed() -> bool:
        return bool((await service.http.get(f"/v1/batches/{batch_id}")).json()["status"] == "completed")

    await eventually(has_completed, "the batch to complete")
    found = (await service.http.get(f"/v1/batches/{batch_id}/documents")).json()["documents"]
    return batch_id, {each["place"]: each["state"] for each in found}


async def test_the_new_files_of_a_pass_become_a_batch_which_the_list_names(triggered: Service, inbox: Path) -> None:
    name, place = named(), named()
    folder, address = inbox / "default" / place, str(triggered.http.base_url)
    put(folder, "a.txt", b"one")
    put(folder, "november/b.txt", b"one")
    order = ("--folder", place, "--cron", NEVER, "--definition", "trigger_filed", "-i", "centre=4711", "--batch")
    created = await docrail("schedule", "create", name, *order, "--json", DOCRAIL_API_URL=address)
    assert (created.code, json.loads(created.out)["last_batch"]) == (0, None), created.err
    await passed(triggered, name)
    first, states = await batch_of(triggered, name)
    assert states == {"a.txt": "done", "november/b.txt": "done"}
    shown = (await triggered.http.get(f"/v1/batches/{first}")).json()
    assert (shown["name"].split()[0], shown["is_closed"], shown["definition"]) == (name, True, "trigger_filed")
    result = (await triggered.http.get(f"/v1/batches/{first}/result")).json()
    assert [each["outputs"] for each in result["documents"]] == [{"centre": "4711"}] * 2
    put(folder, "a.txt", b"another")
    await passed_again(triggered, name)
    second, states = await batch_of(triggered, name)
    assert (second == first, states) == (False, {"a.txt": "done"})
    await passed_again(triggered, name)
    assert (await batch_of(triggered, name))[0] == second, "a pass without new files makes none"
    listed = await docrail("schedule", "list", DOCRAIL_API_URL=address)
    [row] = [line for line in listed.out.splitlines() if line.startswith(f"{name} ")]
    assert second in row


async def passed_again(service: Service, name: str) -> None:
    """Fire a trigger once more, in another second, and wait for the end of this pass."""
    before = (await service.http.get(f"/v1/triggers/{name}")).json()["last"]["started_at"]

    async def has_passed() -> bool:
        (await service.http.post(f"/v1/triggers/{name}/run")).raise_for_status()
        last = (await service.http.get(f"/v1/triggers/{name}")).json()["last"]
        return bool(last["started_at"][:19] > before[:19] and last["state"] == "completed")

    await eventually(has_passed, f"another pass of {name}")


async def test_a_pass_that_is_cut_off_goes_on_with_its_batch_and_a_later_one_closes_it(
    triggered: Service, tmp_path: Path
) -> None:
    order = pass_over(named()).request.order | {"batch": True}
    folder, name = tmp_path / "default" / str(order["folder"]), str(order["name"])
    for each in "abc":
        put(folder, f"{each}.txt", each.encode())

    async def cut_off(moment: str, at: int) -> None:
        beats = itertools.count(1)

        def heartbeat() -> None:
            if next(beats) == at:
                raise StorageError("the machine has gone")

        request = TriggerRequest(tenant_id="default", created_by="ann", order=order)
        work = TriggerPass(request=request, moment=moment)
        with pytest.raises(StorageError):
            await fire(triggered.app, tmp_path, MailAccess(), work, heartbeat)

    async def batches() -> list[tuple[str, int, bool]]:
        found = (await triggered.http.get("/v1/batches")).json()["batches"]
        shown = sorted((each["name"], each["counts"]["total"], each["is_closed"]) for each in found)
        return [each for each in shown if each[0].startswith(f"{name} ")]

    await cut_off("1", at=3)
    assert await batches() == [(f"{name} 1", 2, False)]
    await fired(triggered, tmp_path, order, "1")
    assert await batches() == [(f"{name} 1", 3, True)]
    put(folder, "d.txt", b"d")
    put(folder, "e.txt", b"e")
    await cut_off("2", at=5)
    await fired(triggered, tmp_path, order, "3")
    assert await batches() == [(f"{name} {moment}", many, True) for moment, many in (("1", 3), ("2", 1), ("3", 1))]


async def test_files_wait_until_the_definition_fits_their_inputs_again(triggered: Service, tmp_path: Path) -> None:
    definition = FILED | {"id": f"fits_{named()}"}
    unfit = definition | {"inputs": {**definition["inputs"], "year": {"type": "integer", "required": True}}}
    order = pass_over(named()).request.order | {"definition": definition["id"]}
    put(tmp_path / "default" / str(order["folder"]), "a.txt", b"one")
    for body, uploaded in ((unfit, 0), (definition, 1)):
        (await triggered.http.post("/v1/definitions", json={"definition": body})).raise_for_status()
        for batch in (True, False) if not uploaded else (True,):
            report = await fired(triggered, tmp_path, {**order, "batch": batch})
            assert (report.uploaded, len(report.refused)) == (uploaded, 1 - uploaded)
            assert all("'year'" in each for each in report.refused)
    found = (await triggered.http.get("/v1/batches")).json()["batches"]
    assert [each["counts"]["total"] for each in found if each["name"] == f"{order['name']} now"] == [1]


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
        ({"definition": "trigger_report", "cron": NEVER, "batch": True}, "batch"),
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
