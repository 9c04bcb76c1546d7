"""`docrail session`: list the open browser sessions of a tenant, and end one."""

from typing import Annotated
from urllib.parse import quote

import typer

from docrail.cli.client import HERE, Api, ask_api
from docrail.cli.listing import ID, TEXT, Listing
from docrail.cli.printout import Printout, older
from docrail.cli.terminal import Limit, moment
from docrail.dag.values.json_values import Json

SESSIONS = "/v1/sessions"

SessionId = Annotated[str, typer.Argument(help="A session's id.", metavar="SESSION")]


def list_sessions(limit: Limit = 100, api: Api = HERE) -> Printout:
    """List your tenant's open browser sessions, newest first.

    Example: docrail session list
    """
    page = ask_api(api, "GET", SESSIONS, params={"limit": limit})
    headings = {"session": ID, "name": ID, "scopes": TEXT, "began": ID, "last seen": ID, "ends": ID, "by": TEXT}
    return Printout(page["sessions"], [Listing(headings, map(_row, page["sessions"])), *older(page)])


def revoke(session: SessionId, api: Api = HERE) -> Printout:
    """End a browser session at once, in every process.

    Example: docrail session revoke ses_0123456789abcdef
    """
    ended = ask_api(api, "DELETE", f"{SESSIONS}/{quote(session, safe='')}")
    return Printout(ended, f"ended {ended['session_id']} of {ended['name']}")


def _row(session: dict[str, Json]) -> list[str]:
    times = [moment(session[name], seconds=False) for name in ("created_at", "last_seen_at", "expires_at")]
    by = session["issuer"] or f"key {session['key_id']}"
    return [session["session_id"], session["name"], ",".join(session["scopes"]), *times, by]
