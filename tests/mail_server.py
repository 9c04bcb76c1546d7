"""A real IMAP server on loopback, with TLS and one mailbox in memory: pymap, in the loop of the tests."""

import asyncio
import contextlib
import datetime as dt
import ipaddress
import ssl
from argparse import Namespace
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from imap_tools import BaseMailBox
from proxyprotocol.sock import SocketInfo
from pymap.backend.dict import DictBackend
from pymap.imap import IMAPServer

from docrail.adapters.mailboxes import Account, OpenFolder, open_folder

USER, PASSWORD = "invoices@example.com", "of the mailbox"


@dataclass(frozen=True, slots=True)
class MailServer:
    """The running server; `trusted` trusts its certificate."""

    port: int
    trusted: ssl.SSLContext = field(repr=False)

    def account(self, *, password: str = PASSWORD, folder: str = "INBOX") -> Account:
        """Return the mailbox."""
        return Account("localhost", self.port, [ipaddress.ip_address("127.0.0.1")], USER, password, folder)

    async def put(self, *mails: bytes) -> None:
        """Deliver mails to the mailbox."""
        await self._with_box(lambda box: [box.append(mail, "INBOX") for mail in mails])

    async def create(self, folder: str) -> None:
        """Create a folder."""
        await self._with_box(lambda box: box.folder.create(folder))

    async def flags(self, folder: str = "INBOX") -> list[set[str]]:
        """Return the flags of the mails in a folder, without the one for new mails."""
        with contextlib.ExitStack() as stack:
            opened: OpenFolder = await asyncio.to_thread(
                stack.enter_context, open_folder(self.account(folder=folder), self.trusted)
            )
            mails = await asyncio.to_thread(lambda: [*opened.box.fetch(mark_seen=False)])
            return [{*mail.flags} - {r"\Recent"} for mail in mails]

    async def _with_box(self, act: Callable[[BaseMailBox], object]) -> None:
        def run() -> None:
            with open_folder(self.account(), self.trusted) as opened:
                act(opened.box)

        await asyncio.to_thread(run)


@asynccontextmanager
async def mail_server(folder: Path) -> AsyncIterator[MailServer]:
    """Serve one mailbox while the block runs."""
    serving, trusted = tls_of_localhost(folder)
    args = Namespace(
        host=None,
        port=None,
        debug=False,
        cert=None,
        key=None,
        tls=False,
        passlib_cfg=None,
        demo_data=False,
        demo_user=USER,
        demo_password=PASSWORD,
        proxy_protocol=None,
    )
    backend, config = await DictBackend.init(args, secure_auth=False, invalid_user_sleep=0.0)
    async with contextlib.AsyncExitStack() as stack:
        await backend.start(stack)
        answer = IMAPServer(backend.login, config)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await answer(reader, writer, SocketInfo.get(writer, None))

        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=serving)
        try:
            yield MailServer(server.sockets[0].getsockname()[1], trusted)
        finally:
            server.close()


def tls_of_localhost(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return the contexts of a server of `localhost`, and of a client that trusts it."""
    key, now = ec.generate_private_key(ec.SECP256R1()), dt.datetime.now(dt.UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, private = folder / "mail.pem", folder / "mail.key"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    serving.load_cert_chain(pem, private)
    return serving, ssl.create_default_context(cafile=pem)
