"""A hostile mail server costs a worker neither its memory nor a thread."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path

import pytest

from docrail.adapters import mailboxes
from docrail.adapters.http.addresses import AllowedHosts
from docrail.adapters.http.client import HttpClient
from docrail.adapters.http.errors import UnreachableError
from docrail.adapters.mailboxes import OVERHEAD_BYTES, Account, open_folder
from docrail.adapters.secrets import MissingSecretError, RefusedSecretError, SecretStore
from docrail.dag.values.json_values import Json
from docrail.services.triggers.firing import fire
from docrail.services.triggers.mailbox import MailAccess
from docrail.workflows.contract.messages import TriggerPass, TriggerRequest
from tests.mail_server import tls_of_localhost
from tests.security.callers import Guarded, dsn, guarded

__all__ = ["dsn", "guarded"]

Words = Callable[[], AsyncIterator[bytes]]


async def endless_lines() -> AsyncIterator[bytes]:
    while True:
        yield b"* OK still here\r\n" * 1000


async def one_endless_line() -> AsyncIterator[bytes]:
    yield b"* OK "
    while True:
        yield b"x" * 10_000


async def huge_literal() -> AsyncIterator[bytes]:
    yield b"* OK hello\r\n* CAPABILITY IMAP4rev1 {1000000000000}\r\n"
    while True:
        yield b"x" * 10_000


async def a_byte_now_and_then() -> AsyncIterator[bytes]:
    while True:
        yield b"*"
        await asyncio.sleep(0.02)


@asynccontextmanager
async def saying(words: Words, folder: Path) -> AsyncIterator[Callable[[], None]]:
    """Yield what opens a mailbox of a server that sends these words, whatever it is asked."""
    serving, trusted = tls_of_localhost(folder)
    over = asyncio.Event()

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            async for part in words():
                if over.is_set():
                    break
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(0)  # a lost connection drains at once

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=serving)
    port = server.sockets[0].getsockname()[1]
    account = Account("localhost", port, [ip_address("127.0.0.1")], "ann", "sesame", "INBOX")

    def open_it() -> None:
        with open_folder(account, trusted, most_bytes=1000):
            pass

    try:
        yield open_it
    finally:
        over.set()
        server.close()


@pytest.mark.parametrize("words", [endless_lines, one_endless_line, huge_literal])
async def test_an_answer_without_end_is_not_read(words: Words, tmp_path: Path) -> None:
    async with saying(words, tmp_path) as open_it:
        with pytest.raises(UnreachableError, match=f"its answer has more than {1000 + OVERHEAD_BYTES} bytes"):
            await asyncio.wait_for(asyncio.to_thread(open_it), 60)


async def test_an_answer_that_comes_byte_by_byte_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailboxes, "ANSWER_SECONDS", 0.5)
    async with saying(a_byte_now_and_then, tmp_path) as open_it:
        with pytest.raises(UnreachableError, match=r"its answer takes more than 0\.5 s"):
            await asyncio.wait_for(asyncio.to_thread(open_it), 60)


@pytest.mark.parametrize(
    ("tenant", "host", "error"),
    [
        ("mallory", "localhost", MissingSecretError),
        ("acme", "127.0.0.1", RefusedSecretError),  # not in the list of the secret
        ("acme", "localhost", UnreachableError),  # nothing listens, but the password would have been sent
    ],
)
async def test_a_mailbox_gets_the_password_of_its_own_tenant_for_the_listed_host_only(
    guarded: Guarded, tmp_path: Path, tenant: str, host: str, error: type[Exception]
) -> None:
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "password").write_text("sesame")
    (tmp_path / "acme" / "password.hosts").write_text("localhost")
    access = MailAccess(HttpClient(AllowedHosts.parse(["localhost", "127.0.0.1"])), SecretStore(tmp_path))
    mailbox = {"host": host, "port": 9, "user": "ann", "secret": "password"}
    order: Json = {"name": "post", "every_seconds": 60, "mailbox": mailbox}
    request = TriggerRequest(tenant_id=tenant, created_by="ann", order=order)
    with pytest.raises(error):
        await fire(guarded.service.app, None, access, TriggerPass(request=request, moment="now"), lambda: None)
