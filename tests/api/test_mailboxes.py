"""Triggers that read a mailbox, on a real IMAP server: what is taken, once, and what hostile mails do."""

from collections.abc import AsyncIterator
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from docrail.adapters import mails
from docrail.adapters.http.addresses import AllowedHosts
from docrail.adapters.http.client import HttpClient
from docrail.adapters.http.errors import WorkerNotConfiguredError
from docrail.adapters.mailboxes import FLAGGED, SEEN, MailboxUnusable
from docrail.adapters.secrets import MissingSecretError, RefusedSecretError, SecretStore
from docrail.dag.values.json_values import Json
from docrail.services.triggers.firing import fire
from docrail.services.triggers.mailbox import MailAccess
from docrail.workflows.contract.messages import TriggerPass, TriggerReport, TriggerRequest
from tests.api.service import Service, serve_with_worker, settings_for
from tests.api.test_triggers import FILED, NEVER, create, named, passed
from tests.cli.process import docrail
from tests.mail_server import PASSWORD, USER, MailServer, mail_server
from tests.stack import Servers

TAKEN, REFUSED = {SEEN}, {SEEN, FLAGGED}


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "default").mkdir()
    (folder / "default" / "mail").write_text(f"{PASSWORD}\n")
    (folder / "default" / "wrong").write_text("wrong")
    for name in ("mail", "wrong"):
        (folder / "default" / f"{name}.hosts").write_text("localhost")
    return folder


@pytest.fixture(scope="module")
async def service(
    embedded: Servers, dsn: str, secrets: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Service]:
    settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("mails"))
    more = {"secrets_dir": secrets, "allowed_hosts": ("localhost",)}
    async with serve_with_worker(settings.model_copy(update=more)) as served:
        (await served.http.post("/v1/definitions", json={"definition": FILED})).raise_for_status()
        yield served


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[MailServer]:
    async with mail_server(tmp_path) as serving:
        yield serving


def access_to(server: MailServer, secrets: Path) -> MailAccess:
    return MailAccess(HttpClient(AllowedHosts.parse(["localhost"])), SecretStore(secrets), server.trusted)


def order_of(server: MailServer, **more: Json) -> dict[str, Any]:
    box = {"host": "localhost", "port": server.port, "user": USER, "secret": "mail", **more}
    return {
        "name": named(),
        "cron": NEVER,
        "definition": "trigger_filed",
        "inputs": {"centre": "4711"},
        "mailbox": box,
    }


async def one_pass(
    service: Service, access: MailAccess, order: dict[str, Any], limit: int | None = None
) -> TriggerReport:
    request = TriggerRequest(tenant_id="default", created_by="ann", order=order)
    app = service.app if limit is None else replace(service.app, max_upload_bytes=limit)
    return await fire(app, None, access, TriggerPass(request=request, moment="now"), lambda: None)


def mail(*files: tuple[str, bytes], sender: str = "Ann <ann@example.com>", message_id: str | None = None) -> bytes:
    message = EmailMessage()
    message["From"] = sender
    message["Subject"] = "invoices"
    if message_id is not None:
        message["Message-ID"] = message_id
    message.set_content("see attached")
    message.add_alternative("<script>alert(1)</script>", subtype="html")
    for name, data in files:
        message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return message.as_bytes()


async def test_the_attachments_of_new_mails_are_uploaded_once(
    service: Service, server: MailServer, secrets: Path
) -> None:
    access, order, unique = access_to(server, secrets), order_of(server), named()
    first = mail(
        (f"{unique}_a.pdf", b"one"), (f"{unique}_b.PDF", b"two"), ("logo.png", b"logo"), message_id=f"<{unique}>"
    )
    await server.put(first, mail((f"{unique}_c.xml", b"three")))
    report = await one_pass(service, access, order)
    assert (report.uploaded, report.known, report.refused) == (3, 0, ())
    assert await server.flags() == [TAKEN, TAKEN]
    documents = (await service.http.get("/v1/documents", params={"text": unique})).json()["documents"]
    assert sorted(each["file_name"] for each in documents) == [f"{unique}_a.pdf", f"{unique}_b.PDF", f"{unique}_c.xml"]
    run = await service.ended(f"trigger_filed.{documents[0]['document_id']}")
    assert run["outputs"] == {"centre": "4711"}
    await server.put(first)
    again = await one_pass(service, access, order)
    assert (again.uploaded, again.known) == (0, 2), "the same mail was delivered twice"
    nothing = await one_pass(service, access, order)
    assert (nothing.uploaded, nothing.known) == (0, 0)


async def test_a_mail_waits_until_the_definition_fits_its_inputs_again(
    service: Service, server: MailServer, secrets: Path
) -> None:
    access, unique = access_to(server, secrets), named()
    order = order_of(server) | {"definition": f"fits_{unique}"}
    year: Json = {"year": {"type": "integer", "required": True}}
    fits = FILED | {"id": order["definition"]}
    unfit = fits | {"inputs": {**FILED["inputs"], **year}}
    await server.put(mail((f"{unique}.pdf", b"one"), (f"{unique}_empty.pdf", b"")), mail((f"{unique}.png", b"no file")))
    for body, uploaded, flags in ((unfit, 0, set()), (unfit, 0, set()), (fits, 1, REFUSED)):
        (await service.http.post("/v1/definitions", json={"definition": body})).raise_for_status()
        report = await one_pass(service, access, order)
        assert (report.uploaded, await server.flags()) == (uploaded, [flags, TAKEN])
        waiting = [each for each in report.refused if f"{unique}.pdf" in each]
        assert [("'year'" in each) for each in waiting] == [True] * (1 - uploaded)


async def test_the_new_attachments_of_a_pass_become_a_batch(
    service: Service, server: MailServer, secrets: Path
) -> None:
    access, order, unique = access_to(server, secrets), order_of(server) | {"batch": True}, named()
    same = (f"{unique}.pdf", unique.encode())
    await server.put(mail(same, same, (f"{unique}.pdf", b"another")), mail((f"{unique}.pdf", b"a third")))
    report = await one_pass(service, access, order)
    assert (report.uploaded, report.known, report.refused) == (3, 1, ())
    found = (await service.http.get("/v1/batches")).json()["batches"]
    [batch] = [each for each in found if each["name"] == f"{order['name']} now"]
    assert (batch["counts"]["total"], batch["is_closed"]) == (3, True)


async def test_mails_of_other_senders_are_left_and_taken_ones_are_moved(
    service: Service, server: MailServer, secrets: Path
) -> None:
    access, unique = access_to(server, secrets), named()
    order = order_of(server, senders=["ann@example.com", "@supplier.example"], move_to="Done")
    await server.create("Done")
    several = mail((f"{unique}_1.pdf", b"1"), sender="ann@example.com, eve@example.net")
    named_so = mail((f"{unique}_2.pdf", b"2"), sender='"ann@example.com" <eve@example.net>')
    ours = mail((f"{unique}_3.pdf", b"3"), sender="Ann <ANN@example.com>")
    await server.put(several, named_so, ours, mail((f"{unique}_4.pdf", b"4"), sender="billing@supplier.example"))
    report = await one_pass(service, access, order)
    assert (report.uploaded, report.refused) == (2, ())
    assert await server.flags() == [{SEEN}, {SEEN}]
    assert await server.flags("Done") == [TAKEN, TAKEN]


async def test_hostile_mails_are_flagged_and_keep_no_other_one_back(
    service: Service, server: MailServer, secrets: Path
) -> None:
    access, order, unique = access_to(server, secrets), order_of(server), named()
    nested = b"From: a@b.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n" * 101
    many = mail(*((f"{number}.pdf", b"x") for number in range(10_000)))
    large = mail((f"{unique}_large.pdf", b"x" * 2_200_000))
    partly = mail((f"{unique}_empty.pdf", b""), (f"../../etc/{unique}_good.pdf", unique.encode()))
    broken = b'From: \xff\xfe\r\nContent-Type: text/plain; charset="no such"; name="a.pdf"\r\n\r\n\xff'
    await server.put(nested, many, large, partly, broken, mail((f"{unique}_last.pdf", unique.encode() * 2)))
    report = await one_pass(service, access, order, limit=1_000_000)
    assert await server.flags() == [REFUSED, REFUSED, REFUSED, REFUSED, TAKEN, TAKEN]
    first, second, third, fourth = report.refused
    assert "101 multiparts, expected at most 100" in first
    assert "expected at most" in second
    assert "bytes, expected at most" in third
    assert f"{unique}_empty.pdf" in fourth
    documents = (await service.http.get("/v1/documents", params={"text": unique})).json()["documents"]
    assert sorted(each["file_name"] for each in documents) == [f"{unique}_good.pdf", f"{unique}_last.pdf"]
    [flagged] = (await one_pass(service, access, order)).refused
    assert flagged == "INBOX: has 4 flagged mails: earlier passes have refused something of them"


def test_limits_of_a_mail() -> None:
    files = [(f"{number}.pdf", b"x") for number in range(mails.MOST_ATTACHMENTS)]
    assert len(mails.read_mail(mail(*files), ["*.pdf"]).attachments) == mails.MOST_ATTACHMENTS
    with pytest.raises(mails.UnreadableMail, match="has 101 attachments, expected at most 100"):
        mails.read_mail(mail(*files, ("one_more.pdf", b"x")), ["*.pdf"])
    with pytest.raises(mails.UnreadableMail, match="boundaries, expected at most 2000"):
        mails.read_mail(b"Content-Type: multipart/mixed; boundary=b\n\n" + b"\n--b" * 3_000, ["*.pdf"])


async def test_a_mailbox_that_cannot_be_used_fails_the_pass_with_the_reason(
    service: Service, server: MailServer, secrets: Path
) -> None:
    access = access_to(server, secrets)
    with pytest.raises(MailboxUnusable, match=f"localhost refuses the user {USER} or its password"):
        await one_pass(service, access, order_of(server, secret="wrong"))
    with pytest.raises(MailboxUnusable, match="the mailbox has no folder 'Bills'"):
        await one_pass(service, access, order_of(server, folder="Bills"))
    with pytest.raises(MissingSecretError, match="has no secret 'none'"):
        await one_pass(service, access, order_of(server, secret="none"))
    with pytest.raises(WorkerNotConfiguredError, match="a loopback address"):
        await one_pass(service, replace(access, http=HttpClient()), order_of(server))
    with pytest.raises(ConnectionError, match="certificate verify failed"):
        await one_pass(service, replace(access, tls=None), order_of(server))
    (secrets / "default" / "mail.hosts").write_text("imap.example.com")
    try:
        with pytest.raises(RefusedSecretError, match=r"may not go to localhost"):
            await one_pass(service, access, order_of(server))
    finally:
        (secrets / "default" / "mail.hosts").write_text("localhost")


async def test_a_mailbox_is_ordered_by_command_and_its_problems_are_listed(
    service: Service, server: MailServer
) -> None:
    """The worker does not trust the test's server: the pass fails, and the list says why."""
    name = named()
    box = ("--mailbox", f"localhost:{server.port}", "--user", USER, "--secret", "none", "--sender", "@example.com")
    more = ("--cron", NEVER, "--definition", "trigger_filed", "-i", "centre=1", "--move-to", "Done")
    address = str(service.http.base_url)
    created = await docrail("schedule", "create", name, *box, *more, DOCRAIL_API_URL=address)
    assert created.code == 0, created.err
    assert f"uploads attachments of {USER}" in created.out
    shown = (await service.http.get(f"/v1/triggers/{name}")).json()
    assert shown["mailbox"] == {
        "host": "localhost",
        "port": server.port,
        "user": USER,
        "secret": "none",
        "folder": "INBOX",
        "senders": ["@example.com"],
        "attachments": ["*.pdf", "*.xml", "*.tif", "*.tiff"],
        "move_to": "Done",
    }
    await passed(service, name, "failed")
    [problem] = (await service.http.get(f"/v1/triggers/{name}")).json()["problems"]
    assert "has no secret 'none'" in problem
    listed = await docrail("schedule", "list", "--json", DOCRAIL_API_URL=address)
    assert problem in listed.out
    refused = await service.http.post(
        "/v1/triggers", json={"name": named(), "cron": NEVER, "folder": "a", "mailbox": order_of(server)["mailbox"]}
    )
    assert [each["path"] for each in refused.json()["problems"]] == ["mailbox"]
    alone = await docrail("schedule", "create", name, "--user", USER, *more, DOCRAIL_API_URL=address)
    assert (alone.code, "--mailbox" in alone.err) == (2, True)
    assert (await create(service, **order_of(server)))["problems"] == []
