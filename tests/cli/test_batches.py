"""`docrail batch`: what is sent, what is refused with a reason, and what a cut-off command leaves."""

import asyncio
import csv
import json
import os
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from docrail.cli.batch_run import ChangedError, _content
from docrail.cli.batch_sources import find
from docrail.dag.values.json_values import Json
from tests.api.customer import unique
from tests.api.invoices import e_invoice
from tests.api.service import Service, serve_with_worker, settings_for
from tests.cli.process import Ended, docrail, running
from tests.postgres import migrated_database
from tests.stack import Servers, eventually

DOCUMENT = {"document_id": {"type": "string", "required": True}}
COUNT: Json = {"id": "count", "inputs": DOCUMENT, "steps": [{"id": "a", "handler": "noop"}]}
FAIL: Json = {
    "id": "fail",
    "inputs": DOCUMENT,
    "steps": [{"id": "a", "handler": "fail", "config": {"times": 9}, "max_retries": 0}],
}
SLOW: Json = {
    "id": "slow",
    "inputs": DOCUMENT,
    "steps": [{"id": "a", "handler": "sleep", "config": {"seconds": 3600}}],
}
FILED: Json = {
    "id": "filed",
    "inputs": {**DOCUMENT, "cost_centre": {"type": "string", "required": True}, "copies": {"type": "integer"}},
    "steps": [{"id": "say", "handler": "echo", "config": {"value": "{{ inputs.cost_centre }}"}}],
    "outputs": {"said": "{{ steps.say.output.value }}"},
}
only_users = pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")


@pytest.fixture(scope="module")
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("batches"))
        async with serve_with_worker(settings) as served:
            for definition in (COUNT, FAIL, SLOW, FILED):
                (await served.http.post("/v1/definitions", json={"definition": definition})).raise_for_status()
            yield served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three documents that no other test has."""
    folder = tmp_path / "in"
    (folder / "november").mkdir(parents=True)
    for place in ("a.xml", "b.xml", "november/c.xml"):
        (folder / place).write_bytes(e_invoice(unique("B")))
    (folder / "notes.txt").write_text("no document")
    return folder


async def typed(service: Service, *arguments: str) -> Ended:
    return await docrail("batch", *arguments, DOCRAIL_API_URL=str(service.http.base_url))


async def ran(service: Service, source: Path | str, *arguments: str, definition: str = "count") -> dict[str, Json]:
    """Run a batch to its end and return what --json prints."""
    ended = await typed(service, "run", str(source), "--definition", definition, "--json", *arguments)
    assert ended.code in (0, 1), ended.err
    found: dict[str, Json] = json.loads(ended.out)
    return found


async def places(service: Service, batch_id: str) -> list[str]:
    listed = json.loads((await typed(service, "documents", batch_id, "--json", "--limit", "500")).out)
    return sorted(each["place"] for each in listed)


def manifest_in(folder: Path, *lines: Json | str) -> Path:
    path = folder / "manifest.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
    return path


async def test_a_folder_is_run_with_its_subfolders_and_what_is_no_document_is_left_out(
    service: Service, folder: Path
) -> None:
    ended = await typed(service, "run", str(folder), "--definition", "count", "--max-concurrency", "2")
    assert ended.code == 0, ended.err
    batch_id, status, *counts = ended.out.split()
    assert (status, counts) == ("completed:", ["3", "done"])
    assert f"batch {batch_id}" in ended.err
    assert await places(service, batch_id) == ["a.xml", "b.xml", "november/c.xml"]


@pytest.mark.parametrize(("flags", "shares"), [((), True), (("--no-group",), False)])
async def test_documents_share_workflows_unless_the_command_says_no(
    service: Service, folder: Path, flags: tuple[str, ...], *, shares: bool
) -> None:
    batch_id = (await ran(service, str(folder), *flags))["batch"]["batch_id"]
    wanted = await service.pool.fetchval("SELECT wanted FROM batches WHERE batch_id = $1", batch_id)
    assert wanted["grouped"] is shares


async def test_a_pattern_names_what_matches(service: Service, folder: Path) -> None:
    found = await ran(service, f"{folder}/**/*.xml")
    assert await places(service, found["batch"]["batch_id"]) == ["a.xml", "b.xml", "november/c.xml"]
    found = await ran(service, f"{folder}/[a]*.xml")
    assert await places(service, found["batch"]["batch_id"]) == ["a.xml"]


async def test_a_zip_file_is_run(service: Service, folder: Path, tmp_path: Path) -> None:
    packed = tmp_path / "in.zip"
    with zipfile.ZipFile(packed, "w") as file:
        for place in ("a.xml", "november/c.xml"):
            file.write(folder / place, place)
    found = await ran(service, packed)
    assert found["batch"]["counts"]["done"] == 2
    assert await places(service, found["batch"]["batch_id"]) == ["a.xml", "november/c.xml"]


async def test_a_refused_zip_file_leaves_no_open_batch(service: Service, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "slip.zip", "w") as archive:
        archive.writestr("../../evil.xml", e_invoice(unique("B")))
    refused = await typed(service, "run", str(tmp_path / "slip.zip"))
    assert refused.code == 1
    assert "../../evil.xml: is outside of the folder" in refused.err
    assert "nothing was sent, and the batch is cancelled" in refused.err
    [newest, *_] = (await service.http.get("/v1/batches")).json()["batches"]
    assert (newest["status"], newest["counts"]["total"]) == ("cancelled", 0)


async def test_a_folder_without_anything_that_can_be_sent_is_refused(service: Service, tmp_path: Path) -> None:
    (tmp_path / "empty.xml").touch()
    refused = await typed(service, "run", str(tmp_path), "--skip-broken")
    assert refused.code == 1
    assert refused.err.splitlines()[-1] == f"docrail: nothing in {tmp_path} can be sent"


async def test_a_manifest_names_files_and_their_places(service: Service, folder: Path) -> None:
    manifest = manifest_in(folder, {"file": "a.xml"}, "", {"file": "november/c.xml", "place": "scan 7"})
    found = await ran(service, manifest)
    assert (found["batch"]["counts"]["done"], found["broken"]) == (2, [])
    assert await places(service, found["batch"]["batch_id"]) == ["a.xml", "scan 7"]


async def test_inputs_are_given_for_all_documents_and_on_a_line_for_one(service: Service, folder: Path) -> None:
    manifest = manifest_in(folder, {"file": "a.xml"}, {"file": "b.xml", "inputs": {"cost_centre": "9"}})
    found = await ran(service, manifest, "--input", "cost_centre=4711", definition="filed")
    path = f"/v1/batches/{found['batch']['batch_id']}/result"
    result = (await service.http.get(path)).json()["documents"]
    assert {each["place"]: each["outputs"] for each in result} == {"a.xml": {"said": "4711"}, "b.xml": {"said": "9"}}


async def test_an_input_that_does_not_fit_is_refused_before_anything_is_sent(service: Service, folder: Path) -> None:
    ended = await typed(service, "run", str(folder), "--definition", "filed", "--input", "copies=two")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "docrail: --input copies: expected an integer such as 5, found 'two'\n"


async def test_failures_are_shown_by_reason_and_tried_again(service: Service, folder: Path) -> None:
    ended = await typed(service, "run", str(folder), "--definition", "fail")
    assert ended.code == 1
    batch_id = ended.out.split()[0]
    assert "3 failed" in ended.out.splitlines()[0]
    shown = json.loads((await typed(service, "show", batch_id, "--json")).out)
    [reason] = shown["errors"]
    assert reason["documents"] == 3
    assert reason["error_type"] in ended.out
    listed = await typed(service, "documents", batch_id, "--state", "failed")
    assert listed.out.count(reason["error_type"]) == 3
    retried = await typed(service, "retry", batch_id, "--error", reason["error_type"])
    assert retried.code == 0, retried.err
    again = json.loads((await typed(service, "show", batch_id, "--wait", "--json")).out)
    assert again["counts"]["failed"] == 3


async def test_a_result_is_written_as_csv_and_as_json(service: Service, folder: Path, tmp_path: Path) -> None:
    batch_id = (await ran(service, folder))["batch"]["batch_id"]
    table, data = tmp_path / "result.csv", tmp_path / "result.json"
    assert (await typed(service, "result", batch_id, str(table))).out == f"wrote {table}\n"
    rows = list(csv.DictReader(table.read_text("utf-8-sig").splitlines()))
    assert sorted(row["place"] for row in rows) == ["a.xml", "b.xml", "november/c.xml"]
    assert (await typed(service, "result", batch_id, str(data), "--format", "json")).code == 0
    assert {each["state"] for each in json.loads(data.read_text())} == {"done"}


async def test_batches_are_listed_paused_resumed_and_cancelled(service: Service, folder: Path) -> None:
    started = await ran(service, folder, "--no-wait", definition="slow")
    batch_id = started["batch"]["batch_id"]
    listed = json.loads((await typed(service, "list", "--json")).out)
    assert listed[0]["batch_id"] == batch_id
    assert (await typed(service, "pause", batch_id, "--reason", "the bank is closed")).out.split()[1] == "paused:"
    assert batch_id in (await typed(service, "list")).out
    assert (await typed(service, "resume", batch_id)).code == 0
    assert (await typed(service, "cancel", batch_id)).code == 0
    assert json.loads((await typed(service, "show", batch_id, "--wait", "--json")).out)["status"] == "cancelled"
    refused = await typed(service, "pause", batch_id)
    assert (refused.code, refused.out) == (1, "")
    unknown = await typed(service, "show", "bat_none")
    assert (unknown.code, unknown.err.count("\n")) == (1, 1)


async def test_ctrl_c_leaves_the_batch_running_and_says_how_to_follow_it(service: Service, folder: Path) -> None:
    address = str(service.http.base_url)
    async with running("batch", "run", str(folder), "--definition", "slow", DOCRAIL_API_URL=address) as command:
        await command.wait_for("batch bat_")
        batch_id = command.said.partition("batch ")[2].split()[0]

        async def is_running() -> bool:
            shown = (await service.http.get(f"/v1/batches/{batch_id}")).json()
            return bool(shown["is_closed"] and shown["counts"]["running"])

        await eventually(is_running, "its documents to run")
        assert await command.end() == 130
        await command.wait_for(f"batch show {batch_id} --wait")
    shown = (await service.http.get(f"/v1/batches/{batch_id}")).json()
    assert (shown["status"], shown["counts"]["total"]) == ("running", 3)
    assert (await typed(service, "cancel", batch_id)).code == 0


async def test_a_batch_that_was_cut_off_is_resumed_and_nothing_is_sent_twice(service: Service, folder: Path) -> None:
    order = {"name": str(folder.resolve())[-200:], "definition": "count"}
    batch_id = (await service.http.post("/v1/batches", json=order)).json()["batch_id"]
    file = {"file": ("a.xml", (folder / "a.xml").read_bytes())}
    sent = await service.http.post(f"/v1/batches/{batch_id}/documents", files=file, data={"place": "a.xml"})
    assert sent.is_success, sent.text
    found = await ran(service, folder, "--resume")
    assert found["batch"]["batch_id"] == batch_id
    assert found["batch"]["counts"] == {**found["batch"]["counts"], "done": 3, "total": 3}
    again = await ran(service, folder, "--resume")
    assert again["batch"] == {**found["batch"], "per_minute": again["batch"]["per_minute"]}
    none = await typed(service, "run", str(folder / "november"), "--resume")
    assert (none.code, "run it without --resume" in none.err) == (1, True)


async def test_the_same_file_a_hundred_times_is_run_once(service: Service, folder: Path) -> None:
    content = (folder / "a.xml").read_bytes()
    for number in range(99):
        (folder / f"same-{number}.xml").write_bytes(content)
    found = await ran(service, folder)
    assert (found["batch"]["counts"]["total"], found["batch"]["duplicates"]) == (3, 99)
    shown = await typed(service, "show", found["batch"]["batch_id"])
    assert "99 places have the content of another: they were not run" in shown.out


async def test_a_thousand_broken_lines_are_all_reported_by_line_and_nothing_is_sent(
    service: Service, folder: Path
) -> None:
    before = (await service.http.get("/v1/batches")).json()["batches"]
    manifest = manifest_in(folder, *["{" for _ in range(1000)], {"file": "a.xml"})
    refused = await typed(service, "run", str(manifest), "--json")
    assert refused.code == 1
    assert [each["where"] for each in json.loads(refused.out)["broken"]] == [f"line {n}" for n in range(1, 1001)]
    assert refused.err.count("is not JSON") == 1000
    assert "1000 entries" in refused.err
    assert (await service.http.get("/v1/batches")).json()["batches"] == before


async def test_with_skip_broken_the_good_lines_run(service: Service, folder: Path) -> None:
    lines = ["{", {"file": "a.xml"}, {"file": "none.xml"}, {"file": "../in/../../b.xml"}, {"name": "a.xml"}]
    found = await ran(service, manifest_in(folder, *lines), "--skip-broken")
    assert found["batch"]["counts"]["done"] == 1
    assert [each["where"] for each in found["broken"]] == ["line 1", "line 3", "line 4", "line 5"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "is not JSON"),
        ('{"file": "a.xml", "file": "b.xml"}', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('"a.xml"', "names no file"),
        ({"file": 7}, "names no file"),
        ({"file": ""}, "names no file"),
        ({"file": "none.xml"}, "none.xml does not exist"),
        ({"file": "november"}, "is not a file"),
        ({"file": "empty.xml"}, "is empty"),
        ({"file": "/etc/hostname"}, "is outside the folder"),
        ({"file": "../outside.xml"}, "is outside the folder"),
        ({"file": "link.xml"}, "is outside the folder"),
        ({"file": "loop.xml"}, "loop.xml cannot be read"),
        ({"file": "a\x00.xml"}, "null"),
        ({"file": "a.xml", "pages": 2}, "unknown fields 'pages'"),
        ({"file": "a.xml", "place": 2}, "`place` must be a text"),
        ({"file": "a.xml", "inputs": [1]}, "`inputs` must be an object"),
    ],
)
def test_a_broken_line_of_a_manifest_is_reported_with_its_reason(folder: Path, line: Json | str, problem: str) -> None:
    (folder / "empty.xml").touch()
    (folder.parent / "outside.xml").write_text("<a/>")
    (folder / "link.xml").symlink_to(folder.parent / "outside.xml")
    (folder / "loop.xml").symlink_to("loop.xml")
    found = find(str(manifest_in(folder, {"file": "a.xml"}, line)))
    [broken] = found.broken
    assert broken.where == "line 2"
    assert problem in broken.problem
    assert [file.place for file in found.files] == ["a.xml"]


def test_two_lines_with_one_place_are_reported(folder: Path) -> None:
    manifest = manifest_in(folder, {"file": "a.xml"}, {"file": "b.xml", "place": "a.xml"})
    assert [str(each) for each in find(str(manifest)).broken] == ["line 2: has the place of line 1"]


def test_a_link_out_of_a_folder_is_reported(folder: Path) -> None:
    (folder.parent / "outside.xml").write_text("<a/>")
    (folder / "link.xml").symlink_to(folder.parent / "outside.xml")
    found = find(str(folder))
    assert [each.problem for each in found.broken] == [f"is outside the folder {folder}"]
    assert len(found.files) == 3


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("none", "there is no "),
        ("empty", "has no document: looked for .bmp, "),
        ("empty/*.pdf", "nothing matches "),
        ("broken.zip", "is not a zip file"),
        ("empty.jsonl", "is empty: expected"),
        ("latin.jsonl", "is not UTF-8 at byte 1"),
    ],
)
def test_a_source_that_names_nothing_is_refused_with_what_was_expected(
    tmp_path: Path, source: str, reason: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.txt").write_text("no document")
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 half")
    (tmp_path / "empty.jsonl").write_text("\n\n")
    (tmp_path / "latin.jsonl").write_bytes(b"{\xe4}")
    with pytest.raises(SystemExit, match=reason):
        find(str(tmp_path / source))


def test_a_file_that_changes_while_it_is_read_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, sizes = tmp_path / "growing.xml", iter(range(100))
    path.write_text("<a")
    own = Path.stat

    def stat(self: Path, **options: bool) -> os.stat_result:
        with self.open("ab") as stream:  # as a scanner that still writes
            stream.write(b"x" * (next(sizes) + 1))
        return own(self, **options)

    monkeypatch.setattr(Path, "stat", stat)
    with pytest.raises(ChangedError, match="changes while it is read"):
        _content(path)


async def test_without_an_api_nothing_is_sent_and_the_reason_is_said(folder: Path) -> None:
    ended = await docrail("batch", "run", str(folder), DOCRAIL_API_URL="http://127.0.0.1:1")
    assert (ended.code, "no answer from the API" in ended.err) == (1, True)


@only_users
async def test_a_file_that_may_not_be_read_is_reported(folder: Path) -> None:
    await asyncio.to_thread((folder / "a.xml").chmod, 0)
    assert [each.problem for each in find(str(folder)).broken] == ["Permission denied"]
