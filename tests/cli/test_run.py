"""`docrail run`: starts a run through the API, follows it, and says how it ended; what goes wrong is said in words."""

import asyncio
import json
import re
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from temporalio.client import Client

from docrail.dag.values.json_values import Json
from docrail.embedded.stack import Stack, StackOptions, run_stack
from tests.activities.ubl import ubl_invoice
from tests.cli.process import Ended, docrail, running
from tests.stack import eventually

pytestmark = pytest.mark.server

DEFINITION = str(Path(__file__).parents[2] / "definitions" / "invoice.yaml")
SLEEPING = "id: sleeping\nsteps: [{id: nap, handler: sleep, heartbeat_seconds: 1, config: {seconds: 600}}]\n"
NOWHERE = "http://127.0.0.1:1"


@dataclass(frozen=True)
class Service:
    """A running stack, and what the commands need of it."""

    stack: Stack
    data_dir: Path

    async def upload(self, name: str) -> str:
        """Return the id of a new document whose own run has ended."""
        files = {"file": (f"{name}.xml", ubl_invoice(name))}
        document = (await self.stack.http.post("/v1/documents", files=files)).json()
        await self.wait_for(document["run_id"], "completed")
        return str(document["document_id"])

    async def wait_for(self, run_id: str, status: str) -> None:
        async def reached() -> bool:
            report: dict[str, Json] = (await self.stack.http.get(f"/v1/runs/{run_id}")).json()
            return bool(report["status"] == status)

        await eventually(reached, f"{run_id} is {status}")

    async def docrail_run(self, *arguments: str) -> Ended:
        return await docrail("run", DEFINITION, *arguments, DOCRAIL_API_URL=self.stack.api_url)


@pytest.fixture(scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    data_dir = tmp_path_factory.mktemp("run")
    options = StackOptions(data_dir, api_port=0, temporal_port=0, ui_port=0, graceful_shutdown_seconds=1)
    async with run_stack(options, report=print) as stack:
        yield Service(stack, data_dir)


@pytest.fixture(scope="module")
async def document(service: Service) -> str:
    return await service.upload("an-invoice")


@pytest.fixture
def sleeping(service: Service) -> list[str]:
    """Give the arguments for a run that sleeps until it is stopped."""
    definition = service.data_dir / "sleeping.yaml"
    definition.write_text(SLEEPING)
    return ["run", str(definition), "--api", service.stack.api_url]


async def test_a_completed_run_has_code_0_and_its_report_as_json(service: Service, document: str) -> None:
    ended = await service.docrail_run("--input", f"document_id={document}", "-i", "sla_hours=5", "--wait", "--json")
    report = json.loads(ended.out)
    assert (ended.code, ended.err) == (0, "")
    assert report["status"] == "completed"
    skipped = [name for name, step in report["steps"].items() if step["status"] != "completed"]
    assert skipped == ["split", "ask_gemini"], "it is one invoice, and there is no key"
    assert report["outputs"]["total"] == pytest.approx(119)


async def test_it_shows_a_person_each_step_the_outputs_and_the_history(service: Service, document: str) -> None:
    ended = await service.docrail_run("--input", f"document_id={document}", "--key", "shown", "--wait")
    assert ended.code == 0
    assert ended.out.startswith("invoice.shown completed\n")
    assert re.findall(r"^(\w+) +completed ", ended.out, re.MULTILINE) == [
        *("extract", "save_parquet", "save_json", "record_metrics", "create_review")
    ]
    assert re.search(r"^output review_id = \"rev_", ended.out, re.MULTILINE)
    assert f"history {service.stack.temporal.ui_url}/" in ended.out


async def publish(service: Service, definition_id: str, amount: str, *, promote: bool) -> None:
    """Publish the next version of a definition whose input `amount` has that type."""
    steps = [{"id": "amount", "handler": "echo", "config": {"value": "{{ inputs.amount }}"}}]
    definition = {"id": definition_id, "inputs": {"amount": {"type": amount}}, "steps": steps}
    definition["outputs"] = {"amount": "{{ amount.value }}"}
    order = {"definition": definition, "promote": promote}
    assert (await service.stack.http.post("/v1/definitions", json=order)).status_code == 201


async def test_a_published_definition_is_run_by_name_version_or_alias(service: Service) -> None:
    await publish(service, "published", "string", promote=True)
    await publish(service, "published", "integer", promote=False)
    alias = await service.stack.http.put("/v1/definitions/published/aliases/pilot", json={"version": 2})
    assert alias.is_success, alias.text
    printed = {}
    for ref in ("published", "published@1", "published@v2", "published@pilot", "published@stable"):
        arguments = ("run", ref, "-i", "amount=12", "--wait", "--json")
        ended = await docrail(*arguments, DOCRAIL_API_URL=service.stack.api_url)
        assert ended.code == 0, ended
        printed[ref] = json.loads(ended.out)["outputs"]["amount"]
    assert printed == {
        "published": "12",
        "published@1": "12",
        "published@v2": 12,
        "published@pilot": 12,
        "published@stable": "12",
    }


async def test_an_id_alone_has_the_inputs_of_the_version_that_the_run_gets(service: Service) -> None:
    await publish(service, "tried", "string", promote=True)
    await publish(service, "tried", "integer", promote=False)
    await service.stack.http.put("/v1/definitions/tried/aliases/canary", json={"version": 2, "percent": 100})
    ended = await docrail("run", "tried", "-i", "amount=x", DOCRAIL_API_URL=service.stack.api_url)
    assert ended == Ended(1, "", "docrail: --input amount: expected an integer such as 5, found 'x'\n")


async def test_a_misspelt_definition_or_command_is_answered_with_the_one_that_is_meant(service: Service) -> None:
    api = ("--api", service.stack.api_url)
    ends = {
        "invoices": "did you mean 'invoice'? (nor is there a file 'invoices' here)\n",
        "lst": " (nor is there a file 'lst' here); did you mean `docrail run list`?\n",
        "zzz": "there is no definition 'zzz' (nor is there a file 'zzz' here)\n",
        "invoice@stabel": "did you mean 'invoice@stable'? (there is invoice@stable) (nor is there a file",
        "invoice@99": "(there is version 1) (nor is there a file 'invoice@99' here)\n",
    }
    found = await asyncio.gather(*(docrail("run", what, *api) for what in ends))
    assert [ended.code for ended in found] == [1] * len(ends)
    for ended, end in zip(found, ends.values(), strict=True):
        assert end in ended.err


async def test_a_name_that_is_neither_published_nor_a_file_is_reported_as_both(service: Service) -> None:
    api = ("--api", service.stack.api_url)
    unknown, older, file, away = await asyncio.gather(
        docrail("run", "invoices", *api),
        docrail("run", "invoice@99", *api),
        docrail("run", "invoice.yml", *api),
        docrail("run", "invoice", "--api", NOWHERE),
    )
    assert [ended.code for ended in (unknown, older, file, away)] == [1] * 4
    assert re.fullmatch(
        r"docrail: Not found: there is no definition 'invoices'.* \(nor is there a file .*\).*\n", unknown.err
    )
    assert "'invoice@99'" in older.err
    assert file.err == "docrail: there is no file invoice.yml: expected a file with a definition, as YAML or JSON\n"
    assert "is it running? `docrail up` starts it" in away.err


async def test_a_file_wins_over_a_definition_of_its_name(service: Service, tmp_path: Path) -> None:
    (tmp_path / "invoice").write_text("id: other\nsteps: [{id: a, handler: noop}]\n")
    ended = await docrail("run", "invoice", "--key", "file", cwd=tmp_path, DOCRAIL_API_URL=service.stack.api_url)
    assert ended == Ended(0, "started other.file\n", "")


async def test_a_failed_run_has_code_1_and_says_why(service: Service) -> None:
    ended = await service.docrail_run("--input", "document_id=doc_of_nobody", "--key", "failing", "--wait")
    assert ended.code == 1
    assert ended.out.startswith("invoice.failing failed: extract: tenant 'default' has no document 'doc_of_nobody'\n")
    assert re.search(r"^create_review +skipped +Dependency failed", ended.out, re.MULTILINE)


async def test_a_step_that_could_not_be_undone_is_shown_with_what_to_do(service: Service, tmp_path: Path) -> None:
    fails = "handler: fail, config: {times: 9, error: ValueError, message: the bank is closed}, max_retries: 0"
    file = tmp_path / "refund.yaml"
    file.write_text(
        "id: refund\nsteps:\n"
        f"  - {{id: pay, handler: noop, compensate: {{{fails.removesuffix(', max_retries: 0')}}}, max_retries: 0}}\n"
        f"  - {{id: book, {fails}, depends_on: [pay]}}\n"
    )
    ended = await docrail("run", str(file), "--key", "monday", "--wait", DOCRAIL_API_URL=service.stack.api_url)
    assert ended.code == 1
    assert "could not be undone: pay: ValueError: the bank is closed\n" in ended.out
    assert "their effects stand; once the cause is fixed: docrail run retry refund.monday --undo\n" in ended.out


async def test_the_same_key_is_the_same_run(service: Service, document: str) -> None:
    asked = ("--input", f"document_id={document}", "--key", "once")
    first = await service.docrail_run(*asked)
    again = await service.docrail_run(*asked, "--json")
    other = await service.docrail_run(*asked, "--input", "sla_hours=5")
    assert first == Ended(0, "started invoice.once\n", "")
    assert (again.code, json.loads(again.out)["created"], json.loads(again.out)["run_id"]) == (0, False, "invoice.once")
    assert (other.code, other.out) == (1, "")
    assert "the key 'once' was used before with another request; different: inputs.sla_hours" in other.err


async def test_a_run_that_waits_shows_for_what_and_how_that_is_answered(service: Service, tmp_path: Path) -> None:
    file = tmp_path / "asks.yaml"
    human = "{queue: cashiers, title: Pay 12?, timeout_seconds: 3600, on_timeout: fail}"
    file.write_text(f"id: asks\nsteps: [{{id: ask, human: {human}}}]\n")
    async with running("run", str(file), "--wait", "--api", service.stack.api_url, COLUMNS="70") as command:
        await command.wait_for("docrail review decide rev_")
        assert re.search(r"^  ask waits for a person in queue cashiers, until 20[^:]+:", command.said, re.MULTILINE)
        assert max(map(len, command.said.splitlines())) <= 70
        review = re.findall("rev_[0-9a-f]+", command.said)[0]
        assert (await docrail("review", "decide", review, DOCRAIL_API_URL=service.stack.api_url)).code == 0
        assert await command.ended() == 0


async def test_an_aborted_run_has_code_3(service: Service, sleeping: list[str]) -> None:
    async with running(*sleeping, "--wait", "--key", "aborted") as command:
        await command.wait_for("running: nap")
        reason = {"reason": "wrong document"}
        assert (await service.stack.http.post("/v1/runs/sleeping.aborted/abort", json=reason)).is_success
        assert await command.ended() == 3
        await eventually(lambda: "sleeping.aborted aborted: wrong document" in command.said, "it says why")


async def test_a_run_cancelled_in_temporal_has_code_4(service: Service, sleeping: list[str]) -> None:
    async with running(*sleeping, "--wait", "--key", "gone") as command:
        await command.wait_for("running: nap")
        temporal = await Client.connect(service.stack.temporal.address)
        await temporal.get_workflow_handle("default/sleeping/gone").cancel()
        assert await command.ended() == 4


async def test_ctrl_c_stops_the_waiting_and_says_that_the_run_goes_on(service: Service, sleeping: list[str]) -> None:
    async with running(*sleeping, "--wait", "--key", "left") as command:
        await command.wait_for("running: nap")
        assert await command.end(signal.SIGINT) == 130
    assert command.said.splitlines()[-1] == (
        "docrail: stopped waiting: the run sleeping.left goes on; the same command with --key left follows it again, "
        "`docrail run abort sleeping.left --reason TEXT` ends it"
    )
    await service.wait_for("sleeping.left", "running")
    assert (await service.stack.http.post("/v1/runs/sleeping.left/abort")).is_success


async def test_an_api_that_starts_again_does_not_end_the_waiting(service: Service, sleeping: list[str]) -> None:
    async with running(*sleeping, "--wait", "--key", "patient") as command:
        await command.wait_for("running: nap")
        await service.stack.api.kill()
        try:
            await command.wait_for("trying again for 60 s")
        finally:
            await service.stack.api.start()
        assert (await service.stack.http.post("/v1/runs/sleeping.patient/abort")).is_success
        assert await command.ended() == 3


async def test_a_refusal_of_the_api_is_reported_in_one_line(service: Service, document: str) -> None:
    refused = await service.docrail_run("--input", f"document_id={document}", "--key", "not a key")
    assert (refused.code, refused.out) == (1, "")
    assert re.fullmatch(r"docrail: The request is not valid: key: must be .*\n", refused.err)


async def test_inputs_are_checked_before_anybody_is_asked() -> None:
    refused = await docrail("run", DEFINITION, "-i", "document_i=doc_1", "--api", NOWHERE)
    assert refused == Ended(
        1,
        "",
        "docrail: the inputs do not fit the definition 'invoice':\n"
        "  --input document_i: the definition 'invoice' has no such input (did you mean 'document_id'?)\n"
        "  --input document_id: is required\n",
    )


async def test_an_unavailable_api_is_reported_in_one_line(service: Service) -> None:
    asked = ("run", DEFINITION, "-i", "document_id=doc_1", "--api")
    away, nonsense, other = await asyncio.gather(
        docrail(*asked, NOWHERE),
        docrail(*asked, "127.0.0.1:8000"),
        docrail(*asked, service.stack.temporal.ui_url),
    )
    assert (away.code, nonsense.code, other.code) == (1, 1, 1)
    assert re.fullmatch(
        r"docrail: no answer from the API at http://127\.0\.0\.1:1 \(.+\): is it running\? `docrail up` starts it, "
        r"--api sets its address\n",
        away.err,
    )
    assert nonsense.err == "docrail: --api '127.0.0.1:8000': expected an address such as http://127.0.0.1:8000\n"
    assert re.fullmatch(r"docrail: http://\S+/v1/runs is not Docrail's API: .*\n", other.err)
