"""`docrail document` against a running API with a worker: uploads, and what is shown of them."""

import hashlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from docrail.dag.values.json_values import Json
from tests.api.customer import unique
from tests.api.invoices import e_invoice
from tests.api.service import HELLO, Service, serve_with_worker, settings_for
from tests.cli.process import Ended, docrail
from tests.postgres import migrated_database
from tests.stack import Servers

DOCUMENT = {"document_id": {"type": "string", "required": True}}
COUNT = HELLO | {"id": "count", "inputs": DOCUMENT}
FILED = HELLO | {
    "id": "filed",
    "inputs": {**DOCUMENT, "cost_centre": {"type": "string", "required": True}, "copies": {"type": "integer"}},
}
UNKNOWN = f"doc_{'0' * 26}"


@pytest.fixture(scope="module")
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("documents"))
        async with serve_with_worker(settings) as served:
            for definition in (COUNT, FILED):
                (await served.http.post("/v1/definitions", json={"definition": definition})).raise_for_status()
            yield served


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A document that no other test has."""
    path = tmp_path / "invoice.xml"
    path.write_bytes(e_invoice(unique("T")))
    return path


async def typed(service: Service, *arguments: str) -> Ended:
    return await docrail("document", *arguments, DOCRAIL_API_URL=str(service.http.base_url))


async def uploaded(service: Service, *arguments: str) -> list[dict[str, Json]]:
    ended = await typed(service, "upload", "--definition", "count", "--json", *arguments)
    assert (ended.code, ended.err) == (0, "")
    found: list[dict[str, Json]] = json.loads(ended.out)
    return found


async def test_documents_are_listed_by_what_is_asked(service: Service, file: Path) -> None:
    renamed = file.rename(file.with_name(f"{unique('listed')}.xml"))
    [document] = await uploaded(service, str(renamed))
    await service.ended(document["run_id"])
    listed = await typed(service, "list", "--text", renamed.stem, "--status", "reading")
    assert (listed.code, listed.err) == (0, "")
    heading, _, *lines = listed.out.splitlines()
    assert heading.split() == ["document", "status", "uploaded", "file", "invoice"]
    [(document_id, status, _, _, name, *_)] = map(str.split, lines)
    assert (document_id, status, name) == (document["document_id"], "reading", renamed.name)
    found = json.loads((await typed(service, "list", "--text", renamed.stem, "--json")).out)
    assert [each["document_id"] for each in found] == [document["document_id"]]
    assert (await typed(service, "list", "--text", renamed.stem, "--status", "failed", "--json")).out == "[]\n"
    refused = await typed(service, "list", "--status", "lost")
    assert (refused.code, "query.status: must be 'attention', 'reading', " in refused.err) == (1, True)


async def test_a_list_of_documents_that_is_not_all_says_so(service: Service, file: Path) -> None:
    await uploaded(service, str(file))
    other = file.with_name("other.xml")
    other.write_bytes(e_invoice(unique("T")))
    await uploaded(service, str(other))
    assert (await typed(service, "list", "--limit", "1")).out.splitlines()[-1] == "… and older ones"


async def test_each_uploaded_file_is_a_line_with_its_run(service: Service, file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.xml"
    other.write_bytes(e_invoice(unique("T")))
    ended = await typed(service, "upload", str(file), str(other), "--definition", "count")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert [line.partition(": doc_")[0] for line in lines] == [str(file), str(other)]
    for line in lines:
        document, _, run = line.partition(": ")[2].partition(", run ")
        assert run == f"count.{document}"
        assert (await service.ended(run))["status"] == "completed"


async def test_an_upload_takes_inputs_by_the_types_of_its_definition(service: Service, file: Path) -> None:
    inputs = ("--input", "cost_centre=4711", "-i", "copies=2")
    ended = await typed(service, "upload", str(file), "--definition", "filed", *inputs, "--json")
    assert ended.code == 0, ended.err
    [document] = json.loads(ended.out)
    assert document["inputs"] == {"cost_centre": "4711", "copies": 2}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--definition", "filed", "-i", "copies=two"), "--input copies: expected an integer such as 5"),
        (("--definition", "filed", "-i", "cost_center=1"), "did you mean 'cost_centre'?"),
        (("--definition", "none", "-i", "copies=1"), "none"),
        (("-i", "copies=1"), "--input needs --definition"),
    ],
)
async def test_inputs_of_an_upload_are_checked_before_it_is_sent(
    service: Service, file: Path, arguments: tuple[str, ...], said: str
) -> None:
    ended = await typed(service, "upload", str(file), *arguments)
    assert (ended.code, ended.out) == (1, "")
    assert said in ended.err


async def test_a_document_is_shown_with_its_run_and_its_origin(service: Service, file: Path) -> None:
    [document] = await uploaded(service, str(file), "--source", "email")
    shown = await typed(service, "show", document["document_id"])
    assert (shown.code, shown.err) == (0, "")
    first, *rows = shown.out.splitlines()
    assert first == document["document_id"]
    printed = {name: text for name, _, text in (row.strip().partition("  ") for row in rows)}
    received = printed.pop("received").strip()
    assert received.startswith("20")
    assert {name: text.strip() for name, text in printed.items()} == {
        "run": document["run_id"],
        "file": "invoice.xml",
        "type": f"application/xml, {file.stat().st_size} bytes",
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "source": "email",
        "definition": "count",
    }


async def test_a_second_upload_of_the_same_bytes_names_the_first(service: Service, file: Path) -> None:
    first, second = await uploaded(service, str(file), str(file))
    shown = await typed(service, "show", second["document_id"])
    assert f"same as     {first['document_id']}" in [line.strip() for line in shown.out.splitlines()]


async def test_a_document_is_shown_as_json_as_the_api_has_it(service: Service, file: Path) -> None:
    [document] = await uploaded(service, str(file))
    shown = json.loads((await typed(service, "show", document["document_id"], "--json")).out)
    assert shown == (await service.http.get(f"/v1/documents/{document['document_id']}")).json()


async def test_a_failed_document_is_dismissed_and_sent_again(service: Service, tmp_path: Path) -> None:
    broken = tmp_path / f"{unique('broken')}.pdf"
    broken.write_bytes(b"%PDF-1.7 " + unique("x").encode())
    document = json.loads((await typed(service, "upload", "--json", str(broken))).out)[0]
    await service.ended(document["run_id"])
    dismissed = await typed(service, "dismiss", document["document_id"], "--reason", "an advertisement")
    assert (dismissed.code, dismissed.out) == (0, f"dismissed {document['document_id']}\n")
    again = await typed(service, "send-again", document["document_id"])
    assert (again.code, again.out) == (0, f"sent {document['document_id']} again: reading\n")
    refused = await typed(service, "dismiss", UNKNOWN)
    assert (refused.code, refused.out) == (1, "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", UNKNOWN], UNKNOWN),
        (["upload", "FILE", "--definition", "cuont"], "did you mean 'count'"),
    ],
)
async def test_a_refusal_prints_the_apis_message(service: Service, file: Path, arguments: list[str], said: str) -> None:
    refused = await typed(service, *(str(file) if each == "FILE" else each for each in arguments))
    assert (refused.code, refused.out) == (1, "")
    assert said in refused.err


async def test_a_file_that_is_not_there_is_wrong_usage(service: Service, tmp_path: Path) -> None:
    refused = await typed(service, "upload", str(tmp_path / "gone.pdf"))
    assert (refused.code, refused.out) == (2, "")
    assert "does not exist" in refused.err
