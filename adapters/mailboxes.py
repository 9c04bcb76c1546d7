"""Read a mailbox over IMAP with TLS, and mark what was read. One connection at a time; the calls block."""

import imaplib
import io
import re
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from imap_tools import BaseMailBox, ImapToolsError, MailboxLoginError

from docrail.adapters.http.addresses import Address
from docrail.adapters.http.errors import UnreachableError

TIMEOUT_SECONDS = 30.0
ANSWER_SECONDS = 120.0
"""How long the answer to one command may take. One that comes byte by byte would hold a thread of the worker."""
MOST_BYTES = 64 * 2**20
OVERHEAD_BYTES = 2**20
"""What an answer may have besides a mail: ids, sizes, the server's own words."""
LOGOUT_SECONDS = 1.0
"""All that mattered is done: a server that does not say goodbye is left."""

FLAGGED, SEEN = r"\Flagged", r"\Seen"

_SIZE = re.compile(rb"UID (\d+)")
_BYTES = re.compile(rb"RFC822\.SIZE (\d+)")


class MailboxUnusable(ValueError):  # noqa: N818  # a statement about the mailbox
    """The mailbox refuses the password, has no such folder, or keeps no marks. Another attempt would find the same."""


@dataclass(frozen=True, slots=True)
class Account:
    """A folder of a mailbox, and how to reach it."""

    host: str
    port: int
    addresses: Sequence[Address]
    """Addresses of the host that may be connected to, tried in turn."""
    user: str
    password: str = field(repr=False)
    folder: str


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """A selected folder. Each method raises UnreachableError, as soon as the server does not answer as expected."""

    box: BaseMailBox

    def new(self, most: int) -> list[tuple[str, int]]:
        """Return the first mails without marks, oldest first: uid, and size in bytes as the server says."""
        with _errors():
            uids = sorted(self.box.uids("UNSEEN UNFLAGGED"), key=int)[:most]
            if not uids:
                return []
            lines = self.box.client.uid("FETCH", ",".join(uids), "(UID RFC822.SIZE)")[1]
        found = (line if isinstance(line, bytes) else line[0] for line in lines if line)
        sizes = {
            uid[1].decode(): int(size[1])
            for line in found
            if (uid := _SIZE.search(line)) is not None and (size := _BYTES.search(line)) is not None
        }
        return [(uid, sizes[uid]) for uid in uids if uid in sizes]

    def read(self, uid: str) -> bytes | None:
        """Return a mail; None if it is gone. It stays unseen."""
        with _errors():
            parts = self.box.client.uid("FETCH", uid, "(BODY.PEEK[])")[1]
        return next((bytes(part[1]) for part in parts if isinstance(part, tuple)), None)

    def mark(self, uid: str, *flags: str) -> None:
        """Add flags to a mail."""
        with _errors():
            self.box.flag(uid, flags, True)

    def move(self, uid: str, folder: str) -> None:
        """Move a mail to another folder of the mailbox."""
        with _errors():
            self.box.move(uid, folder)

    def count_flagged(self) -> int:
        """Return how many mails are flagged."""
        with _errors():
            return len(self.box.uids("FLAGGED"))


@contextmanager
def open_folder(
    account: Account, tls: ssl.SSLContext | None = None, *, most_bytes: int = MOST_BYTES
) -> Iterator[OpenFolder]:
    """Yield the account's folder. `tls`: by default the system's certificates, or those of SSL_CERT_FILE.

    `most_bytes`: of a mail; a server that sends more, whatever it said before, is left.
    Raises: UnreachableError, MailboxUnusable.
    """
    context = tls or ssl.create_default_context()
    with _errors():
        box = _Box(account, context, most_bytes + OVERHEAD_BYTES)
    try:
        with _errors():
            try:
                box.login(account.user, account.password, initial_folder=None)
            except MailboxLoginError as error:
                raise MailboxUnusable(f"{account.host} refuses the user {account.user} or its password") from error
            try:
                box.folder.set(account.folder)
            except ImapToolsError as error:
                raise MailboxUnusable(f"the mailbox has no folder {account.folder!r} that can be opened") from error
        kept = b" ".join(each or b"" for each in box.client.response("PERMANENTFLAGS")[1])
        if not all(flag.encode() in kept for flag in (SEEN, FLAGGED)):
            raise MailboxUnusable(f"the folder {account.folder!r} cannot be written to: its mails could not be marked")
        yield OpenFolder(box)
    finally:
        with suppress(ImapToolsError, imaplib.IMAP4.error, OSError):
            box.client.socket().settimeout(LOGOUT_SECONDS)
            box.logout()
        with suppress(OSError):  # of a connection that logging out has closed
            box.client.shutdown()


class _Box(BaseMailBox):
    def __init__(self, account: Account, context: ssl.SSLContext, most_bytes: int) -> None:
        self._account, self._context, self._most_bytes = account, context, most_bytes
        super().__init__()

    def _get_mailbox_client(self) -> imaplib.IMAP4:
        return _Connection(self._account, self._context, self._most_bytes)


class _Incoming(io.RawIOBase):
    """What a server sends: no more than so many bytes for each answer, within ANSWER_SECONDS."""

    def __init__(self, connection: socket.socket, most_bytes: int) -> None:
        self._connection, self._most_bytes = connection, most_bytes
        self.begin()

    def begin(self) -> None:
        """Expect the answer to another command."""
        self._left, self._until = self._most_bytes, time.monotonic() + ANSWER_SECONDS

    def check_size(self, size: int) -> None:
        """Raise OSError if so many more bytes are too many."""
        if size > self._left:
            raise OSError(f"its answer has more than {self._most_bytes} bytes")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read some bytes. Raises: OSError."""
        usual, seconds = self._connection.gettimeout() or TIMEOUT_SECONDS, self._until - time.monotonic()
        try:
            self._connection.settimeout(max(0.001, min(usual, seconds)))  # 0 would not wait at all
            count = self._connection.recv_into(buffer)
        except TimeoutError as error:
            raise TimeoutError(f"its answer takes more than {min(usual, ANSWER_SECONDS):g} s") from error
        finally:
            self._connection.settimeout(usual)
        self.check_size(count)
        self._left -= count
        return count


class _Connection(imaplib.IMAP4_SSL):
    """Connects to an address that was checked, and expects the certificate of the host's name."""

    _incoming: _Incoming
    _reader: io.BufferedReader

    def __init__(self, account: Account, context: ssl.SSLContext, most_bytes: int) -> None:
        self._addresses, self._context, self._most_bytes = account.addresses, context, most_bytes
        super().__init__(account.host, account.port, ssl_context=context, timeout=TIMEOUT_SECONDS)

    def open(self, host: str = "", port: int | None = 993, timeout: float | None = None) -> None:
        """Connect. Raises: OSError."""
        super().open(host, port, timeout)
        self._incoming = _Incoming(self.sock, self._most_bytes)
        self._reader = io.BufferedReader(self._incoming)

    def send(self, data: Any) -> None:
        """Send a command, or the rest of one."""
        self._incoming.begin()
        super().send(data)

    def read(self, size: int) -> bytes:
        """Return so many bytes: imaplib would reserve the memory for as many as the server announces."""
        self._incoming.check_size(size)
        return self._reader.read(size)

    def readline(self) -> bytes:
        """Return a line."""
        return self._reader.readline()

    def _create_socket(self, timeout: float | None) -> socket.socket:
        failure: OSError = OSError(f"the host {self.host} has no address")
        for address in self._addresses:
            try:
                raw = socket.create_connection((str(address), self.port), timeout)
            except OSError as error:
                failure = error
                continue
            return self._context.wrap_socket(raw, server_hostname=self.host)
        raise failure


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except (ImapToolsError, imaplib.IMAP4.error, OSError) as error:
        raise UnreachableError(f"the mailbox does not answer: {error or type(error).__name__}") from error
