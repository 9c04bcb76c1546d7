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
from docrail.services.intake.service import UNKNOWN_MEDIA_TYPE, clean_name
from docrail.services.triggers.models import Mailbox, TriggerOrder
from docrail.services.triggers.uploading import OF_ONE_FILE, Found, Refusals, upload_once
from docrail.workflows.contract.messages import TriggerReport

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


async def take_mails(
    app: App, principal: Principal, order: TriggerOrder, access: MailAccess, heartbeat: Callable[[], None]
) -> TriggerReport:
    """Carry out one pass. Raises: MailboxUnusable, UnreachableError, RefusedAddressError, Unavailable."""
    assert order.mailbox is not None, "this trigger reads a mailbox"
    account = await _account(principal, order.mailbox, access)
    with ExitStack() as stack:
        opening = open_folder(account, access.tls, most_bytes=_most_bytes(app))
        folder = await asyncio.to_thread(stack.enter_context, opening)
        return await _Pass(app, principal, order, order.mailbox, folder).carry_out(heartbeat)


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
    app: App
    principal: Principal
    order: TriggerOrder
    box: Mailbox
    folder: OpenFolder

    async def carry_out(self, heartbeat: Callable[[], None]) -> TriggerReport:
        refusals, found = Refusals(self.order, self.principal), Found()
        known = await asyncio.to_thread(self.folder.count_flagged)
        for uid, size in await asyncio.to_thread(self.folder.new, MOST_MAILS):
            heartbeat()
            try:
                found += await self._take(uid, size, refusals)
            except UnreadableMail as error:
                refusals.add(f"mail {uid}", error)
                await asyncio.to_thread(self.folder.mark, uid, SEEN, FLAGGED)
        if known:
            refusals.add(self.box.folder, f"has {known} flagged mails: earlier passes have refused something of them")
        return TriggerReport(uploaded=found.uploaded, known=found.known, refused=tuple(refusals.shown))

    async def _take(self, uid: str, size: int, refusals: Refusals) -> Found:
        """Upload the attachments of a mail and mark it; one of another sender is marked only."""
        most = _most_bytes(self.app)
        if size > most:
            raise UnreadableMail(f"has {size} bytes, expected at most {most}")
        data = await asyncio.to_thread(self.folder.read, uid)
        if data is None:
            return Found()
        mail = await asyncio.to_thread(read_mail, data, self.box.attachments)
        if not is_from(mail, self.box.senders):
            await asyncio.to_thread(self.folder.mark, uid, SEEN)
            return Found()
        found, is_whole = Found(), True
        for attachment in mail.attachments:
            try:
                found += await self._upload(mail, attachment)
            except OF_ONE_FILE as error:
                refusals.add(f"mail {uid}, {clean_name(attachment.name)}", error)
                is_whole = False
        await asyncio.to_thread(self.folder.mark, uid, *([SEEN] if is_whole else [SEEN, FLAGGED]))
        if is_whole and self.box.move_to is not None:
            await asyncio.to_thread(self.folder.move, uid, self.box.move_to)
        return found

    async def _upload(self, mail: Mail, attachment: Attachment) -> Found:
        named = f"{self.box.user}@{self.box.host}\0{mail.message_id}\0".encode(errors="surrogateescape")
        guessed = mimetypes.guess_type(attachment.name)[0] or UNKNOWN_MEDIA_TYPE
        key = f"mail-{hashlib.sha256(named + attachment.data).hexdigest()}"
        return await upload_once(self.app, self.principal, self.order, attachment.name, guessed, attachment.data, key)
