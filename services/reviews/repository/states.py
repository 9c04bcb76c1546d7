# ruff: noqa: S608  # only constants of this code are formatted into statements
"""Read the state of review items that the audit log must confirm: a digest of who decided what, and when it counts.

`DECISION.FIRST`: the second part covers the first of two approvals, which a new reading of the document voids. The
first part of an item without any decision is `new`.
"""

from collections.abc import Sequence

from docrail.adapters.postgres.pool import Database

_DIGEST = "encode(sha256(convert_to({}, 'UTF8')), 'hex')"

_DECISION = """json_build_array(CASE WHEN status IN ('open', 'closed') THEN 'undecided' ELSE status END, decision,
decided_by, decision_digest, decided_so_far, decided_invoice, taught_vendor, revision)::text"""

_NONE = "json_build_array('undecided', null, null, null, '[]'::json, null, null, 0)::text"

_STATE = f"""CASE {_DECISION} WHEN {_NONE} THEN 'new' ELSE {_DIGEST.format(_DECISION)} END
    || '.' || coalesce({_DIGEST.format("first_approval::text")}, '')"""

NEW = "new."
"""State of an item as it is created."""

LOAD_STATES = f"SELECT review_id, {_STATE} AS state FROM reviews WHERE tenant_id = $1 AND review_id = ANY ($2::text[])"

LIST_TOUCHED = """
SELECT review_id FROM reviews
 WHERE tenant_id = $1 AND review_id > $2
   AND (status NOT IN ('open', 'closed') OR revision <> 0 OR decided_so_far::text <> '[]'
        OR num_nonnulls(decision, decided_by, decision_digest, decided_invoice, taught_vendor, first_approval) > 0)
 ORDER BY review_id
 LIMIT $3"""


async def load_states(db: Database, tenant_id: str, review_ids: Sequence[str]) -> dict[str, str]:
    """Return the items' states by their ids."""
    return {row["review_id"]: row["state"] for row in await db.fetch(LOAD_STATES, tenant_id, review_ids)}


async def list_touched(db: Database, tenant_id: str, *, after: str, limit: int) -> list[str]:
    """Return the ids of items that are not as they were created, in their order."""
    return [row["review_id"] for row in await db.fetch(LIST_TOUCHED, tenant_id, after, limit)]
