"""Accept answers posted to callback URLs. The URL's signature is the only authentication."""

import time

from docrail.adapters.postgres.tenants import of_tenant
from docrail.dag.values.json_values import Json, digest
from docrail.services.access.models import CALLBACK, Principal
from docrail.services.app import App
from docrail.services.callback_urls import BadTokenError, Claim
from docrail.services.errors import AlreadyAnswered, CallbackOver, NotFound, WrongState
from docrail.services.runs.control import answer_wait, check_carried

SHOWN = 8
"""Number of token characters repeated in errors: a whole token would end up in logs."""


async def receive_callback(app: App, token: str, answer: Json) -> None:
    """Answer the step that the token is about. Repeating the same answer is accepted and has no effect.

    Raises: NotFound (not a valid token), CallbackOver, AlreadyAnswered, InvalidInput (not what the step accepts),
    Unavailable.
    """
    claim = check_token(app, token)
    await check_carried(answer)  # before its digest, which such values do not have
    caller = Principal(claim.tenant_id, CALLBACK, frozenset())
    update_id = f"{CALLBACK}-{digest([claim.step_id, answer])}"
    try:
        with of_tenant(claim.tenant_id):
            await answer_wait(app, caller, claim.run_id, claim.step_id, answer, update_id=update_id)
    except WrongState as error:
        raise (
            AlreadyAnswered() if error.state == "answered" else CallbackOver("its step is no longer waiting")
        ) from None
    except NotFound:  # Temporal deletes ended runs after its retention time
        raise CallbackOver("its step is no longer waiting") from None


def check_token(app: App, token: str) -> Claim:
    """Return what a token is about. Raises: NotFound (not a valid token), CallbackOver."""
    try:
        claim = app.callback_keys.read(token)
    except BadTokenError:
        raise NotFound("callback", f"{token[:SHOWN]}…") from None
    if claim.expires_at <= time.time():
        raise CallbackOver("it has expired")
    return claim
