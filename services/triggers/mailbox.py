"""Carry out one pass over a mailbox: upload the attachments of new mails, and mark the mails in the mailbox.

Safe to repeat: an attachment has a key by its mail and content, and a mail is marked once all of it is uploaded.
"""

import asyncio
import hashlib
import mimetypes
import ssl
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

from docrail.adapters.http.client import HttpClient
from docrail.adapters.mailboxes import FLAGGED, SEEN, Account, OpenFolder, open_folder
from docrail.adapters.mails import Attachment, Mail, UnreadableMail, is_from, read_mail
from docrail.adapters.secrets import SecretStore
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.errors import TooLarge
from docrail.services.intake.service import UNKNOWN_MEDIA_TYPE, clean_name
from docrail.services.triggers.models import Mailbox
from docrail.services.triggers.uploading import WAITS, FoundFile, Refusals, Uploads

MOST_MAILS = 200
"""Mails that a pass looks at: the next one goes on."""
ENCODED = 1.4
"""How much larger than a file its base64 in a mail is, with line breaks."""


@dataclass(frozen=True, slots=True)
class MailAccess:
    """What a worker needs to reach mailboxes: the addresses that it may connect to, and the secrets."""

    http: HttpClient = field(default_factory=HttpClient)
    secrets: SecretStore = field(default_factory=SecretStore)
    tls: ssl.SSLContext | None = None
    """By default, mail servers need a certificate that the system, or SSL_CERT_FILE, trusts."""


async def take_mails(uploads: Uploads, refusals: Refusals, access: MailAccess, heartbeat: Callable[[], None]) -> None:
    """Carry out one pass. Raises: MailboxUnusable, UnreachableError, RefusedAddressError, Unavailable."""
    box = uploads.order.mailbox
    assert box is not None, "this trigger reads a mailbox"
    account = await _account(uploads.principal, box, access)
    with ExitStack() as stack:
        opening = open_folder(account, access.tls, most_bytes=_most_bytes(uploads.app))
        folder = await asyncio.to_thread(stack.enter_context, opening)
        await _Pass(uploads, refusals, box, folder).carry_out(heartbeat)


def _most_bytes(app: App) -> int:
    """Return the largest size of a mail that is read: two of the largest files fit."""
    return int(app.max_upload_bytes * ENCODED * 2)


async def _account(principal: Principal, box: Mailbox, access: MailAccess) -> Account:
    addresses = await access.http.checked_addresses(box.host, box.port)
    revealed = await access.secrets.reveal(
        principal.tenant_id, {"password": f"secret://{box.secret}"}, box.host, named={box.secret}
    )
    return Account(box.host, box.port, addresses, box.user, revealed.texts["password"], box.folder)


@dataclass(frozen=True, slots=True)
class _Pass:
    uploads: Uploads
    refusals: Refusals
    box: Mailbox
    folder: OpenFolder

    async def carry_out(self, heartbeat: Callable[[], None]) -> None:
        known = await asyncio.to_thread(self.folder.count_flagged)
        for uid, size in await asyncio.to_thread(self.folder.new, MOST_MAILS):
            heartbeat()
            try:
                await self._take(uid, size)
            except UnreadableMail as error:
                self.refusals.add(f"mail {uid}", error)
                await asyncio.to_thread(self.folder.mark, uid, SEEN, FLAGGED)
        if known:
            words = f"has {known} flagged mails: earlier passes have refused something of them"
            self.refusals.add(self.box.folder, words)

    async def _take(self, uid: str, size: int) -> None:
        """Upload the attachments of a mail and mark it; one of another sender is marked only."""
        most = _most_bytes(self.uploads.app)
        if size > most:
            raise UnreadableMail(f"has {size} bytes, expected at most {most}")
        data = await asyncio.to_thread(self.folder.read, uid)
        if data is None:
            return
        mail = await asyncio.to_thread(read_mail, data, self.box.attachments)
        if not is_from(mail, self.box.senders):
            await asyncio.to_thread(self.folder.mark, uid, SEEN)
            return
        await self._upload_all(uid, mail)

    async def _upload_all(self, uid: str, mail: Mail) -> None:
        """Upload the attachments of a mail; it stays new if one waits for a definition that fits."""
        is_refused = waits = False
        for number, attachment in enumerate(mail.attachments, start=1):
            try:
                await self.uploads.add(self._found(f"mail {uid}/{number}", mail, attachment))
            except (UnreadableMail, TooLarge, *WAITS) as error:
                self.refusals.add(f"mail {uid}, {clean_name(attachment.name)}", error)
                is_refused, waits = True, waits or isinstance(error, WAITS)
        if waits:
            return
        await asyncio.to_thread(self.folder.mark, uid, *([SEEN, FLAGGED] if is_refused else [SEEN]))
        if not is_refused and self.box.move_to is not None:
            await asyncio.to_thread(self.folder.move, uid, self.box.move_to)

    def _found(self, place: str, mail: Mail, attachment: Attachment) -> FoundFile:
        """Return an attachment with the key of its content in this mail. Raises: UnreadableMail."""
        if not attachment.data:
            raise UnreadableMail("is empty")
        named = f"{self.box.user}@{self.box.host}\0{mail.message_id}\0".encode(errors="surrogateescape")
        guessed = mimetypes.guess_type(attachment.name)[0] or UNKNOWN_MEDIA_TYPE
        key = f"mail-{hashlib.sha256(named + attachment.data).hexdigest()}"
        where = f"{place}/{clean_name(attachment.name)}"
        return FoundFile(where, attachment.name, guessed, attachment.data, key)
