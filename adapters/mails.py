"""Read the attachments of a mail. Anyone may have written it: its size, depth and number of parts are limited first."""

import fnmatch
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import getaddresses

from imap_tools import MailMessage

MOST_MULTIPARTS = 100
"""Parts that contain parts. Python's parser recurses into each."""
MOST_PARTS = 2_000
"""Lines that may begin a part. The parser compares each with those of all parts around it."""
MOST_ATTACHMENTS = 100


class UnreadableMail(ValueError):  # noqa: N818  # a statement about the mail
    """A mail is broken, or exceeds a limit."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of a mail. Name and type are the sender's claims."""

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Mail:
    """What a mail says of itself, and its files."""

    message_id: str
    """Its Message-ID; without one, a digest of the mail."""
    sender: str
    """The one address of its From, in lower case; empty if it names none or several."""
    attachments: tuple[Attachment, ...]


def read_mail(data: bytes, patterns: Sequence[str]) -> Mail:
    """Return a mail with those attachments whose names fit one of the patterns, such as `*.pdf`.

    Raises: UnreadableMail.
    """
    if (found := data.lower().count(b"multipart/")) > MOST_MULTIPARTS:
        raise UnreadableMail(f"has {found} multiparts, expected at most {MOST_MULTIPARTS}")
    if (found := data.count(b"\n--")) > MOST_PARTS:
        raise UnreadableMail(f"has {found} boundaries, expected at most {MOST_PARTS}")
    try:
        message = MailMessage.from_bytes(data)
        files = tuple(
            Attachment(each.filename, each.content_type, each.payload)
            for each in message.attachments
            if _fits(each.filename, patterns)
        )
        headers = message.obj
        message_id, senders = str(headers.get("Message-ID", "")).strip(), headers.get_all("From", [])
        addresses = [address for _, address in getaddresses([str(each) for each in senders])]
    except (RecursionError, LookupError, ValueError, TypeError, AttributeError) as error:
        raise UnreadableMail(f"cannot be parsed: {type(error).__name__}") from error
    if len(files) > MOST_ATTACHMENTS:
        raise UnreadableMail(f"has {len(files)} attachments, expected at most {MOST_ATTACHMENTS}")
    sender = addresses[0].lower() if len(addresses) == 1 else ""
    return Mail(message_id or hashlib.sha256(data).hexdigest(), sender, files)


def is_from(mail: Mail, senders: Sequence[str]) -> bool:
    """Return whether a mail names one of the senders: an address, or `@` and a domain. None listed: anyone."""
    domain = f"@{mail.sender.rpartition('@')[2]}"
    return not senders or any(each.lower() in (mail.sender, domain) for each in senders)


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name.lower(), pattern.lower()) for pattern in patterns)
