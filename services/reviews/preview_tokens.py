"""Make and read the token of a preview: the items that it showed, each with the digest of the document as shown.

Not a secret: it is bound to its person and tenant so that mistakes are found, and an item that has changed since is
refused by its digest.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from docrail.dag.language.inputs import InputProblem
from docrail.services.access.models import Principal
from docrail.services.errors import InvalidInput
from docrail.services.model_config import Text
from docrail.services.paging import after_of, token_of
from docrail.services.reviews.models import Digest

PREFIX = "rev_"
ID_BYTES, DIGEST_BYTES = 13, 32
ITEM_BYTES = ID_BYTES + DIGEST_BYTES


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item, and its digest as shown in the queue."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    review_id: Text
    digest: Digest


def token_for(principal: Principal, items: Sequence[ShownItem]) -> str | None:
    """Return the token of these items; None without items."""
    packed = b"".join(bytes.fromhex(each.review_id.removeprefix(PREFIX) + each.digest) for each in items)
    return after_of(packed, _query(principal))


def items_of(principal: Principal, token: str) -> list[ShownItem]:
    """Return the items of the token. Raises: InvalidInput."""
    try:
        packed = token_of(token, _query(principal)) or b""
    except InvalidInput:
        raise _no_token() from None
    if len(packed) % ITEM_BYTES:  # forged with knowledge of the checksum
        raise _no_token()
    return list(_items(packed))


def _items(packed: bytes) -> Iterator[ShownItem]:
    for start in range(0, len(packed), ITEM_BYTES):
        item = packed[start : start + ITEM_BYTES]
        yield ShownItem(PREFIX + item[:ID_BYTES].hex(), item[ID_BYTES:].hex())


def _query(principal: Principal) -> str:
    return f"approvals {principal.tenant_id} {principal.name}"


def _no_token() -> InvalidInput:
    return InvalidInput([InputProblem("token", "is not the token of one of your previews: preview the approval again")])
