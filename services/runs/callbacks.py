"""Take the answer that somebody outside posts to a callback URL. The URL's signature is all that says who it is."""

import time

from docrail.dag.values.json_values import Json, digest
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.callback_urls import BadTokenError, Claim
from docrail.services.errors import AlreadyAnswered, CallbackOver, NotFound, WrongState
from docrail.services.runs.control import answer_wait

ANSWERED_BY = "callback"
"""Who a run is told has answered: more than that the URL was known is not known."""

SHOWN = 8
"""Characters of a token that are repeated to whoever sent it: a whole one would end up in logs."""


async def receive_callback(app: App, token: str, answer: Json) -> None:
    """Answer the step that the token is about. The same answer again is taken again and does nothing.

    Raises: NotFound (no token of ours), CallbackOver, AlreadyAnswered, InvalidInput (not what the step accepts),
    Unavailable.
    """
    claim = _claim_of(app, token)
    if claim.expires_at <= time.time():
        raise CallbackOver("its time is up")
    caller = Principal(claim.tenant_id, ANSWERED_BY, frozenset())
    update_id = f"{ANSWERED_BY}-{digest([claim.step_id, answer])}"
    try:
        await answer_wait(app, caller, claim.run_id, claim.step_id, answer, update_id=update_id)
    except WrongState as error:
        raise (AlreadyAnswered() if error.state == "answered" else CallbackOver("its step waits no longer")) from None
    except NotFound:  # Temporal forgets ended runs after its retention time
        raise CallbackOver("its step waits no longer") from None


def _claim_of(app: App, token: str) -> Claim:
    try:
        return app.callback_keys.read(token)
    except BadTokenError:
        raise NotFound("callback", f"{token[:SHOWN]}…") from None
